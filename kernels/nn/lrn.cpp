// LRN: y = x * s^-beta, s = bias + alpha * (sum of x^2 over channels at most depth_radius away).
#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/arith/lrn.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::nn_lrn {
namespace {

struct Attrs {
  std::int64_t radius = 0;
  float bias = 0, alpha = 0, beta = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(out.radius, c.attr<std::int64_t>("depth_radius"));
  TROUPE_ASSIGN(out.bias, c.attr<float>("bias"));
  TROUPE_ASSIGN(out.alpha, c.attr<float>("alpha"));
  TROUPE_ASSIGN(out.beta, c.attr<float>("beta"));
  if (out.radius < 0 || out.radius >= INT32_MAX)
    return invalid_argument(str_cat("depth_radius = ", out.radius, " larger than int max"));
  return prepared(out);
}

/// Calls body(options, begin, end) for the rows of x, which has some.
template <class Body>
void for_each_row(KernelContext& c, const Tensor& x, Body body) {
  const auto& a = c.prepared<Attrs>();
  const arith::Lrn options{
      .depth = x.shape()[3], .radius = a.radius, .bias = a.bias, .alpha = a.alpha, .beta = a.beta};
  const double near = static_cast<double>(std::min(options.depth, 2 * a.radius + 1));
  c.parallel_for(x.num_elements() / options.depth,
                 static_cast<double>(options.depth) * (1 + near / 20),
                 [&](std::int64_t begin, std::int64_t end) { body(options, begin, end); });
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.shape().rank() != 4)
    return invalid_argument("in must be 4-dimensional");
  if (x.num_elements() >= INT32_MAX)
    return invalid_argument("argument to LRN too large");
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  if (y.num_elements() == 0)
    return {};
  const float* from = x.data<float>().data();
  float* to = y.mutable_data<float>().data();
  for_each_row(c, x, [&](const arith::Lrn& options, std::int64_t begin, std::int64_t end) {
    arith::lrn(options, from, to, begin, end);
  });
  return {};
}

Status compute_grad(KernelContext& c) {
  const Tensor &dy = c.input(0), &x = c.input(1), &y = c.input(2);
  if (dy.shape().rank() != 4 || x.shape().rank() != 4)
    return invalid_argument("inputs must be 4-dimensional");
  if (x.shape() != dy.shape() || y.shape() != dy.shape())
    return invalid_argument("input_grads, input_image, and out_image should have the same shape");
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, x.shape()));
  if (dx.num_elements() == 0)
    return {};
  const float *in = x.data<float>().data(), *out = y.data<float>().data();
  const float* grad = dy.data<float>().data();
  float* to = dx.mutable_data<float>().data();
  for_each_row(c, x, [&](const arith::Lrn& options, std::int64_t begin, std::int64_t end) {
    arith::lrn_grad(options, grad, in, out, to, begin, end);
  });
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 4));
  return c.output_like(0, 0);
}

Status infer_grad(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape out, shape_rules::merge_shapes(c.input(0), c.input(1)));
  TROUPE_ASSIGN(out, shape_rules::merge_shapes(out, c.input(2)));
  TROUPE_TRY(c.require_rank(0, 4));
  return c.set_output(0, std::move(out));
}

KernelOptions options(DType dtype) {
  KernelOptions out;
  out.types = {{"T", {dtype}}};
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

constexpr auto attrs = "depth_radius: int = 5; bias: float = 1; alpha: float = 1; beta: float = "
                       "0.5; T: {half, bfloat16, float} = DT_FLOAT";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("LRN")
      .input("input: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(infer)
      .not_differentiable("LRNGrad is its gradient; clients build it")
      .cpu_kernel(compute, options(DType::float32))
      .cpu_kernel(in_wider<compute>, options(DType::float16))
      .doc("Each element over a power of the sum of the squares of the channels near it.");
  library.op("LRNGrad")
      .input("input_grads: T; input_image: T; output_image: T")
      .output("output: T")
      .attr(attrs)
      .shape_fn(infer_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad, options(DType::float32))
      .cpu_kernel(in_wider<compute_grad>, options(DType::float16))
      .doc("The gradient of LRN.");
}

} // namespace troupe::nn_lrn
