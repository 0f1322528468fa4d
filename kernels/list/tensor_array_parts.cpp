// Many elements of a TensorArray at once: one tensor from them, and them from one tensor.
#include <limits>
#include <numeric>

#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/list/internal/tensor_array.hpp"

namespace troupe::list_tensor_array_parts {
namespace {

using list::Piece;
using list::TensorArray;
using list::text_of;

Status check_indices(const Tensor& indices) {
  if (indices.shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected indices to be a vector, but received shape: ", indices.shape()));
  return {};
}

Result<std::shared_ptr<const void>> keep_element_shape(PrepareContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("element_shape"));
  return prepared(std::move(shape));
}

Result<std::shared_ptr<const void>> keep_shape_except0(PrepareContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("element_shape_except0"));
  return prepared(std::move(shape));
}

Status no_static_shape(std::string_view what, const PartialShape& shape, std::string_view doing) {
  return unimplemented(str_cat("TensorArray has size zero, but ", what, " ", text_of(shape),
                               " is not fully defined. Currently only static shapes are supported "
                               "when ",
                               doing, " zero-size TensorArrays."));
}

Status gather(KernelContext& c) {
  const auto& named = c.prepared<PartialShape>();
  TROUPE_ASSIGN(auto array, list::input_array_to_read(c));
  TROUPE_TRY(array->narrow_shape(named));
  const Tensor indices = c.input(1);
  TROUPE_TRY(check_indices(indices));
  if (indices.num_elements() == 0) {
    const auto full = named.to_shape();
    if (!full)
      return no_static_shape("element shape", named, "packing");
    TROUPE_ASSIGN(const Shape shape, list::with_first(0, *full));
    return c.allocate_output(0, shape).status();
  }
  TROUPE_ASSIGN(const auto values, array->read(c, indices.data<std::int32_t>()));
  const Shape& shape = values[0].shape();
  if (!named.is_compatible_with(shape))
    return invalid_argument(str_cat("TensorArray was passed element_shape ", text_of(named),
                                    " which does not match the Tensor at index 0: ", shape));
  std::vector<Piece> pieces;
  pieces.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i].shape() == shape))
      return invalid_argument(str_cat("TensorArray has inconsistent shapes.  Index 0 has shape: ",
                                      shape, " but index ", i, " has shape: ", values[i].shape()));
    pieces.push_back({&values[i], shape.num_elements()});
  }
  TROUPE_ASSIGN(const Shape whole, list::with_first(indices.num_elements(), shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, whole));
  return list::join(c, pieces, out);
}

/// Whether the elements can be concatenated, and the shape that they have behind their first
/// dimension.
Result<Shape> shape_except0(const std::vector<Tensor>& values, const PartialShape& named) {
  Shape out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].shape().is_scalar())
      return invalid_argument(
          str_cat("Concat saw a scalar shape at index ", i,
                  " but requires at least vectors.  Did you mean to call pack?"));
    const Shape rest = values[i].shape().without(0);
    if (i == 0 && !named.is_compatible_with(rest))
      return invalid_argument(str_cat(
          "TensorArray was passed element_shape_except0 ", text_of(named),
          " but index 0 has (excepting dimension 0) shape: ", rest, " which does not match."));
    if (i == 0)
      out = rest;
    if (!(out == rest))
      return invalid_argument(
          str_cat("TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) "
                  "shape: ",
                  out, " but index ", i, " has (excepting dimension 0) shape: ", rest));
  }
  return out;
}

Status concat(KernelContext& c) {
  const auto& named = c.prepared<PartialShape>();
  TROUPE_ASSIGN(auto array, list::input_array_to_read(c));
  TROUPE_ASSIGN(const std::int32_t packed, array->packed_size());
  const std::int32_t size = std::max(packed, 0);
  TROUPE_ASSIGN(Tensor lengths, c.allocate_output(1, Shape{size}));
  if (size == 0) {
    const auto full = named.to_shape();
    if (!full)
      return no_static_shape("element_shape_except0", named, "concatenating");
    TROUPE_ASSIGN(const Shape shape, list::with_first(0, *full));
    return c.allocate_output(0, shape).status();
  }
  std::vector<std::int32_t> indices(static_cast<std::size_t>(size));
  std::iota(indices.begin(), indices.end(), 0);
  TROUPE_ASSIGN(const auto values, array->read(c, indices));
  TROUPE_ASSIGN(const Shape rest, shape_except0(values, named));
  std::vector<Piece> pieces;
  pieces.reserve(values.size());
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    lengths.mutable_data<std::int64_t>()[i] = values[i].shape()[0];
    if (__builtin_add_overflow(rows, values[i].shape()[0], &rows))
      return invalid_argument("the elements have more rows than a tensor may have");
    pieces.push_back({&values[i], values[i].num_elements()});
  }
  TROUPE_ASSIGN(const Shape whole, list::with_first(rows, rest));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, whole));
  return list::join(c, pieces, out);
}

Status scatter(KernelContext& c) {
  const Tensor indices = c.input(1), value = c.input(2);
  TROUPE_ASSIGN(auto array, list::input_array_to_write(c, value.dtype()));
  if (value.shape().is_scalar())
    return invalid_argument(str_cat(
        "Input value for unpack must be at least a vector but received shape: ", value.shape()));
  TROUPE_TRY(check_indices(indices));
  if (indices.num_elements() != value.shape()[0])
    return invalid_argument(str_cat("Expected len(indices) == values.shape[0], but saw: ",
                                    indices.num_elements(), " vs. ", value.shape()[0]));
  TROUPE_ASSIGN(const std::int32_t size, array->size());
  std::int32_t largest = -1;
  for (std::int32_t index : indices.data<std::int32_t>())
    largest = std::max(largest, index);
  if (largest >= size && !array->is_dynamic())
    return invalid_argument(
        str_cat("Max scatter index must be < array size (", largest, " vs. ", size, ")"));
  const Shape row = value.shape().without(0);
  std::vector<Tensor> values;
  values.reserve(static_cast<std::size_t>(indices.num_elements()));
  for (std::int64_t i = 0; i < indices.num_elements(); ++i) {
    TROUPE_ASSIGN(Tensor one, list::part(c, value, i, i + 1, row));
    values.push_back(std::move(one));
  }
  TROUPE_TRY(array->write(c, indices.data<std::int32_t>(), std::move(values)));
  return c.set_output(0, c.take_input(3));
}

/// Whether the lengths are those of pieces that make up `value`.
Status check_lengths(const Tensor& value, const Tensor& lengths) {
  if (lengths.shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected lengths to be a vector, received shape: ", lengths.shape()));
  if (lengths.num_elements() > std::numeric_limits<std::int32_t>::max())
    return invalid_argument("Expected lengths to have < max int32 entries");
  if (value.shape().is_scalar())
    return invalid_argument(
        str_cat("Expected value to be at least a vector, but received shape: ", value.shape()));
  std::int64_t total = 0;
  for (std::int64_t length : lengths.data<std::int64_t>()) {
    if (length < 0)
      return invalid_argument(str_cat("Invalid value in lengths: ", length));
    if (__builtin_add_overflow(total, length, &total))
      return invalid_argument("the sum of lengths is beyond 2^63 - 1");
  }
  if (total != value.shape()[0])
    return invalid_argument(
        str_cat("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ",
                total, " and value's shape is: ", value.shape()));
  return {};
}

Status split(KernelContext& c) {
  const Tensor value = c.input(1), lengths = c.input(2);
  TROUPE_ASSIGN(auto array, list::input_array(c));
  TROUPE_TRY(check_lengths(value, lengths));
  TROUPE_ASSIGN(std::int32_t size, array->size());
  const auto pieces = static_cast<std::int32_t>(lengths.num_elements());
  if (array->is_dynamic())
    size = std::max(size, pieces);
  if (size != pieces)
    return invalid_argument(
        str_cat("TensorArray's size is not equal to the size of lengths (", size, " vs. ", pieces,
                "), and the TensorArray is not marked as dynamically resizeable"));
  TROUPE_TRY(list::input_array_to_write(c, value.dtype()).status());
  std::vector<std::int32_t> indices(static_cast<std::size_t>(pieces));
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<Tensor> values;
  values.reserve(indices.size());
  std::int64_t start = 0;
  for (std::int64_t length : lengths.data<std::int64_t>()) {
    TROUPE_ASSIGN(Tensor one,
                  list::part(c, value, start, start + length, value.shape().with_dim(0, length)));
    values.push_back(std::move(one));
    start += length;
  }
  TROUPE_TRY(array->mark_size(size));
  TROUPE_TRY(array->write(c, indices, std::move(values)));
  return c.set_output(0, c.take_input(3));
}

Status infer_gather(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 0));
  TROUPE_ASSIGN(const PartialShape rest, c.attr<PartialShape>("element_shape"));
  if (!rest.has_rank())
    return c.set_output(0, PartialShape());
  std::vector<std::int64_t> dims{c.input(1).has_rank() ? c.input(1).dim(0) : -1};
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_concat(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  return c.set_output(1, PartialShape{-1});
}

Status infer_scatter(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(3, 0));
  return shape_scalar(c);
}

Status infer_split(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(2, 1));
  TROUPE_TRY(c.require_rank(3, 0));
  return shape_scalar(c);
}

constexpr auto python = "TensorFlow's clients bring its gradient";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TensorArrayGatherV3")
      .input("handle: resource; indices: int32; flow_in: float")
      .output("value: dtype")
      .attr("dtype: type; element_shape: shape = { unknown_rank: true }")
      .stateful()
      .shape_fn(infer_gather)
      .not_differentiable(python)
      .cpu_kernel(gather, {.prepare = keep_element_shape, .expensive = true})
      .gpu_kernel(gather, list::elements_on_gpu({.prepare = keep_element_shape}, "dtype"))
      .host_kernel_on_gpu(gather, array::int32_on_host({.prepare = keep_element_shape}, "dtype"))
      .doc("The elements at the indices along a new first dimension.");
  library.op("TensorArrayConcatV3")
      .input("handle: resource; flow_in: float")
      .output("value: dtype; lengths: int64")
      .attr("dtype: type; element_shape_except0: shape = { unknown_rank: true }")
      .stateful()
      .shape_fn(infer_concat)
      .not_differentiable(python)
      .cpu_kernel(concat, {.prepare = keep_shape_except0, .expensive = true})
      .gpu_kernel(concat, list::elements_on_gpu({.prepare = keep_shape_except0}, "dtype"))
      .host_kernel_on_gpu(concat, array::int32_on_host({.prepare = keep_shape_except0}, "dtype"))
      .doc("All elements, one after the other along their first dimension, and their lengths.");
  library.op("TensorArrayScatterV3")
      .input("handle: resource; indices: int32; value: T; flow_in: float")
      .output("flow_out: float")
      .attr("T: type")
      .stateful()
      .shape_fn(infer_scatter)
      .not_differentiable(python)
      .cpu_kernel(scatter, {.expensive = true})
      .gpu_kernel(scatter, list::elements_on_gpu({}, "T"))
      .host_kernel_on_gpu(scatter, array::int32_on_host({}, "T"))
      .doc("Writes row i of the value to element indices[i].");
  library.op("TensorArraySplitV3")
      .input("handle: resource; value: T; lengths: int64; flow_in: float")
      .output("flow_out: float")
      .attr("T: type")
      .stateful()
      .shape_fn(infer_split)
      .not_differentiable(python)
      .cpu_kernel(split, {.expensive = true})
      .gpu_kernel(split, list::elements_on_gpu({}, "T"))
      .host_kernel_on_gpu(split, array::int32_on_host({}, "T"))
      .doc("Writes pieces of the value; piece i, of lengths[i] rows, is element i.");
}

} // namespace troupe::list_tensor_array_parts
