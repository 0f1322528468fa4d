// SegmentSum, SegmentMean, SegmentProd, SegmentMin, SegmentMax: rows of data with one segment id
// each, which do not fall, taken together by segment. UnsortedSegmentProd, …Min and …Max: the same
// for ids in any order, of which negative ones are left out.
#include <algorithm>
#include <complex>
#include <limits>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/position.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/reduce/internal/join_rows.hpp"
#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce_segments {
namespace {

using Dims = std::vector<std::int64_t>;
using reduce::Join;
enum class How { sum, mean, prod, min, max };

/// As reduce::Computed, and 64-bit integers without a sign, which are compared as what they are.
using Computed =
    Types<float, double, std::int32_t, std::int64_t, std::uint64_t, std::complex<double>>;

/// The least or greatest finite number of a dtype, as a T; what an unsorted segment without rows
/// has.
template <class T>
T limit(DType dtype, bool least) {
  if constexpr (std::is_arithmetic_v<T>) {
    switch (dtype) {
    case DType::float16:
      return static_cast<T>(least ? -65504.0 : 65504.0);
    case DType::bfloat16:
      return static_cast<T>(least ? -3.3895313892515355e38 : 3.3895313892515355e38);
    case DType::int8:
      return static_cast<T>(least ? -128 : 127);
    case DType::uint8:
      return static_cast<T>(least ? 0 : 255);
    case DType::int16:
      return static_cast<T>(least ? -32768 : 32767);
    case DType::uint16:
      return static_cast<T>(least ? 0 : 65535);
    case DType::uint32:
      return static_cast<T>(least ? 0 : 4294967295.0);
    default:
      return least ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    }
  } else {
    return T(0);
  }
}

struct Rows {
  std::int64_t segments = 0, inner = 1;
  Shape shape;
};

/// The output: `segments` times what lies behind the ids' dimensions.
Result<Rows> output_rows(const Shape& data, int ids_rank, std::int64_t segments) {
  Rows out{.segments = segments, .inner = 1, .shape = {}};
  Dims dims{segments};
  for (int i = ids_rank; i < data.rank(); ++i) {
    dims.push_back(data[i]);
    out.inner *= data[i];
  }
  TROUPE_ASSIGN(out.shape, Shape::make(dims));
  return out;
}

/// What a segment begins with, and what one without rows has.
template <class T>
struct Ends {
  T neutral, empty;
};

/// What the elements of a segment cost, nanoseconds.
double segment_cost(const Integers& ids, const Rows& rows) {
  return 5 + 0.1 * static_cast<double>(rows.inner) *
                 (1 + static_cast<double>(ids.size()) / static_cast<double>(rows.segments));
}

/// Rows into their segments, which lie one after the other.
template <Join how, class T>
void fill_sorted(KernelContext& c, const T* data, const Integers& ids, const Rows& rows,
                 Ends<T> ends, bool is_mean, T* to) {
  const reduce::RowJoin<how, T> join(rows.inner);
  c.parallel_for(rows.segments, segment_cost(ids, rows), [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t* id = std::lower_bound(ids.begin(), ids.end(), begin);
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t* first = id;
      while (id != ids.end() && *id == s)
        ++id;
      T* row = to + s * rows.inner;
      if (id == first) {
        std::fill_n(row, rows.inner, ends.empty);
        continue;
      }
      join.all(ends.neutral, data + (first - ids.begin()) * rows.inner, id - first, row);
      if (is_mean)
        reduce::divide_row(row, rows.inner, static_cast<T>(id - first));
    }
  });
}

/// Rows into the segments [begin, end), in any order.
template <Join how, class T>
void fill_unsorted(const T* data, const Integers& ids, const Rows& rows, Ends<T> ends, T* to,
                   std::int64_t begin, std::int64_t end) {
  const reduce::RowJoin<how, T> join(rows.inner);
  std::vector<bool> has_rows(static_cast<std::size_t>(end - begin));
  for (std::size_t r = 0; r < ids.size(); ++r) {
    if (ids[r] < begin || ids[r] >= end)
      continue;
    const T* from = data + static_cast<std::int64_t>(r) * rows.inner;
    T* row = to + ids[r] * rows.inner;
    const auto place = static_cast<std::size_t>(ids[r] - begin);
    if (has_rows[place])
      join.add(from, row);
    else
      join.begin(ends.neutral, from, row);
    has_rows[place] = true;
  }
  for (std::int64_t s = begin; s < end; ++s)
    if (!has_rows[static_cast<std::size_t>(s - begin)])
      std::fill_n(to + s * rows.inner, rows.inner, ends.empty);
}

template <Join how, class T>
void fill(KernelContext& c, const T* data, const Integers& ids, const Rows& rows, Ends<T> ends,
          bool is_mean, bool sorted, T* to) {
  if (rows.inner == 0 || rows.segments == 0)
    return;
  if (sorted)
    return fill_sorted<how>(c, data, ids, rows, ends, is_mean, to);
  // Every part looks at all ids, so parts pay only where the rows are long.
  constexpr std::int64_t long_row = 16;
  if (rows.inner < long_row)
    return fill_unsorted<how>(data, ids, rows, ends, to, 0, rows.segments);
  c.parallel_for(rows.segments, segment_cost(ids, rows), [&](std::int64_t begin, std::int64_t end) {
    fill_unsorted<how>(data, ids, rows, ends, to, begin, end);
  });
}

Result<Tensor> wide_output(KernelContext& c, const Shape& shape, DType dtype) {
  if (dtype == c.output_type(0))
    return c.allocate_output(0, shape);
  return c.allocate_temp(dtype, shape);
}

Status run(KernelContext& c, How how, const Integers& ids, const Rows& rows, bool sorted) {
  const DType dtype = c.input(0).dtype();
  const bool compares = how == How::min || how == How::max;
  const DType wide = compares ? arith::widened_dtype(dtype) : arith::computed_in(dtype);
  TROUPE_ASSIGN(const Tensor values, widened(c, c.input(0), wide));
  TROUPE_ASSIGN(Tensor out, wide_output(c, rows.shape, wide));
  TROUPE_TRY(dispatch(Computed{}, wide, [&]<class T>() -> Status {
    const T one = static_cast<T>(1), zero = static_cast<T>(0);
    T neutral = how == How::prod ? one : zero;
    if constexpr (std::is_arithmetic_v<T>)
      if (compares) {
        using Limits = std::numeric_limits<T>;
        neutral = how == How::min ? (Limits::has_infinity ? Limits::infinity() : Limits::max())
                                  : (Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
      }
    const T none = sorted     ? (how == How::prod ? one : zero)
                   : compares ? limit<T>(dtype, how == How::max)
                              : neutral;
    const Ends<T> ends{neutral, none};
    const T* from = values.data<T>().data();
    T* to = out.mutable_data<T>().data();
    if (how == How::prod)
      fill<Join::multiply>(c, from, ids, rows, ends, false, sorted, to);
    else if (!compares)
      fill<Join::add>(c, from, ids, rows, ends, how == How::mean, sorted, to);
    else if constexpr (std::is_arithmetic_v<T>) {
      if (how == How::min)
        fill<Join::least>(c, from, ids, rows, ends, false, sorted, to);
      else
        fill<Join::greatest>(c, from, ids, rows, ends, false, sorted, to);
    }
    return {};
  }));
  return narrow(c, 0, out);
}

Status compute_sorted(KernelContext& c, How how) {
  const Shape &data = c.input(0).shape(), &given = c.input(1).shape();
  if (data.rank() < 1)
    return invalid_argument("input must be at least rank 1");
  if (given.rank() != 1)
    return invalid_argument("segment_ids should be a vector.");
  if (given[0] != data[0])
    return invalid_argument("segment_ids should be the same size as dimension 0 of input.");
  TROUPE_ASSIGN(const Integers ids, integers(c.input(1)));
  std::int64_t segments = 0;
  if (!ids.empty() && __builtin_add_overflow(ids[ids.size() - 1], 1, &segments))
    return invalid_argument("segment ids must be less than 2^63 - 1");
  if (!ids.empty() && segments <= 0)
    return invalid_argument("segment ids must be >= 0");
  for (std::size_t r = 0; r < ids.size(); ++r) {
    if (r + 1 < ids.size() && ids[r + 1] == ids[r])
      continue;
    if (r + 1 < ids.size() && ids[r + 1] < ids[r])
      return invalid_argument("segment ids are not increasing");
    if (ids[r] < 0 || ids[r] >= segments)
      return invalid_argument(str_cat("Segment id ", ids[r], " out of range [0, ", segments,
                                      "), possibly because 'segment_ids' input is not sorted."));
  }
  TROUPE_ASSIGN(const Rows rows, output_rows(data, 1, segments));
  return run(c, how, ids, rows, true);
}

Status compute_unsorted(KernelContext& c, How how) {
  const Shape &data = c.input(0).shape(), &given = c.input(1).shape();
  if (!c.input(2).shape().is_scalar())
    return invalid_argument(
        str_cat("num_segments should be a scalar, not shape ", c.input(2).shape()));
  bool starts_with = given.rank() <= data.rank();
  for (int i = 0; starts_with && i < given.rank(); ++i)
    starts_with = given[i] == data[i];
  if (!starts_with)
    return invalid_argument(
        str_cat("data.shape = ", data, " does not start with segment_ids.shape = ", given));
  TROUPE_ASSIGN(const Integers number, integers(c.input(2)));
  if (number[0] < 0)
    return invalid_argument(str_cat("Input num_segments == ", number[0], " must not be negative."));
  TROUPE_ASSIGN(const Rows rows, output_rows(data, given.rank(), number[0]));
  if (data.num_elements() == 0) // no row is looked at
    return run(c, how, Integers(0), rows, false);
  TROUPE_ASSIGN(const Integers ids, integers(c.input(1)));
  for (std::size_t r = 0; r < ids.size(); ++r)
    if (ids[r] >= number[0])
      return invalid_argument(str_cat("segment_ids",
                                      position_text(given, static_cast<std::int64_t>(r)), " = ",
                                      ids[r], " is out of range [0, ", number[0], ")"));
  return run(c, how, ids, rows, false);
}

template <How how>
Status sorted(KernelContext& c) {
  return compute_sorted(c, how);
}
template <How how>
Status unsorted(KernelContext& c) {
  return compute_unsorted(c, how);
}

Status infer_sorted(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  const PartialShape &data = c.input(0), &ids = c.input(1);
  if (!data.has_rank())
    return {};
  if (ids.has_rank())
    TROUPE_TRY(shape_rules::merge_dims(data.dim(0), ids.dim(0)).status());
  Dims dims = data.dims();
  dims[0] = -1;
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_unsorted(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(2, 0));
  const PartialShape &data = c.input(0), &ids = c.input(1);
  if (!data.has_rank() || !ids.has_rank())
    return {};
  if (ids.rank() > data.rank())
    return invalid_argument(
        str_cat("Shape must be at least rank ", ids.rank(), " but is rank ", data.rank()));
  for (int i = 0; i < ids.rank(); ++i)
    TROUPE_TRY(shape_rules::merge_dims(data.dim(i), ids.dim(i)).status());
  const auto segments = c.input_as_ints(2);
  if (segments && (*segments)[0] < 0)
    return invalid_argument(
        str_cat("Input num_segments == ", (*segments)[0], " must not be negative."));
  Dims dims{segments ? (*segments)[0] : -1};
  dims.insert(dims.end(), data.dims().begin() + ids.rank(), data.dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

// ---- gradients of the sorted ones

Value rows_of(GradContext& g, Value segments) {
  return g.op("GatherV2", {segments, g.input(1), g.constant(Tensor::scalar<std::int32_t>(0))});
}

Status of_sum(GradContext& g) {
  return g.set_input_grad(0, rows_of(g, g.output_grad(0)));
}

/// A column of ones for the rows of data, as many dimensions as data has.
Value ones_column(GradContext& g) {
  const Value ids = g.input(1), dy = g.output_grad(0);
  const Value missing =
      g.reshape(g.sub(g.op("Rank", {g.input(0)}), g.op("Rank", {ids})), g.ints({1}));
  const Value tail = g.op("Fill", {missing, g.constant(Tensor::scalar<std::int32_t>(1))});
  const Value axis = g.constant(Tensor::scalar<std::int32_t>(0));
  const Value shape = g.op("ConcatV2", {g.shape_of(ids), tail, axis}, {{"N", std::int64_t{2}}});
  return g.op("Fill", {shape, g.scalar_like(dy, 1)});
}

Status of_mean(GradContext& g) {
  const Value counts = g.op("SegmentSum", {ones_column(g), g.input(1)});
  const Value one = g.scalar_like(counts, 1);
  return g.set_input_grad(0, rows_of(g, g.div(g.output_grad(0), g.op("Maximum", {counts, one}))));
}

// Shared equally by those that are the least (greatest).
Status of_extremum(GradContext& g) {
  const Value x = g.input(0), dy = g.output_grad(0);
  const Value chosen =
      g.op("Cast", {g.op("Equal", {x, rows_of(g, g.output(0))})}, {{"DstT", g.dtype(x)}});
  const Value counts = g.op("SegmentSum", {chosen, g.input(1)});
  const Value share = g.div(dy, g.op("Maximum", {counts, g.scalar_like(counts, 1)}));
  return g.set_input_grad(0, g.mul(chosen, rows_of(g, share)));
}

constexpr std::string_view all_numbers = "T: numbertype; Tindices: {int32, int64}";
constexpr std::string_view real_numbers = "T: realnumbertype; Tindices: {int32, int64}";

struct Row {
  std::string_view name, types;
  How how;
  KernelFn fn;
  GradientFn gradient;
  std::string_view doc;
};

KernelOptions options(How how, bool sorted) {
  KernelOptions out;
  std::vector<DType> types = arith::dtypes_of(arith::BinaryOp::maximum);
  if (how != How::min && how != How::max)
    types = arith::dtypes_of(arith::BinaryOp::add);
  std::vector<DType> ids{DType::int32, DType::int64};
  if (!sorted)
    ids.push_back(DType::int16);
  out.types = {{"T", std::move(types)}, {"Tindices", std::move(ids)}};
  out.expensive = true;
  return out;
}

constexpr auto no_rule = "its gradient is in no op of the library; clients bring their own";

void add(OpLibrary& library, const Row& row, bool sorted) {
  auto op = library.op(row.name);
  op.input(sorted ? "data: T; segment_ids: Tindices"
                  : "data: T; segment_ids: Tindices; num_segments: Tnumsegments")
      .output("output: T")
      .attr(row.types)
      .shape_fn(sorted ? infer_sorted : infer_unsorted);
  if (!sorted)
    op.attr("Tnumsegments: {int32, int64} = DT_INT32");
  if (row.gradient)
    op.gradient(row.gradient);
  else
    op.not_differentiable(no_rule);
  op.cpu_kernel(row.fn, options(row.how, sorted)).doc(row.doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const Row& row : {Row{"SegmentSum", all_numbers, How::sum, sorted<How::sum>, of_sum,
                             "The sums of the rows of each segment."},
                         Row{"SegmentMean", all_numbers, How::mean, sorted<How::mean>, of_mean,
                             "The means of the rows of each segment."},
                         Row{"SegmentProd", all_numbers, How::prod, sorted<How::prod>, nullptr,
                             "The products of the rows of each segment."},
                         Row{"SegmentMin", real_numbers, How::min, sorted<How::min>, of_extremum,
                             "The least elements of the rows of each segment."},
                         Row{"SegmentMax", real_numbers, How::max, sorted<How::max>, of_extremum,
                             "The greatest elements of the rows of each segment."}})
    add(library, row, true);
  for (const Row& row :
       {Row{"UnsortedSegmentProd", all_numbers, How::prod, unsorted<How::prod>, nullptr,
            "The products of the rows of each segment, whose ids come in any order."},
        Row{"UnsortedSegmentMin", real_numbers, How::min, unsorted<How::min>, nullptr,
            "The least elements of the rows of each segment, whose ids come in any order."},
        Row{"UnsortedSegmentMax", real_numbers, How::max, unsorted<How::max>, nullptr,
            "The greatest elements of the rows of each segment, whose ids come in any order."}})
    add(library, row, false);
}

} // namespace troupe::reduce_segments
