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

/// The numbers of an int8, int16, int32 or int64 tensor of any shape. UNIMPLEMENTED for another
/// dtype.
Result<std::vector<std::int64_t>> integers(const Tensor& tensor);
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
