// What many kernels need of their inputs and attributes before the arithmetic starts: pointers,
// axes, shapes, numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"

namespace troupe {

/// As many numbers as it was made for; up to eight of them take no memory of their own.
class Integers {
public:
  explicit Integers(std::size_t size)
      : size_(size),
        many_(size > few ? std::make_unique_for_overwrite<std::int64_t[]>(size) : nullptr) {}
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* begin() { return many_ ? many_.get() : few_; }
  std::int64_t* end() { return begin() + size_; }
  const std::int64_t* begin() const { return many_ ? many_.get() : few_; }
  const std::int64_t* end() const { return begin() + size_; }
  std::int64_t& operator[](std::size_t i) { return begin()[i]; }
  std::int64_t operator[](std::size_t i) const { return begin()[i]; }

private:
  static constexpr std::size_t few = 8;
  std::size_t size_;
  std::int64_t few_[few] = {};
  std::unique_ptr<std::int64_t[]> many_;
};

/// The numbers of an int8, int16, int32 or int64 tensor of any shape. UNIMPLEMENTED for another
/// dtype.
Result<Integers> integers(const Tensor& tensor);
/// The shape that those numbers name. INVALID_ARGUMENT "Dimension -1 must be >= 0" and those of
/// Shape::make.
Result<Shape> shape_from(const Tensor& sizes);

namespace detail {
/// Text as a template argument.
template <std::size_t N>
struct FixedText {
  char text[N];
  constexpr FixedText(const char (&from)[N]) { std::copy_n(from, N, text); }
};
} // namespace detail

/// A PrepareFn that keeps one attribute: `.prepare = keep_attr<std::int64_t, "index">`, read with
/// `c.prepared<std::int64_t>()`.
template <class T, detail::FixedText Name>
Result<std::shared_ptr<const void>> keep_attr(PrepareContext& c) {
  TROUPE_ASSIGN(T value, c.attr<T>(Name.text));
  return prepared(std::move(value));
}

} // namespace troupe
