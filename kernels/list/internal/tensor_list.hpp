// TensorList: the value of a list's handle, a scalar variant; and how kernels take and give one.
#pragma once

#include <memory>

#include "core/tensor/variant.hpp"
#include "graph/op/shape_context.hpp"
#include "kernels/list/internal/held_tensors.hpp"

namespace troupe::list {

/// Tensors of one dtype whose shapes fit one shape. A kernel changes the list that it is given if
/// nobody else holds it, and a copy otherwise: so a loop that pushes is linear in its iterations.
class TensorList final : public VariantValue {
public:
  static constexpr auto type_name = "tensorflow::TensorList";

  TensorList(DType element_dtype, PartialShape element_shape)
      : dtype_(element_dtype), shape_(std::move(element_shape)) {}
  /// From its written form. INVALID_ARGUMENT if that is none.
  static Result<std::shared_ptr<TensorList>> read(const VariantParts& parts, Allocator& account);
  /// TensorFlow's form.
  Result<VariantParts> parts() const override;
  /// The same elements in a list of its own.
  Result<std::shared_ptr<TensorList>> copy(Allocator& account) const;

  DType dtype() const { return dtype_; }
  const PartialShape& shape() const { return shape_; }
  std::size_t size() const { return tensors_.size(); }
  const std::vector<Tensor>& tensors() const { return tensors_.all(); }
  const Tensor& operator[](std::size_t i) const { return tensors_[i]; }
  /// INVALID_ARGUMENT for variants nested too deep; RESOURCE_EXHAUSTED.
  Status push(Tensor tensor, Allocator& account);
  Status resize(std::size_t size, Allocator& account) { return tensors_.resize(size, account); }
  Status set(std::size_t i, Tensor tensor);
  /// Requires an element.
  Tensor pop() { return tensors_.pop(); }

  int max_size = -1; ///< -1: no bound

private:
  DType dtype_;
  PartialShape shape_;
  HeldTensors tensors_;
};

/// The list behind a variant, null if it is none; one that was only read before becomes a list
/// there. Requires that the caller may write the variant, unless it is a list already.
Result<const TensorList*> list_in(Variant& variant, Allocator& account);
/// The list in input i; lives as long as the input. INVALID_ARGUMENT "Input list must be a scalar
/// saw: …", "Input handle is not a list. Saw: '…'".
Result<const TensorList*> input_list(KernelContext& c, int i);
/// The same, checked against the attribute element_dtype. INVALID_ARGUMENT "Invalid data types; op
/// elements … but list elements …".
Result<const TensorList*> typed_input_list(KernelContext& c, int i);

/// A list that a kernel may change, in its tensor.
struct OwnList {
  Tensor handle;
  TensorList* list = nullptr;
};
/// That of input i, which is taken, or a copy. After `input_list(c, i)` has found it.
Result<OwnList> own_list(KernelContext& c, int i);
/// A new one as a scalar.
Tensor handle_of(std::shared_ptr<TensorList> list);

/// The shape that input i names: a vector, or the scalar -1 for any. INVALID_ARGUMENT "The only
/// valid scalar shape tensor is …", "Shape must be at most rank 1 but is rank 2".
Result<PartialShape> input_shape(KernelContext& c, int i);
/// What it and the list's shape say together.
Result<PartialShape> element_shape(KernelContext& c, const TensorList& list, int i);
/// What a constant shape input says when graphs are made; unknown without one.
Result<PartialShape> constant_shape(ShapeContext& c, int i);

} // namespace troupe::list
