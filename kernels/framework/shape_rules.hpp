// Pieces of shape functions in TensorFlow's words: ranks, equal dimensions, merged shapes, windows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/strings.hpp"
#include "graph/op/shape_context.hpp"

namespace troupe::shape_rules {

inline constexpr std::int64_t unknown_dim = -1;

/// Dimensions of input i, which must have that rank; unknown ones where its rank is not known.
inline Result<std::vector<std::int64_t>> dims_of_rank(ShapeContext& c, int i, int rank) {
  TROUPE_TRY(c.require_rank(i, rank));
  if (c.input(i).has_rank())
    return c.input(i).dims();
  return std::vector<std::int64_t>(static_cast<std::size_t>(rank), unknown_dim);
}

/// A shape has at most 254 dimensions: what sizes alone say of a rank may be anything.
inline Status check_rank(std::int64_t rank) {
  if (rank > Shape::max_rank)
    return invalid_argument(str_cat("A tensor of ", rank, " dimensions is impossible; at most ",
                                    Shape::max_rank, " are"));
  return {};
}

/// The sum or product of two extents, unknown where one is. INVALID_ARGUMENT beyond 2^63 - 1.
inline Result<std::int64_t> add_dims(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (a == unknown_dim || b == unknown_dim)
    return unknown_dim;
  if (__builtin_add_overflow(a, b, &sum))
    return invalid_argument(str_cat("a dimension of ", a, " + ", b, " is beyond 2^63 - 1"));
  return sum;
}
inline Result<std::int64_t> multiply_dims(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a == unknown_dim || b == unknown_dim)
    return unknown_dim;
  if (__builtin_mul_overflow(a, b, &product))
    return invalid_argument(str_cat("a dimension of ", a, " times ", b, " is beyond 2^63 - 1"));
  return product;
}

/// What both say of one dimension. INVALID_ARGUMENT "Dimensions must be equal, but are 2 and 3".
inline Result<std::int64_t> merge_dims(std::int64_t a, std::int64_t b) {
  if (a != unknown_dim && b != unknown_dim && a != b)
    return invalid_argument(str_cat("Dimensions must be equal, but are ", a, " and ", b));
  return a == unknown_dim ? b : a;
}

/// What both say of one shape. INVALID_ARGUMENT "Dimension 0 in both shapes must be equal, but are
/// 2 and 3. Shapes are [2] and [3]." or "Shapes must be equal rank, but are 1 and 2".
inline Result<PartialShape> merge_shapes(const PartialShape& a, const PartialShape& b) {
  if (auto merged = a.merge(b))
    return *std::move(merged);
  if (a.rank() != b.rank())
    return invalid_argument(
        str_cat("Shapes must be equal rank, but are ", a.rank(), " and ", b.rank()));
  int i = 0;
  while (i + 1 < a.rank() &&
         (a.dim(i) == b.dim(i) || a.dim(i) == unknown_dim || b.dim(i) == unknown_dim))
    ++i;
  return invalid_argument(str_cat("Dimension ", i, " in both shapes must be equal, but are ",
                                  a.dim(i), " and ", b.dim(i), ". Shapes are ", a, " and ", b,
                                  "."));
}

/// Output extent of a window that slides without padding. INVALID_ARGUMENT "Negative dimension size
/// caused by subtracting 3 from 2".
inline Result<std::int64_t> valid_extent(std::int64_t input, std::int64_t window,
                                         std::int64_t stride) {
  if (input == unknown_dim || window == unknown_dim)
    return unknown_dim;
  if (input < window)
    return invalid_argument(
        str_cat("Negative dimension size caused by subtracting ", window, " from ", input));
  std::int64_t reach = 0;
  if (__builtin_sub_overflow(input, window, &reach) ||
      __builtin_add_overflow(reach, stride, &reach))
    return invalid_argument(str_cat("a window of ", window, " in a dimension of ", input,
                                    " with stride ", stride, " is beyond 2^63"));
  return reach / stride;
}

} // namespace troupe::shape_rules
