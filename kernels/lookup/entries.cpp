// What is done with a table: InitializeTable, LookupTableFind, Insert, Remove, Import, Export,
// Size.
#include "core/base/strings.hpp"
#include "devices/resource/lookup_table.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/lookup/internal/initializable.hpp"

namespace troupe::lookup_entries {
namespace {

Status initialize(KernelContext& c) {
  TROUPE_ASSIGN(auto table, lookup::initializable_table(c));
  TROUPE_TRY(lookup::check_signature(c, {table->spec().key, table->spec().value}, {}));
  const Tensor &keys = c.input(1), &values = c.input(2);
  if (keys.shape().rank() != 1)
    return invalid_argument(str_cat("Keys must be a vector, but received shape", keys.shape()));
  if (values.shape().rank() != 1)
    return invalid_argument(str_cat("Values must be a vector, but received shape", values.shape()));
  if (keys.num_elements() == 0 || values.num_elements() == 0)
    return invalid_argument("keys and values cannot be empty tensors.");
  return table->initialize(keys, values);
}

Status find(KernelContext& c) {
  TROUPE_ASSIGN(auto table, input_resource<LookupTable>(c, 0));
  const auto& spec = table->spec();
  TROUPE_TRY(lookup::check_signature(c, {spec.key, spec.value}, {spec.value}));
  TROUPE_ASSIGN(Tensor values, table->find(c.input(1), c.input(2)));
  return c.set_output(0, std::move(values));
}

Status insert(KernelContext& c) {
  TROUPE_ASSIGN(auto table, input_resource<LookupTable>(c, 0));
  TROUPE_TRY(lookup::check_signature(c, {table->spec().key, table->spec().value}, {}));
  return table->insert(c.input(1), c.input(2));
}

Status remove(KernelContext& c) {
  TROUPE_ASSIGN(auto table, input_resource<LookupTable>(c, 0));
  return table->remove(c.input(1));
}

Status import_all(KernelContext& c) {
  TROUPE_ASSIGN(auto table, input_resource<LookupTable>(c, 0));
  TROUPE_TRY(lookup::check_signature(c, {table->spec().key, table->spec().value}, {}));
  return table->import(c.input(1), c.input(2));
}

Status export_all(KernelContext& c) {
  TROUPE_ASSIGN(auto table, input_resource<LookupTable>(c, 0));
  TROUPE_TRY(table->check_dtypes(c.output_type(0), c.output_type(1)));
  TROUPE_ASSIGN(auto entries, table->contents());
  TROUPE_TRY(c.set_output(0, std::move(entries[0])));
  return c.set_output(1, std::move(entries[1]));
}

Status size(KernelContext& c) {
  TROUPE_ASSIGN(auto table, input_resource<LookupTable>(c, 0));
  return c.set_output(0, Tensor::scalar(table->size()));
}

Status infer_find(ShapeContext& c) {
  return c.set_output(0, PartialShape());
}

struct Kind {
  std::string_view name, inputs, outputs, attrs, doc;
  KernelFn kernel;
  ShapeFn shape;
  bool changes;
};

constexpr auto in_out = "Tin: type; Tout: type";
constexpr Kind kinds[] = {
    {"InitializeTable", "keys: Tkey; values: Tval", "", "Tkey: type; Tval: type",
     "Fills a HashTable.", initialize, shape_none, true},
    {"LookupTableFind", "keys: Tin; default_value: Tout", "values: Tout", in_out,
     "The keys' values, or the default where a key is not there.", find, infer_find, false},
    {"LookupTableInsert", "keys: Tin; values: Tout", "", in_out,
     "Sets the keys' values in a table that can change.", insert, shape_none, true},
    {"LookupTableRemove", "keys: Tin", "", "Tin: type",
     "Takes keys out of a table that can change.", remove, shape_none, true},
    {"LookupTableImport", "keys: Tin; values: Tout", "", in_out, "Replaces all that a table holds.",
     import_all, shape_none, true},
    {"LookupTableExport", "", "keys: Tkeys; values: Tvalues", "Tkeys: type; Tvalues: type",
     "All that a table holds.", export_all, shape_unknown, false},
    {"LookupTableSize", "", "size: int64", "", "How many keys a table holds.", size, shape_scalar,
     false},
};

} // namespace

void register_ops(OpLibrary& library) {
  for (const Kind& kind : kinds)
    for (const bool v2 : {false, true}) {
      if (!v2 && kind.name == "LookupTableRemove")
        continue; // there never was an old form
      auto op = library.op(str_cat(kind.name, v2 ? "V2" : ""));
      op.input(v2 ? "table_handle: resource" : "table_handle: Ref(string)")
          .shape_fn(kind.shape)
          .not_differentiable("what a table holds has no gradient")
          .cpu_kernel(kind.kernel)
          .doc(kind.doc);
      if (!kind.inputs.empty())
        op.input(kind.inputs);
      if (!kind.outputs.empty())
        op.output(kind.outputs);
      if (!kind.attrs.empty())
        op.attr(kind.attrs);
      if (v2)
        op.stateful();
      op.roles(kind.changes ? Role::side_effect : Role::random);
    }
}

} // namespace troupe::lookup_entries
