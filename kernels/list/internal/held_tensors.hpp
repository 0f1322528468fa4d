// Tensors that lists, maps, stacks and tensor arrays hold: the memory of holding them, shapes in
// TensorFlow's words, copying them together and apart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/framework/context.hpp"

namespace troupe::list {

/// Bytes charged to an allocator for as long as it lives: for what kernels keep in containers of
/// their own.
class MemoryCharge {
public:
  MemoryCharge() = default;
  MemoryCharge(MemoryCharge&& other) noexcept
      : account_(other.account_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&&) = delete;
  ~MemoryCharge() {
    if (bytes_)
      account_->discharge(bytes_);
  }
  /// At least `bytes` from now on. RESOURCE_EXHAUSTED when there is no room; `account` is that of
  /// the first call.
  Status raise_to(std::size_t bytes, Allocator& account);

private:
  Allocator* account_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A vector of tensors that is charged for its places. Tensors without value are elements that
/// nobody has set.
class HeldTensors {
public:
  HeldTensors() = default;
  HeldTensors(HeldTensors&&) noexcept = default;
  const std::vector<Tensor>& all() const { return tensors_; }
  std::size_t size() const { return tensors_.size(); }
  Tensor& operator[](std::size_t i) { return tensors_[i]; }
  const Tensor& operator[](std::size_t i) const { return tensors_[i]; }
  /// RESOURCE_EXHAUSTED, and nothing changed, when there is no room.
  Status push(Tensor tensor, Allocator& account);
  Status resize(std::size_t size, Allocator& account);
  Tensor pop();
  void clear() { tensors_.clear(); }

private:
  Status make_room(std::size_t size, Allocator& account);
  std::vector<Tensor> tensors_;
  MemoryCharge charge_;
};

/// "[2,?]", "<unknown>".
std::string text_of(const PartialShape& shape);
/// What both say. INVALID_ARGUMENT "PartialTensorShape: Incompatible shapes during merge: …".
Result<PartialShape> merge(const PartialShape& a, const PartialShape& b);
/// The dimensions behind the first; unknown if the shape is. Requires that there is a first one.
PartialShape without_first(const PartialShape& shape);
/// `first` before the dimensions of `rest`. INVALID_ARGUMENT for too many dimensions or elements.
Result<Shape> with_first(std::int64_t first, const Shape& rest);

/// A number of elements of `from`, or as many zeros if that is null.
struct Piece {
  const Tensor* from = nullptr;
  std::int64_t elements = 0;
};
/// Fills `out` with the pieces, one after the other; all have its dtype.
Status join(KernelContext& c, std::span<const Piece> pieces, Tensor& out);
/// Rows [begin, end) of `tensor` under `shape`: its own memory where that is aligned and worth it.
Result<Tensor> part(KernelContext& c, const Tensor& tensor, std::int64_t begin, std::int64_t end,
                    const Shape& shape);
/// Zeros, false or empty objects.
Result<Tensor> zeros(KernelContext& c, DType dtype, const Shape& shape);

/// The only element of input i. INVALID_ARGUMENT "NAME must be a scalar, but had shape: [2]".
Result<std::int32_t> scalar_input(KernelContext& c, int i, std::string_view name);

} // namespace troupe::list
