// SparseSegmentSum, …Mean and …SqrtN (also with the number of segments given): rows of data that
// indices name, taken together by segment ids that do not fall; and their gradients. A sum of n
// rows is divided by n for the mean, by sqrt(n) for SqrtN.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/reduce/internal/join_rows.hpp"

namespace troupe::reduce_sparse_segments {
namespace {

using Dims = std::vector<std::int64_t>;
enum class How : std::uint8_t { sum, mean, sqrt_n };

using Summed = Types<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                     std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16>;
using AnyFloat = Types<float, double, Half, BFloat16>;

/// Sums of these need no wider type; integers wrap.
template <class T>
constexpr bool sums_itself = std::is_arithmetic_v<T> && sizeof(T) >= 4;

/// What rows of T are summed in: small floats in float, small integers in one that wraps alike.
template <class T>
auto sum_type() {
  if constexpr (sums_itself<T>)
    return T{};
  else if constexpr (std::is_integral_v<T>)
    return std::int32_t{};
  else
    return float{};
}
template <class T>
using Sum = decltype(sum_type<T>());

double divisor(How how, std::int64_t rows) {
  return how == How::mean ? static_cast<double>(rows) : std::sqrt(static_cast<double>(rows));
}

std::int64_t row_size(const Shape& shape) {
  std::int64_t out = 1;
  for (int d = 1; d < shape.rank(); ++d)
    out *= shape[d];
  return out;
}

Result<Shape> with_rows(const Shape& like, std::int64_t rows) {
  Dims dims(like.dims().begin(), like.dims().end());
  dims[0] = rows;
  return Shape::make(dims);
}

Status check_shapes(KernelContext& c) {
  if (c.input(0).shape().is_scalar())
    return invalid_argument("Shape must be at least rank 1");
  if (c.input(1).shape().rank() != 1)
    return invalid_argument("indices should be a vector.");
  if (c.input(2).shape().rank() != 1)
    return invalid_argument("segment_ids should be a vector.");
  if (c.input(1).num_elements() != c.input(2).num_elements())
    return invalid_argument("segment_ids and indices should have same size.");
  return {};
}

Status check_ids(const Integers& ids, std::int64_t rows) {
  // Segment by segment: what follows a segment is looked at before the segment itself.
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + 1 < ids.size() && ids[i + 1] == ids[i])
      continue;
    if (i + 1 < ids.size() && ids[i + 1] < ids[i])
      return invalid_argument("segment ids are not increasing");
    if (ids[i] < 0 || ids[i] >= rows)
      return invalid_argument(str_cat("Segment id ", ids[i], " out of range [0, ", rows,
                                      "), possibly because 'segment_ids' input is not sorted."));
  }
  return {};
}

Result<std::int64_t> output_rows(KernelContext& c, const Integers& ids) {
  const std::int64_t last = ids.empty() ? -1 : ids[ids.size() - 1];
  if (c.num_inputs() == 3) {
    if (!ids.empty() && last < 0)
      return invalid_argument("segment ids must be >= 0");
    return ids.empty() ? 0 : shape_rules::add_dims(last, 1);
  }
  if (!c.input(3).shape().is_scalar())
    return invalid_argument(
        str_cat("num_segments should be a scalar, not shape ", c.input(3).shape()));
  TROUPE_ASSIGN(const Integers given, integers(c.input(3)));
  if (given[0] < 0)
    return invalid_argument("segment ids must be >= 0");
  if (last >= given[0])
    return invalid_argument("segment ids must be < num_segments");
  return given[0];
}

/// Adds rows of T to sums of it.
template <class T>
class RowSum {
public:
  explicit RowSum(std::int64_t size) : size_(size), join_(size) {
    if constexpr (std::is_same_v<Sum<T>, float>)
      cast_ = arith::cast_kernel(static_cast<arith::Type>(dtype_of<T>), arith::Type::float32);
    if constexpr (!sums_itself<T>)
      wide_.resize(static_cast<std::size_t>(size));
  }
  void begin(const T* from, Sum<T>* sums) { join_.begin(Sum<T>{}, widened(from), sums); }
  void add(const T* from, Sum<T>* sums) { join_.add(widened(from), sums); }

private:
  const Sum<T>* widened(const T* from) {
    if constexpr (sums_itself<T>) {
      return from;
    } else {
      if constexpr (std::is_same_v<Sum<T>, float>)
        cast_(from, wide_.data(), 0, size_);
      else
        std::transform(from, from + size_, wide_.begin(),
                       [](T x) { return static_cast<Sum<T>>(x); });
      return wide_.data();
    }
  }

  std::int64_t size_;
  reduce::RowJoin<reduce::Join::add, Sum<T>> join_;
  arith::CastKernel cast_;
  std::vector<Sum<T>> wide_;
};

template <class T>
void sum_segments(KernelContext& c, How how, const Integers& indices, const Integers& ids,
                  std::int64_t rows, std::int64_t inner, Tensor& out) {
  const T* from = c.input(0).data<T>().data();
  T* to = out.mutable_data<T>().data();
  const double per_row = static_cast<double>(ids.size() + 1) / static_cast<double>(rows);
  const double cost =
      5 + static_cast<double>(inner) * 0.1 + per_row * (5 + static_cast<double>(inner) * 0.2);
  c.parallel_for(rows, cost, [&](std::int64_t begin, std::int64_t end) {
    RowSum<T> sum(inner);
    std::vector<Sum<T>> room(static_cast<std::size_t>(sums_itself<T> ? 0 : inner));
    const std::int64_t* id = std::lower_bound(ids.begin(), ids.end(), begin);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t* first = id;
      while (id != ids.end() && *id == row)
        ++id;
      T* target = to + row * inner;
      if (id == first) {
        std::fill_n(target, inner, T{});
        continue;
      }
      Sum<T>* sums = room.data();
      if constexpr (sums_itself<T>)
        sums = target;
      const std::int64_t* index = indices.begin() + (first - ids.begin());
      const std::int64_t count = id - first;
      sum.begin(from + index[0] * inner, sums);
      for (std::int64_t i = 1; i < count; ++i)
        sum.add(from + index[i] * inner, sums);
      if constexpr (!std::is_integral_v<T>)
        if (how != How::sum && count > 1)
          reduce::divide_row(sums, inner, static_cast<Sum<T>>(divisor(how, count)));
      if constexpr (!sums_itself<T>)
        std::transform(sums, sums + inner, target, [](Sum<T> x) { return static_cast<T>(x); });
    }
  });
}

template <How how>
Status compute(KernelContext& c) {
  TROUPE_TRY(check_shapes(c));
  const Tensor& data = c.input(0);
  TROUPE_ASSIGN(const Integers indices, integers(c.input(1)));
  TROUPE_ASSIGN(const Integers ids, integers(c.input(2)));
  TROUPE_ASSIGN(const std::int64_t rows, output_rows(c, ids));
  TROUPE_ASSIGN(const Shape shape, with_rows(data.shape(), rows));
  TROUPE_TRY(check_ids(ids, rows));
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0 || indices[i] >= data.shape()[0])
      return invalid_argument(str_cat("Bad: indices[", i, "] == ", indices[i], " out of range [0, ",
                                      data.shape()[0], ")"));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  return dispatch(Summed{}, data.dtype(), [&]<class T>() -> Status {
    sum_segments<T>(c, how, indices, ids, rows, row_size(data.shape()), out);
    return {};
  });
}

// ---- gradients

/// Each index's row of the output gets its segment's gradient, scaled.
struct Spread {
  Integers targets; ///< rows of the output
  Integers ids;
  std::int64_t rows = 0;
};

/// Adds the columns [begin, end) of each index's row to that of its target.
template <class T>
void spread_columns(const Spread& s, const std::vector<double>& by, const T* from,
                    std::int64_t inner, std::int64_t begin, std::int64_t end, T* to) {
  const std::int64_t columns = end - begin;
  std::vector<Sum<T>> room(static_cast<std::size_t>(sums_itself<T> ? 0 : s.rows * columns));
  const std::int64_t pitch = sums_itself<T> ? inner : columns;
  Sum<T>* sums = room.data();
  if constexpr (sums_itself<T>) {
    sums = to + begin;
    for (std::int64_t row = 0; row < s.rows; ++row)
      std::fill_n(sums + row * pitch, columns, T{});
  }
  for (std::size_t i = 0; i < s.ids.size(); ++i) {
    const T* x = from + s.ids[i] * inner + begin;
    Sum<T>* y = sums + s.targets[i] * pitch;
    const double divisor = by[static_cast<std::size_t>(s.ids[i])];
    if (divisor == 1)
      for (std::int64_t k = 0; k < columns; ++k)
        y[k] += static_cast<Sum<T>>(x[k]);
    else
      for (std::int64_t k = 0; k < columns; ++k)
        y[k] += static_cast<Sum<T>>(static_cast<double>(static_cast<Sum<T>>(x[k])) / divisor);
  }
  if constexpr (!sums_itself<T>)
    for (std::int64_t row = 0; row < s.rows; ++row)
      std::transform(sums + row * pitch, sums + (row + 1) * pitch, to + row * inner + begin,
                     [](Sum<T> x) { return static_cast<T>(x); });
}

template <class T>
void spread(KernelContext& c, How how, const Spread& s, std::int64_t inner, Tensor& out) {
  std::vector<double> by(static_cast<std::size_t>(c.input(0).shape()[0]), 0);
  for (std::int64_t id : s.ids)
    ++by[static_cast<std::size_t>(id)];
  for (double& count : by)
    count = how == How::sum ? 1 : how == How::mean ? count : std::sqrt(count);
  const T* from = c.input(0).data<T>().data();
  T* to = out.mutable_data<T>().data();
  c.parallel_for(inner, 5.0 + 2.0 * static_cast<double>(s.ids.size()),
                 [&](std::int64_t begin, std::int64_t end) {
                   spread_columns(s, by, from, inner, begin, end, to);
                 });
}

Status give_spread(KernelContext& c, How how, const Spread& s) {
  TROUPE_ASSIGN(const Shape shape, with_rows(c.input(0).shape(), s.rows));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  return dispatch(AnyFloat{}, out.dtype(), [&]<class T>() -> Status {
    spread<T>(c, how, s, row_size(shape), out);
    return {};
  });
}

Result<Spread> read_gradient(KernelContext& c) {
  TROUPE_TRY(check_shapes(c));
  if (!c.input(3).shape().is_scalar())
    return invalid_argument(
        str_cat(c.num_outputs() > 1 ? "dense_" : "", "output_dim0 should be a scalar."));
  TROUPE_ASSIGN(Integers indices, integers(c.input(1)));
  TROUPE_ASSIGN(Integers ids, integers(c.input(2)));
  const std::int64_t rows = c.input(3).value<std::int32_t>();
  const std::int64_t segments = c.input(0).shape()[0];
  if (rows < 0)
    return invalid_argument(str_cat("Expected a non-negative size, got ", rows));
  if (!ids.empty() && ids[ids.size() - 1] >= segments)
    return invalid_argument("Invalid number of segments");
  for (std::int64_t id : ids)
    if (id < 0 || id >= segments)
      return invalid_argument(str_cat("Segment id ", id, " out of range [0, ", segments, ")."));
  for (std::int64_t index : indices)
    if (index < 0 || index >= rows)
      return invalid_argument(str_cat("Index ", index, " out of range [0, ", rows, ")."));
  return Spread{.targets = std::move(indices), .ids = std::move(ids), .rows = rows};
}

template <How how>
Status compute_grad(KernelContext& c) {
  TROUPE_ASSIGN(const Spread s, read_gradient(c));
  return give_spread(c, how, s);
}

/// Only the rows that are named, and which those are.
template <How how>
Status compute_grad_v2(KernelContext& c) {
  TROUPE_ASSIGN(Spread s, read_gradient(c));
  Dims named(s.targets.begin(), s.targets.end());
  std::ranges::sort(named);
  const auto twice = std::ranges::unique(named);
  named.erase(twice.begin(), twice.end());
  for (std::int64_t& target : s.targets)
    target = std::ranges::lower_bound(named, target) - named.begin();
  s.rows = static_cast<std::int64_t>(named.size());
  TROUPE_ASSIGN(Tensor out, c.allocate_output(1, Shape{s.rows}));
  TROUPE_TRY(dispatch(Indices{}, out.dtype(), [&]<class I>() -> Status {
    std::ranges::transform(named, out.mutable_data<I>().begin(),
                           [](std::int64_t x) { return static_cast<I>(x); });
    return {};
  }));
  return give_spread(c, how, s);
}

// ---- shapes

Status infer_rows(ShapeContext& c, std::int64_t rows) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 1));
  if (c.input(1).has_rank() && c.input(2).has_rank())
    TROUPE_TRY(shape_rules::merge_dims(c.input(1).dim(0), c.input(2).dim(0)).status());
  if (c.num_inputs() > 3)
    TROUPE_TRY(c.require_rank(3, 0));
  if (!c.input(0).has_rank())
    return {};
  Dims dims = c.input(0).dims();
  dims[0] = rows;
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer(ShapeContext& c) {
  std::int64_t rows = shape_rules::unknown_dim;
  if (c.num_inputs() > 3)
    if (const auto given = c.input_as_ints(3); given && given->size() == 1) {
      rows = given->front();
      if (rows < 0)
        return invalid_argument("Cannot specify a negative value for num_segments");
    }
  return infer_rows(c, rows);
}

Status infer_grad(ShapeContext& c) {
  const auto given = c.input_as_ints(3);
  if (!given || given->size() != 1) // the kernel refuses what is no scalar
    return infer_rows(c, shape_rules::unknown_dim);
  if (given->front() < 0)
    return invalid_argument(str_cat("Expected a non-negative size, got ", given->front()));
  return infer_rows(c, given->front());
}

Status infer_grad_v2(ShapeContext& c) {
  TROUPE_TRY(infer_rows(c, shape_rules::unknown_dim));
  return c.set_output(1, {-1});
}

constexpr const char* ids = "Tidx: {int32, int64} = DT_INT32";
constexpr const char* segments = "Tsegmentids: {int32, int64} = DT_INT32";

template <How how>
void add(OpLibrary& library, const std::string& name, const char* what) {
  KernelOptions options;
  options.expensive = true;
  const bool any = how == How::sum;
  const char* types = any ? "T: realnumbertype" : "T: {bfloat16, half, float, double}";
  constexpr auto by_clients = "its gradient is made where graphs are written";
  const std::string doc = str_cat("The ", what, " of the rows that the indices name");
  library.op(name)
      .input("data: T; indices: Tidx; segment_ids: Tsegmentids")
      .output("output: T")
      .attr(types)
      .attr(ids)
      .attr(segments)
      .attr("sparse_gradient: bool = false")
      .shape_fn(infer)
      .not_differentiable(by_clients)
      .cpu_kernel(compute<how>, options)
      .doc(doc + ", of each segment.");
  library.op(name + "WithNumSegments")
      .input("data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments")
      .output("output: T")
      .attr(types)
      .attr(ids)
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .attr(segments)
      .attr("sparse_gradient: bool = false")
      .shape_fn(infer)
      .not_differentiable(by_clients)
      .cpu_kernel(compute<how>, options)
      .doc(doc + ", of each of so many segments.");
  constexpr auto floats = "T: {bfloat16, half, float, double}";
  constexpr auto itself = "it is a gradient itself";
  library.op(name + "Grad")
      .input("grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32")
      .output("output: T")
      .attr(floats)
      .attr(ids)
      .attr(segments)
      .shape_fn(infer_grad)
      .not_differentiable(itself)
      .cpu_kernel(compute_grad<how>, options)
      .doc("The gradient of the data.");
  library.op(name + "GradV2")
      .input("grad: T; indices: Tidx; segment_ids: Tsegmentids; dense_output_dim0: int32")
      .output("output: T; sorted_unique_indices: Tidx")
      .attr(floats)
      .attr(ids)
      .attr(segments)
      .shape_fn(infer_grad_v2)
      .not_differentiable(itself)
      .cpu_kernel(compute_grad_v2<how>, options)
      .doc("The rows of the data's gradient that are not 0, and which those are.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add<How::sum>(library, "SparseSegmentSum", "sums");
  add<How::mean>(library, "SparseSegmentMean", "means");
  add<How::sqrt_n>(library, "SparseSegmentSqrtN", "sums, divided by the root of their number,");
}

} // namespace troupe::reduce_sparse_segments
