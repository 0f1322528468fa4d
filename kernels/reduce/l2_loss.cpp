// L2Loss: half the sum of squares.
#include <algorithm>
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce_l2_loss {
namespace {

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Tensor x, widened(c, c.input(0)));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, Shape{}));
  TROUPE_ASSIGN(const arith::SquaresFn squares, arith::sum_of_squares(x.dtype()));
  // Blocks of a fixed size: the sum does not depend on the number of threads.
  constexpr std::int64_t block = 1 << 16;
  const std::int64_t n = x.num_elements(), blocks = (n + block - 1) / block;
  std::vector<double> sums(static_cast<std::size_t>(blocks));
  c.parallel_for(blocks, 0.1 * block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      sums[static_cast<std::size_t>(k)] = squares(x.raw(), k * block, std::min((k + 1) * block, n));
  });
  double sum = 0;
  for (double part : sums)
    sum += part;
  TROUPE_TRY(dispatch(Floats{}, x.dtype(), [&]<class T>() -> Status {
    out.mutable_data<T>()[0] = static_cast<T>(sum / 2);
    return {};
  }));
  return narrow(c, 0, out);
}

Status compute_on_gpu(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  const std::int64_t dims[] = {x.num_elements()};
  const bool reduced[] = {true};
  return gpu::reduce(c, gpu::Reduce::half_of_squares, dims, reduced, x.dtype(), x.raw(),
                     out.mutable_raw());
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64, DType::float16, DType::bfloat16}}};
  options.expensive = true;
  library.op("L2Loss")
      .input("t: T")
      .output("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .shape_fn(shape_scalar)
      .gradient(
          [](GradContext& g) { return g.set_input_grad(0, g.mul(g.input(0), g.output_grad(0))); })
      .cpu_kernel(compute, std::move(options))
      .gpu_kernel(compute_on_gpu, {.types = {{"T", gpu::floats()}}})
      .doc("Half the sum of the squares of all elements.");
}

} // namespace troupe::reduce_l2_loss
