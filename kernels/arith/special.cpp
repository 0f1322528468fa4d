#include "kernels/arith/special.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

UnaryKernel special_kernel(Special function, Type type) {
  UnaryKernel kernel;
  kernel.fn = isa_table().special(function, type);
  if (kernel.fn == nullptr && (type == Type::float16 || type == Type::bfloat16)) {
    kernel.route = route_of(type);
    kernel.fn = isa_table().special(function, Type::float32);
  }
  return kernel;
}

void erfinv(const float* x, float* y, int64_t begin, int64_t end) {
  isa_table().erfinv(x, y, begin, end);
}

void ndtri(const float* x, float* y, int64_t begin, int64_t end) {
  isa_table().ndtri(x, y, begin, end);
}

void digamma(const float* x, float* y, int64_t begin, int64_t end) {
  isa_table().digamma(x, y, begin, end);
}

} // namespace troupe::arith
