#include "kernels/arith/bits.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

void combine_bits(BitOp op, const uint8_t* a, bool repeats_a, const uint8_t* b, bool repeats_b,
                  uint8_t* out, int64_t n) {
  isa_table().combine_bits(op, a, repeats_a, b, repeats_b, out, n);
}

} // namespace troupe::arith
