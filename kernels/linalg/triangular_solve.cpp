// MatrixTriangularSolve and BandedTriangularSolve: substitution, forwards or backwards.
#include "kernels/arith/broadcast.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_triangular_solve {
namespace {

using namespace linalg;
using Dims = std::vector<std::int64_t>;

struct Attrs {
  bool lower = true, adjoint = false;
};

/// Two inputs whose outer dimensions broadcast, and the output.
struct Problem {
  Matrices a, b, out;
  Dims a_index, b_index;
  std::int64_t count = 0;
};

Status check_ranks(const Shape& a, const Shape& b) {
  for (int i : {0, 1})
    if (const int rank = (i == 0 ? a : b).rank(); rank < 2)
      return invalid_argument(str_cat("In[", i, "] ndims must be >= 2: ", rank));
  return {};
}

Result<Problem> problem(KernelContext& c, const Attrs& attrs) {
  const Shape &a = c.input(0).shape(), &b = c.input(1).shape();
  Dims batch;
  if (!arith::broadcast_shape(outer_dims(a), outer_dims(b), batch))
    return invalid_argument(
        str_cat("In[0] and In[1] must have compatible batch dimensions: ", a, " vs. ", b));
  Problem p;
  TROUPE_ASSIGN(p.a, operand(c, 0, eliminated_dtype));
  TROUPE_ASSIGN(p.b, operand(c, 1, eliminated_dtype));
  if (p.a.cols != p.b.rows)
    return invalid_argument(str_cat("In[0] mismatch In[1] shape: ", p.a.cols, " vs. ", p.b.rows,
                                    ": ", a, " ", b, " ", attrs.lower ? 1 : 0, " ",
                                    attrs.adjoint ? 1 : 0));
  TROUPE_ASSIGN(p.out, result_matrices(c, 0, batch, p.b.rows, p.b.cols, eliminated_dtype));
  p.a_index = broadcast_indices(outer_dims(a), batch);
  p.b_index = broadcast_indices(outer_dims(b), batch);
  p.count = linalg::product(batch);
  return p;
}

Attrs attrs_of(KernelContext& c) {
  return {attr_or(c, "lower", true), attr_or(c, "adjoint", false)};
}

Status compute(KernelContext& c) {
  const Shape& a = c.input(0).shape();
  TROUPE_TRY(check_ranks(a, c.input(1).shape()));
  const std::int64_t rows = a[a.rank() - 2], cols = a[a.rank() - 1];
  if (rows != cols)
    return invalid_argument(str_cat("In[0] matrices in the last dimensions must be square (", cols,
                                    " =/= ", rows, ")"));
  const Attrs attrs = attrs_of(c);
  const auto triangle = attrs.lower ? arith::Triangle::lower : arith::Triangle::upper;
  TROUPE_ASSIGN(Problem p, problem(c, attrs));
  if (p.out.wide.num_elements() > 0)
    TROUPE_TRY(dispatch(Eliminated{}, p.a.wide.dtype(), [&]<class T>() {
      const double cost = static_cast<double>(rows * rows * p.b.cols) + 100;
      return for_each_matrix(c, p.count, cost, [&](std::int64_t i) -> Status {
        const auto at = static_cast<std::size_t>(i);
        View<T> x = p.out.at_mutable<T>(i);
        x = p.b.at<T>(p.b_index[at]);
        triangular_solve<T>(p.a.at<T>(p.a_index[at]), triangle, attrs.adjoint, x);
        return {};
      });
    }));
  return narrow(c, 0, p.out.wide);
}

/// Element (i, j) of the matrix that the bands hold: lower ones are in the column of their row, the
/// main diagonal first; upper ones in the column of their column's row, the main diagonal last.
template <class T>
T band_element(const ConstView<T>& bands, bool lower, std::int64_t i, std::int64_t j) {
  return lower ? bands(i - j, i) : bands(bands.rows() - 1 - (j - i), i);
}

template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return std::conj(x);
}

template <class T>
void solve_bands(const ConstView<T>& bands, ConstView<T> b, View<T> x, const Attrs& attrs) {
  const std::int64_t n = bands.cols(), width = std::min(bands.rows(), bands.cols());
  const bool forwards = attrs.lower != attrs.adjoint;
  const auto element = [&](std::int64_t i, std::int64_t j) {
    return attrs.adjoint ? conjugate(band_element(bands, attrs.lower, j, i))
                         : band_element(bands, attrs.lower, i, j);
  };
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = forwards ? k : n - 1 - k;
    x.row(i) = b.row(i);
    for (std::int64_t d = 1; d < std::min(width, k + 1); ++d) {
      const std::int64_t j = forwards ? i - d : i + d;
      x.row(i) -= element(i, j) * x.row(j);
    }
    x.row(i) /= element(i, i);
  }
}

Status compute_banded(KernelContext& c) {
  const Shape& a = c.input(0).shape();
  TROUPE_TRY(check_ranks(a, c.input(1).shape()));
  if (c.input(0).num_elements() == 0 || c.input(1).num_elements() == 0)
    for (int i : {0, 1})
      if (c.input(i).num_elements() == 0)
        return invalid_argument(
            str_cat("In[", i, "] must not be an empty tensor: ", debug_string(c.input(i))));
  const Attrs attrs = attrs_of(c);
  TROUPE_ASSIGN(Problem p, problem(c, attrs));
  TROUPE_TRY(dispatch(Eliminated{}, p.a.wide.dtype(), [&]<class T>() {
    const double cost = static_cast<double>(p.a.rows * p.a.cols * p.b.cols) + 100;
    return for_each_matrix(c, p.count, cost, [&](std::int64_t i) -> Status {
      const auto at = static_cast<std::size_t>(i);
      const auto bands = p.a.at<T>(p.a_index[at]);
      const auto diagonal = bands.row(attrs.lower ? 0 : bands.rows() - 1);
      if (diagonal.cwiseAbs().minCoeff() == 0)
        return invalid_argument("Input matrix is not invertible.");
      solve_bands<T>(bands, p.b.at<T>(p.b_index[at]), p.out.at_mutable<T>(i), attrs);
      return {};
    });
  }));
  return narrow(c, 0, p.out.wide);
}

Status infer(ShapeContext& c, bool square) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(c.require_rank_at_least(1, 2));
  const PartialShape &a = c.input(0), &b = c.input(1);
  TROUPE_ASSIGN(const auto outer, broadcast_partial(outer_of(a), outer_of(b)));
  std::int64_t n = from_end(a, 1);
  if (square) {
    TROUPE_ASSIGN(n, shape_rules::merge_dims(n, from_end(a, 2)));
  }
  TROUPE_ASSIGN(n, shape_rules::merge_dims(n, from_end(b, 2)));
  return c.set_output(0, with_inner(outer, {n, from_end(b, 1)}));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MatrixTriangularSolve")
      .input("matrix: T; rhs: T")
      .output("output: T")
      .attr("lower: bool = true; adjoint: bool = false")
      .attr("T: {bfloat16, double, float, half, complex64, complex128}")
      .shape_fn([](ShapeContext& c) { return infer(c, true); })
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("Solves with one triangle of each matrix; the other is not looked at.");
  library.op("BandedTriangularSolve")
      .input("matrix: T; rhs: T")
      .output("output: T")
      .attr("lower: bool = true; adjoint: bool = false")
      .attr("T: {double, float, half, complex64, complex128}")
      .shape_fn([](ShapeContext& c) { return infer(c, false); })
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute_banded, kernel_options())
      .doc("Solves with triangular matrices that are given by their bands.");
  library.op("BatchMatrixTriangularSolve")
      .input("matrix: T; rhs: T")
      .output("output: T")
      .attr("lower: bool = true; adjoint: bool = false; T: {double, float}")
      .shape_fn([](ShapeContext& c) { return infer(c, true); })
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
}

} // namespace troupe::linalg_triangular_solve
