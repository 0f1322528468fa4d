// What the recurrent cells share: checks of shapes in TensorFlow's words, rows side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/base/strings.hpp"
#include "core/tensor/shape.hpp"

namespace troupe::nn {

inline float sigmoid(float x) {
  return 1.0F / (1.0F + std::exp(-x));
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

/// The other way.
inline void split_rows(std::int64_t rows, const float* from, std::int64_t a_size, float* a,
                       std::int64_t b_size, float* b) {
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(from, a_size, a + r * a_size);
    std::copy_n(from + a_size, b_size, b + r * b_size);
    from += a_size + b_size;
  }
}

} // namespace troupe::nn
