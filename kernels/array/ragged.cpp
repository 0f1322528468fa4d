// RaggedRange, RaggedGather and RaggedTensorToSparse: rows of different lengths, as the values of
// all rows and the places where the rows begin and end.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/position.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/wrapping.hpp"

namespace troupe::array_ragged {
namespace {

using array::Dims;

/// Output `i` of int32 or int64 with these numbers.
Status give(KernelContext& c, int i, const Dims& numbers) {
  TROUPE_ASSIGN(Tensor out, c.allocate_output(i, Shape{static_cast<std::int64_t>(numbers.size())}));
  return dispatch(Indices{}, out.dtype(), [&]<class I>() -> Status {
    std::ranges::transform(numbers, out.mutable_data<I>().begin(),
                           [](std::int64_t x) { return static_cast<I>(x); });
    return {};
  });
}

// ---- ranges

/// How many numbers a range has.
template <class T>
Result<std::int64_t> range_size(T start, T limit, T delta) {
  if (delta == T(0))
    return invalid_argument("Requires delta != 0");
  if ((delta > T(0) && limit < start) || (delta < T(0) && limit > start))
    return std::int64_t{0};
  constexpr auto too_many = "Requires ((limit - start) / delta) <= 9223372036854775807";
  if constexpr (std::is_integral_v<T>) {
    const auto wide = [](T x) { return static_cast<__int128>(x); };
    const auto size = [](__int128 x) { return x < 0 ? -x : x; };
    const __int128 step = size(wide(delta));
    const __int128 count = (size(wide(limit) - wide(start)) + step - 1) / step;
    if (count > INT64_MAX)
      return invalid_argument(too_many);
    return static_cast<std::int64_t>(count);
  } else {
    const double count = std::ceil(std::abs(static_cast<double>((limit - start) / delta)));
    if (!(count < 9.2e18))
      return invalid_argument(too_many);
    return static_cast<std::int64_t>(count);
  }
}

template <class T>
Status give_ranges(KernelContext& c, std::int64_t rows) {
  const auto at = [&](int i, std::int64_t row) {
    const Tensor& x = c.input(i);
    return x.data<T>()[x.shape().is_scalar() ? 0 : static_cast<std::size_t>(row)];
  };
  Dims splits{0};
  for (std::int64_t row = 0; row < rows; ++row) {
    TROUPE_ASSIGN(const std::int64_t size, range_size<T>(at(0, row), at(1, row), at(2, row)));
    TROUPE_ASSIGN(const std::int64_t end, shape_rules::add_dims(splits.back(), size));
    splits.push_back(end);
  }
  if (c.output_type(0) == DType::int32 && splits.back() > INT32_MAX)
    return invalid_argument(
        str_cat("ranges of ", splits.back(), " numbers in all need splits of int64"));
  TROUPE_TRY(give(c, 0, splits));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(1, Shape{splits.back()}));
  const auto to = out.mutable_data<T>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = static_cast<std::size_t>(splits[static_cast<std::size_t>(row)]);
    const auto last = static_cast<std::size_t>(splits[static_cast<std::size_t>(row) + 1]);
    T value = at(0, row);
    const T delta = at(2, row);
    const auto write = [&](std::int64_t begin, std::int64_t end) {
      for (auto i = first + static_cast<std::size_t>(begin);
           i < first + static_cast<std::size_t>(end); ++i) {
        to[i] = value;
        value = add_wrapping(value, delta);
      }
    };
    constexpr std::size_t long_row = 10'000;
    if (last - first < long_row)
      write(0, static_cast<std::int64_t>(last - first));
    else
      c.serial_for(static_cast<std::int64_t>(last - first), 1, write);
  }
  return {};
}

Status compute_range(KernelContext& c) {
  constexpr const char* names[] = {"starts", "limits", "deltas"};
  std::int64_t rows = -1;
  for (int i = 0; i < 3; ++i) {
    const Shape& shape = c.input(i).shape();
    if (shape.rank() > 1)
      return invalid_argument(str_cat(names[i], " must be a scalar or vector"));
    if (shape.is_scalar())
      continue;
    if (rows >= 0 && rows != shape[0])
      return invalid_argument("starts, limits, and deltas must have the same shape");
    rows = shape[0];
  }
  return dispatch(Numbers{}, c.input(0).dtype(),
                  [&]<class T>() -> Status { return give_ranges<T>(c, rows < 0 ? 1 : rows); });
}

Status infer_range(ShapeContext& c) {
  std::int64_t rows = shape_rules::unknown_dim;
  bool scalars = true;
  for (int i = 0; i < 3; ++i) {
    TROUPE_TRY(c.require_rank_at_most(i, 1));
    if (!c.input(i).has_rank()) {
      scalars = false;
    } else if (c.input(i).rank() == 1) {
      scalars = false;
      TROUPE_ASSIGN(rows, shape_rules::merge_dims(rows, c.input(i).dim(0)));
    }
  }
  TROUPE_ASSIGN(const std::int64_t splits, shape_rules::add_dims(scalars ? 1 : rows, 1));
  TROUPE_TRY(c.set_output(0, {splits}));
  return c.set_output(1, {-1});
}

// ---- gathering rows

/// `length` is that of what the splits split.
Status check_splits(const Integers& splits, std::int64_t length) {
  if (splits.empty())
    return invalid_argument("Ragged splits may not be empty");
  if (splits[0] < 0)
    return invalid_argument("Ragged splits must be non-negative");
  if (splits[splits.size() - 1] > length)
    return invalid_argument("Ragged splits must not point past values");
  if (!std::ranges::is_sorted(splits))
    return invalid_argument("Ragged splits must be sorted");
  return {};
}

/// What RaggedGather is about to give.
struct Gathered {
  std::vector<Dims> splits;
  std::vector<std::pair<std::int64_t, std::int64_t>> rows; ///< of the values, begin and end
  std::int64_t values = 0;
};

Status gather_row(const std::vector<Integers>& params, int outer, std::int64_t index,
                  Gathered& out) {
  auto begin = static_cast<std::size_t>(index), end = begin + 1;
  for (std::size_t d = 0; d < params.size(); ++d) {
    const Integers& splits = params[d];
    if (const int at = static_cast<int>(d) + outer; at >= 0) {
      Dims& to = out.splits[static_cast<std::size_t>(at)];
      const std::int64_t delta = to.back() - splits[begin];
      for (std::size_t i = begin; i < end; ++i)
        to.push_back(splits[i + 1] + delta);
    }
    begin = static_cast<std::size_t>(splits[begin]);
    end = static_cast<std::size_t>(splits[end]);
  }
  if (begin != end)
    out.rows.emplace_back(begin, end);
  TROUPE_ASSIGN(out.values,
                shape_rules::add_dims(out.values, static_cast<std::int64_t>(end) -
                                                      static_cast<std::int64_t>(begin)));
  return {};
}

/// The splits that all dimensions of the indices but the last are.
Status split_indices(const Shape& indices, Gathered& out) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < indices.rank(); ++d) {
    rows *= indices[d];
    for (std::int64_t i = 1; i <= rows; ++i)
      out.splits[static_cast<std::size_t>(d)].push_back(i * indices[d + 1]);
  }
  return {};
}

Status give_rows(KernelContext& c, const Tensor& values, const Gathered& gathered) {
  Dims dims(values.shape().dims().begin(), values.shape().dims().end());
  dims[0] = gathered.values;
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(c.num_outputs() - 1, shape));
  if (values.num_elements() == 0)
    return {};
  const std::int64_t inner = values.num_elements() / values.shape()[0];
  std::size_t text = 0;
  for (const auto& [begin, end] : gathered.rows)
    text += array::text_bytes(values, begin * inner, (end - begin) * inner);
  TROUPE_TRY(out.charge(text));
  std::int64_t at = 0;
  for (const auto& [begin, end] : gathered.rows) {
    array::copy_elements(values, begin * inner, out, at, (end - begin) * inner);
    at += (end - begin) * inner;
  }
  return {};
}

Status compute_gather(KernelContext& c) {
  const int ranks = c.num_inputs() - 2;
  const Tensor &values = c.input(ranks), &given = c.input(ranks + 1);
  if (c.input(0).shape().is_scalar())
    return invalid_argument("Split tensors must not be scalars");
  if (values.shape().is_scalar())
    return invalid_argument("params.rank must be nonzero");
  if (c.num_outputs() - 1 != ranks + given.shape().rank() - 1)
    return invalid_argument(str_cat("OUTPUT_RAGGED_RANK is ", c.num_outputs() - 1,
                                    ", but the output has ", ranks + given.shape().rank() - 1,
                                    " ragged dimensions"));
  std::vector<Integers> params;
  for (int d = 0; d < ranks; ++d) {
    TROUPE_ASSIGN(Integers splits, integers(c.input(d)));
    params.push_back(std::move(splits));
  }
  TROUPE_ASSIGN(const Integers indices, integers(given));
  const auto rows = static_cast<std::int64_t>(params[0].size()) - 1;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0 || indices[i] >= rows)
      return invalid_argument(str_cat("indices",
                                      position_text(given.shape(), static_cast<std::int64_t>(i)),
                                      " = ", indices[i], " is not in [0, ", rows, ")"));
  for (std::size_t d = 0; d < params.size(); ++d)
    TROUPE_TRY(check_splits(params[d], d + 1 < params.size()
                                           ? static_cast<std::int64_t>(params[d + 1].size()) - 1
                                           : values.shape()[0]));
  Gathered out;
  out.splits.assign(static_cast<std::size_t>(c.num_outputs() - 1), {0});
  TROUPE_TRY(split_indices(given.shape(), out));
  Status status;
  c.serial_for(static_cast<std::int64_t>(indices.size()), 100,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end && status.ok(); ++i)
                   status = gather_row(params, given.shape().rank() - 1,
                                       indices[static_cast<std::size_t>(i)], out);
               });
  TROUPE_TRY(status);
  for (std::size_t d = 0; d < out.splits.size(); ++d) {
    if (c.output_type(static_cast<int>(d)) == DType::int32 && out.splits[d].back() > INT32_MAX)
      return invalid_argument(str_cat(out.splits[d].back(), " values in all need splits of int64"));
    TROUPE_TRY(give(c, static_cast<int>(d), out.splits[d]));
  }
  return give_rows(c, values, out);
}

Status infer_gather(ShapeContext& c) {
  TROUPE_ASSIGN(const auto splits, c.attr<std::int64_t>("PARAMS_RAGGED_RANK"));
  const auto ranks = static_cast<int>(splits);
  TROUPE_TRY(c.require_rank_at_least(ranks, 1));
  for (int i = 0; i < ranks; ++i)
    TROUPE_TRY(c.require_rank(i, 1));
  for (int i = 0; i + 1 < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, {-1}));
  const PartialShape &values = c.input(ranks), &indices = c.input(ranks + 1);
  if (indices.has_rank() && c.num_outputs() - 1 != ranks + indices.rank() - 1)
    return invalid_argument(str_cat("OUTPUT_RAGGED_RANK is ", c.num_outputs() - 1,
                                    ", but the output has ", ranks + indices.rank() - 1,
                                    " ragged dimensions"));
  if (!values.has_rank())
    return {};
  Dims dims = values.dims();
  dims[0] = -1;
  return c.set_output(c.num_outputs() - 1, PartialShape(std::move(dims)));
}

// ---- as sparse tensors

Status check_nested(const std::vector<Integers>& all, std::int64_t values) {
  constexpr auto ends =
      "Final value of ragged splits must match the length the corresponding ragged values.";
  for (std::size_t d = 0; d < all.size(); ++d) {
    const Integers& splits = all[d];
    if (splits.empty())
      return invalid_argument("ragged splits may not be empty.");
    if (splits[0] != 0)
      return invalid_argument("First value of ragged splits must be 0.");
    for (std::size_t i = 1; i < splits.size(); ++i)
      if (splits[i] < splits[i - 1])
        return invalid_argument(str_cat("Ragged splits should be non decreasing, but we got ",
                                        splits[i - 1], " followed by ", splits[i]));
    if (d > 0 && static_cast<std::int64_t>(splits.size()) != all[d - 1][all[d - 1].size() - 1] + 1)
      return invalid_argument(ends);
  }
  if (values != all.back()[all.back().size() - 1])
    return invalid_argument(ends);
  return {};
}

/// Every value's row, and its column in it.
void write_level(const Integers& splits, std::vector<Dims>& index) {
  std::vector<Dims> out(index.size() + 1);
  for (Dims& dim : out)
    dim.reserve(static_cast<std::size_t>(splits[splits.size() - 1]));
  for (std::size_t row = 0; row + 1 < splits.size(); ++row) {
    const std::int64_t n = splits[row + 1] - splits[row];
    for (std::size_t d = 0; d < index.size(); ++d)
      out[d].insert(out[d].end(), static_cast<std::size_t>(n), index[d][row]);
    for (std::int64_t i = 0; i < n; ++i)
      out.back().push_back(i);
  }
  index = std::move(out);
}

/// The indices of the values of rows [begin, end): those of the row, the column, and the place in
/// the value, which is of `inner` elements and of the last dimensions of `shape`.
void write_indices(const Integers& splits, const std::vector<Dims>& index, const Dims& shape,
                   std::int64_t inner, std::int64_t begin, std::int64_t end, std::int64_t* to) {
  const std::size_t outer = index.size() + 1, rank = shape.size();
  to += splits[static_cast<std::size_t>(begin)] * inner * static_cast<std::int64_t>(rank);
  for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row)
    for (std::int64_t i = 0; i < splits[row + 1] - splits[row]; ++i)
      for (std::int64_t k = 0; k < inner; ++k, to += rank) {
        for (std::size_t d = 0; d + 1 < outer; ++d)
          to[d] = index[d][row];
        to[outer - 1] = i;
        std::int64_t left = k;
        for (std::size_t d = rank; d-- > outer; left /= shape[d])
          to[d] = left % shape[d];
      }
}

Status compute_to_sparse(KernelContext& c) {
  const int ranks = c.num_inputs() - 1;
  const Tensor& values = c.input(ranks);
  if (values.shape().is_scalar())
    return invalid_argument("Shape must be at least rank 1 but is rank 0");
  std::vector<Integers> all;
  for (int d = 0; d < ranks; ++d) {
    TROUPE_ASSIGN(Integers splits, integers(c.input(d)));
    all.push_back(std::move(splits));
  }
  const std::int64_t rows = values.shape()[0];
  TROUPE_TRY(check_nested(all, rows));
  std::vector<Dims> index(1);
  Dims shape{static_cast<std::int64_t>(all[0].size()) - 1};
  for (std::int64_t i = 0; i < shape[0]; ++i)
    index[0].push_back(i);
  for (const Integers& splits : all) {
    c.stop_if_cancelled();
    if (&splits != &all.back())
      write_level(splits, index);
    std::int64_t widest = 0;
    for (std::size_t i = 1; i < splits.size(); ++i)
      widest = std::max(widest, splits[i] - splits[i - 1]);
    shape.push_back(widest);
  }
  const std::int64_t inner = rows == 0 ? 0 : values.num_elements() / rows;
  shape.insert(shape.end(), values.shape().dims().begin() + 1, values.shape().dims().end());
  const auto rank = static_cast<std::int64_t>(shape.size());
  TROUPE_ASSIGN(const Shape indices_shape, Shape::make(Dims{values.num_elements(), rank}));
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, indices_shape));
  std::int64_t* to = indices.mutable_data<std::int64_t>().data();
  const Integers& last = all.back();
  const auto parents = static_cast<std::int64_t>(last.size()) - 1;
  const double cost = 5 + 2.0 * static_cast<double>(values.num_elements() * rank) /
                              static_cast<double>(std::max<std::int64_t>(parents, 1));
  if (inner > 0)
    c.parallel_for(parents, cost, [&](std::int64_t begin, std::int64_t end) {
      write_indices(last, index, shape, inner, begin, end, to);
    });
  TROUPE_TRY(c.set_output(1, values.reshaped(Shape{values.num_elements()})));
  return give(c, 2, shape);
}

Status infer_to_sparse(ShapeContext& c) {
  const int ranks = c.num_inputs() - 1;
  TROUPE_TRY(c.require_rank_at_least(ranks, 1));
  for (int i = 0; i < ranks; ++i)
    TROUPE_TRY(c.require_rank(i, 1));
  const PartialShape& values = c.input(ranks);
  std::int64_t count = shape_rules::unknown_dim, rank = shape_rules::unknown_dim;
  if (values.has_rank()) {
    rank = values.rank() + ranks;
    if (const auto known = values.to_shape())
      count = known->num_elements();
  }
  TROUPE_TRY(c.set_output(0, {count, rank}));
  TROUPE_TRY(c.set_output(1, {count}));
  return c.set_output(2, {rank});
}

constexpr auto by_clients = "its gradient is made where graphs are written";

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  options.types = {{"T", {DType::float32, DType::float64, DType::int32, DType::int64}}};
  library.op("RaggedRange")
      .input("starts: T; limits: T; deltas: T")
      .output("rt_nested_splits: Tsplits; rt_dense_values: T")
      .attr("T: {bfloat16, float, double, int32, int64} = DT_INT32")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .shape_fn(infer_range)
      .not_differentiable("it counts")
      .cpu_kernel(compute_range, options)
      .doc("A row of numbers from each start up to its limit.");
  options.types = {{"Tvalues", {DType::float32, DType::float64,    DType::int32,   DType::uint8,
                                DType::int16,   DType::int8,       DType::string,  DType::complex64,
                                DType::int64,   DType::bool_,      DType::qint8,   DType::quint8,
                                DType::qint32,  DType::bfloat16,   DType::qint16,  DType::quint16,
                                DType::uint16,  DType::complex128, DType::float16, DType::uint32,
                                DType::uint64}}};
  library.op("RaggedGather")
      .input("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits; params_dense_values: Tvalues; "
             "indices: Tindices")
      .output("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits; output_dense_values: Tvalues")
      .attr("Tvalues: type; Tindices: {int32, int64}; Tsplits: {int32, int64} = DT_INT64")
      .attr("PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0")
      .shape_fn(infer_gather)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_gather, options)
      .doc("The rows of a ragged tensor that the indices name.");
  options.types = {};
  library.op("RaggedTensorToSparse")
      .input("rt_nested_splits: RAGGED_RANK * Tsplits; rt_dense_values: T")
      .output("sparse_indices: int64; sparse_values: T; sparse_dense_shape: int64")
      .attr("RAGGED_RANK: int >= 1; T: type; Tsplits: {int32, int64} = DT_INT64")
      .shape_fn(infer_to_sparse)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_to_sparse, options)
      .doc("The values of a ragged tensor as entries of a sparse one.");
}

} // namespace troupe::array_ragged
