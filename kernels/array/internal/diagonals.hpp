// Bands of diagonals of matrices as tensors: which diagonals, how long, and where their elements
// lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::array {

/// Diagonals `low` to `high` of a matrix: 0 is the main one, positive ones lie above it. In the
/// compact form the highest comes first, and shorter ones are padded on one side.
struct Diagonals {
  std::int64_t low = 0, high = 0;
  std::int64_t rows = 0, columns = 0;
  std::int64_t longest = 0; ///< elements of a row of the compact form
  bool upper_left = true;   ///< those above the main one begin at the left of the compact form
  bool lower_left = true;   ///< those below

  std::int64_t count() const { return high - low + 1; }
  std::int64_t length(std::int64_t d) const {
    return std::min(rows + std::min<std::int64_t>(d, 0), columns - std::max<std::int64_t>(d, 0));
  }
  /// Where diagonal d begins in its row of the compact form.
  std::int64_t offset(std::int64_t d) const {
    const bool left = (d >= 0 && upper_left) || (d <= 0 && lower_left);
    return left ? 0 : longest - length(d);
  }
};

/// What attribute "align" says, LEFT_LEFT without one.
inline void set_alignment(Diagonals& d, std::string_view align) {
  d.upper_left = align.empty() || align.starts_with("LEFT");
  d.lower_left = align.empty() || align.ends_with("LEFT");
}

/// low and high from input `k`, a number or two of them. INVALID_ARGUMENT in TensorFlow's words,
/// `none` where it has no number.
inline Status read_k(const Tensor& k, Diagonals& d,
                     std::string_view none = "Expected diag_index to have at least 1 element") {
  if (k.shape().rank() > 1)
    return invalid_argument(
        str_cat("diag_index must be a scalar or vector, received shape: ", k.shape()));
  const auto numbers = k.data<std::int32_t>();
  if (numbers.empty())
    return invalid_argument(std::string(none));
  if (numbers.size() > 2)
    return invalid_argument(str_cat("diag_index must have only one or two elements, received ",
                                    numbers.size(), " elements."));
  d.low = numbers.front();
  d.high = numbers.back();
  return {};
}

inline Status check_order(const Diagonals& d) {
  if (d.low > d.high)
    return invalid_argument(str_cat(
        "lower_diag_index must not be larger than upper_diag_index: ", d.low, " > ", d.high));
  return {};
}

/// Whether the matrix has these diagonals; sets `longest`. `stops` end the first sentences of the
/// lower and the upper index, which TensorFlow's kernels write each in its way.
inline Status check_range(Diagonals& d, std::array<std::string_view, 2> stops = {".", "."}) {
  const auto inside = [&](std::int64_t i) {
    return (i > -d.rows && i < d.columns) || i == 0; // 0 of matrices without elements, too
  };
  for (const bool lower : {true, false})
    if (!inside(lower ? d.low : d.high))
      return invalid_argument(str_cat(
          lower ? "lower" : "upper", "_diag_index is out of bound: ", lower ? d.low : d.high,
          stops[lower ? 0 : 1], " It must be between ", -d.rows, " and ", d.columns));
  TROUPE_TRY(check_order(d));
  d.longest = std::max<std::int64_t>(0, std::min(d.rows + std::min<std::int64_t>(d.high, 0),
                                                 d.columns - std::max<std::int64_t>(d.low, 0)));
  return {};
}

} // namespace troupe::array
