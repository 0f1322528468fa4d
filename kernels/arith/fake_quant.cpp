#include "kernels/arith/fake_quant.hpp"

#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

void fake_quant(const FakeQuant& ranges, const float* x, float* y, int64_t rows) {
  isa_table().fake_quant(ranges, x, y, rows);
}

} // namespace troupe::arith
