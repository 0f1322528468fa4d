// One matrix product on the device's compute threads.
#include "kernels/linalg/internal/product.hpp"

#include <algorithm>

namespace troupe::linalg {

void product(KernelContext& c, arith::Type type, const arith::GemmShape& shape, const void* a,
             const void* b, void* out) {
  const double work = flops(shape);
  const bool by_rows = shape.m >= shape.n;
  const std::int64_t extent = by_rows ? shape.m : shape.n;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    by_rows ? arith::gemm_rows(type, shape, a, b, out, begin, end)
            : arith::gemm_columns(type, shape, a, b, out, begin, end);
  };
  const auto blocks = std::min({static_cast<std::int64_t>(c.device().compute().threads()),
                                static_cast<std::int64_t>(2 * work / parallel_flops),
                                std::max<std::int64_t>(extent / 16, 1)});
  if (work < parallel_flops || blocks < 2) {
    run(0, extent);
    return;
  }
  const double ns = work / static_cast<double>(blocks) / 100; // at about 100 Gflop/s
  c.parallel_for(blocks, ns, [&](std::int64_t begin, std::int64_t end) {
    run(begin * extent / blocks, end * extent / blocks);
  });
}

} // namespace troupe::linalg
