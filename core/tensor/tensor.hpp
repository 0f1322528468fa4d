// Tensor: a dtype, a shape and a shared buffer. Copying shares; nothing copies elements unless its
// name says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "core/base/check.hpp"
#include "core/base/status.hpp"
#include "core/tensor/buffer.hpp"
#include "core/tensor/dtype.hpp"
#include "core/tensor/shape.hpp"

namespace troupe {

/// Elements in row-major order. A default-made Tensor has no value (dtype invalid).
/// Values are immutable once the tensor has been handed on: only its maker calls `mutable_data`,
/// and `is_unique` tells a later holder that it may reuse the buffer. Object dtypes (string,
/// resource, variant) are always in host memory.
class Tensor {
public:
  Tensor() noexcept = default;
  /// Views `buffer` from `offset` bytes on; requires that it holds that many elements.
  Tensor(DType dtype, Shape shape, BufferRef buffer, std::size_t offset = 0);

  /// Uninitialised elements (objects: default ones); RESOURCE_EXHAUSTED naming the bytes and the
  /// allocator.
  static Result<Tensor> allocate(Allocator& allocator, DType dtype, Shape shape);
  /// The same from host memory; for what is small and ours. Aborts when the machine has no memory.
  static Tensor make(DType dtype, Shape shape);
  static Tensor zeros(DType dtype, Shape shape);
  template <class T>
  static Tensor scalar(T value) {
    Tensor out = make(dtype_of<T>, Shape{});
    out.mutable_data<T>()[0] = std::move(value);
    return out;
  }
  static Tensor scalar(const char* value) { return scalar(std::string(value)); }
  /// `values` has as many elements as `shape`.
  template <class T>
  static Tensor of(Shape shape, std::initializer_list<T> values) {
    return of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor of(Shape shape, std::span<const T> values) {
    Tensor out = make(dtype_of<T>, std::move(shape));
    TROUPE_CHECK(static_cast<std::int64_t>(values.size()) == out.num_elements(),
                 "one value for each element");
    auto to = out.mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i)
      to[i] = values[i];
    return out;
  }
  /// One-dimensional.
  template <class T>
  static Tensor vector(std::span<const T> values) {
    return of<T>(Shape{static_cast<std::int64_t>(values.size())}, values);
  }
  template <class T>
  static Tensor vector(std::initializer_list<T> values) {
    return vector<T>(std::span<const T>(values.begin(), values.size()));
  }

  bool has_value() const noexcept { return dtype_ != DType::invalid; }
  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  std::int64_t num_elements() const noexcept { return shape_.num_elements(); }
  /// Of plain elements: count times size. Of objects: what their text and headers take, about.
  std::size_t byte_size() const;
  MemoryKind kind() const noexcept { return buffer_ ? buffer_->kind() : MemoryKind::host; }

  /// The elements. Requires host memory and throws BadAccess unless T is the element type (any
  /// 1-byte type for bytes is not accepted: use raw()).
  template <class T>
  std::span<const T> data() const {
    check_type(dtype_of<T>);
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(num_elements())};
  }
  template <class T>
  std::span<T> mutable_data() {
    check_type(dtype_of<T>);
    return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(num_elements())};
  }
  /// The only element; throws BadAccess unless there is exactly one, of type T.
  template <class T>
  const T& value() const {
    if (num_elements() != 1) [[unlikely]]
      throw_not_one();
    return data<T>()[0];
  }
  /// First element's address; in device memory it is a device's address.
  const void* raw() const noexcept { return data_; }
  void* mutable_raw() noexcept { return data_; }
  /// Plain elements as bytes.
  std::span<const std::byte> bytes() const {
    return {data_, static_cast<std::size_t>(num_elements()) * dtype_size(dtype_)};
  }

  /// The same elements under another shape with as many elements.
  Tensor reshaped(Shape shape) const;
  /// Rows [begin, end) of the first dimension, sharing the buffer.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// The same bytes as another plain dtype of the same element size.
  Tensor bitcast(DType dtype) const;
  /// Own elements, in host memory.
  Tensor deep_copy() const;

  /// Before text is written to the objects of a new tensor: RESOURCE_EXHAUSTED, naming bytes and
  /// remedy, if `bytes` more are too many for the allocator that it was made from.
  Status charge(std::size_t bytes) const;
  /// After it was written, or when objects come from elsewhere: counts what they take, see
  /// Buffer::settle. Does nothing to plain dtypes.
  Status settle(Allocator& account) const;

  /// No other tensor shares the buffer.
  bool is_unique() const noexcept { return buffer_ && buffer_->is_unique(); }
  bool shares_buffer_with(const Tensor& other) const noexcept {
    return buffer_ && buffer_ == other.buffer_;
  }
  const BufferRef& buffer() const noexcept { return buffer_; }

  /// A literal, cut after `max_elements`: "f32[2] 1 2".
  std::string to_string(std::int64_t max_elements = 8) const;

private:
  void check_type(DType wanted) const {
    if (wanted != dtype_) [[unlikely]]
      throw_wrong_type(wanted);
  }
  [[noreturn]] void throw_wrong_type(DType wanted) const;
  [[noreturn]] void throw_not_one() const;

  DType dtype_ = DType::invalid;
  Shape shape_;
  BufferRef buffer_;
  std::byte* data_ = nullptr;
};

/// Same dtype, shape and elements, bit by bit (so NaN equals itself).
bool equal(const Tensor& a, const Tensor& b);

} // namespace troupe
