// Reductions over any set of axes, argmax and argmin.
#pragma once
#include "kernels/arith/elementwise.hpp"
#include <span>

namespace troupe::arith {

enum class ReduceOp : int {
  // numbers
  sum,
  mean, // integers: the sum divided toward zero; of nothing: NaN, or 0 for integers
  prod,
  max, // NaN if any element is NaN; of nothing: the lowest value (-inf)
  min, // NaN if any element is NaN; of nothing: the highest value (+inf)
  // boolean
  any,
  all,
};
inline constexpr int reduce_op_count = static_cast<int>(ReduceOp::all) + 1;

/// Which dimensions of a dense array are reduced; neighbours of one kind are merged, so that kinds
/// alternate.
struct ReducePlan {
  static constexpr int max_rank = 8;
  int rank = 0;
  int64_t dims[max_rank] = {};
  bool reduced[max_rank] = {};
  int64_t outputs = 1; // elements of the output, in the order of the kept dimensions
  int64_t count = 1;   // input elements behind each output
  int64_t split = 1;   // extent of the outermost reduced dimension: what reduce_partial splits
  bool is_copy() const {
    return count == 1;
  } // nothing to reduce (sum, prod, max, min, any, all: a plain copy)
};

/// Makes the plan; reduced[k] says whether shape[k] is reduced. Returns false when more than 8
/// groups are left.
bool make_reduce_plan(std::span<const int64_t> shape, std::span<const bool> reduced,
                      ReducePlan& plan);

/// acc[r] takes in n neighbours at x + r * stride, for r < rows.
using ReduceRowsFn = void (*)(int64_t* acc, const void* x, int64_t rows, int64_t stride, int64_t n);
/// acc[c] takes in x[r * stride + c] for all r < rows, c < columns.
using ReduceColumnsFn = void (*)(int64_t* acc, const void* x, int64_t rows, int64_t stride,
                                 int64_t columns);
/// Both, of elements that are not widened before; may be null.
struct NarrowReduce {
  ReduceRowsFn rows = nullptr;
  ReduceColumnsFn columns = nullptr;
};

/// The inner loops of one reduction; accumulators are 8 bytes wide each. f32 is summed in short
/// runs of f32 and those in f64, so that ten million ones add up to ten million.
struct ReduceKernel {
  void (*init)(int64_t* acc, int64_t n) = nullptr;
  ReduceRowsFn rows = nullptr;
  ReduceColumnsFn columns = nullptr;
  void (*merge)(int64_t* acc, const int64_t* other, int64_t n) = nullptr;
  void (*finish)(const int64_t* acc, void* out, int64_t n, int64_t count) = nullptr;
  int size = 0; // bytes of an element
  /// Elements that are computed in another type; the functions above are that one's.
  const Route* route = nullptr;
  NarrowReduce narrow;
  /// What a result is brought between before it is narrowed: the most and the least of nothing.
  bool clamps = false;
  int64_t low = 0, high = 0;

  explicit operator bool() const { return rows != nullptr; }
};

/// What the instruction set in use has for elements of the type, or the generic code; empty where
/// neither has anything.
ReduceKernel reduce_kernel(ReduceOp op, Type type);

/// Computes outputs [begin, end) of `plan` from the whole input.
void run_reduce(const ReduceKernel& kernel, const ReducePlan& plan, const void* x, void* out,
                int64_t begin, int64_t end);

/// For few outputs and a large input: takes positions [begin, end) of the outermost reduced
/// dimension (0 … plan.split) of every output into `acc`, an array of plan.outputs accumulators
/// that this call initialises.
void reduce_partial(const ReduceKernel& kernel, const ReducePlan& plan, const void* x, int64_t* acc,
                    int64_t begin, int64_t end);

/// Merges `parts` arrays of plan.outputs accumulators, which lie one after the other, in order,
/// into the output. The first array is overwritten.
void reduce_combine(const ReduceKernel& kernel, const ReducePlan& plan, int64_t* accs, int parts,
                    void* out);

/// Sum of the squares of x[begin, end): of f32 as sums are taken, or in f64 where the squares may
/// be too large or too small for f32. For up to 2^20 elements at a time.
using SquaresFn = double (*)(const void* x, int64_t begin, int64_t end);

/// Index of the first largest (or smallest) element along the middle dimension of x, a dense
/// [outer, n, inner] array, for flat outputs [begin, end) of [outer, inner]. n >= 1. NaN is chosen
/// only where it comes first. The indices are i32 or i64.
using ArgReduceFn = void (*)(const void* x, void* out, int64_t n, int64_t inner, int64_t begin,
                             int64_t end);

/// Finds positions in elements of a type, or, with a route, in what the caller widened them to:
/// their order is the same.
struct ArgReduceKernel {
  ArgReduceFn fn = nullptr;
  const Route* route = nullptr;
  explicit operator bool() const { return fn != nullptr; }
};
ArgReduceKernel arg_reduce_kernel(bool want_max, Type type, Type index_type);

/// Where the first largest of n > 0 floats stands; -1 if one of them is NaN.
int64_t place_of_largest(const float* row, int64_t n);

} // namespace troupe::arith
