// Sparse tensors as three tensors: indices [entries, rank], values [entries], shape [rank].
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::sparse {

using Dims = std::vector<std::int64_t>;

/// Reads one; inputs are the kernel's, from `first` on in the order above.
struct Sparse {
  std::span<const std::int64_t> indices;
  const Tensor* values = nullptr;
  std::span<const std::int64_t> shape;
  std::int64_t entries = 0, rank = 0;

  std::span<const std::int64_t> index(std::int64_t entry) const {
    return indices.subspan(static_cast<std::size_t>(entry * rank), static_cast<std::size_t>(rank));
  }
};
/// INVALID_ARGUMENT in TensorFlow's words: "Sparse indices must be rank 2 but is rank 1", "Number
/// of elements in indices (1) and values (3) do not match", "Index rank (2) and shape rank (1) do
/// not match".
Result<Sparse> sparse(const Tensor& indices, const Tensor& values, const Tensor& shape);
inline Result<Sparse> sparse_input(KernelContext& c, int first) {
  return sparse(c.input(first), c.input(first + 1), c.input(first + 2));
}
/// The same in the words of TensorFlow's class SparseTensor: "vals must be a vec, but got: [2,1]",
/// "indices and values rows (indexing dimension) must match. (indices = 3, values = 2)", "indices
/// must be a matrix, but got: [3]", "Order length must be SparseTensor rank." The shape must be a
/// vector.
Result<Sparse> sparse_tensor(const Tensor& indices, const Tensor& values, const Tensor& shape);
/// INVALID_ARGUMENT "Expected shape dimensions to be non-negative, got -1", or where the elements
/// are too many to count.
Status check_shape(std::span<const std::int64_t> shape);
/// INVALID_ARGUMENT "Sparse index tuple indices[1, :] = [2, 9] is out of bounds".
Status check_bounds(const Sparse& s);
/// INVALID_ARGUMENT "indices[1] = [0,0] is repeated" or "… is out of order. Many sparse ops require
/// …".
Status check_order(const Sparse& s);
/// Both, entry by entry; what is out of bounds is told as "indices[1] = [2,9] is out of bounds:
/// need 0 <= index < [3,4]".
Status check_indices(const Sparse& s);
/// Where lexicographically sorted entries come from; empty if they are sorted already.
std::vector<std::int64_t> sorted_order(const Sparse& s);

/// values[order[i]] as output `i`; -1 stands for the only element of `otherwise`. Any dtype.
Status take(KernelContext& c, int output, const Tensor& values, std::span<const std::int64_t> order,
            const Tensor* otherwise = nullptr);
/// Output `i` of int64 with these elements.
Status give(KernelContext& c, int output, const Dims& values);
/// The same as a matrix of `rank` columns.
Status give_indices(KernelContext& c, int output, const Dims& values, std::int64_t rank);

/// Below, equal to or above 0 as index `a` comes before, with or behind `b`.
inline int compare(const std::int64_t* a, const std::int64_t* b, std::int64_t rank) {
  for (std::int64_t d = 0; d < rank; ++d)
    if (a[d] != b[d])
      return a[d] < b[d] ? -1 : 1;
  return 0;
}

/// Walks two sorted lists of indices at once: body(i, j), -1 for the one that has no such entry.
template <class Body>
void merge(const Sparse& a, const Sparse& b, Body body) {
  std::int64_t i = 0, j = 0;
  const std::int64_t *x = a.indices.data(), *y = b.indices.data();
  while (i < a.entries && j < b.entries) {
    const int order = compare(x + i * a.rank, y + j * b.rank, a.rank);
    body(order > 0 ? -1 : i, order < 0 ? -1 : j);
    i += order > 0 ? 0 : 1;
    j += order < 0 ? 0 : 1;
  }
  for (; i < a.entries; ++i)
    body(i, std::int64_t{-1});
  for (; j < b.entries; ++j)
    body(std::int64_t{-1}, j);
}

std::int64_t volume(std::span<const std::int64_t> dims);
/// As TensorFlow writes a list of numbers: "3,4".
inline std::string listed(std::span<const std::int64_t> dims) {
  return str_join(Dims(dims.begin(), dims.end()), ",");
}

} // namespace troupe::sparse
