// HistogramFixedWidth: how many values lie in each of `nbins` intervals of one width; what lies
// beyond counts in the first or the last.
#include <algorithm>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::math_histogram_fixed_width {
namespace {

using Numbers = Types<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16>;

template <class T>
using Number = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T, class I>
Status count(KernelContext& c, std::int64_t bins) {
  const auto range = c.input(1).data<T>();
  const Number<T> low(range[0]), high(range[1]);
  if (!(low < high))
    return invalid_argument(
        str_cat("value_range should satisfy value_range[0] < value_range[1], but got '[", low, ", ",
                high, "]'"));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{bins}));
  const auto to = out.mutable_data<I>();
  std::ranges::fill(to, I(0));
  const double width =
      (static_cast<double>(high) - static_cast<double>(low)) / static_cast<double>(bins);
  for (const T& element : c.input(0).data<T>()) {
    const Number<T> value(element);
    if constexpr (std::is_floating_point_v<Number<T>>)
      if (std::isnan(value))
        return invalid_argument("Histogram values must not contain NaN");
    const double ahead = static_cast<double>(std::max(value, low)) - static_cast<double>(low);
    const double bin = ahead / width; // NaN where both are infinite or 0
    ++to[bin > 0 ? static_cast<std::size_t>(std::min(bin, static_cast<double>(bins - 1))) : 0];
  }
  return {};
}

Status compute(KernelContext& c) {
  if (c.input(1).shape().rank() != 1)
    return invalid_argument("value_range should be a vector.");
  if (c.input(1).num_elements() != 2)
    return invalid_argument("value_range should be a vector of 2 elements.");
  if (!c.input(2).shape().is_scalar())
    return invalid_argument("nbins should be a scalar.");
  const std::int64_t bins = c.input(2).data<std::int32_t>()[0];
  if (bins <= 0)
    return invalid_argument(str_cat("nbins should be a positive number, but got '", bins, "'"));
  return dispatch(Numbers{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return dispatch(Indices{}, c.output_type(0),
                    [&]<class I>() -> Status { return count<T, I>(c, bins); });
  });
}

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 0));
  const auto bins = c.input_as_ints(2);
  return c.set_output(0, PartialShape{bins && (*bins)[0] > 0 ? (*bins)[0] : -1});
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T",
                    {DType::float32, DType::float64, DType::int8, DType::int16, DType::int32,
                     DType::int64, DType::uint8, DType::uint16, DType::uint32, DType::uint64,
                     DType::float16, DType::bfloat16}}};
  options.expensive = true;
  library.op("HistogramFixedWidth")
      .input("values: T; value_range: T; nbins: int32")
      .output("out: dtype")
      .attr("T: {int32, int64, float, double}; dtype: {int32, int64} = int32")
      .shape_fn(infer_shape)
      .not_differentiable("it counts")
      .cpu_kernel(compute, options)
      .doc("The number of values in each of nbins intervals of one width within value_range.");
}

} // namespace troupe::math_histogram_fixed_width
