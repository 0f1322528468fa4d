// Composite tensors (ragged, sparse, of clients' own types) in a variant: their tensors, and the
// CompositeTensorVariantMetadata that says what they make up. Of that only the class is looked at:
//
//   message CompositeTensorVariantMetadata { TypeSpecProto type_spec_proto = 1; }
//   message TypeSpecProto { TypeSpecClass type_spec_class = 1; … }
#include <array>
#include <optional>

#include "core/base/strings.hpp"
#include "core/tensor/variant.hpp"
#include "graph/op/attr_value.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "storage/message/message.hpp"

namespace troupe::list_composite_tensor {
namespace {

constexpr auto type_name = "CompositeTensorVariant";

/// The value of TypeSpecClass; nothing if the bytes are no such message.
std::optional<std::uint64_t> class_of(std::string_view metadata) {
  std::uint64_t out = 0;
  MessageReader in(metadata);
  while (in.next()) {
    if (in.field() != 1 || !in.is_bytes())
      continue;
    MessageReader spec(in.bytes());
    while (spec.next())
      if (spec.field() == 1)
        out = spec.integer();
    if (!spec.ok())
      return std::nullopt;
  }
  if (!in.ok())
    return std::nullopt;
  return out;
}

std::string class_name(std::uint64_t number) {
  static constexpr std::array<const char*, 14> names = {"UNKNOWN",
                                                        "SPARSE_TENSOR_SPEC",
                                                        "INDEXED_SLICES_SPEC",
                                                        "RAGGED_TENSOR_SPEC",
                                                        "TENSOR_ARRAY_SPEC",
                                                        "DATA_DATASET_SPEC",
                                                        "DATA_ITERATOR_SPEC",
                                                        "OPTIONAL_SPEC",
                                                        "PER_REPLICA_SPEC",
                                                        "VARIABLE_SPEC",
                                                        "ROW_PARTITION_SPEC",
                                                        "NDARRAY_SPEC",
                                                        "REGISTERED_TYPE_SPEC",
                                                        "EXTENSION_TYPE_SPEC"};
  return number < names.size() ? names[number] : str_cat(number);
}

struct Metadata {
  std::string bytes;
  std::uint64_t type_class = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Metadata out;
  TROUPE_ASSIGN(out.bytes, c.attr<std::string>("metadata"));
  const auto type_class = class_of(out.bytes);
  if (!type_class)
    return invalid_argument("Error parsing `metadata`");
  out.type_class = *type_class;
  return prepared(std::move(out));
}

Status from_components(KernelContext& c) {
  VariantParts parts;
  parts.metadata = c.prepared<Metadata>().bytes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    TROUPE_TRY(check_nesting(c.input(i)));
    parts.tensors.push_back(c.take_input(i));
  }
  return c.set_output(0, Tensor::scalar(make_variant(type_name, std::move(parts))));
}

Status to_components(KernelContext& c) {
  const Tensor& encoded = c.input(0);
  if (!encoded.shape().is_scalar())
    return invalid_argument(str_cat("`encoded` must be a scalar, but has shape ", encoded.shape()));
  const Variant& variant = encoded.data<Variant>()[0];
  if (variant.type_name != type_name)
    return invalid_argument(str_cat("The input `encoded` is not a ", type_name, ", but holds ",
                                    variant.type_name.empty() ? "nothing" : variant.type_name));
  TROUPE_ASSIGN(const VariantParts parts, parts_of(variant));
  const std::uint64_t expected = c.prepared<Metadata>().type_class;
  const auto actual = class_of(parts.metadata);
  if (!actual)
    return invalid_argument("The metadata of the input `encoded` are none");
  if (*actual != expected)
    return invalid_argument(str_cat("Expected a ", class_name(expected),
                                    " (based on `type_spec`), but `encoded` contains a ",
                                    class_name(*actual)));
  if (static_cast<int>(parts.tensors.size()) != c.num_outputs())
    return invalid_argument(str_cat("Encoded value has ", parts.tensors.size(),
                                    " tensor components; expected ", c.num_outputs(),
                                    " components based on type_spec"));
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Tensor& component = parts.tensors[static_cast<std::size_t>(i)];
    if (component.dtype() != c.output_type(i))
      return invalid_argument(str_cat("Tensor component ", i, " had dtype ",
                                      to_string(AttrValue(component.dtype())), "; expected dtype ",
                                      to_string(AttrValue(c.output_type(i)))));
    TROUPE_TRY(c.set_output(i, component));
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.prepare = prepare;
  library.op("CompositeTensorVariantFromComponents")
      .input("components: Tcomponents")
      .output("encoded: variant")
      .attr("metadata: string; Tcomponents: list(type) >= 0")
      .shape_fn(shape_scalar)
      .not_differentiable("TensorFlow's clients bring its gradient")
      .cpu_kernel(from_components, options)
      .doc("The tensors of a composite tensor, in a variant that says what they make up.");
  library.op("CompositeTensorVariantToComponents")
      .input("encoded: variant")
      .output("components: Tcomponents")
      .attr("metadata: string; Tcomponents: list(type) >= 0")
      .shape_fn(shape_unknown)
      .not_differentiable("TensorFlow's clients bring its gradient")
      .cpu_kernel(to_components, options)
      .doc("The tensors of a composite tensor in a variant.");
}

} // namespace troupe::list_composite_tensor
