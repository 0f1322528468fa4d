// Ops on one element of a list, its length and its shape.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/list/internal/tensor_list.hpp"

namespace troupe::list_list_items {
namespace {

using list::TensorList;
using list::text_of;

Status bad_dtype(DType op, DType list) {
  return invalid_argument(str_cat("Invalid data types; op elements ", to_string(op),
                                  " but list elements ", to_string(list)));
}

Status check_append(const TensorList& given, const Tensor& tensor) {
  if (!given.shape().is_compatible_with(tensor.shape()))
    return invalid_argument(str_cat("Tried to append a tensor with incompatible shape to a list. "
                                    "Op element shape: ",
                                    tensor.shape(), " list shape: ", text_of(given.shape())));
  if (tensor.dtype() != given.dtype())
    return bad_dtype(tensor.dtype(), given.dtype());
  if (given.max_size != -1 && static_cast<int>(given.size()) >= given.max_size)
    return invalid_argument(str_cat("Tried to push item into a full list list size: ", given.size(),
                                    " max_num_elements: ", given.max_size));
  return {};
}

Status push_back(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::input_list(c, 0));
  TROUPE_TRY(check_append(*given, c.input(1)));
  TROUPE_ASSIGN(list::OwnList own, list::own_list(c, 0));
  TROUPE_TRY(own.list->push(c.take_input(1), c.device().host_side_allocator()));
  return c.set_output(0, std::move(own.handle));
}

Result<Tensor> unset_element(KernelContext& c, const TensorList& list, int shape_input,
                             bool look_at_others, std::string_view hint) {
  TROUPE_ASSIGN(PartialShape shape, list::element_shape(c, list, shape_input));
  if (look_at_others && !shape.is_fully_defined())
    for (const Tensor& other : list.tensors())
      if (other.has_value()) {
        TROUPE_ASSIGN(shape, list::merge(shape, other.shape()));
      }
  const auto full = shape.to_shape();
  if (!full)
    return invalid_argument(str_cat("Trying to read an uninitialized tensor but element_shape is "
                                    "not fully defined",
                                    look_at_others ? ": " : ".", text_of(shape), hint));
  return list::zeros(c, list.dtype(), *full);
}

Status pop_back(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::typed_input_list(c, 0));
  if (given->size() == 0)
    return invalid_argument("Trying to pop from an empty list.");
  Tensor last;
  if (!(*given)[given->size() - 1].has_value()) {
    TROUPE_ASSIGN(last, unset_element(c, *given, 1, false, ""));
  }
  TROUPE_ASSIGN(list::OwnList own, list::own_list(c, 0));
  Tensor popped = own.list->pop();
  TROUPE_TRY(c.set_output(1, popped.has_value() ? std::move(popped) : std::move(last)));
  return c.set_output(0, std::move(own.handle));
}

Status get_item(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::typed_input_list(c, 0));
  TROUPE_ASSIGN(const std::int32_t index, list::scalar_input(c, 1, "index"));
  if (index < 0 || static_cast<std::size_t>(index) >= given->size())
    return invalid_argument(str_cat("Trying to access element ", index, " in a list with ",
                                    given->size(), " elements."));
  Tensor item = (*given)[static_cast<std::size_t>(index)];
  if (!item.has_value()) {
    TROUPE_ASSIGN(item, unset_element(c, *given, 2, true, " and no list element is set."));
  }
  return c.set_output(0, std::move(item));
}

Status set_item(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::typed_input_list(c, 0));
  TROUPE_ASSIGN(const std::int32_t index, list::scalar_input(c, 1, "index"));
  const bool may_grow = c.attrs().get_or("resize_if_index_out_of_bounds", false);
  if (index < 0 || (!may_grow && static_cast<std::size_t>(index) >= given->size()))
    return invalid_argument(str_cat("Trying to modify element ", index, " in a list with ",
                                    given->size(), " elements."));
  if (!given->shape().is_compatible_with(c.input(2).shape()))
    return invalid_argument(str_cat("Tried to set a tensor with incompatible shape at a list "
                                    "index. Item element shape: ",
                                    c.input(2).shape(), " list shape: ", text_of(given->shape())));
  TROUPE_ASSIGN(list::OwnList own, list::own_list(c, 0));
  const auto at = static_cast<std::size_t>(index);
  if (at >= own.list->size())
    TROUPE_TRY(own.list->resize(at + 1, c.device().host_side_allocator()));
  TROUPE_TRY(own.list->set(at, c.take_input(2)));
  return c.set_output(0, std::move(own.handle));
}

Status length(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::input_list(c, 0));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(given->size())));
}

Status shape_of_elements(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::input_list(c, 0));
  const PartialShape& shape = given->shape();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape.has_rank() ? Shape{shape.rank()} : Shape{}));
  return dispatch(Indices{}, out.dtype(), [&]<class T>() -> Status {
    auto to = out.mutable_data<T>();
    if (!shape.has_rank())
      to[0] = -1;
    else
      for (int i = 0; i < shape.rank(); ++i)
        to[static_cast<std::size_t>(i)] = static_cast<T>(shape.dim(i));
    return {};
  });
}

Status resize(KernelContext& c) {
  TROUPE_TRY(list::input_list(c, 0).status());
  TROUPE_ASSIGN(const std::int32_t size, list::scalar_input(c, 1, "size"));
  if (size < 0)
    return invalid_argument(
        str_cat("TensorListSlice expects size to be non-negative. Got: ", size));
  TROUPE_ASSIGN(list::OwnList own, list::own_list(c, 0));
  TROUPE_TRY(own.list->resize(static_cast<std::size_t>(size), c.device().host_side_allocator()));
  return c.set_output(0, std::move(own.handle));
}

Status infer_item(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_ASSIGN(PartialShape shape, list::constant_shape(c, 2));
  return c.set_output(0, std::move(shape));
}

Status infer_pop(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.set_output(0, PartialShape(Shape{})));
  TROUPE_ASSIGN(PartialShape shape, list::constant_shape(c, 1));
  return c.set_output(1, std::move(shape));
}

constexpr auto python = "TensorFlow's clients bring its gradient";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TensorListPushBack")
      .input("input_handle: variant; tensor: element_dtype")
      .output("output_handle: variant")
      .attr("element_dtype: type")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(push_back)
      .doc("The list with the tensor behind its last element.");
  library.op("TensorListPopBack")
      .input("input_handle: variant; element_shape: int32")
      .output("output_handle: variant; tensor: element_dtype")
      .attr("element_dtype: type")
      .shape_fn(infer_pop)
      .not_differentiable(python)
      .cpu_kernel(pop_back)
      .doc("The list without its last element, and that.");
  library.op("TensorListGetItem")
      .input("input_handle: variant; index: int32; element_shape: Tshape")
      .output("item: element_dtype")
      .attr("element_dtype: type; Tshape: {int32, int64} = DT_INT32")
      .shape_fn(infer_item)
      .not_differentiable(python)
      .cpu_kernel(get_item)
      .doc("The element at `index`; zeros where nothing was set.");
  library.op("TensorListSetItem")
      .input("input_handle: variant; index: int32; item: element_dtype")
      .output("output_handle: variant")
      .attr("element_dtype: type; resize_if_index_out_of_bounds: bool = false")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(set_item)
      .doc("The list with another element at `index`.");
  library.op("TensorListLength")
      .input("input_handle: variant")
      .output("length: int32")
      .shape_fn(shape_scalar)
      .not_differentiable("it counts")
      .cpu_kernel(length)
      .doc("How many elements the list has.");
  library.op("TensorListElementShape")
      .input("input_handle: variant")
      .output("element_shape: shape_type")
      .attr("shape_type: {int32, int64}")
      .shape_fn(shape_unknown)
      .not_differentiable("its values are dimensions")
      .cpu_kernel(shape_of_elements)
      .doc("The shape that all elements fit: a vector, or -1 where its rank is not known.");
  library.op("TensorListResize")
      .input("input_handle: variant; size: int32")
      .output("output_handle: variant")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(resize)
      .doc("The list with `size` elements: without its last ones, or with some that are not set.");
}

} // namespace troupe::list_list_items
