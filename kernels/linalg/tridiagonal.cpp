// TridiagonalSolve and TridiagonalMatMul: matrices given by their three diagonals.
#include <limits>

#include "kernels/linalg/internal/batched.hpp"

namespace troupe::linalg_tridiagonal {
namespace {

using namespace linalg;

/// Forward elimination and substitution without pivoting, after Thomas. The diagonals are rows: the
/// upper one's last and the lower one's first element are not looked at.
template <class T>
bool solve_thomas(const ConstView<T>& d, const ConstView<T>& b, View<T> x) {
  const std::int64_t n = d.cols();
  std::vector<T> upper(static_cast<std::size_t>(n));
  if (n == 0)
    return true;
  if (d(1, 0) == T(0))
    return false;
  upper[0] = d(0, 0) / d(1, 0);
  x.row(0) = b.row(0) / d(1, 0);
  for (std::int64_t i = 1; i < n; ++i) {
    const T pivot = d(1, i) - d(2, i) * upper[static_cast<std::size_t>(i - 1)];
    if (pivot == T(0))
      return false;
    upper[static_cast<std::size_t>(i)] = d(0, i) / pivot;
    x.row(i) = (b.row(i) - d(2, i) * x.row(i - 1)) / pivot;
  }
  for (std::int64_t i = n - 2; i >= 0; --i)
    x.row(i) -= upper[static_cast<std::size_t>(i)] * x.row(i + 1);
  return true;
}

/// What a pivot next to zero is replaced by, so that its reciprocal is still a number.
template <class T>
void perturb(T& pivot, double largest) {
  const double tiny = std::numeric_limits<double>::min();
  const double least = std::max(tiny, std::numeric_limits<double>::epsilon() * largest);
  if (std::abs(pivot) < least)
    pivot = std::real(pivot) < 0 ? -least : least;
}

/// With rows exchanged for the larger pivot: a row then reaches two columns to the right.
template <class T>
bool solve_pivoting(const ConstView<T>& d, const ConstView<T>& b, View<T> x, bool perturbing) {
  const std::int64_t n = d.cols();
  if (n == 0)
    return true;
  Matrix<T> u = Matrix<T>::Zero(n, 3);
  const double largest = perturbing ? d.cwiseAbs().maxCoeff() : 0;
  u(0, 0) = d(1, 0);
  u(0, 1) = n > 1 ? d(0, 0) : T(0);
  x.row(0) = b.row(0);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const T lower = d(2, i + 1);
    const T next_upper = i + 2 < n ? d(0, i + 1) : T(0);
    if (std::abs(u(i, 0)) >= std::abs(lower)) {
      if (perturbing)
        perturb(u(i, 0), largest);
      if (u(i, 0) == T(0))
        return false;
      const T factor = lower / u(i, 0);
      u(i + 1, 0) = d(1, i + 1) - factor * u(i, 1);
      u(i + 1, 1) = next_upper;
      x.row(i + 1) = b.row(i + 1) - factor * x.row(i);
    } else {
      const T factor = u(i, 0) / lower;
      const T above = u(i, 1);
      u(i, 0) = lower;
      u(i, 1) = d(1, i + 1);
      u(i, 2) = next_upper;
      u(i + 1, 0) = above - factor * d(1, i + 1);
      u(i + 1, 1) = -factor * next_upper;
      x.row(i + 1) = x.row(i) - factor * b.row(i + 1);
      x.row(i) = b.row(i + 1);
    }
  }
  if (perturbing)
    perturb(u(n - 1, 0), largest);
  if (u(n - 1, 0) == T(0))
    return false;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    if (i + 1 < n)
      x.row(i) -= u(i, 1) * x.row(i + 1);
    if (i + 2 < n)
      x.row(i) -= u(i, 2) * x.row(i + 2);
    x.row(i) /= u(i, 0);
  }
  return true;
}

Status compute(KernelContext& c) {
  TROUPE_TRY(check_same_batch(c, 2));
  TROUPE_ASSIGN(const Matrices d, operand(c, 0));
  TROUPE_ASSIGN(const Matrices b, operand(c, 1));
  if (d.rows != 3)
    return invalid_argument(str_cat(
        "Expected diagonals to be provided as a matrix with 3 rows, got ", d.rows, " rows."));
  if (d.cols != b.rows)
    return invalid_argument(
        str_cat("Expected the same number of left-hand sides and right-hand sides, got ", d.cols,
                " and ", b.rows, "."));
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, b.rows, b.cols));
  const bool pivoting = attr_or(c, "partial_pivoting", true);
  const bool perturbing = attr_or(c, "perturb_singular", false);
  TROUPE_TRY(dispatch(Wide{}, d.wide.dtype(), [&]<class T>() {
    const double cost = 5.0 * static_cast<double>(b.rows * (b.cols + 4));
    return for_each_matrix(c, linalg::product(outer), cost, [&](std::int64_t i) -> Status {
      View<T> x = out.at_mutable<T>(i);
      const bool solved = pivoting ? solve_pivoting<T>(d.at<T>(i), b.at<T>(i), x, perturbing)
                                   : solve_thomas<T>(d.at<T>(i), b.at<T>(i), x);
      if (!solved)
        x.setConstant(std::numeric_limits<double>::quiet_NaN());
      return {};
    });
  }));
  return narrow(c, 0, out.wide);
}

Status prepare_check(PrepareContext& c) {
  TROUPE_ASSIGN(const bool pivoting, c.attr<bool>("partial_pivoting"));
  TROUPE_ASSIGN(const bool perturbing, c.attr<bool>("perturb_singular"));
  if (perturbing && !pivoting)
    return invalid_argument("Setting perturb_singular requires also setting partial_pivoting.");
  return {};
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_TRY(prepare_check(c));
  return prepared(0);
}

Status compute_product(KernelContext& c) {
  TROUPE_TRY(check_same_batch(c, 4));
  Matrices d[3];
  TROUPE_ASSIGN(const Matrices b, operand(c, 3));
  constexpr const char* names[] = {"superdiagonal", "main diagonal", "subdiagonal"};
  for (int i = 0; i < 3; ++i) {
    TROUPE_ASSIGN(d[i], operand(c, i));
    if (d[i].rows != 1 || d[i].cols != b.rows)
      return invalid_argument(str_cat("Invalid ", names[i], " shape."));
  }
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, b.rows, b.cols));
  TROUPE_TRY(dispatch(Wide{}, b.wide.dtype(), [&]<class T>() {
    const double cost = 3.0 * static_cast<double>(b.rows * b.cols);
    return for_each_matrix(c, linalg::product(outer), cost, [&](std::int64_t i) -> Status {
      const auto above = d[0].at<T>(i), main = d[1].at<T>(i), below = d[2].at<T>(i);
      const auto from = b.at<T>(i);
      auto to = out.at_mutable<T>(i);
      for (std::int64_t r = 0; r < b.rows; ++r) {
        to.row(r) = main(0, r) * from.row(r);
        if (r > 0)
          to.row(r) += below(0, r) * from.row(r - 1);
        if (r + 1 < b.rows)
          to.row(r) += above(0, r) * from.row(r + 1);
      }
      return {};
    });
  }));
  return narrow(c, 0, out.wide);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(c.require_rank_at_least(1, 2));
  const PartialShape &d = c.input(0), &b = c.input(1);
  TROUPE_ASSIGN(const auto outer, shape_rules::merge_shapes(outer_of(d), outer_of(b)));
  TROUPE_TRY(shape_rules::merge_dims(from_end(d, 2), 3).status());
  TROUPE_ASSIGN(const std::int64_t n, shape_rules::merge_dims(from_end(d, 1), from_end(b, 2)));
  return c.set_output(0, with_inner(outer, {n, from_end(b, 1)}));
}

Status infer_product(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(3, 2));
  const PartialShape& b = c.input(3);
  PartialShape outer = outer_of(b);
  std::int64_t n = from_end(b, 2);
  for (int i = 0; i < 3; ++i) {
    TROUPE_TRY(c.require_rank_at_least(i, 2));
    TROUPE_ASSIGN(outer, shape_rules::merge_shapes(outer, outer_of(c.input(i))));
    TROUPE_TRY(shape_rules::merge_dims(from_end(c.input(i), 2), 1).status());
    TROUPE_ASSIGN(n, shape_rules::merge_dims(n, from_end(c.input(i), 1)));
  }
  return c.set_output(0, with_inner(outer, {n, from_end(b, 1)}));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options = kernel_options();
  options.prepare = prepare;
  library.op("TridiagonalSolve")
      .input("diagonals: T; rhs: T")
      .output("output: T")
      .attr("partial_pivoting: bool = true; perturb_singular: bool = false")
      .attr("T: {double, float, complex64, complex128}")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("Solves with matrices that are given by their three diagonals.");
  library.op("TridiagonalMatMul")
      .input("superdiag: T; maindiag: T; subdiag: T; rhs: T")
      .output("output: T")
      .attr("T: {double, float, complex64, complex128}")
      .shape_fn(infer_product)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute_product, kernel_options())
      .doc("Products with matrices that are given by their three diagonals.");
}

} // namespace troupe::linalg_tridiagonal
