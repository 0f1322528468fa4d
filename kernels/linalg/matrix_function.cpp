// MatrixSquareRoot, MatrixLogarithm and MatrixExponential: functions of matrices, not of elements.
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/framework/eigen_checks.hpp"

#include <Eigen/LU>
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/linalg/internal/batched.hpp"

namespace troupe::linalg_matrix_function {
namespace {

using namespace linalg;
using ColumnMajor = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;

struct Root {
  static ColumnMajor of(const ColumnMajor& a) { return a.sqrt(); }
};
struct Exponential {
  static ColumnMajor of(const ColumnMajor& a) { return a.exp(); }
};
/// Of a triangular matrix that is near the identity: the integral of x / (1 + t x) from 0 to 1, by
/// Gauss and Legendre.
ColumnMajor log_near_one(const ColumnMajor& t) {
  static constexpr std::pair<double, double> places[] = {{0.1834346424956498, 0.3626837833783620},
                                                         {0.5255324099163290, 0.3137066458778873},
                                                         {0.7966664774136267, 0.2223810344533745},
                                                         {0.9602898564975363, 0.1012285362903763}};
  const ColumnMajor one = ColumnMajor::Identity(t.rows(), t.cols()), x = t - one;
  ColumnMajor out = ColumnMajor::Zero(t.rows(), t.cols());
  for (const auto& [place, weight] : places)
    for (const double at : {(1 - place) / 2, (1 + place) / 2})
      out += weight / 2 * (one + at * x).template triangularView<Eigen::Upper>().solve(x);
  return out;
}

/// By the square roots of the triangular factor until it is near the identity. Eigen's own has no
/// end where it never is: with an eigenvalue of 0, or numbers that become infinite.
struct Logarithm {
  static ColumnMajor of(const ColumnMajor& a) {
    constexpr int most_roots = 2100; // halve any exponent of a double often enough
    const Eigen::ComplexSchur<ColumnMajor> schur(a);
    const ColumnMajor triangle = schur.matrixT().template triangularView<Eigen::Upper>();
    ColumnMajor t = triangle, root;
    const ColumnMajor one = ColumnMajor::Identity(a.rows(), a.cols());
    int roots = 0;
    for (; !((t - one).cwiseAbs().colwise().sum().maxCoeff() < 0.25); ++roots) {
      if (!t.allFinite() || (t.diagonal().array() == 0.0).any() || roots == most_roots)
        return ColumnMajor::Constant(a.rows(), a.cols(), std::numeric_limits<double>::quiet_NaN());
      Eigen::matrix_sqrt_triangular(t, root);
      t = root.template triangularView<Eigen::Upper>();
    }
    ColumnMajor log = std::ldexp(1.0, roots) * log_near_one(t);
    log.diagonal() = triangle.diagonal().array().log();
    return schur.matrixU() * log * schur.matrixU().adjoint();
  }
};

/// Where numbers become infinite on the way there is no result.
template <class Function>
ColumnMajor value_of(const ColumnMajor& x) {
  try {
    return Function::of(x);
  } catch (const EigenRefusal&) {
    return ColumnMajor::Constant(x.rows(), x.cols(), std::numeric_limits<double>::quiet_NaN());
  }
}

/// A real matrix whose result is not real, as the square root of one with a negative eigenvalue,
/// has none.
ColumnMajor of_real(ColumnMajor y) {
  const double scale = y.cwiseAbs().maxCoeff();
  if (!(y.imag().cwiseAbs().maxCoeff() <= 1e-7 * scale))
    y.setConstant(std::numeric_limits<double>::quiet_NaN());
  return y;
}

template <class Function>
Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0));
  TROUPE_TRY(check_square(a));
  const auto outer = outer_dims(c.input(0).shape());
  TROUPE_ASSIGN(Matrices out, result_matrices(c, 0, outer, a.rows, a.rows));
  if (out.wide.num_elements() > 0)
    TROUPE_TRY(dispatch(Wide{}, a.wide.dtype(), [&]<class T>() {
      return for_each_matrix(
          c, linalg::product(outer), 30 * cubic(a.rows), [&](std::int64_t i) -> Status {
            const ColumnMajor x = a.at<T>(i).template cast<Complex>();
            if (!x.allFinite())
              out.at_mutable<T>(i).setConstant(std::numeric_limits<double>::quiet_NaN());
            else if constexpr (std::is_same_v<T, double>)
              out.at_mutable<T>(i) = of_real(value_of<Function>(x)).real();
            else
              out.at_mutable<T>(i) = value_of<Function>(x);
            return {};
          });
    }));
  return narrow(c, 0, out.wide);
}

template <class Function>
void add(OpLibrary& library, std::string_view name, std::string_view types, KernelOptions options,
         std::string_view doc) {
  library.op(name)
      .input("input: T")
      .output("output: T")
      .attr(types)
      .shape_fn(infer_square)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute<Function>, std::move(options))
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto all = "T: {double, float, half, complex64, complex128}";
  add<Root>(library, "MatrixSquareRoot", all, kernel_options(),
            "The principal square root of each matrix.");
  add<Exponential>(library, "MatrixExponential", all, kernel_options(),
                   "The exponential of each matrix, the sum of its powers A^k / k!.");
  KernelOptions options = kernel_options();
  options.types = {{"T", {DType::complex64, DType::complex128}}};
  add<Logarithm>(library, "MatrixLogarithm", "T: {complex64, complex128}", options,
                 "The principal logarithm of each matrix.");
}

} // namespace troupe::linalg_matrix_function
