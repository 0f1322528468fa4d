// Elements into batches and back: slices of the first dimension with memory of their own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

/// Copies `count` elements of any dtype, in host memory. Both have that dtype and that many.
void copy_elements(const Tensor& from, std::int64_t from_at, Tensor& to, std::int64_t to_at,
                   std::int64_t count);

/// Row `i` of a batch of at least one dimension, in memory of its own, so that it keeps nothing
/// else alive. RESOURCE_EXHAUSTED without room.
Result<Tensor> row_of(const Tensor& batch, std::int64_t i, Allocator& memory);

/// Rows [begin, begin + count) of a batch, in memory of their own.
Result<Tensor> rows_of(const Tensor& batch, std::int64_t begin, std::int64_t count,
                       Allocator& memory);

/// Some rows of a batch of at least one dimension.
struct Rows {
  const Tensor* batch = nullptr;
  std::int64_t begin = 0, count = 0;
};
/// Puts them below each other. Requires some; INVALID_ARGUMENT for rows of other dtypes or shapes
/// than the first have.
Result<Tensor> join_rows(std::span<const Rows> parts, Allocator& memory);

/// Puts `rows` below each other; result [rows.size(), …]. All have the dtype and fit in `shape`, to
/// which the smaller ones are padded with zeros (empty strings).
Result<Tensor> stack_rows(std::span<const Tensor> rows, DType dtype, const Shape& shape,
                          Allocator& memory);

/// Dtypes of a tuple's components as messages list them: "float, int32".
std::string names_of(const std::vector<DType>& types);

} // namespace troupe
