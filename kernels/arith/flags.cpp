#include "kernels/arith/flags.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

int64_t count_flags(const uint8_t* flags, int64_t n) {
  return isa_table().count_flags(flags, n);
}

int64_t find_flags(const uint8_t* flags, int64_t n, int64_t first, int64_t room, int64_t* out) {
  return isa_table().find_flags(flags, n, first, room, out);
}

} // namespace troupe::arith
