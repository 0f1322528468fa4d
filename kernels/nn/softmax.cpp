// Softmax and LogSoftmax along the last axis:  y[i] = exp(x[i] - m) / sum_j exp(x[j] - m), m = max
// x; subtracting m keeps exp() from overflowing and does not change y.
#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::nn_softmax {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  return c.output_like(0, 0);
}

template <Result<arith::SoftmaxFn> (*find)(DType)>
Status compute(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  const void* x = c.input(0).raw();
  if (shape.rank() < 1)
    return invalid_argument(str_cat("logits must have >= 1 dimension, got ", shape));
  TROUPE_ASSIGN(Tensor y, c.forward_or_allocate(0, 0, shape));
  const std::int64_t columns = shape[shape.rank() - 1];
  if (y.num_elements() == 0)
    return {};
  const std::int64_t rows = y.num_elements() / columns;
  if (y.kind() == MemoryKind::device)
    return gpu::launch(c, gpu::kernels::softmax, y.dtype(), gpu::rows(rows, columns),
                       find == arith::log_softmax, x, y.mutable_raw(), rows, columns);
  TROUPE_ASSIGN(const arith::SoftmaxFn fn, find(y.dtype()));
  c.parallel_for(
      rows, 2.0 * static_cast<double>(columns),
      [&](std::int64_t begin, std::int64_t end) { fn(x, y.mutable_raw(), columns, begin, end); });
  return {};
}

Value sum_last_axis(GradContext& g, Value x) {
  return g.op("Sum", {x, g.ints({-1})}, {{"keep_dims", true}});
}

// dx = (dy - sum(dy * y)) * y
Status differentiate_softmax(GradContext& g) {
  const Value y = g.output(0), dy = g.output_grad(0);
  return g.set_input_grad(0, g.mul(g.sub(dy, sum_last_axis(g, g.mul(dy, y))), y));
}

// dx = dy - sum(dy) * exp(y)
Status differentiate_log_softmax(GradContext& g) {
  const Value y = g.output(0), dy = g.output_grad(0);
  return g.set_input_grad(0, g.sub(dy, g.mul(sum_last_axis(g, dy), g.op("Exp", {y}))));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  const KernelOptions on_gpu{.types = {{"T", gpu::floats()}}};
  KernelOptions half = options;
  half.types = {{"T", {DType::float16, DType::bfloat16}}};
  library.op("Softmax")
      .input("logits: T")
      .output("softmax: T")
      .attr("T: {half, bfloat16, float, double}")
      .shape_fn(infer_shape)
      .gradient(differentiate_softmax)
      .cpu_kernel(compute<arith::softmax>, options)
      .cpu_kernel(in_wider<compute<arith::softmax>>, half)
      .gpu_kernel(compute<arith::softmax>, on_gpu)
      .doc("Probabilities along the last axis; each row sums to 1.");
  library.op("LogSoftmax")
      .input("logits: T")
      .output("logsoftmax: T")
      .attr("T: {half, bfloat16, float, double}")
      .shape_fn(infer_shape)
      .gradient(differentiate_log_softmax)
      .cpu_kernel(compute<arith::log_softmax>, options)
      .cpu_kernel(in_wider<compute<arith::log_softmax>>, half)
      .gpu_kernel(compute<arith::log_softmax>, on_gpu)
      .doc("Logarithms of the probabilities along the last axis.");
}

} // namespace troupe::nn_softmax
