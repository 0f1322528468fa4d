#include "kernels/arith/fake_quant.hpp"

#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

void fake_quant(const FakeQuant& ranges, const float* x, float* y, int64_t rows) {
  isa_table().fake_quant(ranges, x, y, rows);
}

bool quantize(Type type, const Quantize& line, const float* x, void* q, int64_t n) {
  return isa_table().quantize(type, line, x, q, n);
}

} // namespace troupe::arith
