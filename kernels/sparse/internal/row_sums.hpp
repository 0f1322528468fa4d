// What products of a sparse matrix with a dense one are made of: sums of rows of the dense matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/wrapping.hpp"

namespace troupe::sparse {

/// A row of a product: `to` becomes the sum of factors[e] · row rows[e] of `matrix` over e in [0,
/// count), in this order. All but the row numbers are of one dtype; rows of the matrix have
/// `columns` elements.
template <class Index>
using RowSums = void (*)(const void* factors, const Index* rows, std::int64_t count,
                         const void* matrix, std::int64_t columns, void* to);

template <class T, class Index>
void sum_rows(const void* factors, const Index* rows, std::int64_t count, const void* matrix,
              std::int64_t columns, void* to) {
  const auto y = static_cast<T*>(to);
  std::fill_n(y, columns, T{});
  for (std::int64_t e = 0; e < count; ++e) {
    const T factor = static_cast<const T*>(factors)[e];
    const T* terms = static_cast<const T*>(matrix) + static_cast<std::int64_t>(rows[e]) * columns;
    for (std::int64_t c = 0; c < columns; ++c)
      y[c] = add_wrapping(y[c], multiply_wrapping(factor, terms[c]));
  }
}

/// The fastest that there is for T.
template <class T, class Index>
Result<RowSums<Index>> row_sums() {
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<Index, std::int32_t>)
    return arith::sum_rows(dtype_of<T>);
  else
    return sum_rows<T, Index>;
}

} // namespace troupe::sparse
