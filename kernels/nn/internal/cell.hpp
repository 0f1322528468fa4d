// What the recurrent cells share: checks of shapes in TensorFlow's words, rows side by side, gates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/base/strings.hpp"
#include "core/tensor/shape.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::nn {

// Functions of `count` floats, in the instruction set in use; what they give may be an array that
// they take.
inline void apply(arith::UnaryOp op, const float* x, std::int64_t count, float* y) {
  arith::unary_kernel(op, arith::Type::float32)(x, y, 0, count);
}
inline void apply(arith::BinaryOp op, const float* a, const float* b, std::int64_t count,
                  float* out, arith::RowMode mode = arith::RowMode::both_rows) {
  arith::binary_kernel(op, arith::Type::float32).row(a, b, out, count, mode);
}
/// dx = dy times the derivative where the function gave y.
inline void apply(arith::GradOp op, const float* dy, const float* y, std::int64_t count,
                  float* dx) {
  arith::grad_kernel(op, arith::Type::float32)(dy, y, dx, 0, count);
}

/// body(begin, end) for ranges of a batch's rows of `cells`, on the compute threads; a range is so
/// small that what is computed of it stays in a near cache. A cell takes `ns`, about.
template <class Body>
void for_rows(const KernelContext& c, std::int64_t batch, std::int64_t cells, double ns,
              Body body) {
  constexpr std::int64_t near = 1024;
  const std::int64_t step = std::max<std::int64_t>(near / std::max<std::int64_t>(cells, 1), 1);
  c.parallel_for(batch, ns * static_cast<double>(cells), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += step)
      body(at, std::min(at + step, end));
  });
}

/// INVALID_ARGUMENT "w must be 2D", "w.dim_size(0) != cell_size * 4: 3 vs. 8". With `rank_of`, what
/// GRU cells call it, "Rank of w_ru_ must be 2, got 1".
inline Status check_dims(std::string_view name, std::string_view field, const Shape& shape,
                         std::initializer_list<std::pair<std::string_view, std::int64_t>> dims,
                         std::string_view rank_of = {}) {
  if (shape.rank() != static_cast<int>(dims.size()) && !rank_of.empty())
    return invalid_argument(
        str_cat("Rank of ", rank_of, " must be ", dims.size(), ", got ", shape.rank()));
  if (shape.rank() != static_cast<int>(dims.size()))
    return invalid_argument(str_cat(name, " must be ", dims.size(), "D"));
  int i = 0;
  for (const auto& [what, size] : dims) {
    if (shape[i] != size)
      return invalid_argument(
          str_cat(name, field, "(", i, ") != ", what, ": ", shape[i], " vs. ", size));
    ++i;
  }
  return {};
}

/// to[r] = a[r], b[r].
inline void concat_rows(std::int64_t rows, const float* a, std::int64_t a_size, const float* b,
                        std::int64_t b_size, float* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    to = std::copy_n(a + r * a_size, a_size, to);
    to = std::copy_n(b + r * b_size, b_size, to);
  }
}

/// Copies `rows` rows of `size`; the rows of one side, or of both, are parts of larger ones.
inline void copy_rows(std::int64_t rows, std::int64_t size, const float* from,
                      std::int64_t from_stride, float* to, std::int64_t to_stride) {
  for (std::int64_t r = 0; r < rows; ++r)
    std::copy_n(from + r * from_stride, size, to + r * to_stride);
}

} // namespace troupe::nn
