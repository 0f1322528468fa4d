// Pieces of the gradients of reductions: the output's shape with the reduced dimensions kept.
#include <algorithm>
#include <optional>

#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce {
namespace {

using Dims = std::vector<std::int64_t>;

/// The shape with reduced dimensions as 1, taking the kept ones as early (or as late) as they fit.
std::optional<Dims> fit(const Shape& input, const Shape& output, bool late) {
  Dims out(static_cast<std::size_t>(input.rank()), 1);
  int next = late ? output.rank() - 1 : 0;
  for (int k = 0; k < input.rank(); ++k) {
    const int i = late ? input.rank() - 1 - k : k;
    if (next < 0 || next >= output.rank() || output[next] != input[i])
      continue;
    out[static_cast<std::size_t>(i)] = input[i];
    next += late ? -1 : 1;
  }
  const bool all = late ? next < 0 : next == output.rank();
  return all ? std::optional(out) : std::nullopt;
}

/// The kept shape where the two shapes leave no doubt: every way to fit them lies between the
/// earliest and the latest, so these agree only if all do.
std::optional<Dims> known_kept(GradContext& g) {
  const auto input = g.shape(g.input(0)).to_shape(), output = g.shape(g.output(0)).to_shape();
  if (!input || !output)
    return std::nullopt;
  const auto early = fit(*input, *output, false), late = fit(*input, *output, true);
  return early && early == late ? early : std::nullopt;
}

Value constant_vector(GradContext& g, std::span<const std::int64_t> dims) {
  const std::vector<std::int32_t> narrow(dims.begin(), dims.end());
  return g.constant(Tensor::vector<std::int32_t>(std::span<const std::int32_t>(narrow)));
}

} // namespace

Value shape_vector(GradContext& g, Value v) {
  const auto known = g.shape(v).to_shape();
  return known ? constant_vector(g, known->dims()) : g.shape_of(v);
}

Value reduced_mask(GradContext& g) {
  const Value rank = g.op("Rank", {g.input(0)});
  Value axes = g.input(1);
  if (g.dtype(axes) != DType::int32)
    axes = g.op("Cast", {axes}, {{"DstT", DType::int32}});
  axes = g.op("FloorMod", {g.reshape(axes, g.ints({-1})), rank});
  const Value hot = g.op(
      "OneHot", {axes, rank, g.constant(Tensor::scalar(true)), g.constant(Tensor::scalar(false))});
  return g.op("Any", {hot, g.ints({0})});
}

Value kept_shape(GradContext& g) {
  if (g.attrs().get_or("keep_dims", false))
    return shape_vector(g, g.output(0));
  if (const auto known = known_kept(g))
    return constant_vector(g, *known);
  return g.op("SelectV2", {reduced_mask(g), g.constant(Tensor::scalar<std::int32_t>(1)),
                           g.shape_of(g.input(0))});
}

Value spread(GradContext& g, Value value, Value kept) {
  if (!g.attrs().get_or("keep_dims", false))
    value = g.reshape(value, kept);
  return g.op("BroadcastTo", {value, shape_vector(g, g.input(0))});
}

} // namespace troupe::reduce
