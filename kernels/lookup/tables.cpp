// HashTable, MutableHashTable, MutableHashTableOfTensors, MutableDenseHashTable: each finds its
// table, or makes it, and gives the handle. Their anonymous kin make a table for one step.
#include <atomic>

#include "core/base/murmur_hash.hpp"
#include "core/base/strings.hpp"
#include "devices/resource/dense_table.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::lookup_tables {
namespace {

using Spec = LookupTable::Spec;

struct Kept {
  NodeResource resource;
  Spec spec;
  DenseTable::Buckets buckets = {}; ///< of a dense table
};

Result<Kept> keep(PrepareContext& c, std::string kind) {
  Kept kept;
  TROUPE_ASSIGN(kept.resource, c.attrs().get_or("use_node_name_sharing", false)
                                   ? named_resource(c)
                                   : private_resource(c));
  kept.spec.kind = std::move(kind);
  TROUPE_ASSIGN(kept.spec.key, c.attr<DType>("key_dtype"));
  TROUPE_ASSIGN(kept.spec.value, c.attr<DType>("value_dtype"));
  const auto shape = c.attrs().get_or("value_shape", PartialShape(Shape{})).to_shape();
  if (!shape)
    return invalid_argument("the shape of a table's values must be known");
  kept.spec.value_shape = *shape;
  return kept;
}

Result<std::shared_ptr<const void>> prepare_once(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c, "HashTable"));
  kept.spec.is_mutable = false;
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> prepare_mutable(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c, "MutableHashTable"));
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> prepare_of_tensors(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c, "MutableHashTableOfTensors"));
  if (kept.spec.value_shape.rank() > 1)
    return invalid_argument(
        str_cat("Default value must be a vector, got shape ", kept.spec.value_shape));
  return prepared(std::move(kept));
}

Result<std::shared_ptr<const void>> prepare_dense(PrepareContext& c) {
  TROUPE_ASSIGN(Kept kept, keep(c, "MutableDenseHashTable"));
  kept.buckets.number = c.attrs().get_or("initial_num_buckets", kept.buckets.number);
  kept.buckets.most_load = c.attrs().get_or("max_load_factor", kept.buckets.most_load);
  kept.buckets.hash_text = murmur_hash;
  if (!(kept.buckets.most_load > 0 && kept.buckets.most_load < 1))
    return invalid_argument(
        str_cat("max_load_factor must be between 0 and 1, got: ", kept.buckets.most_load));
  if (kept.spec.value_shape.rank() > 1)
    return invalid_argument(
        str_cat("Empty value must be a scalar or a vector, got shape ", kept.spec.value_shape));
  return prepared(std::move(kept));
}

/// A table that goes when its step ends, or, where nobody tells of that, its session.
class StepTable final : public Resource {
public:
  StepTable(ResourceManager& manager, std::string name)
      : manager_(manager), name_(std::move(name)) {}
  ~StepTable() override { (void)manager_.remove<LookupTable>("", name_); }
  std::string description() const override { return "the end of a table"; }

private:
  ResourceManager& manager_;
  std::string name_;
};

using MakeTable = FunctionView<Result<std::shared_ptr<LookupTable>>(const std::string& name)>;

Status make_anonymous(KernelContext& c, MakeTable make) {
  static std::atomic<std::uint64_t> next{0};
  const std::string name = str_cat("_anonymous_table_", next++);
  ResourceManager& manager = c.resources();
  TROUPE_TRY(manager.lookup_or_create<LookupTable>("", name, [&] { return make(name); }).status());
  if (ResourceManager* step = c.step().step_resources) {
    TROUPE_TRY(step->lookup_or_create<StepTable>("tables", name,
                                                 [&]() -> Result<std::shared_ptr<StepTable>> {
                                                   return std::make_shared<StepTable>(manager,
                                                                                      name);
                                                 })
                   .status());
  } else {
    (void)c.step().node_states->get<StepTable>(name, [&] { return new StepTable(manager, name); });
  }
  return detail::give_handle(
      c, make_handle<LookupTable>(c.device(), manager.default_container(), name));
}

Status give(KernelContext& c, const NodeResource& resource, const Spec& spec, MakeTable make) {
  if (c.node().schema->name.starts_with("Anonymous"))
    return make_anonymous(c, make);
  TROUPE_ASSIGN(auto table, node_resource<LookupTable>(c, resource, make));
  return table->check_same(spec);
}

Status compute(KernelContext& c) {
  const auto& kept = c.prepared<Kept>();
  return give(c, kept.resource, kept.spec,
              [&](const std::string& name) -> Result<std::shared_ptr<LookupTable>> {
                return std::make_shared<LookupTable>(kept.spec, name,
                                                     c.device().host_side_allocator());
              });
}

Status compute_dense(KernelContext& c) {
  const auto& kept = c.prepared<Kept>();
  Spec spec = kept.spec;
  spec.key_shape = c.input(0).shape();
  if (spec.key_shape.rank() > 1)
    return invalid_argument(
        str_cat("Empty key must be a scalar or a vector, got shape ", spec.key_shape));
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!(c.input(i).shape() == spec.key_shape))
      return invalid_argument(str_cat("Empty and deleted keys must have same shapes, got shapes: ",
                                      spec.key_shape, " and ", c.input(i).shape()));
    spec.forbidden.push_back(c.input(i).deep_copy());
  }
  if (spec.forbidden.size() == 2 && equal(spec.forbidden[0], spec.forbidden[1]))
    return invalid_argument("Empty and deleted keys cannot be equal");
  return give(
      c, kept.resource, spec, [&](const std::string& name) -> Result<std::shared_ptr<LookupTable>> {
        TROUPE_ASSIGN(std::shared_ptr<LookupTable> table,
                      DenseTable::make(spec, kept.buckets, name, c.device().host_side_allocator()));
        return table;
      });
}

constexpr auto common = "container: string = ''; shared_name: string = ''; use_node_name_sharing: "
                        "bool = false; key_dtype: type; value_dtype: type";
constexpr auto no_gradient = "a handle has no gradient";

struct Kind {
  std::string_view name, attrs, doc;
  PrepareFn prepare;
};

constexpr Kind kinds[] = {
    {"HashTable", "", "A table that is filled once, by InitializeTable.", prepare_once},
    {"MutableHashTable", "", "A table that LookupTableInsert and LookupTableRemove change.",
     prepare_mutable},
    {"MutableHashTableOfTensors", "value_shape: shape = []",
     "A MutableHashTable whose values are vectors.", prepare_of_tensors},
};

KernelOptions options(PrepareFn prepare) {
  const std::vector<DType> keys = {DType::string, DType::int64,   DType::int32,
                                   DType::int16,  DType::int8,    DType::uint8,
                                   DType::bool_,  DType::float32, DType::float64};
  return {.types = {{"key_dtype", keys}}, .prepare = prepare};
}

void add_anonymous(OpLibrary& library, std::string_view name, std::string_view attrs,
                   KernelFn kernel, PrepareFn prepare, std::string_view inputs = {}) {
  auto op = library.op(str_cat("Anonymous", name));
  if (!inputs.empty())
    op.input(inputs);
  op.output("table_handle: resource").attr("key_dtype: type; value_dtype: type");
  if (!attrs.empty())
    op.attr(attrs);
  op.stateful()
      .shape_fn(shape_of_handle)
      .not_differentiable(no_gradient)
      .cpu_kernel(kernel, options(prepare))
      .doc(str_cat("A ", name, " that its step alone has: each run makes another one."));
}

constexpr auto dense_attrs = "value_shape: shape = []; initial_num_buckets: int = 131072; "
                             "max_load_factor: float = 0.8";

void add_dense(OpLibrary& library, bool v2) {
  library.op(v2 ? "MutableDenseHashTableV2" : "MutableDenseHashTable")
      .input(v2 ? "empty_key: key_dtype; deleted_key: key_dtype" : "empty_key: key_dtype")
      .output(v2 ? "table_handle: resource" : "table_handle: Ref(string)")
      .attr(common)
      .attr(dense_attrs)
      .stateful()
      .shape_fn(shape_of_handle)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_dense, options(prepare_dense))
      .doc("A MutableHashTable in which two keys may not be used; keys may be vectors.");
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const Kind& kind : kinds)
    for (const bool v2 : {false, true}) {
      auto op = library.op(str_cat(kind.name, v2 ? "V2" : ""));
      op.output(v2 ? "table_handle: resource" : "table_handle: Ref(string)")
          .attr(common)
          .stateful()
          .shape_fn(shape_of_handle)
          .not_differentiable(no_gradient)
          .cpu_kernel(compute, options(kind.prepare))
          .doc(kind.doc);
      if (!kind.attrs.empty())
        op.attr(kind.attrs);
    }
  for (const bool v2 : {false, true})
    add_dense(library, v2);
  for (const Kind& kind : kinds)
    add_anonymous(library, kind.name, kind.attrs, compute, kind.prepare);
  add_anonymous(library, "MutableDenseHashTable", dense_attrs, compute_dense, prepare_dense,
                "empty_key: key_dtype; deleted_key: key_dtype");
}

} // namespace troupe::lookup_tables
