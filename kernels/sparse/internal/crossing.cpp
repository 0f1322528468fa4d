#include "kernels/sparse/internal/crossing.hpp"

#include "kernels/framework/glue.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/strings/internal/hashes.hpp"

namespace troupe::sparse {

Result<Column> sparse_column(const Tensor& indices, const Tensor& values, const Tensor& shape,
                             std::size_t position) {
  const auto at = [&] { return str_cat(" at position ", position); };
  if (indices.shape().rank() != 2)
    return invalid_argument(
        str_cat("Input indices should be a matrix but received shape ", indices.shape(), at()));
  if (indices.shape()[1] != 2)
    return invalid_argument(str_cat("Expected D2 of index to be 2 got ", indices.shape()[1], at()));
  if (values.shape().rank() != 1)
    return invalid_argument(
        str_cat("Input values should be a vector but received shape ", values.shape(), at()));
  if (values.shape()[0] != indices.shape()[0])
    return invalid_argument(str_cat("Expected size of values to be ", indices.shape()[0], " got ",
                                    values.shape()[0], at()));
  if (shape.shape().rank() != 1)
    return invalid_argument(
        str_cat("Input shapes should be a vector but received shape ", shape.shape(), at()));
  if (shape.num_elements() != 2)
    return invalid_argument(
        str_cat("shape should imply a 2D tensor, but got ", shape.shape(), at()));
  Column out;
  out.values = &values;
  const auto index = indices.data<std::int64_t>();
  const std::int64_t rows = shape.data<std::int64_t>()[0];
  for (std::int64_t i = 0; i < indices.shape()[0]; ++i) {
    const std::int64_t row = index[static_cast<std::size_t>(2 * i)];
    if (row < 0 || row >= rows || (!out.runs.empty() && row < out.runs.back().row))
      break;
    if (out.runs.empty() || out.runs.back().row != row)
      out.runs.push_back({row, i, 0});
    ++out.runs.back().count;
  }
  return out;
}

Result<Column> dense_column(const Tensor& values, std::size_t position) {
  if (values.shape().rank() != 2)
    return invalid_argument(str_cat("Dense inputs should be a matrix but received shape ",
                                    values.shape(), " at position ", position));
  Column out;
  out.values = &values;
  out.dense = true;
  const std::int64_t width = values.shape()[1];
  if (width > 0)
    for (std::int64_t row = 0; row < values.shape()[0]; ++row)
      out.runs.push_back({row, row * width, width});
  return out;
}

Result<Column> ragged_column(const Tensor& values, const Tensor& given) {
  if (values.shape().rank() != 1 || given.shape().rank() != 1)
    return invalid_argument("tf.ragged.cross only supports inputs with rank=2.");
  TROUPE_ASSIGN(const Integers splits, integers(given));
  constexpr auto wrong = "Invalid ragged splits: ";
  if (splits.empty())
    return invalid_argument(
        str_cat(wrong, "ragged splits must have at least one splits, but is empty"));
  if (splits[0] != 0)
    return invalid_argument(
        str_cat(wrong, "first element of ragged splits  must be 0 but is ", splits[0]));
  if (const std::int64_t last = splits[splits.size() - 1]; last != values.num_elements())
    return invalid_argument(str_cat(wrong,
                                    "last element of ragged splits must be the number of ragged "
                                    "values(",
                                    values.num_elements(), ") but is ", last));
  for (std::size_t i = 1; i < splits.size(); ++i)
    if (splits[i] < splits[i - 1])
      return invalid_argument(str_cat(wrong,
                                      "ragged splits must be monotonically increasing, but "
                                      "ragged_splits[",
                                      i, "]=", splits[i], " is smaller than row_splits[", i - 1,
                                      "]=", splits[i - 1]));
  Column out;
  out.values = &values;
  for (std::size_t row = 0; row + 1 < splits.size(); ++row)
    if (splits[row + 1] > splits[row])
      out.runs.push_back(
          {static_cast<std::int64_t>(row), splits[row], splits[row + 1] - splits[row]});
  return out;
}

namespace {

/// Calls body(row, runs) for each row that all columns have features for.
template <class Body>
Status for_each_row(const std::vector<Column>& columns, Body body) {
  if (columns.empty())
    return {};
  std::vector<std::size_t> at(columns.size(), 0);
  std::vector<const Run*> runs(columns.size());
  for (const Run& first : columns[0].runs) {
    bool all = true;
    for (std::size_t k = 0; k < columns.size() && all; ++k) {
      const auto& mine = columns[k].runs;
      while (at[k] < mine.size() && mine[at[k]].row < first.row)
        ++at[k];
      all = at[k] < mine.size() && mine[at[k]].row == first.row;
      if (all)
        runs[k] = &mine[at[k]];
    }
    if (all)
      TROUPE_TRY(body(first.row, runs));
  }
  return {};
}

} // namespace

Result<Crosses> count_crosses(const std::vector<Column>& columns) {
  Crosses out;
  TROUPE_TRY(for_each_row(columns, [&](std::int64_t row, const auto& runs) -> Status {
    std::int64_t count = 1;
    for (const Run* run : runs) {
      TROUPE_ASSIGN(count, shape_rules::multiply_dims(count, run->count));
    }
    TROUPE_ASSIGN(out.total, shape_rules::add_dims(out.total, count));
    out.largest = std::max(out.largest, count);
    out.rows.push_back(row);
    out.row_counts.push_back(count);
    return {};
  }));
  return out;
}

void for_each_cross(KernelContext& c, const std::vector<Column>& columns, const Crosses& crosses,
                    FunctionView<void(std::int64_t cross, std::int64_t row, std::int64_t place,
                                      std::span<const std::int64_t> picked)>
                        body) {
  std::int64_t cross = 0;
  std::size_t next = 0;
  std::vector<std::int64_t> picked(columns.size());
  const Status done = for_each_row(columns, [&](std::int64_t row, const auto& runs) -> Status {
    const std::int64_t count = crosses.row_counts[next++];
    for (std::int64_t place = 0; place < count; ++place) {
      if (cross % 4096 == 0)
        c.stop_if_cancelled();
      std::int64_t left = place;
      for (std::size_t k = runs.size(); k-- > 0; left /= runs[k]->count)
        picked[k] = runs[k]->begin + left % runs[k]->count;
      body(cross++, row, place, picked);
    }
    return {};
  });
  TROUPE_CHECK(done.ok(), "nothing fails here");
}

std::string feature_text(const Column& column, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  if (column.values->dtype() == DType::string)
    return column.values->data<std::string>()[at];
  return str_cat(column.values->data<std::int64_t>()[at]);
}

std::uint64_t feature_hash(const Column& column, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  if (column.values->dtype() == DType::string)
    return strings::farm_fingerprint(column.values->data<std::string>()[at]);
  return static_cast<std::uint64_t>(column.values->data<std::int64_t>()[at]);
}

std::uint64_t join_hashes(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995U;
  const auto mix = [](std::uint64_t x) { return x ^ (x >> 47); };
  std::uint64_t out = a ^ factor;
  out ^= mix(b * factor) * factor;
  out *= factor;
  return mix(mix(out) * factor);
}

std::int64_t bucket(std::uint64_t hash, std::int64_t buckets) {
  const auto of = static_cast<std::uint64_t>(buckets > 0 ? buckets : INT64_MAX);
  return static_cast<std::int64_t>(hash % of);
}

} // namespace troupe::sparse
