// Range: start, start + delta, … before limit. LinSpace: num numbers from start to stop.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_range {
namespace {

using RangeTypes = Types<float, double, std::int32_t, std::int64_t, Half, BFloat16>;

/// What numbers of T are computed in: small floats in float, each step rounded to T.
template <class T>
using Number = std::conditional_t<std::is_class_v<T>, float, T>;
template <class T>
Number<T> rounded(Number<T> x) {
  if constexpr (std::is_class_v<T>)
    return static_cast<float>(T(x));
  else
    return x;
}

/// How many numbers a range has. INVALID_ARGUMENT for a step of 0 or in the wrong direction.
template <class T>
Result<std::int64_t> count(Number<T> start, Number<T> limit, Number<T> delta) {
  if (delta == 0)
    return invalid_argument(str_cat("Requires delta != 0: ", delta));
  if (delta > 0 && start > limit)
    return invalid_argument(str_cat("Requires start <= limit when delta > 0: ", start, "/", limit));
  if (delta < 0 && start < limit)
    return invalid_argument(str_cat("Requires start >= limit when delta < 0: ", start, "/", limit));
  if constexpr (std::is_integral_v<T>) {
    // Unsigned, for the distance of two numbers may not fit into their own type.
    const auto wide = [](T x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
    const std::uint64_t distance =
        delta > 0 ? wide(limit) - wide(start) : wide(start) - wide(limit);
    const std::uint64_t step = delta > 0 ? wide(delta) : 0 - wide(delta);
    const std::uint64_t n = distance / step + (distance % step != 0 ? 1 : 0);
    if (n > static_cast<std::uint64_t>(INT64_MAX))
      return invalid_argument("Requires ((limit - start) / delta) <= 9223372036854775807");
    return static_cast<std::int64_t>(n);
  } else {
    // In the element's own type: 0.3f / 0.1f is 3, where the quotient in double is a little more.
    const Number<T> distance = rounded<T>(limit - start);
    const Number<T> n = std::ceil(std::abs(rounded<T>(distance / delta)));
    if (!(n < Number<T>(9.2e18)))
      return invalid_argument("Requires ((limit - start) / delta) <= 9223372036854775807");
    return static_cast<std::int64_t>(n);
  }
}

template <class T>
Result<std::int64_t> count(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return count<T>(Number<T>(start.value<T>()), Number<T>(limit.value<T>()),
                  Number<T>(delta.value<T>()));
}

Status infer_range(ShapeContext& c) {
  bool known = true;
  for (int i = 0; i < 3; ++i) {
    TROUPE_TRY(c.require_rank(i, 0));
    known = known && c.input_value(i).has_value() && c.input_value(i).num_elements() == 1;
  }
  std::int64_t n = -1;
  if (known)
    TROUPE_TRY(dispatch(RangeTypes{}, c.input_value(0).dtype(), [&]<class T>() -> Status {
      TROUPE_ASSIGN(n, count<T>(c.input_value(0), c.input_value(1), c.input_value(2)));
      return {};
    }));
  return c.set_output(0, PartialShape{n});
}

Status compute_range(KernelContext& c) {
  static constexpr const char* names[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i)
    if (c.input(i).num_elements() != 1)
      return invalid_argument(
          str_cat(names[i], " must be a scalar, not shape ", c.input(i).shape()));
  return dispatch(RangeTypes{}, c.input(0).dtype(), [&]<class T>() -> Status {
    TROUPE_ASSIGN(const std::int64_t n, count<T>(c.input(0), c.input(1), c.input(2)));
    const auto start = Number<T>(c.input(0).value<T>()), delta = Number<T>(c.input(2).value<T>());
    TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{n}));
    auto to = out.mutable_data<T>();
    c.serial_for(n, 1, [&](std::int64_t begin, std::int64_t end) {
      if constexpr (std::is_class_v<T>)
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          to[i] = T(start + rounded<T>(rounded<T>(static_cast<float>(i)) * delta));
      else
        arith::range(start, delta, to.data(), begin, end);
    });
    return {};
  });
}

Status infer_lin_space(ShapeContext& c) {
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  const auto num = c.input_as_ints(2);
  if (num && (*num)[0] <= 0)
    return invalid_argument(str_cat("Requires num > 0: ", (*num)[0]));
  return c.set_output(0, PartialShape{num ? (*num)[0] : -1});
}

Status compute_lin_space(KernelContext& c) {
  static constexpr const char* names[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; ++i)
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(
          str_cat(names[i], " must be a scalar, not shape ", c.input(i).shape()));
  TROUPE_ASSIGN(const Integers num, integers(c.input(2)));
  if (num[0] <= 0)
    return invalid_argument(str_cat("Requires num > 0: ", num[0]));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{num[0]}));
  return dispatch(Floats{}, out.dtype(), [&]<class T>() -> Status {
    const T start = c.input(0).value<T>(), stop = c.input(1).value<T>();
    auto to = out.mutable_data<T>();
    const T step = (stop - start) / static_cast<T>(std::max<std::int64_t>(num[0] - 1, 1));
    c.serial_for(num[0], 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        to[i] = start + step * static_cast<T>(i);
    });
    to.back() = stop; // the ends exactly, whatever was rounded, infinite or NaN
    to.front() = start;
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions range;
  range.types = {{"Tidx",
                  {DType::float32, DType::float64, DType::int32, DType::int64, DType::float16,
                   DType::bfloat16}}};
  library.op("Range")
      .input("start: Tidx; limit: Tidx; delta: Tidx")
      .output("output: Tidx")
      .attr("Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, "
            "uint64} = DT_INT32")
      .roles(Role::flat)
      .shape_fn(infer_range)
      .not_differentiable("its length depends on the inputs by jumps")
      .cpu_kernel(compute_range, range)
      .host_kernel_on_gpu(compute_range, range)
      .doc("The numbers from start on in steps of delta, before limit.");
  KernelOptions lin_space;
  lin_space.types = {{"T", {DType::float32, DType::float64}}};
  library.op("LinSpace")
      .input("start: T; stop: T; num: Tidx")
      .output("output: T")
      .attr("T: {bfloat16, half, float, double}; Tidx: {int32, int64} = DT_INT32")
      .roles(Role::flat)
      .shape_fn(infer_lin_space)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(compute_lin_space, lin_space)
      .host_kernel_on_gpu(compute_lin_space, lin_space)
      .doc("num numbers at equal distances, the first start, the last stop.");
}

} // namespace troupe::array_range
