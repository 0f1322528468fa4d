// SerializeSparse, SerializeManySparse, DeserializeSparse and DeserializeManySparse: sparse tensors
// as three messages or variants each, so that queues and datasets carry them.
#include "core/tensor/variant.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/io/internal/summary.hpp"
#include "kernels/sparse/internal/parts.hpp"

namespace troupe::sparse_serialize {
namespace {

using sparse::Dims;
using sparse::Part;

constexpr auto tensor_type = "tensorflow::Tensor"; // of a variant that holds one

/// The three tensors of a part, from element `at` of `to` on.
Status write(const Part& part, Tensor& to, std::int64_t at) {
  for (const Tensor* tensor : {&part.indices, &part.values, &part.shape}) {
    const auto i = static_cast<std::size_t>(at++);
    if (to.dtype() == DType::variant) {
      TROUPE_TRY(check_nesting(*tensor));
      to.mutable_data<Variant>()[i] =
          make_variant(tensor_type, {.metadata = {}, .tensors = {*tensor}});
    } else {
      TROUPE_ASSIGN(to.mutable_data<std::string>()[i], tensor_message(*tensor, Texts::content));
    }
  }
  return {};
}

Status serialize(KernelContext& c) {
  TROUPE_ASSIGN(const Part part, sparse::input_part(c));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{3}));
  TROUPE_TRY(write(part, out, 0));
  return out.settle(c.device().host_side_allocator());
}

Status serialize_many(KernelContext& c) {
  TROUPE_ASSIGN(const Part batch, sparse::input_part(c));
  const auto shape = batch.shape.data<std::int64_t>();
  const std::int64_t rows = shape.size() > 1 ? std::max<std::int64_t>(shape[0], 0) : 0;
  TROUPE_ASSIGN(const Shape out_shape, Shape::make(Dims{rows, 3}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, out_shape));
  std::int64_t at = 0;
  TROUPE_TRY(sparse::cut(c, batch, [&](Part part) {
    at += 3;
    return write(part, out, at - 3);
  }));
  return out.settle(c.device().host_side_allocator());
}

/// The tensor that element `at` of input 0 stands for.
Result<Tensor> read(KernelContext& c, std::int64_t at) {
  const Tensor& from = c.input(0);
  const auto i = static_cast<std::size_t>(at);
  if (from.dtype() == DType::string) {
    auto tensor =
        tensor_from_message(from.data<std::string>()[i], c.device().host_side_allocator());
    if (!tensor.ok() && tensor.status().code() == Code::invalid_argument)
      return invalid_argument("Could not parse serialized proto");
    return tensor;
  }
  const Variant& variant = from.data<Variant>()[i];
  const auto none = [&] {
    return invalid_argument(
        str_cat("Could not get a tensor from serialized_sparse[", at / 3, ", ", at % 3, "]"));
  };
  if (variant.type_name != tensor_type)
    return none();
  TROUPE_ASSIGN(const VariantParts parts, parts_of(variant));
  if (parts.tensors.size() != 1)
    return none();
  return parts.tensors[0];
}

Status deserialize(KernelContext& c) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() < 1)
    return invalid_argument(str_cat("Serialized sparse should have non-zero rank ", shape));
  if (shape[shape.rank() - 1] != 3)
    return invalid_argument(
        str_cat("Serialized sparse should have 3 as the last dimension ", shape));
  const std::int64_t count = shape.num_elements() / 3;
  if (count == 0)
    return invalid_argument(str_cat("Serialized sparse should have at least 1 serialized tensor, "
                                    "but has a zero dimension ",
                                    shape));
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % 256 == 0)
      c.stop_if_cancelled();
    Part part;
    TROUPE_ASSIGN(part.indices, read(c, 3 * i));
    TROUPE_ASSIGN(part.values, read(c, 3 * i + 1));
    TROUPE_ASSIGN(part.shape, read(c, 3 * i + 2));
    parts.push_back(std::move(part));
  }
  const auto outer = shape.dims().first(static_cast<std::size_t>(shape.rank()) - 1);
  return sparse::give_joined(c, parts, Dims(outer.begin(), outer.end()));
}

Status infer_inputs(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 2));
  TROUPE_TRY(c.require_rank(1, 1));
  return c.require_rank(2, 1);
}

Status infer_serialized(ShapeContext& c) {
  TROUPE_TRY(infer_inputs(c));
  return c.set_output(0, {3});
}

Status infer_serialized_many(ShapeContext& c) {
  TROUPE_TRY(infer_inputs(c));
  return c.set_output(0, {-1, 3});
}

Status infer_deserialized(ShapeContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() > 0)
    TROUPE_TRY(shape_rules::merge_dims(c.input(0).dim(c.input(0).rank() - 1), 3).status());
  TROUPE_TRY(c.set_output(0, {-1, -1}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.set_output(2, {-1});
}

constexpr auto messages = "its values are messages";

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  constexpr auto given = "sparse_indices: int64; sparse_values: T; sparse_shape: int64";
  constexpr auto given_back = "sparse_indices: int64; sparse_values: dtype; sparse_shape: int64";
  library.op("SerializeSparse")
      .input(given)
      .output("serialized_sparse: out_type")
      .attr("T: type; out_type: {string, variant} = DT_STRING")
      .shape_fn(infer_serialized)
      .not_differentiable(messages)
      .cpu_kernel(serialize, options)
      .doc("Indices, values and shape of a sparse tensor as messages or variants.");
  library.op("SerializeManySparse")
      .input(given)
      .output("serialized_sparse: out_type")
      .attr("T: type; out_type: {string, variant} = DT_STRING")
      .shape_fn(infer_serialized_many)
      .not_differentiable(messages)
      .cpu_kernel(serialize_many, options)
      .doc("The same for each row of a batch.");
  library.op("DeserializeSparse")
      .input("serialized_sparse: Tserialized")
      .output(given_back)
      .attr("dtype: type; Tserialized: {string, variant} = DT_STRING")
      .shape_fn(infer_deserialized)
      .not_differentiable(messages)
      .cpu_kernel(deserialize, options)
      .doc("Serialized sparse tensors as one, with the dimensions of the input in front.");
  library.op("DeserializeManySparse")
      .input("serialized_sparse: string")
      .output(given_back)
      .attr("dtype: type")
      .shape_fn(infer_deserialized)
      .not_differentiable(messages)
      .cpu_kernel(deserialize, options)
      .doc("A batch of the sparse tensors in the rows of a matrix.");
}

} // namespace troupe::sparse_serialize
