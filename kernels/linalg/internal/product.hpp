// One matrix product on the device's compute threads.
#pragma once

#include "kernels/arith/gemm.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::linalg {

/// A second thread pays from about this many floating point operations on.
inline constexpr double parallel_flops = 3e7;

inline double flops(const arith::GemmShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

/// The floating point operations of a product of floats that takes as long: complex products are
/// four real ones, integers have plain loops.
inline double work_of(arith::Type type, const arith::GemmShape& shape) {
  const bool is_complex = type == arith::Type::complex64 || type == arith::Type::complex128;
  const bool is_integer = type == arith::Type::int32 || type == arith::Type::int64;
  return flops(shape) * (is_complex ? 4 : is_integer ? 10 : 1);
}

/// What is done to a product while it lies in a cache: elements [begin, end) of C are final.
using Finish = FunctionView<void(std::int64_t begin, std::int64_t end)>;

/// C = op(A) op(B), in blocks of rows (of columns, where these are more) over the compute threads
/// when the product is large. The split does not change which terms a sum has, only how they are
/// grouped by the library. `finish`, if not null, is called for each element once, on any thread;
/// one element takes `finish_cost` nanoseconds, about.
void product(KernelContext& c, arith::Type type, const arith::GemmShape& shape, const void* a,
             const void* b, void* out, const Finish* finish = nullptr, double finish_cost = 0);

/// Products of `batch` entries, whose matrices lie one after the other; a_index and b_index, where
/// not null, say which matrix of A or B an entry takes.
void products(KernelContext& c, arith::Type type, const arith::GemmShape& shape, const void* a,
              const std::int64_t* a_index, const void* b, const std::int64_t* b_index, void* out,
              std::int64_t batch);

/// One product, or several, on a GPU, of floats, doubles, halves or bfloat16s. `batches` products,
/// whose operands follow each other, or are one for all where `one_a`, `one_b`.
Status product_on_gpu(KernelContext& c, const arith::GemmShape& shape, const void* a, const void* b,
                      Tensor& out, std::int64_t batches = 1, bool one_a = false,
                      bool one_b = false);

/// Attributes of MatMul.
struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false;
};
Result<MatMulAttrs> read_matmul_attrs(const PrepareContext& c);
Result<PartialShape> infer_matmul(ShapeContext& c);

/// The sizes of the product of inputs 0 and 1; INVALID_ARGUMENT if there is none.
Result<arith::GemmShape> matmul_sizes(const KernelContext& c, const MatMulAttrs& attrs);

} // namespace troupe::linalg
