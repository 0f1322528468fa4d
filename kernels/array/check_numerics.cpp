// CheckNumerics and CheckNumericsV2: the input itself; an error if an element is infinite or NaN.
#include <atomic>
#include <cmath>

#include "graph/op/grad_context.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_check_numerics {
namespace {

constexpr int has_inf = 1, has_negative_inf = 2, has_nan = 4;

Status differentiate(GradContext& g) {
  return g.set_input_grad(
      0, g.op("CheckNumerics", {g.output_grad(0)},
              {{"message", std::string("Not a number (NaN) or infinity (Inf) values detected in "
                                       "gradient.")}}));
}

/// What there is in the tensor that is no number.
Result<int> find(KernelContext& c) {
  const Tensor& x = c.input(0);
  std::atomic<int> found{0};
  TROUPE_TRY(dispatch(Types<float, double, Half, BFloat16>{}, x.dtype(), [&]<class T>() -> Status {
    const T* data = x.data<T>().data();
    c.parallel_for(x.num_elements(), 0.3, [&](std::int64_t begin, std::int64_t end) {
      int here = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
        const auto value = static_cast<Real>(data[i]);
        here |= std::isnan(value)    ? has_nan
                : !std::isinf(value) ? 0
                : value < 0          ? has_negative_inf
                                     : has_inf;
      }
      found.fetch_or(here, std::memory_order_relaxed);
    });
    return {};
  }));
  return found.load(std::memory_order_relaxed);
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const int what, find(c));
  if (what == 0)
    return c.set_output(0, c.take_input(0));
  const char* which = (what & has_nan) == 0 ? "Inf" : what == has_nan ? "NaN" : "Inf and NaN";
  TROUPE_ASSIGN(const std::string message, c.attr<std::string>("message"));
  return invalid_argument(str_cat(message, " : Tensor had ", which, " values"));
}

Status compute_v2(KernelContext& c) {
  TROUPE_ASSIGN(const int what, find(c));
  if (what == 0)
    return c.set_output(0, c.take_input(0));
  constexpr const char* which[] = {"",    "+Inf",         "-Inf",         "-Inf and +Inf",
                                   "NaN", "+Inf and NaN", "-Inf and NaN", "-Inf, +Inf, and NaN"};
  TROUPE_ASSIGN(const std::string message, c.attr<std::string>("message"));
  return invalid_argument(str_cat(message, " : Tensor had ", which[what], " values"));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64, DType::float16, DType::bfloat16}}};
  options.expensive = true;
  library.op("CheckNumerics")
      .input("tensor: T")
      .output("output: T")
      .attr("T: {bfloat16, half, float, double}; message: string")
      .stateful()
      .roles(Role::check)
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .cpu_kernel(compute, options)
      .doc("The input itself; an error with the message if an element is infinite or NaN.");
  library.op("CheckNumericsV2")
      .input("tensor: T")
      .output("output: T")
      .attr("T: {bfloat16, half, float, double}; message: string")
      .stateful()
      .roles(Role::check)
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .cpu_kernel(compute_v2, options)
      .doc("CheckNumerics, whose error tells infinities of both signs apart.");
}

} // namespace troupe::array_check_numerics
