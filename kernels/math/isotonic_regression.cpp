// IsotonicRegression: the decreasing sequence that is nearest to each row, by merging neighbours
// that are out of order into their mean (Best and Chakravarti, "Active set algorithms for isotonic
// regression", 1990).
#include <vector>

#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::math_isotonic_regression {
namespace {

/// Neighbouring elements that have one value.
template <class T>
struct Segment {
  std::int64_t begin = 0, end = 0;
  T sum = 0, mean = 0;
};

template <class In, class Out>
void solve(const In* x, std::int64_t size, Out* y, std::int32_t* segments) {
  std::vector<Segment<Out>> all;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto value = static_cast<Out>(x[i]);
    all.push_back({i, i + 1, value, value});
    while (all.size() > 1 && all.back().mean > all[all.size() - 2].mean) {
      const Segment<Out> last = all.back();
      all.pop_back();
      Segment<Out>& into = all.back();
      into.end = last.end;
      into.sum += last.sum;
      into.mean = into.sum / static_cast<Out>(into.end - into.begin);
    }
  }
  for (std::size_t s = 0; s < all.size(); ++s)
    for (std::int64_t i = all[s].begin; i < all[s].end; ++i) {
      y[i] = all[s].mean;
      segments[i] = static_cast<std::int32_t>(s);
    }
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Shape& shape = x.shape();
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  TROUPE_ASSIGN(Tensor segments, c.allocate_output(1, shape));
  const std::int64_t size = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  if (size > std::numeric_limits<std::int32_t>::max())
    return invalid_argument("Tensor too large");
  if (shape.num_elements() == 0)
    return {};
  using Inputs = Types<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
  return dispatch(Inputs{}, x.dtype(), [&]<class In>() -> Status {
    return dispatch(Floats{}, y.dtype(), [&]<class Out>() -> Status {
      const In* from = x.data<In>().data();
      Out* to = y.mutable_data<Out>().data();
      std::int32_t* segment = segments.mutable_data<std::int32_t>().data();
      c.parallel_for(shape.num_elements() / size, 20.0 * static_cast<double>(size),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t row = begin; row < end; ++row)
                         solve(from + row * size, size, to + row * size, segment + row * size);
                     });
      return {};
    });
  });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.output_like(0, 0));
  return c.output_like(1, 0);
}

} // namespace

void register_ops(OpLibrary& library) {
  const auto from = [](std::vector<DType> in, DType out) {
    KernelOptions options;
    options.types = {{"T", std::move(in)}, {"output_dtype", {out}}};
    options.expensive = true;
    return options;
  };
  library.op("IsotonicRegression")
      .input("input: T")
      .output("output: output_dtype; segments: int32")
      .attr("T: realnumbertype; output_dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .shape_fn(infer)
      .not_differentiable("TensorFlow's clients bring its gradient")
      .cpu_kernel(compute, from({DType::float32, DType::int8, DType::int16}, DType::float32))
      .cpu_kernel(compute, from({DType::float64, DType::int32, DType::int64}, DType::float64))
      .cpu_kernel(in_wider<compute>, from({DType::float16}, DType::float16))
      .cpu_kernel(in_wider<compute>, from({DType::bfloat16}, DType::bfloat16))
      .doc("The decreasing rows nearest to the input's, and which elements share a value.");
}

} // namespace troupe::math_isotonic_regression
