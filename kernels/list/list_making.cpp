// Ops that make lists: empty ones, and from the rows of a tensor.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/list/internal/tensor_list.hpp"

namespace troupe::list_list_making {
namespace {

using list::TensorList;
using list::text_of;

Status give(KernelContext& c, std::shared_ptr<TensorList> made) {
  return c.set_output(0, list::handle_of(std::move(made)));
}

Status make_empty(KernelContext& c) {
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat("max_num_elements expected to be a scalar but got shape: ", c.input(1).shape()));
  TROUPE_ASSIGN(PartialShape shape, list::input_shape(c, 0));
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("element_dtype"));
  auto made = std::make_shared<TensorList>(dtype, std::move(shape));
  made->max_size = c.input(1).value<std::int32_t>();
  return give(c, std::move(made));
}

Status reserve(KernelContext& c) {
  TROUPE_ASSIGN(PartialShape shape, list::input_shape(c, 0));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat("The num_elements to reserve must be a tensor size 1, but got ",
                                    c.input(1).shape()));
  const std::int32_t size = c.input(1).value<std::int32_t>();
  if (size < 0)
    return invalid_argument(
        str_cat("The num_elements to reserve must be a non negative number, but got ", size));
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("element_dtype"));
  auto made = std::make_shared<TensorList>(dtype, std::move(shape));
  TROUPE_TRY(made->resize(static_cast<std::size_t>(size), c.device().host_side_allocator()));
  return give(c, std::move(made));
}

Status check_vector(const Tensor& tensor) {
  if (tensor.shape().is_scalar())
    return invalid_argument(
        str_cat("Tensor must be at least a vector, but saw shape: ", tensor.shape()));
  return {};
}

/// An empty list for the rows of `tensor`, whose shape input `shape_input` gives.
Result<std::shared_ptr<TensorList>> list_for_rows(KernelContext& c, const Tensor& tensor,
                                                  int shape_input) {
  TROUPE_ASSIGN(PartialShape shape, list::input_shape(c, shape_input));
  TROUPE_TRY(check_vector(tensor));
  const Shape row = tensor.shape().without(0);
  if (!shape.is_compatible_with(row))
    return invalid_argument(
        str_cat("Specified a list with shape ", text_of(shape), " from a tensor with shape ", row));
  return std::make_shared<TensorList>(tensor.dtype(), std::move(shape));
}

Status from_tensor(KernelContext& c) {
  const Tensor& tensor = c.input(0);
  TROUPE_ASSIGN(auto made, list_for_rows(c, tensor, 1));
  const Shape row = tensor.shape().without(0);
  Allocator& account = c.device().host_side_allocator();
  TROUPE_TRY(made->resize(static_cast<std::size_t>(tensor.shape()[0]), account));
  for (std::int64_t i = 0; i < tensor.shape()[0]; ++i) {
    TROUPE_ASSIGN(Tensor item, list::part(c, tensor, i, i + 1, row));
    TROUPE_TRY(made->set(static_cast<std::size_t>(i), std::move(item)));
  }
  return give(c, std::move(made));
}

/// Sets the elements at `indices` to the rows of `tensor`; the list has room for them.
Status scatter_rows(KernelContext& c, const Tensor& tensor, const Tensor& indices, TensorList& to) {
  const Shape row = tensor.shape().without(0);
  std::int64_t i = 0;
  for (std::int32_t at : indices.data<std::int32_t>()) {
    TROUPE_ASSIGN(Tensor item, list::part(c, tensor, i, i + 1, row));
    TROUPE_TRY(to.set(static_cast<std::size_t>(at), std::move(item)));
    ++i;
  }
  return {};
}

/// One more than the largest index. INVALID_ARGUMENT for a negative one, and for one beyond `size`
/// (-1: no bound).
Result<std::size_t> size_for(const Tensor& indices, std::int32_t size) {
  std::int32_t largest = -1;
  for (std::int32_t i : indices.data<std::int32_t>()) {
    if (i < 0)
      return invalid_argument("Indices in TensorListScatter must all be non-negative.");
    if (size != -1 && i >= size)
      return invalid_argument(str_cat("TensorListScatter: Trying to scatter at index ", i,
                                      " in list with size ", size));
    largest = std::max(largest, i);
  }
  return static_cast<std::size_t>(static_cast<std::int64_t>(largest) + 1);
}

// TensorListScatterV2 says how many elements the list has.
Status scatter(KernelContext& c) {
  std::int32_t size = -1;
  if (c.num_inputs() > 3) {
    TROUPE_ASSIGN(size, list::scalar_input(c, 3, "num_elements"));
    if (size < -1)
      return invalid_argument(
          str_cat("TensorListScatter expects num_elements >= -1, found: ", size));
  }
  const Tensor &tensor = c.input(0), &indices = c.input(1);
  TROUPE_ASSIGN(auto made, list_for_rows(c, tensor, 2));
  if (indices.num_elements() != tensor.shape()[0])
    return invalid_argument(str_cat("Invalid number of rows in input tensor. Expected: ",
                                    indices.num_elements(), " Actual: ", tensor.shape()[0]));
  TROUPE_ASSIGN(const std::size_t needed, size_for(indices, size));
  TROUPE_TRY(made->resize(size < 0 ? needed : static_cast<std::size_t>(size),
                          c.device().host_side_allocator()));
  TROUPE_TRY(scatter_rows(c, tensor, indices, *made));
  return give(c, std::move(made));
}

Status scatter_into_existing(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::input_list(c, 0));
  const Tensor tensor = c.input(1), indices = c.input(2);
  if (tensor.dtype() != given->dtype())
    return invalid_argument(
        str_cat("Invalid data types; input tensor type: ", to_string(tensor.dtype()),
                " list element_type: ", to_string(given->dtype())));
  TROUPE_TRY(check_vector(tensor));
  if (indices.shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected indices to be a vector, but received shape: ", indices.shape()));
  if (indices.num_elements() != tensor.shape()[0])
    return invalid_argument(str_cat("Expected len(indices) == tensor.shape[0], but saw: ",
                                    indices.num_elements(), " vs. ", tensor.shape()[0]));
  if (!given->shape().is_compatible_with(tensor.shape().without(0)))
    return invalid_argument(str_cat("Specified a list with shape ", text_of(given->shape()),
                                    " from a tensor with shape ", tensor.shape().without(0)));
  TROUPE_ASSIGN(const std::size_t needed, size_for(indices, -1));
  TROUPE_ASSIGN(list::OwnList own, list::own_list(c, 0));
  if (needed > own.list->size())
    TROUPE_TRY(own.list->resize(needed, c.device().host_side_allocator()));
  TROUPE_TRY(scatter_rows(c, tensor, indices, *own.list));
  return c.set_output(0, std::move(own.handle));
}

Status split(KernelContext& c) {
  const Tensor &tensor = c.input(0), &lengths = c.input(2);
  TROUPE_ASSIGN(PartialShape shape, list::input_shape(c, 1));
  if (shape.has_rank() && shape.rank() < 1)
    return invalid_argument(
        str_cat("TensorListSplit requires element_shape to be at least of rank 1, but saw: ",
                text_of(shape)));
  TROUPE_TRY(check_vector(tensor));
  if (!list::without_first(shape).is_compatible_with(tensor.shape().without(0)))
    return invalid_argument(str_cat("tensor shape ", tensor.shape(),
                                    " is not compatible with element_shape ", text_of(shape)));
  if (lengths.shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected lengths to be a vector, received shape: ", lengths.shape()));
  auto made = std::make_shared<TensorList>(tensor.dtype(), std::move(shape));
  Allocator& account = c.device().host_side_allocator();
  const std::int64_t rows = tensor.shape()[0];
  std::int64_t start = 0;
  for (std::int64_t length : lengths.data<std::int64_t>()) {
    if (length < 0)
      return invalid_argument(str_cat("Invalid value in lengths: ", length));
    if (length > rows - start)
      return invalid_argument(
          str_cat("Attempting to slice [", start, ", ",
                  static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(length),
                  "] from tensor with length ", rows));
    TROUPE_ASSIGN(Tensor item,
                  list::part(c, tensor, start, start + length, tensor.shape().with_dim(0, length)));
    TROUPE_TRY(made->push(std::move(item), account));
    start += length;
  }
  if (start != rows)
    return invalid_argument(
        str_cat("Unused values in tensor. Length of tensor: ", rows, " Values used: ", start));
  return give(c, std::move(made));
}

constexpr auto python = "TensorFlow's clients bring its gradient";
constexpr auto constant = "it has no inputs that have gradients";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("EmptyTensorList")
      .input("element_shape: shape_type; max_num_elements: int32")
      .output("handle: variant")
      .attr("element_dtype: type; shape_type: {int32, int64}")
      .shape_fn(shape_scalar)
      .not_differentiable(constant)
      .cpu_kernel(make_empty)
      .doc("A list without elements, for at most `max_num_elements` (-1: any number).");
  library.op("TensorListReserve")
      .input("element_shape: shape_type; num_elements: int32")
      .output("handle: variant")
      .attr("element_dtype: type; shape_type: {int32, int64}")
      .shape_fn(shape_scalar)
      .not_differentiable(constant)
      .cpu_kernel(reserve)
      .doc("A list of `num_elements` elements, none of them set.");
  library.op("TensorListFromTensor")
      .input("tensor: element_dtype; element_shape: shape_type")
      .output("output_handle: variant")
      .attr("element_dtype: type; shape_type: {int32, int64}")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(from_tensor, {.expensive = true})
      .doc("A list of the tensor's rows.");
  library.op("TensorListScatter")
      .input("tensor: element_dtype; indices: int32; element_shape: shape_type")
      .output("output_handle: variant")
      .attr("element_dtype: type; shape_type: {int32, int64}")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(scatter, {.expensive = true})
      .doc("A list whose element indices[i] is row i of the tensor.");
  library.op("TensorListScatterV2")
      .input("tensor: element_dtype; indices: int32; element_shape: shape_type; "
             "num_elements: int32")
      .output("output_handle: variant")
      .attr("element_dtype: type; shape_type: {int32, int64}")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(scatter, {.expensive = true})
      .doc("A list of `num_elements` elements (-1: as many as the indices ask for), whose element "
           "indices[i] is row i of the tensor.");
  library.op("TensorListScatterIntoExistingList")
      .input("input_handle: variant; tensor: element_dtype; indices: int32")
      .output("output_handle: variant")
      .attr("element_dtype: type")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(scatter_into_existing, {.expensive = true})
      .doc("The list with row i of the tensor as its element indices[i]; it grows where needed.");
  library.op("TensorListSplit")
      .input("tensor: element_dtype; element_shape: shape_type; lengths: int64")
      .output("output_handle: variant")
      .attr("element_dtype: type; shape_type: {int32, int64}")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(split, {.expensive = true})
      .doc("A list of pieces of the tensor; piece i has lengths[i] rows.");
}

} // namespace troupe::list_list_making
