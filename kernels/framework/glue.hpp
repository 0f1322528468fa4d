// What many kernels need of their inputs and attributes before the arithmetic starts: pointers,
// axes, shapes, numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"

namespace troupe {

/// The address of the first element. Requires host memory and T's dtype.
template <class T>
const T* elements(const Tensor& tensor) {
  return tensor.data<T>().data();
}
template <class T>
T* mutable_elements(Tensor& tensor) {
  return tensor.mutable_data<T>().data();
}

/// The numbers of an int32 or int64 tensor of any shape. INVALID_ARGUMENT naming it for another
/// dtype.
Result<std::vector<std::int64_t>> integers(const Tensor& tensor, std::string_view name);
/// The one number of an int32 or int64 scalar. INVALID_ARGUMENT "name must be a scalar, got shape
/// [2]".
Result<std::int64_t> integer_scalar(const Tensor& tensor, std::string_view name);
/// The shape that a vector of int32 or int64 names; a scalar names a vector's. INVALID_ARGUMENT for
/// another rank or a negative number.
Result<Shape> shape_from_tensor(const Tensor& sizes, std::string_view name);

/// `axis` counted from the front. INVALID_ARGUMENT "Expected axis in the range [-2, 2), but got 3".
Result<int> normalized_axis(std::int64_t axis, int rank, std::string_view name = "axis");
/// Axes of a reduction, each counted from the front, in the order given. INVALID_ARGUMENT "Invalid
/// reduction dimension (3 for input with 2 dimension(s)", "Invalid reduction arguments: Axes
/// contains duplicate dimension: 0".
Result<std::vector<int>> normalized_axes(const std::vector<std::int64_t>& axes, int rank);

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
