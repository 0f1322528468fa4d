// Chooses the instruction set and forwards what exists once for each.
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
  case Type::boolean:
  case Type::u8:
  case Type::i8:
    return 1;
  case Type::i16:
  case Type::u16:
  case Type::f16:
  case Type::bf16:
    return 2;
  case Type::f32:
  case Type::i32:
  case Type::u32:
    return 4;
  case Type::f64:
  case Type::i64:
  case Type::u64:
    return 8;
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

UnaryFn unary(UnaryOp op, Type type) {
  return isa_table().unary(op, type);
}

GradFn unary_grad(GradOp op, Type type) {
  return isa_table().unary_grad(op, type);
}

CastFn cast(Type from, Type to) {
  return isa_table().cast(from, to);
}

bool add_n(Type type, const void* const* inputs, int count, void* out, int64_t begin, int64_t end) {
  return isa_table().add_n(type, inputs, count, out, begin, end);
}

ReduceKernel reduce(ReduceOp op, Type type) {
  return isa_table().reduce(op, type);
}

ArgReduceFn arg_reduce(bool want_max, Type type, Type index_type) {
  return isa_table().arg_reduce(want_max, type, index_type);
}

PoolFn max_pool(Type type) {
  return isa_table().max_pool(type);
}

PoolFn avg_pool(Type type) {
  return isa_table().avg_pool(type);
}

MaxPoolGradFn max_pool_grad(Type type) {
  return isa_table().max_pool_grad(type);
}

PoolFn avg_pool_grad(Type type) {
  return isa_table().avg_pool_grad(type);
}

BiasAddFn bias_add(Type type) {
  return isa_table().bias_add(type);
}

BiasAddGradFn bias_add_grad(Type type) {
  return isa_table().bias_add_grad(type);
}

SoftmaxFn softmax(Type type) {
  return isa_table().softmax(type);
}

SoftmaxFn log_softmax(Type type) {
  return isa_table().log_softmax(type);
}

SoftmaxGradFn softmax_grad(Type type) {
  return isa_table().softmax_grad(type);
}

SoftmaxXentFn softmax_xent(Type type) {
  return isa_table().softmax_xent(type);
}

SparseXentFn sparse_softmax_xent(Type type, Type label_type) {
  return isa_table().sparse_softmax_xent(type, label_type);
}

bool apply_gradient_descent(Type type, void* var, double alpha, const void* delta, int64_t begin,
                            int64_t end) {
  return isa_table().gradient_descent(type, var, alpha, delta, begin, end);
}

bool apply_momentum(Type type, void* var, void* accum, double lr, const void* grad, double momentum,
                    bool nesterov, int64_t begin, int64_t end) {
  return isa_table().momentum(type, var, accum, lr, grad, momentum, nesterov, begin, end);
}

bool apply_adam(Type type, void* var, void* m, void* v, const AdamRates& rates, const void* grad,
                bool nesterov, int64_t begin, int64_t end) {
  return isa_table().adam(type, var, m, v, rates, grad, nesterov, begin, end);
}

} // namespace troupe::arith
