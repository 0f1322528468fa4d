// TopK and TopKV2: the k largest elements along the last axis and where they lie. InTopK and
// InTopKV2: whether a target's prediction is among the k largest of its row.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/arith/reduce.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::nn_top_k {
namespace {

using Comparable = Types<float, double, std::int32_t, std::int64_t, std::uint64_t>;
using SmallIndices = Types<std::int16_t, std::int32_t, std::int64_t>;

Result<std::int64_t> read_scalar(const Tensor& k) {
  if (!k.shape().is_scalar())
    return invalid_argument(str_cat("k must be scalar, got shape ", k.shape()));
  TROUPE_ASSIGN(const auto numbers, integers(k));
  return numbers[0];
}

Status infer_top_k(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  std::int64_t k = shape_rules::unknown_dim;
  if (c.num_inputs() == 1) {
    TROUPE_ASSIGN(k, c.attr<std::int64_t>("k"));
  } else {
    TROUPE_TRY(c.require_rank(1, 0));
    if (const auto value = c.input_as_ints(1)) {
      k = value->front();
      if (k < 0)
        return invalid_argument(str_cat("Need k >= 0, got ", k));
    }
  }
  const PartialShape& in = c.input(0);
  PartialShape out;
  if (in.has_rank()) {
    auto dims = in.dims();
    if (dims.back() != shape_rules::unknown_dim && k > dims.back())
      return invalid_argument(
          str_cat("input must have last dimension >= k = ", k, " but is ", dims.back()));
    dims.back() = k;
    out = PartialShape(std::move(dims));
  }
  TROUPE_TRY(c.set_output(0, out));
  return c.set_output(1, std::move(out));
}

/// A number whose order is that in which elements are taken: larger ones first, NaN before all.
/// Equal elements, and what counts as 0, have one rank.
template <class T>
auto rank_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    if (std::isnan(x))
      return Bits{0};
    const Bits bits = x == 0 ? 0 : std::bit_cast<Bits>(x);
    const Bits if_negative = ~((bits >> (8 * sizeof(T) - 1)) - 1); // no branch: signs are random
    return static_cast<Bits>(bits ^ (~if_negative & ~sign));
  } else {
    using Bits = std::make_unsigned_t<T>;
    constexpr Bits sign = std::is_signed_v<T> ? Bits{1} << (8 * sizeof(T) - 1) : 0;
    return static_cast<Bits>(~(static_cast<Bits>(x) ^ sign));
  }
}

/// A rank and a column as one number, so that a sort compares without a look into the row; the
/// earlier of equal elements comes first.
template <class T>
using Place = std::conditional_t<sizeof(T) == 4, std::uint64_t, unsigned __int128>;

template <class T>
Place<T> place_of(T x, std::int64_t column) {
  return static_cast<Place<T>>(rank_of(x)) << (sizeof(Place<T>) * 4) |
         static_cast<Place<T>>(column);
}

template <class T>
std::int64_t column_of(Place<T> place) {
  constexpr Place<T> columns = (Place<T>{1} << (sizeof(Place<T>) * 4)) - 1;
  return static_cast<std::int64_t>(place & columns);
}

// Whether a heap of k refuses most elements at once.
bool are_few(std::int64_t k, std::int64_t columns) {
  return k <= 64 || k <= columns / 16;
}

/// The column of the first largest element; -1 if one is NaN. Several elements at once, without
/// branches.
template <class T>
std::int64_t column_of_largest(const T* row, std::int64_t columns) {
  if constexpr (std::is_same_v<T, float>)
    return arith::place_of_largest(row, columns);
  constexpr std::int64_t at_once = 16;
  using Flag = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  T largest[at_once];
  Flag is_nan[at_once] = {};
  std::fill_n(largest, at_once, row[0]);
  const auto take = [&](std::int64_t lane, T x) {
    largest[lane] = x > largest[lane] ? x : largest[lane];
    is_nan[lane] |= x != x ? Flag{-1} : Flag{0};
  };
  std::int64_t i = 0;
  for (; i + at_once <= columns; i += at_once)
    for (std::int64_t lane = 0; lane < at_once; ++lane)
      take(lane, row[i + lane]);
  for (; i < columns; ++i)
    take(0, row[i]);
  if (std::ranges::min(is_nan) < 0)
    return -1;
  const T value = std::ranges::max(largest);
  for (i = 0; i + at_once <= columns; i += at_once) {
    Flag is_there = 0;
    for (std::int64_t lane = 0; lane < at_once; ++lane)
      is_there |= row[i + lane] == value ? Flag{-1} : Flag{0};
    if (is_there != 0)
      break;
  }
  return std::find(row + i, row + columns, value) - row;
}

/// `places`: those of the row's first columns, as many as it has elements.
template <class T>
void take_places(const T* row, std::vector<Place<T>>& places) {
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = place_of(row[i], static_cast<std::int64_t>(i));
}

/// Makes `places`, a heap of places before column `begin`, the heap of the first of the whole row.
template <class T>
void take_rest(const T* row, std::int64_t begin, std::int64_t columns,
               std::vector<Place<T>>& places) {
  T last = row[column_of<T>(places.front())];
  for (std::int64_t i = begin; i < columns; ++i) {
    if (row[i] <= last) // of an equal one the earlier comes first
      continue;
    if (const Place<T> place = place_of(row[i], i); place < places.front()) {
      std::ranges::pop_heap(places);
      places.back() = place;
      std::ranges::push_heap(places);
      last = row[column_of<T>(places.front())];
    }
  }
}

/// The first k < columns of the row's places in the order of a heap. It is TensorFlow's order, so
/// it begins as TensorFlow's heap does, with k + 1 of which the last goes.
template <class T>
void find_first_unsorted(const T* row, std::int64_t columns, std::int64_t k,
                         std::vector<Place<T>>& places) {
  places.resize(static_cast<std::size_t>(k + 1));
  take_places(row, places);
  std::ranges::make_heap(places);
  std::ranges::pop_heap(places);
  places.pop_back();
  take_rest(row, k + 1, columns, places);
}

/// The first k of the row's places, in order, at the beginning of `places`.
template <class T>
void find_first(const T* row, std::int64_t columns, std::int64_t k, std::vector<Place<T>>& places) {
  const std::int64_t kept = are_few(k, columns) ? k : columns;
  places.resize(static_cast<std::size_t>(kept));
  take_places(row, places);
  if (kept == k && k < columns) {
    std::ranges::make_heap(places);
    take_rest(row, k, columns, places);
    std::ranges::sort_heap(places);
    return;
  }
  const auto middle = places.begin() + k;
  if (middle != places.end())
    std::nth_element(places.begin(), middle, places.end());
  std::sort(places.begin(), middle);
}

/// `wide`: the input's elements in a type that compares as they do. The values are copied from the
/// input itself.
template <class T, class Index>
void top_k_rows(KernelContext& c, const Tensor& wide, std::int64_t rows, std::int64_t columns,
                std::int64_t k, Tensor& values, Tensor& indices) {
  const T* in = wide.data<T>().data();
  const std::size_t size = dtype_size(values.dtype());
  const auto* from = static_cast<const std::byte*>(c.input(0).raw());
  auto* best = static_cast<std::byte*>(values.mutable_raw());
  Index* where = indices.mutable_data<Index>().data();
  const bool sorted = c.prepared<bool>() || k == columns;
  const double cost =
      static_cast<double>(columns) * (k == 1 ? 0.4 : 2 + std::log2(static_cast<double>(k) + 1));
  c.parallel_for(rows, cost, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Place<T>> places;
    for (std::int64_t r = begin; r < end; ++r) {
      const T* row = in + r * columns;
      const std::int64_t column = k == 1 ? column_of_largest(row, columns) : -1;
      if (column >= 0)
        places.assign(1, place_of(row[column], column));
      else if (!sorted)
        find_first_unsorted(row, columns, k, places);
      else
        find_first(row, columns, k, places);
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t at = column_of<T>(places[static_cast<std::size_t>(i)]);
        std::memcpy(best + static_cast<std::size_t>(r * k + i) * size,
                    from + static_cast<std::size_t>(r * columns + at) * size, size);
        where[r * k + i] = static_cast<Index>(at);
      }
    }
  });
}

Status compute_top_k(KernelContext& c) {
  const Shape& shape = c.input(0).shape();
  std::int64_t k = 0;
  if (c.num_inputs() == 1) {
    TROUPE_ASSIGN(k, c.attr<std::int64_t>("k"));
  } else {
    TROUPE_ASSIGN(k, read_scalar(c.input(1)));
  }
  if (k < 0)
    return invalid_argument(str_cat("Need k >= 0, got ", k));
  if (shape.rank() < 1)
    return invalid_argument(str_cat("input must be >= 1-D, got shape ", shape));
  const std::int64_t columns = shape[shape.rank() - 1];
  if (columns < k)
    return invalid_argument(
        str_cat("input must have at least k columns. Had ", columns, ", needed ", k));
  const Shape out = shape.with_dim(shape.rank() - 1, k);
  TROUPE_ASSIGN(Tensor values, c.allocate_output(0, out));
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(1, out));
  if (out.num_elements() == 0)
    return {};
  const std::int64_t rows = out.num_elements() / k;
  TROUPE_ASSIGN(const Tensor wide, widened(c, c.input(0), arith::widened_dtype(values.dtype())));
  return dispatch(Comparable{}, wide.dtype(), [&]<class T>() -> Status {
    if (sizeof(T) == 4 && columns > std::numeric_limits<std::uint32_t>::max())
      return unimplemented(str_cat("rows of more than 2^32 elements of 4 bytes are not sorted; the "
                                   "input has rows of ",
                                   columns));
    return dispatch(SmallIndices{}, indices.dtype(), [&]<class Index>() -> Status {
      top_k_rows<T, Index>(c, wide, rows, columns, k, values, indices);
      return {};
    });
  });
}

// Each gradient goes back to where its value came from: a sum of one-hot rows.
Status differentiate_top_k(GradContext& g) {
  const Value x = g.input(0), dy = g.output_grad(0);
  if (dy.is_none())
    return {};
  const Value depth = g.op("StridedSlice", {g.shape_of(x), g.ints({-1}), g.ints({0}), g.ints({1})},
                           {{"shrink_axis_mask", std::int64_t{1}}});
  Value indices = g.output(1);
  if (g.dtype(indices) == DType::int16)
    indices = g.op("Cast", {indices}, {{"DstT", DType::int32}});
  const Value rows = g.op("OneHot", {indices, depth, g.scalar_like(dy, 1), g.scalar_like(dy, 0)});
  const Value terms = g.mul(rows, g.op("ExpandDims", {dy, g.ints({-1})}));
  return g.set_input_grad(0, g.op("Sum", {terms, g.ints({-2})}));
}

Status infer_in_top_k(ShapeContext& c) {
  TROUPE_ASSIGN(auto predictions, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(auto targets, shape_rules::dims_of_rank(c, 1, 1));
  TROUPE_ASSIGN(std::int64_t rows, shape_rules::merge_dims(predictions[0], targets[0]));
  return c.set_output(0, {rows});
}

/// False as well where the target is no class of the row, or the row is not finite.
bool in_top_k(std::span<const float> row, std::int64_t target, std::int64_t k) {
  const auto classes = static_cast<std::int64_t>(row.size());
  if (target < 0 || target >= classes || !std::isfinite(row[static_cast<std::size_t>(target)]))
    return false;
  std::int64_t larger = 0;
  for (float value : row) {
    if (!std::isfinite(value))
      return false;
    if (value > row[static_cast<std::size_t>(target)] && ++larger > k)
      break;
  }
  return larger < k;
}

Status compute_in_top_k(KernelContext& c) {
  const Tensor &predictions = c.input(0), &targets = c.input(1);
  std::int64_t k = 0;
  if (c.num_inputs() == 2) {
    TROUPE_ASSIGN(k, c.attr<std::int64_t>("k"));
  } else {
    if (!c.input(2).shape().is_scalar())
      return invalid_argument(str_cat("k must be 0-D, got shape ", c.input(2).shape()));
    TROUPE_ASSIGN(k, read_scalar(c.input(2)));
  }
  if (predictions.shape().rank() != 2)
    return invalid_argument(
        str_cat("predictions must be 2-dimensional, but has shape ", predictions.shape()));
  if (targets.shape().rank() != 1)
    return invalid_argument(
        str_cat("targets must be 1-dimensional, but has shape ", targets.shape()));
  const std::int64_t rows = predictions.shape()[0], columns = predictions.shape()[1];
  if (rows != targets.shape()[0])
    return invalid_argument(str_cat("First dimension of predictions ", rows,
                                    " must match length of targets ", targets.shape()[0]));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{rows}));
  return dispatch(Indices{}, targets.dtype(), [&]<class T>() -> Status {
    const auto target = targets.data<T>();
    const auto data = predictions.data<float>();
    auto answers = out.mutable_data<bool>();
    for (std::size_t r = 0; r < answers.size(); ++r)
      answers[r] = in_top_k(
          data.subspan(r * static_cast<std::size_t>(columns), static_cast<std::size_t>(columns)),
          target[r], k);
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto reals = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, "
                         "half, uint32, uint64}";
  KernelOptions options;
  options.types = {{"T", arith::dtypes_of(arith::BinaryOp::less)}};
  options.prepare = keep_attr<bool, "sorted">;
  library.op("TopK")
      .input("input: T")
      .output("values: T; indices: int32")
      .attr("k: int >= 0; sorted: bool = true")
      .attr(reals)
      .shape_fn(infer_top_k)
      .gradient(differentiate_top_k)
      .cpu_kernel(compute_top_k, options)
      .doc(
          "The k largest elements along the last axis, largest first unless `sorted` is false, and "
          "their indices.");
  options.host_inputs = {"k"};
  library.op("TopKV2")
      .input("input: T; k: Tk")
      .output("values: T; indices: index_type")
      .attr("sorted: bool = true")
      .attr(reals)
      .attr("Tk: {int16, int32, int64} = DT_INT32; index_type: {int16, int32, int64} = DT_INT32")
      .shape_fn(infer_top_k)
      .gradient(differentiate_top_k)
      .cpu_kernel(compute_top_k, options)
      .doc(
          "The k largest elements along the last axis, largest first unless `sorted` is false, and "
          "their indices.");
  library.op("InTopK")
      .input("predictions: float; targets: T")
      .output("precision: bool")
      .attr("k: int; T: {int32, int64} = DT_INT32")
      .shape_fn(infer_in_top_k)
      .not_differentiable("its values are yes or no")
      .cpu_kernel(compute_in_top_k)
      .doc("Whether each row's target is among its k largest predictions.");
  library.op("InTopKV2")
      .input("predictions: float; targets: T; k: T")
      .output("precision: bool")
      .attr("T: {int32, int64} = DT_INT32")
      .shape_fn(infer_in_top_k)
      .not_differentiable("its values are yes or no")
      .cpu_kernel(compute_in_top_k)
      .doc("Whether each row's target is among its k largest predictions.");
}

} // namespace troupe::nn_top_k
