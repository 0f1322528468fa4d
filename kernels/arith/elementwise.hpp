// Elementwise arithmetic: one input, two inputs with broadcasting, comparisons, gradients, choice,
// casts. Ranges [begin, end) are positions in the output. An output may be the same buffer as an
// input of the same size and shape.
//
// The functions and their elements are listed in graph/op/elementwise.def; lookup.hpp finds them.
#pragma once
#include "kernels/arith/broadcast.hpp"
#include "kernels/arith/types.hpp"

namespace troupe::arith {

enum class UnaryOp : int {
#define TROUPE_UNARY(function, kind, cost) function,
#include "graph/op/elementwise.def"
};

enum class GradOp : int {
#define TROUPE_GRADIENT(function, kind, cost) function,
#include "graph/op/elementwise.def"
};

enum class BinaryOp : int {
#define TROUPE_BINARY(function, kind, cost) function,
#include "graph/op/elementwise.def"
};

/// Which elements have a function; graph/op/elementwise.def says what each kind means.
enum class Kind : int { number, ring, real, field, test, order, equality, logic };
enum class Elements : int { real, integer, complex, boolean };
constexpr bool has(Elements elements, Kind kind) {
  switch (elements) {
  case Elements::real:
    return kind != Kind::logic;
  case Elements::integer:
    return kind == Kind::number || kind == Kind::ring || kind == Kind::order ||
           kind == Kind::equality;
  case Elements::complex:
    return kind == Kind::ring || kind == Kind::field || kind == Kind::equality;
  case Elements::boolean:
    return kind == Kind::logic || kind == Kind::equality;
  }
  return false;
}

/// What an element costs, about.
enum class Cost : int { cheap, moderate, costly };
Cost cost_of(UnaryOp op);
Cost cost_of(GradOp op);
Cost cost_of(BinaryOp op);

// ---- what one instruction set, or the generic code, has

/// y[i] = op(x[i]) for i in [begin, end). x and y may be the same buffer where both have the same
/// element size. relu and relu6 keep NaN; sign(NaN) is NaN; exp, tanh, sigmoid, log are within 4
/// ulp of libm.
using UnaryFn = void (*)(const void* x, void* y, int64_t begin, int64_t end);

/// dx[i] = dy[i] * op'(...) for i in [begin, end); dx may be dy or x_or_y.
using GradFn = void (*)(const void* dy, const void* x_or_y, void* dx, int64_t begin, int64_t end);

/// What computes one row: n outputs, where each input is a row too or, by `mode`, a single element.
/// Returns false after an integer division by zero (the quotient counts as 0).
/// What a real number is made of a complex one by: y[i] is of x[i], i in [begin, end). Null for a
/// type that is not complex.
enum class ComplexPart : int { real, imaginary, length, angle };
UnaryFn complex_part(ComplexPart part, Type type);

enum class RowMode : int { both_rows, left_scalar, right_scalar };
using BinaryRow = bool (*)(const void* a, const void* b, void* out, int64_t n, RowMode mode);

/// y[i] = static_cast<To>(x[i]) for i in [begin, end). To f16 and bf16 it rounds to nearest even;
/// to boolean it is x != 0; a float outside an integer's range gives an unspecified value.
using CastFn = void (*)(const void* x, void* y, int64_t begin, int64_t end);

/// Sum of `count` arrays: out[i] = sum over k of inputs[k][i] for i in [begin, end), added in order
/// (AddN, partial gradients). out may be inputs[0].
using AddNFn = void (*)(const void* const* inputs, int count, void* out, int64_t begin,
                        int64_t end);

// ---- the same for any dtype, perhaps computed in another one

/// The type that elements are computed in, where that is not their own: f32 for f16 and bf16, i32
/// for integers of 8 and 16 bits, i64 for u32, complex128 for complex64. A result is rounded once.
struct Route {
  CastFn widen = nullptr;
  CastFn narrow = nullptr;
  Type via = {};
  int size = 0, via_size = 0; ///< bytes of an element
};
/// Null for a type that is computed in its own, or not at all; lives for ever. Of the instruction
/// set in use.
const Route* route_of(Type type);

struct UnaryKernel {
  UnaryFn fn = nullptr;
  const Route* route = nullptr; ///< null: elements are computed in their own type
  bool gives_boolean = false;

  explicit operator bool() const { return fn != nullptr; }
  void operator()(const void* x, void* y, int64_t begin, int64_t end) const {
    if (route == nullptr)
      fn(x, y, begin, end);
    else
      run_widened(x, y, begin, end);
  }

private:
  void run_widened(const void* x, void* y, int64_t begin, int64_t end) const;
};

struct GradKernel {
  GradFn fn = nullptr;
  const Route* route = nullptr; ///< null: elements are computed in their own type

  explicit operator bool() const { return fn != nullptr; }
  void operator()(const void* dy, const void* x_or_y, void* dx, int64_t begin, int64_t end) const {
    if (route == nullptr)
      fn(dy, x_or_y, dx, begin, end);
    else
      run_widened(dy, x_or_y, dx, begin, end);
  }

private:
  void run_widened(const void* dy, const void* x, void* dx, int64_t begin, int64_t end) const;
};

/// A binary operation on an element type. Empty (converts to false) where the type has no such
/// operation.
struct BinaryKernel {
  BinaryRow fn = nullptr;
  int in_size = 0; // bytes of an input element
  int out_size = 0;
  bool gives_boolean = false;
  const Route* route = nullptr; ///< null: elements are computed in their own type

  explicit operator bool() const { return fn != nullptr; }

  /// One row, as BinaryRow.
  bool row(const void* a, const void* b, void* out, int64_t n, RowMode mode) const {
    return route == nullptr ? fn(a, b, out, n, mode) : row_widened(a, b, out, n, mode);
  }

  /// Computes output elements [begin, end) of `plan`, a plan of two inputs. Returns false when an
  /// integer was divided by zero (or raised to a negative power): the outputs are then of no use.
  bool operator()(const BroadcastPlan& plan, const void* a, const void* b, void* out, int64_t begin,
                  int64_t end) const;

private:
  bool row_widened(const void* a, const void* b, void* out, int64_t n, RowMode mode) const;
  bool run_repeated(const BroadcastPlan& plan, int repeated, const void* a, const void* b,
                    void* out, int64_t begin, int64_t end) const;
};

struct AddNKernel {
  AddNFn fn = nullptr;
  const Route* route = nullptr; ///< null: elements are computed in their own type

  explicit operator bool() const { return fn != nullptr; }
  void operator()(const void* const* inputs, int count, void* out, int64_t begin,
                  int64_t end) const {
    if (route == nullptr)
      fn(inputs, count, out, begin, end);
    else
      run_widened(inputs, count, out, begin, end);
  }

private:
  void run_widened(const void* const* inputs, int count, void* out, int64_t begin,
                   int64_t end) const;
};

/// A cast in up to three steps, by way of types that lie between.
struct CastKernel {
  static constexpr int max_steps = 3;
  CastFn steps[max_steps] = {};
  int sizes[max_steps + 1] = {}; ///< of the elements before and after each step
  int count = 0;

  explicit operator bool() const { return count > 0; }
  void operator()(const void* x, void* y, int64_t begin, int64_t end) const {
    if (count == 1)
      steps[0](x, y, begin, end);
    else
      run_steps(x, y, begin, end);
  }

private:
  void run_steps(const void* x, void* y, int64_t begin, int64_t end) const;
};

/// What the instruction set in use has for elements of the type, or the generic code; empty where
/// neither has anything.
UnaryKernel unary_kernel(UnaryOp op, Type type);
GradKernel grad_kernel(GradOp op, Type type);
BinaryKernel binary_kernel(BinaryOp op, Type type);
AddNKernel add_n_kernel(Type type);
CastKernel cast_kernel(Type from, Type to);

/// out = cond ? a : b over output elements [begin, end) of `plan`, whose inputs are cond (boolean),
/// a and b in this order. Elements are `size` bytes (1, 2, 4, 8 or 16).
void select(int size, const BroadcastPlan& plan, const void* cond, const void* a, const void* b,
            void* out, int64_t begin, int64_t end);

/// out[i] = start + i * delta for i in [begin, end), each step rounded; integers wrap. For float,
/// double, int32_t and int64_t.
template <class T>
void range(T start, T delta, T* out, int64_t begin, int64_t end);

/// Sets elements [begin, end) of `size` bytes (1, 2, 4, 8 or 16) to the one at `value`.
void fill(int size, const void* value, void* out, int64_t begin, int64_t end);

} // namespace troupe::arith
