// Ops that make one tensor of a list's elements.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/list/internal/tensor_list.hpp"

namespace troupe::list_list_joining {
namespace {

using list::Piece;
using list::TensorList;
using list::text_of;

/// The shape of all elements, as far as `known` and those that are set say it.
Result<PartialShape> shape_with(PartialShape known, const Tensor& element) {
  if (!element.has_value())
    return known;
  return list::merge(known, element.shape());
}

/// Output 0 is the elements, each of `shape`, along a new first dimension.
Status stack_up(KernelContext& c, const std::vector<const Tensor*>& elements, const Shape& shape) {
  TROUPE_ASSIGN(const Shape whole,
                list::with_first(static_cast<std::int64_t>(elements.size()), shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, whole));
  std::vector<Piece> pieces;
  pieces.reserve(elements.size());
  for (const Tensor* element : elements)
    pieces.push_back({element->has_value() ? element : nullptr, shape.num_elements()});
  return list::join(c, pieces, out);
}

Status stack(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::typed_input_list(c, 0));
  const auto expected = c.attrs().get_or("num_elements", std::int64_t{-1});
  if (expected != -1 && static_cast<std::int64_t>(given->size()) != expected)
    return invalid_argument(str_cat("Operation expected a list with ", expected,
                                    " elements but got a list with ", given->size(), " elements."));
  TROUPE_ASSIGN(PartialShape shape, list::element_shape(c, *given, 1));
  if (given->size() == 0 && !shape.is_fully_defined())
    return invalid_argument(str_cat("Tried to stack elements of an empty list with "
                                    "non-fully-defined element_shape: ",
                                    text_of(shape)));
  std::vector<const Tensor*> elements;
  elements.reserve(given->size());
  for (const Tensor& element : given->tensors()) {
    TROUPE_ASSIGN(shape, shape_with(std::move(shape), element));
    elements.push_back(&element);
  }
  const auto full = shape.to_shape();
  if (!full)
    return invalid_argument(str_cat("Tried to stack list which only contains uninitialized tensors "
                                    "and has a non-fully-defined element_shape: ",
                                    text_of(shape)));
  return stack_up(c, elements, *full);
}

Status gather(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::typed_input_list(c, 0));
  const Tensor indices = c.input(1);
  TROUPE_ASSIGN(PartialShape shape, list::element_shape(c, *given, 2));
  if (indices.num_elements() == 0 && !shape.is_fully_defined())
    return invalid_argument(str_cat(
        "Tried to gather 0-elements from a list with non-fully-defined shape: ", text_of(shape)));
  std::vector<const Tensor*> elements;
  elements.reserve(static_cast<std::size_t>(indices.num_elements()));
  for (std::int32_t i : indices.data<std::int32_t>()) {
    if (i < 0 || static_cast<std::size_t>(i) >= given->size())
      return invalid_argument(
          str_cat("Index ", i, " out o range; list only has ", given->size(), " elements."));
    const Tensor& element = (*given)[static_cast<std::size_t>(i)];
    TROUPE_ASSIGN(shape, shape_with(std::move(shape), element));
    elements.push_back(&element);
  }
  const auto full = shape.to_shape();
  if (!full)
    return invalid_argument(str_cat("Tried to gather uninitialized tensors from a list with "
                                    "non-fully-defined element_shape: ",
                                    text_of(shape)));
  return stack_up(c, elements, *full);
}

/// What is known of the elements of a list that is concatenated.
struct ConcatShape {
  std::int64_t first = -1; ///< of all elements; -1 where they differ or none is set
  PartialShape rest;
};

/// What op and list say before the elements are looked at.
Result<ConcatShape> named_concat_shape(KernelContext& c, const TensorList& given) {
  ConcatShape out;
  if (c.num_inputs() == 1) { // TensorListConcat has it as an attribute
    TROUPE_ASSIGN(const PartialShape shape, c.attr<PartialShape>("element_shape"));
    if (shape.has_rank() && shape.rank() == 0)
      return invalid_argument("element_shape must not be empty");
    out.rest = list::without_first(shape);
    return out;
  }
  TROUPE_ASSIGN(const PartialShape shape, list::element_shape(c, given, 1));
  if (shape.has_rank() && shape.rank() < 1)
    return invalid_argument(
        "Concat requires elements to be at least vectors, found scalars instead.");
  out.first = shape.has_rank() ? shape.dim(0) : -1;
  out.rest = list::without_first(shape);
  return out;
}

Status look_at_elements(const TensorList& given, ConcatShape& known) {
  const bool infer = known.first == -1;
  bool differ = false;
  std::int64_t first = known.first;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor& element = given[i];
    if (!element.has_value())
      continue;
    if (element.shape().is_scalar())
      return invalid_argument(
          str_cat("Concat saw a scalar shape at index ", i, " but requires at least vectors."));
    TROUPE_ASSIGN(known.rest, list::merge(known.rest, element.shape().without(0)));
    const std::int64_t rows = element.shape()[0];
    if (!infer && rows != known.first)
      return invalid_argument(
          str_cat("First entry of element_shape input does not match the first dim of list element "
                  "at index: ",
                  i, " Expected: ", known.first, " Actual: ", rows));
    differ = differ || (first != -1 && first != rows);
    first = rows;
  }
  if (infer)
    known.first = differ ? -1 : first;
  return {};
}

/// How many rows element i has in the output, where it is not set.
Result<std::int64_t> rows_of_unset(KernelContext& c, std::size_t i, const ConcatShape& known) {
  const std::int64_t given = c.num_inputs() > 2 ? c.input(2).num_elements() : 0;
  if (static_cast<std::int64_t>(i) >= given && known.first != -1)
    return known.first;
  if (c.num_inputs() <= 2)
    return invalid_argument("Concating lists with uninitialized tensors is not supported in this "
                            "version of TensorListConcat. Consider updating your GraphDef to run "
                            "the newer version.");
  if (static_cast<std::int64_t>(i) >= given)
    return invalid_argument(str_cat("List contains uninitialized tensor at index ", i,
                                    " but leading_dims has only ", given, " elements."));
  const std::int64_t rows = c.input(2).data<std::int64_t>()[i];
  if (rows < 0)
    return invalid_argument(
        str_cat("leading_dims must not be negative, but is ", rows, " at index ", i));
  return rows;
}

Status concat(KernelContext& c) {
  TROUPE_ASSIGN(const TensorList* given, list::typed_input_list(c, 0));
  TROUPE_ASSIGN(ConcatShape known, named_concat_shape(c, *given));
  if (given->size() == 0 && !known.rest.is_fully_defined())
    return invalid_argument(str_cat("All except the first dimension must be fully defined when "
                                    "concating an empty tensor list. element_shape: ",
                                    text_of(known.rest)));
  TROUPE_TRY(look_at_elements(*given, known));
  const auto rest = known.rest.to_shape();
  if (!rest)
    return invalid_argument(str_cat("Trying to concat list with only uninitialized tensors but "
                                    "element_shape_except_first_dim is not fully defined: ",
                                    text_of(known.rest)));
  TROUPE_ASSIGN(Tensor lengths,
                c.allocate_output(1, Shape{static_cast<std::int64_t>(given->size())}));
  std::vector<Piece> pieces;
  pieces.reserve(given->size());
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Tensor& element = (*given)[i];
    std::int64_t own = element.has_value() ? element.shape()[0] : 0;
    if (!element.has_value()) {
      TROUPE_ASSIGN(own, rows_of_unset(c, i, known));
    }
    lengths.mutable_data<std::int64_t>()[i] = own;
    if (__builtin_add_overflow(rows, own, &rows))
      return invalid_argument("the elements have more rows than a tensor may have");
    TROUPE_TRY(list::with_first(rows, *rest).status());
    pieces.push_back({element.has_value() ? &element : nullptr, own * rest->num_elements()});
  }
  TROUPE_ASSIGN(const Shape whole, list::with_first(rows, *rest));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, whole));
  return list::join(c, pieces, out);
}

PartialShape with_first(std::int64_t first, const PartialShape& rest) {
  if (!rest.has_rank())
    return {};
  std::vector<std::int64_t> dims{first};
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return PartialShape(std::move(dims));
}

Status infer_stack(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_ASSIGN(const PartialShape shape, list::constant_shape(c, 1));
  return c.set_output(0, with_first(c.attrs().get_or("num_elements", std::int64_t{-1}), shape));
}

Status infer_gather(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_ASSIGN(const PartialShape shape, list::constant_shape(c, 2));
  const bool known = c.input(1).has_rank() && c.input(1).rank() == 1;
  return c.set_output(0, with_first(known ? c.input(1).dim(0) : -1, shape));
}

Status infer_concat(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.set_output(1, PartialShape{-1}));
  PartialShape shape;
  if (c.num_inputs() > 1) {
    TROUPE_ASSIGN(shape, list::constant_shape(c, 1));
  } else {
    shape = c.attrs().get_or("element_shape", PartialShape());
  }
  if (shape.has_rank() && shape.rank() == 0)
    return invalid_argument("Shape must be at least rank 1 but is rank 0");
  return c.set_output(0, with_first(-1, list::without_first(shape)));
}

constexpr auto python = "TensorFlow's clients bring its gradient";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TensorListStack")
      .input("input_handle: variant; element_shape: int32")
      .output("tensor: element_dtype")
      .attr("element_dtype: type; num_elements: int = -1")
      .shape_fn(infer_stack)
      .not_differentiable(python)
      .cpu_kernel(stack, {.expensive = true})
      .doc("The elements along a new first dimension; zeros where none is set.");
  library.op("TensorListGather")
      .input("input_handle: variant; indices: int32; element_shape: int32")
      .output("values: element_dtype")
      .attr("element_dtype: type")
      .shape_fn(infer_gather)
      .not_differentiable(python)
      .cpu_kernel(gather, {.expensive = true})
      .doc("The elements at the indices along a new first dimension.");
  library.op("TensorListConcat")
      .input("input_handle: variant")
      .output("tensor: element_dtype; lengths: int64")
      .attr("element_dtype: type; element_shape: shape = { unknown_rank: true }")
      .shape_fn(infer_concat)
      .not_differentiable(python)
      .cpu_kernel(concat, {.expensive = true})
      .doc("The elements, one after the other along their first dimension, and their lengths.");
  library.op("TensorListConcatV2")
      .input("input_handle: variant; element_shape: shape_type; leading_dims: int64")
      .output("tensor: element_dtype; lengths: int64")
      .attr("element_dtype: type; shape_type: {int32, int64}")
      .shape_fn(infer_concat)
      .not_differentiable(python)
      .cpu_kernel(concat, {.expensive = true})
      .doc("TensorListConcat; leading_dims tells the lengths of elements that are not set.");
}

} // namespace troupe::list_list_joining
