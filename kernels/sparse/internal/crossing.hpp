// Crosses of feature columns: for each row every combination of one feature from each column, as
// text or as a hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse {

/// The features of one row of a column: places of its values.
struct Run {
  std::int64_t row = 0, begin = 0, count = 0;
};

/// Values are int64 or text, rows ascend.
struct Column {
  const Tensor* values = nullptr;
  std::vector<Run> runs; ///< rows that have features
  bool dense = false;
};

/// Entries [row, column] with `values`; those that do not come in order of rows are lost, as in
/// TensorFlow. INVALID_ARGUMENT "Expected D2 of index to be 2 got 3 at position 0" and its like.
Result<Column> sparse_column(const Tensor& indices, const Tensor& values, const Tensor& shape,
                             std::size_t position);
Result<Column> dense_column(const Tensor& values, std::size_t position);
/// Rows between the splits. INVALID_ARGUMENT for splits that do not fit the values.
Result<Column> ragged_column(const Tensor& values, const Tensor& splits);

/// Every cross of one row: an index of a value for each column.
struct Crosses {
  std::vector<std::int64_t> rows, row_counts; ///< of rows with crosses
  std::int64_t total = 0, largest = 0;
};
/// INVALID_ARGUMENT for more than 2^63 - 1.
Result<Crosses> count_crosses(const std::vector<Column>& columns);
/// Calls body(cross, row, place in the row, values' indices), in order.
void for_each_cross(KernelContext& c, const std::vector<Column>& columns, const Crosses& crosses,
                    FunctionView<void(std::int64_t cross, std::int64_t row, std::int64_t place,
                                      std::span<const std::int64_t> picked)>
                        body);

/// A feature as text.
std::string feature_text(const Column& column, std::int64_t i);
/// Text by its fingerprint, a number as itself.
std::uint64_t feature_hash(const Column& column, std::int64_t i);
/// Two hashes as one, in order.
std::uint64_t join_hashes(std::uint64_t a, std::uint64_t b);
/// The bucket of a hash; all of 63 bits for no buckets.
std::int64_t bucket(std::uint64_t hash, std::int64_t buckets);

} // namespace troupe::sparse
