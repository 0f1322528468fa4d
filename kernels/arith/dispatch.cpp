// Chooses the instruction set.
#include "kernels/arith/internal/isa_table.hpp"
#include <cstdlib>
#include <string_view>

namespace troupe::arith {

namespace isa_base {
extern const IsaTable table;
}
#ifdef TROUPE_HAVE_X86_ISAS
namespace isa_avx2 {
extern const IsaTable table;
}
namespace isa_avx512 {
extern const IsaTable table;
}
#endif

namespace {

const IsaTable* table_of(Isa isa) {
#ifdef TROUPE_HAVE_X86_ISAS
  __builtin_cpu_init();
  if (isa == Isa::avx512 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return &isa_avx512::table;
  // x86-64-v3 also has F16C, LZCNT, MOVBE and BMI1: every CPU with AVX2, FMA and BMI2 has them.
  if (isa == Isa::avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return &isa_avx2::table;
#endif
  return isa == Isa::base ? &isa_base::table : nullptr;
}

struct Choice {
  Isa isa = Isa::base;
  const IsaTable* table = &isa_base::table;

  Choice() {
    const char* variable = std::getenv("TROUPE_MAX_ISA");
    std::string_view cap = variable != nullptr ? variable : "";
    for (Isa candidate : {Isa::avx512, Isa::avx2}) {
      if (cap == "base" || (cap == "avx2" && candidate == Isa::avx512))
        continue;
      if (const IsaTable* found = table_of(candidate)) {
        isa = candidate;
        table = found;
        return;
      }
    }
  }
};

Choice& choice() {
  static Choice the_choice;
  return the_choice;
}

} // namespace

int size_of(Type type) {
  switch (type) {
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  case Type::name:                                                                                 \
    return size;
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  }
  return 0;
}

Isa isa() {
  return choice().isa;
}

bool has_isa(Isa isa) {
  return table_of(isa) != nullptr;
}

bool use_isa(Isa isa) {
  const IsaTable* table = table_of(isa);
  if (table == nullptr)
    return false;
  choice().isa = isa;
  choice().table = table;
  return true;
}

const char* name_of(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "base";
}

const IsaTable& isa_table() {
  return *choice().table;
}

} // namespace troupe::arith
