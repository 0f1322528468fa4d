// SparseMatMul: a product of two matrices of which one or both have many zeros. Zeros of an operand
// that is said to be sparse are passed over, whatever they would be multiplied by.
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/arith/flags.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/arith/movement.hpp"
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

/// Rows become columns.
void turn(KernelContext& c, const Tensor& x, Tensor& out) {
  arith::StridedPlan plan;
  const int order[] = {1, 0};
  TROUPE_CHECK(arith::make_transpose_plan(x.shape().dims(), order, plan), "two dimensions");
  void* to = out.mutable_raw();
  c.parallel_for(plan.size, 0.3, [&](std::int64_t begin, std::int64_t end) {
    arith::copy_from_strided(sizeof(float), plan, x.raw(), to, begin, end);
  });
}
Result<Tensor> turned(KernelContext& c, const Tensor& x, bool wanted) {
  if (!wanted)
    return x;
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(DType::float32, Shape{x.shape()[1], x.shape()[0]}));
  turn(c, x, out);
  return out;
}

/// How many elements are 0, or are finite numbers.
template <class Test>
std::int64_t count(const Tensor& x, Test test) {
  constexpr std::int64_t block = 1024;
  std::uint8_t flags[block];
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < x.num_elements(); i += block) {
    const std::int64_t n = std::min(block, x.num_elements() - i);
    test(x.data<float>().data() + i, flags, n);
    out += arith::count_flags(flags, n);
  }
  return out;
}
std::int64_t count_zeros(const Tensor& x) {
  const auto equal = arith::binary_kernel(arith::BinaryOp::equal, arith::Type::float32);
  return count(x, [&](const float* from, std::uint8_t* to, std::int64_t n) {
    const float zero = 0;
    equal.row(from, &zero, to, n, arith::RowMode::right_scalar);
  });
}
bool all_finite(const Tensor& x) {
  const auto is_finite = arith::unary_kernel(arith::UnaryOp::is_finite, arith::Type::float32);
  const std::int64_t finite = count(
      x, [&](const float* from, std::uint8_t* to, std::int64_t n) { is_finite(from, to, 0, n); });
  return finite == x.num_elements();
}

/// A row of a product whose right side's zeros are left out one by one: what they meet may be
/// infinite.
void multiply_row(std::span<const float> factors, std::span<const std::int32_t> places,
                  const float* right, std::int64_t n, float* out) {
  std::fill_n(out, n, 0.0F);
  for (std::size_t e = 0; e < factors.size(); ++e)
    for (std::int64_t j = 0; j < n; ++j)
      if (const float y = right[places[e] * n + j]; y != 0)
        out[j] += factors[e] * y;
}

/// out = left right, row by row of left, whose zeros are left out.
Status multiply(KernelContext& c, const Tensor& left, const Tensor& right, bool right_is_sparse,
                Tensor& out) {
  const std::int64_t rows = left.shape()[0], k = left.shape()[1], n = right.shape()[1];
  if (k > std::numeric_limits<std::int32_t>::max())
    return unimplemented(str_cat("a sum of ", k, " products"));
  TROUPE_ASSIGN(const arith::SumRowsFn sum_rows, arith::sum_rows(DType::float32));
  const float *from = left.data<float>().data(), *matrix = right.data<float>().data();
  float* to = out.mutable_data<float>().data();
  const bool one_by_one = right_is_sparse && !all_finite(left);
  const double cost = static_cast<double>(k) * (1 + 0.02 * static_cast<double>(n));
  c.parallel_for(rows, cost, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> factors(static_cast<std::size_t>(k));
    std::vector<std::int32_t> places(factors.size());
    for (std::int64_t i = begin; i < end; ++i) {
      std::size_t count = 0;
      for (std::int64_t e = 0; e < k; ++e) {
        const float x = from[i * k + e];
        factors[count] = x;
        places[count] = static_cast<std::int32_t>(e);
        count += x != 0 ? 1 : 0;
      }
      if (one_by_one)
        multiply_row(std::span(factors).first(count), std::span(places).first(count), matrix, n,
                     to + i * n);
      else
        sum_rows(factors.data(), places.data(), static_cast<std::int64_t>(count), matrix, n,
                 to + i * n);
    }
  });
  return {};
}

/// Whether most elements of `sparse` are no zeros, and no zero meets an infinity: then zeros cost
/// less than passing over them does.
bool is_dense(const Tensor& sparse, std::int64_t zeros, const Tensor& other) {
  return zeros * 4 <= sparse.num_elements() * 3 && all_finite(other);
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
  if (out.num_elements() == 0)
    return {};
  const std::int64_t a_zeros = attrs.a_is_sparse ? count_zeros(a) : 0;
  const std::int64_t b_zeros = attrs.b_is_sparse ? count_zeros(b) : 0;
  if ((!attrs.a_is_sparse || is_dense(a, a_zeros, b)) &&
      (!attrs.b_is_sparse || is_dense(b, b_zeros, a))) {
    linalg::product(c, arith::Type::float32, sizes, a.raw(), b.raw(), out.mutable_raw());
    return {};
  }
  const bool both = attrs.a_is_sparse && attrs.b_is_sparse;
  if (attrs.a_is_sparse && (!both || a_zeros * b.num_elements() >= b_zeros * a.num_elements())) {
    TROUPE_ASSIGN(const Tensor left, turned(c, a, attrs.transpose_a));
    TROUPE_ASSIGN(const Tensor right, turned(c, b, attrs.transpose_b));
    return multiply(c, left, right, both, out);
  }
  // The sparse one comes first: the product of both, turned, is the product turned.
  TROUPE_ASSIGN(const Tensor left, turned(c, b, !attrs.transpose_b));
  TROUPE_ASSIGN(const Tensor right, turned(c, a, !attrs.transpose_a));
  TROUPE_ASSIGN(Tensor product, c.allocate_temp(DType::float32, Shape{sizes.n, sizes.m}));
  TROUPE_TRY(multiply(c, left, right, both, product));
  turn(c, product, out);
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
