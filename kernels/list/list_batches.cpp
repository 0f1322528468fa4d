// Ops on tensors of lists.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/list/internal/tensor_list.hpp"

namespace troupe::list_list_batches {
namespace {

using list::TensorList;
using list::text_of;

/// The list in a variant as one that may be changed: it gets a copy if others hold it.
Result<TensorList*> own_in(Variant& variant, Allocator& account) {
  TROUPE_ASSIGN(const TensorList* shared, list::list_in(variant, account));
  if (auto* own = sole_value<TensorList>(variant))
    return own;
  TROUPE_ASSIGN(std::shared_ptr<TensorList> copy, shared->copy(account));
  TensorList* out = copy.get();
  variant.value = std::move(copy);
  return out;
}

/// The variants of input i in a tensor that may be written.
Result<Tensor> own_variants(KernelContext& c, int i) {
  Tensor given = c.take_input(i);
  if (given.is_unique())
    return given;
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(DType::variant, given.shape()));
  std::ranges::copy(given.data<Variant>(), out.mutable_data<Variant>().begin());
  return out;
}

std::string name_of(const Variant& variant) {
  return variant.type_name.empty() ? "<empty>" : variant.type_name;
}

Status check_pair(const TensorList* a, const TensorList* b, DType dtype, std::size_t i,
                  const Variant& first, const Variant& second) {
  if (!a)
    return invalid_argument(
        str_cat("input_a is not a TensorList at index ", i, ".  Saw: '", name_of(first), "'"));
  if (!b)
    return invalid_argument(
        str_cat("input_b is not a TensorList at index ", i, ".  Saw: '", name_of(second), "'"));
  if (a->dtype() != dtype)
    return invalid_argument(str_cat("input_a[", i, "].dtype != element_dtype.  Saw: ",
                                    to_string(a->dtype()), " vs. ", to_string(dtype)));
  if (b->dtype() != dtype)
    return invalid_argument(str_cat("input_b[", i, "].dtype != element_dtype.  Saw: ",
                                    to_string(b->dtype()), " vs. ", to_string(dtype)));
  if (!(a->shape() == b->shape()))
    return invalid_argument(
        str_cat("input_a and input_b TensorList element shapes are not identical at index ", i,
                ".  Saw ", text_of(a->shape()), " vs. ", text_of(b->shape())));
  return {};
}

Status concat_lists(KernelContext& c) {
  if (!(c.input(0).shape() == c.input(1).shape()))
    return invalid_argument(str_cat("Incompatible input TensorList tensor shapes: ",
                                    c.input(0).shape(), " vs. ", c.input(1).shape()));
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("element_dtype"));
  Allocator& account = c.device().host_side_allocator();
  TROUPE_ASSIGN(Tensor out, own_variants(c, 0));
  auto to = out.mutable_data<Variant>();
  const auto from = c.input(1).data<Variant>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    Variant second = from[i];
    TROUPE_ASSIGN(const TensorList* a, list::list_in(to[i], account));
    TROUPE_ASSIGN(const TensorList* b, list::list_in(second, account));
    TROUPE_TRY(check_pair(a, b, dtype, i, to[i], second));
    TROUPE_ASSIGN(TensorList * own, own_in(to[i], account));
    for (std::size_t n = b->size(), k = 0; k < n; ++k)
      TROUPE_TRY(own->push((*b)[k], account));
  }
  return c.set_output(0, std::move(out));
}

Status check_batch(KernelContext& c, DType dtype) {
  const Tensor &handles = c.input(0), &rows = c.input(1);
  if (rows.dtype() != dtype)
    return invalid_argument(str_cat("Invalid data types; list elements ", to_string(dtype),
                                    " but tried to append ", to_string(rows.dtype())));
  if (rows.shape().is_scalar())
    return invalid_argument(
        str_cat("Expected tensor to be at least a vector, but saw shape: ", rows.shape()));
  if (handles.shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected input_handles to be a vector, but saw shape: ", handles.shape()));
  if (rows.shape()[0] != handles.num_elements())
    return invalid_argument(str_cat("Expected tensor.shape[0] == input_handles.size, but saw ",
                                    rows.shape()[0], " vs. ", handles.num_elements()));
  return {};
}

Status push_back_batch(KernelContext& c) {
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("element_dtype"));
  TROUPE_TRY(check_batch(c, dtype));
  Allocator& account = c.device().host_side_allocator();
  TROUPE_ASSIGN(Tensor out, own_variants(c, 0));
  auto to = out.mutable_data<Variant>();
  const Tensor& rows = c.input(1);
  const Shape row = rows.shape().without(0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    TROUPE_ASSIGN(const TensorList* given, list::list_in(to[i], account));
    if (!given)
      return invalid_argument(
          str_cat("Input handle at index ", i, " is not a list. Saw: '", name_of(to[i]), "'"));
    if (!given->shape().is_compatible_with(row))
      return invalid_argument(str_cat("Tried to append a tensor with incompatible shape to a list "
                                      "at index ",
                                      i, ". Op element shape: ", row,
                                      " list shape: ", text_of(given->shape())));
    if (given->dtype() != dtype)
      return invalid_argument(str_cat("Invalid data type at index ", i, "; op elements ",
                                      to_string(dtype), " but list elements ",
                                      to_string(given->dtype())));
    const auto at = static_cast<std::int64_t>(i);
    TROUPE_ASSIGN(Tensor item, list::part(c, rows, at, at + 1, row));
    TROUPE_ASSIGN(TensorList * own, own_in(to[i], account));
    TROUPE_TRY(own->push(std::move(item), account));
  }
  return c.set_output(0, std::move(out));
}

Status infer_batch(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank_at_least(1, 1));
  return c.output_like(0, 0);
}

constexpr auto python = "TensorFlow's clients bring its gradient";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TensorListConcatLists")
      .input("input_a: variant; input_b: variant")
      .output("output: variant")
      .attr("element_dtype: type")
      .shape_fn(shape_merge_inputs)
      .not_differentiable(python)
      .cpu_kernel(concat_lists)
      .doc("Each list of input_a with the elements of that of input_b behind its own.");
  library.op("TensorListPushBackBatch")
      .input("input_handles: variant; tensor: element_dtype")
      .output("output_handles: variant")
      .attr("element_dtype: type")
      .shape_fn(infer_batch)
      .not_differentiable(python)
      .cpu_kernel(push_back_batch)
      .doc("List i with row i of the tensor behind its last element.");
}

} // namespace troupe::list_list_batches
