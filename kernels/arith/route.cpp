// Elements that are computed in another type than their own: blocks of them are widened, computed,
// and rounded once. And what the instruction sets have, the generic code, or neither.
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include <algorithm>

namespace troupe::arith {
namespace {

constexpr int64_t block = 256;    // elements that are widened at once
constexpr int64_t max_bytes = 16; // of an element

/// Room for a block of wide elements.
struct Room {
  alignas(64) char bytes[block * max_bytes];
};

const char* at(const void* base, int64_t index, int size) {
  return static_cast<const char*>(base) + index * size;
}
char* at(void* base, int64_t index, int size) {
  return static_cast<char*>(base) + index * size;
}

template <class Run>
void for_each_block(int64_t begin, int64_t end, Run run) {
  for (int64_t i = begin; i < end; i += block)
    run(i, std::min(block, end - i));
}

bool gives_boolean(UnaryOp op) {
  return op == UnaryOp::is_nan || op == UnaryOp::is_inf || op == UnaryOp::is_finite;
}

Type via_of(Type type) {
  switch (type) {
  case Type::float16:
  case Type::bfloat16:
    return Type::float32;
  case Type::int8:
  case Type::uint8:
  case Type::int16:
  case Type::uint16:
    return Type::int32;
  case Type::uint32:
    return Type::int64;
  case Type::complex64:
    return Type::complex128;
  default:
    return type;
  }
}

/// What `find` has for the type itself, and what it has for the one that it is computed in.
template <class Fn, class Find>
Fn find_or_widen(Type type, const Route*& route, Find find) {
  Fn fn = find(type);
  if (fn != nullptr)
    return fn;
  route = route_of(type);
  return route != nullptr ? find(route->via) : nullptr;
}

/// The routes of all types, of the instruction set that is in use when it is made.
struct Routes {
  static constexpr int num_types = 64; // numbers of dtypes are below
  Route all[num_types];

  Routes() {
    for (int i = 0; i < num_types; ++i) {
      const auto type = static_cast<Type>(i);
      const Type via = via_of(type);
      if (via == type)
        continue;
      all[i].widen = type == Type::complex64 ? widen_complex : isa_table().cast(type, via);
      all[i].narrow = type == Type::complex64 ? narrow_complex : isa_table().cast(via, type);
      all[i].via = via;
      all[i].size = size_of(type);
      all[i].via_size = size_of(via);
    }
  }
};

template <Isa>
const Routes& routes() {
  static const Routes once;
  return once;
}

} // namespace

const Route* route_of(Type type) {
  if (via_of(type) == type)
    return nullptr;
  const Routes& routes_in_use = isa() == Isa::base   ? routes<Isa::base>()
                                : isa() == Isa::avx2 ? routes<Isa::avx2>()
                                                     : routes<Isa::avx512>();
  const Route& route = routes_in_use.all[static_cast<int>(type)];
  return route.widen != nullptr ? &route : nullptr;
}

UnaryKernel unary_kernel(UnaryOp op, Type type) {
  UnaryKernel kernel;
  kernel.gives_boolean = gives_boolean(op);
  kernel.fn = isa_table().unary_narrow(op, type);
  if (kernel.fn != nullptr)
    return kernel;
  kernel.fn = find_or_widen<UnaryFn>(type, kernel.route, [op](Type t) {
    const UnaryFn fn = isa_table().unary(op, t);
    return fn != nullptr ? fn : generic_unary(op, t);
  });
  return kernel;
}

GradKernel grad_kernel(GradOp op, Type type) {
  GradKernel kernel;
  kernel.fn = find_or_widen<GradFn>(type, kernel.route, [op](Type t) {
    const GradFn fn = isa_table().unary_grad(op, t);
    return fn != nullptr ? fn : generic_grad(op, t);
  });
  return kernel;
}

BinaryKernel binary_kernel(BinaryOp op, Type type) {
  BinaryKernel kernel;
  kernel.fn = find_or_widen<BinaryRow>(type, kernel.route, [op](Type t) {
    const BinaryRow fn = isa_table().binary(op, t);
    return fn != nullptr ? fn : generic_binary(op, t);
  });
  kernel.in_size = size_of(type);
  kernel.gives_boolean = op >= BinaryOp::equal;
  kernel.out_size = kernel.gives_boolean ? 1 : kernel.in_size;
  return kernel;
}

AddNKernel add_n_kernel(Type type) {
  AddNKernel kernel;
  kernel.fn = find_or_widen<AddNFn>(type, kernel.route, [](Type t) {
    const AddNFn fn = isa_table().add_n(t);
    return fn != nullptr ? fn : generic_add_n(t);
  });
  return kernel;
}

void UnaryKernel::run_widened(const void* x, void* y, int64_t begin, int64_t end) const {
  Room room;
  for_each_block(begin, end, [&](int64_t i, int64_t n) {
    route->widen(at(x, i, route->size), room.bytes, 0, n);
    if (gives_boolean)
      return fn(room.bytes, at(y, i, 1), 0, n);
    fn(room.bytes, room.bytes, 0, n);
    route->narrow(room.bytes, at(y, i, route->size), 0, n);
  });
}

void GradKernel::run_widened(const void* dy, const void* x, void* dx, int64_t begin,
                             int64_t end) const {
  Room gradient, value;
  for_each_block(begin, end, [&](int64_t i, int64_t n) {
    route->widen(at(dy, i, route->size), gradient.bytes, 0, n);
    route->widen(at(x, i, route->size), value.bytes, 0, n);
    fn(gradient.bytes, value.bytes, gradient.bytes, 0, n);
    route->narrow(gradient.bytes, at(dx, i, route->size), 0, n);
  });
}

bool BinaryKernel::row_widened(const void* a, const void* b, void* out, int64_t n,
                               RowMode mode) const {
  Room left, right;
  if (mode == RowMode::left_scalar)
    route->widen(a, left.bytes, 0, 1);
  if (mode == RowMode::right_scalar)
    route->widen(b, right.bytes, 0, 1);
  bool ok = true;
  for_each_block(0, n, [&](int64_t i, int64_t count) {
    if (mode != RowMode::left_scalar)
      route->widen(at(a, i, route->size), left.bytes, 0, count);
    if (mode != RowMode::right_scalar)
      route->widen(at(b, i, route->size), right.bytes, 0, count);
    if (gives_boolean) {
      ok &= fn(left.bytes, right.bytes, at(out, i, out_size), count, mode);
      return;
    }
    Room& result = mode == RowMode::left_scalar ? right : left;
    ok &= fn(left.bytes, right.bytes, result.bytes, count, mode);
    route->narrow(result.bytes, at(out, i, route->size), 0, count);
  });
  return ok;
}

void AddNKernel::run_widened(const void* const* inputs, int count, void* out, int64_t begin,
                             int64_t end) const {
  Room sum, next;
  for_each_block(begin, end, [&](int64_t i, int64_t n) {
    route->widen(at(inputs[0], i, route->size), sum.bytes, 0, n);
    for (int k = 1; k < count; ++k) {
      route->widen(at(inputs[k], i, route->size), next.bytes, 0, n);
      const void* both[] = {sum.bytes, next.bytes};
      fn(both, 2, sum.bytes, 0, n);
    }
    route->narrow(sum.bytes, at(out, i, route->size), 0, n);
  });
}

CastKernel cast_kernel(Type from, Type to) {
  CastKernel kernel;
  kernel.sizes[0] = size_of(from);
  const auto add = [&](CastFn fn, Type type) {
    if (fn == nullptr)
      return;
    kernel.steps[kernel.count++] = fn;
    kernel.sizes[kernel.count] = size_of(type);
  };
  if (from == Type::complex64 && to == Type::complex128) {
    add(widen_complex, to);
    return kernel;
  }
  if (from == Type::complex128 && to == Type::complex64) {
    add(narrow_complex, to);
    return kernel;
  }
  const CastStep first = step_from(from), last = step_to(to);
  const CastFn between = isa_table().cast(first.via, last.via);
  if (between == nullptr)
    return {};
  add(first.fn, first.via);
  if (first.via != last.via || (first.fn == nullptr && last.fn == nullptr))
    add(between, last.via);
  add(last.fn, to);
  return kernel;
}

void CastKernel::run_steps(const void* x, void* y, int64_t begin, int64_t end) const {
  Room rooms[2];
  for_each_block(begin, end, [&](int64_t i, int64_t n) {
    const void* from = at(x, i, sizes[0]);
    for (int k = 0; k < count; ++k) {
      void* to = k + 1 == count ? at(y, i, sizes[count]) : rooms[k % 2].bytes;
      steps[k](from, to, 0, n);
      from = to;
    }
  });
}

namespace {

constexpr Cost unary_costs[] = {
#define TROUPE_UNARY(function, kind, cost) Cost::cost,
#include "graph/op/elementwise.def"
};
constexpr Cost gradient_costs[] = {
#define TROUPE_GRADIENT(function, kind, cost) Cost::cost,
#include "graph/op/elementwise.def"
};
constexpr Cost binary_costs[] = {
#define TROUPE_BINARY(function, kind, cost) Cost::cost,
#include "graph/op/elementwise.def"
};

} // namespace

Cost cost_of(UnaryOp op) {
  return unary_costs[static_cast<int>(op)];
}

Cost cost_of(GradOp op) {
  return gradient_costs[static_cast<int>(op)];
}

Cost cost_of(BinaryOp op) {
  return binary_costs[static_cast<int>(op)];
}

} // namespace troupe::arith
