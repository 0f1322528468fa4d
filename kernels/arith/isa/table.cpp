// The table of one instruction set.
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {

extern const IsaTable table;
const IsaTable table = {
#define TROUPE_ISA_FUNCTION(returns, name, parameters) .name = TROUPE_ISA::name,
#include "kernels/arith/internal/isa_functions.def"
#undef TROUPE_ISA_FUNCTION
};

} // namespace troupe::arith::TROUPE_ISA
