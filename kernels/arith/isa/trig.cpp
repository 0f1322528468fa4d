// Sine and cosine of f32 through Eigen's packets, in blocks.
#include "kernels/arith/isa/functions.hpp"
#include <Eigen/Core>

namespace troupe::arith::TROUPE_ISA {
namespace {

using Array = Eigen::Array<float, Eigen::Dynamic, 1>;

void sine(const void* x, void* y, int64_t begin, int64_t end) {
  Eigen::Map<Array>(static_cast<float*>(y) + begin, end - begin) =
      Eigen::Map<const Array>(static_cast<const float*>(x) + begin, end - begin).sin();
}

void cosine(const void* x, void* y, int64_t begin, int64_t end) {
  Eigen::Map<Array>(static_cast<float*>(y) + begin, end - begin) =
      Eigen::Map<const Array>(static_cast<const float*>(x) + begin, end - begin).cos();
}

} // namespace

UnaryFn trigonometric(UnaryOp op) {
  return op == UnaryOp::sin ? sine : cosine;
}

} // namespace troupe::arith::TROUPE_ISA
