// SparseMatMul: a product of two matrices of which one or both have many zeros. Zeros of an operand
// that is said to be sparse are passed over, whatever they would be multiplied by.
#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/linalg/internal/product.hpp"

namespace troupe::linalg_sparse_matmul {
namespace {

struct Attrs {
  bool transpose_a = false, transpose_b = false, a_is_sparse = false, b_is_sparse = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(out.transpose_a, c.attr<bool>("transpose_a"));
  TROUPE_ASSIGN(out.transpose_b, c.attr<bool>("transpose_b"));
  TROUPE_ASSIGN(out.a_is_sparse, c.attr<bool>("a_is_sparse"));
  TROUPE_ASSIGN(out.b_is_sparse, c.attr<bool>("b_is_sparse"));
  return prepared(out);
}

/// out = op(a) op(b), row by row of a.
void multiply(KernelContext& c, const arith::GemmShape& s, const Attrs& attrs, const float* a,
              const float* b, float* out) {
  const auto cost = static_cast<double>(s.n) * static_cast<double>(s.k);
  c.parallel_for(s.m, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* row = out + i * s.n;
      std::fill_n(row, s.n, 0.0F);
      for (std::int64_t k = 0; k < s.k; ++k) {
        const float x = attrs.transpose_a ? a[k * s.m + i] : a[i * s.k + k];
        if (attrs.a_is_sparse && x == 0)
          continue;
        for (std::int64_t j = 0; j < s.n; ++j) {
          const float y = attrs.transpose_b ? b[j * s.k + k] : b[k * s.n + j];
          if (!attrs.b_is_sparse || y != 0)
            row[j] += x * y;
        }
      }
    }
  });
}

Status compute(KernelContext& c) {
  const auto& attrs = c.prepared<Attrs>();
  for (int i : {0, 1})
    if (c.input(i).shape().rank() != 2)
      return invalid_argument(str_cat(i == 0 ? "a" : "b", " is not a matrix"));
  if (c.input(0).shape()[attrs.transpose_a ? 0 : 1] !=
      c.input(1).shape()[attrs.transpose_b ? 1 : 0])
    return invalid_argument(
        str_cat("Matrix size incompatible: a: ", c.input(0).shape(), ", b: ", c.input(1).shape()));
  TROUPE_ASSIGN(const arith::GemmShape sizes,
                linalg::matmul_sizes(c, {attrs.transpose_a, attrs.transpose_b}));
  TROUPE_ASSIGN(const Tensor a, widened(c, c.input(0), DType::float32));
  TROUPE_ASSIGN(const Tensor b, widened(c, c.input(1), DType::float32));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{sizes.m, sizes.n}));
  if (!attrs.a_is_sparse && !attrs.b_is_sparse)
    linalg::product(c, arith::Type::float32, sizes, a.raw(), b.raw(), out.mutable_raw());
  else
    multiply(c, sizes, attrs, a.data<float>().data(), b.data<float>().data(),
             out.mutable_data<float>().data());
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, linalg::infer_matmul(c));
  return c.set_output(0, std::move(shape));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"Ta", {DType::float32, DType::bfloat16}},
                   {"Tb", {DType::float32, DType::bfloat16}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("SparseMatMul")
      .input("a: Ta; b: Tb")
      .output("product: float")
      .attr("transpose_a: bool = false; transpose_b: bool = false")
      .attr("a_is_sparse: bool = false; b_is_sparse: bool = false")
      .attr("Ta: {float, bfloat16} = DT_FLOAT; Tb: {float, bfloat16} = DT_FLOAT")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("The product of two matrices of which one or both have many zeros.");
}

} // namespace troupe::linalg_sparse_matmul
