// Ops of linear algebra run over the matrices in the last two dimensions of their inputs; the
// dimensions before them are a batch. Eliminations compute in their dtype, half in float, complex
// numbers in complex<double>; all the others compute in double or complex<double> and round once.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/framework/eigen_checks.hpp"

#include <Eigen/Core>

#include "core/base/strings.hpp"
#include "graph/op/shape_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::linalg {

using Complex = std::complex<double>;
using Wide = Types<double, Complex>;

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstView = Eigen::Map<const Matrix<T>>;
template <class T>
using View = Eigen::Map<Matrix<T>>;

inline DType wide_dtype(DType t) {
  return is_complex(t) ? DType::complex128 : DType::float64;
}

using Eliminated = Types<float, double, Complex>;
/// What eliminations compute in, and solving by their factors: as quick as TensorFlow's, which has
/// twice as many floats in a register as doubles, too.
inline DType eliminated_dtype(DType t) {
  return t == DType::float16 || t == DType::float32 ? DType::float32 : wide_dtype(t);
}

/// Matrices side by side in one tensor, of elements that are computed with.
struct Matrices {
  Tensor wide;
  std::int64_t rows = 0, cols = 0;

  template <class T>
  ConstView<T> at(std::int64_t i) const {
    return {wide.data<T>().data() + i * rows * cols, rows, cols};
  }
  template <class T>
  View<T> at_mutable(std::int64_t i) {
    return {wide.mutable_data<T>().data() + i * rows * cols, rows, cols};
  }
};

/// The dimensions before the matrix.
std::vector<std::int64_t> outer_dims(const Shape& shape, int inner = 2);
std::int64_t product(const std::vector<std::int64_t>& dims);

using ComputedIn = DType (*)(DType);
/// Input `i` as matrices. INVALID_ARGUMENT "Input tensor 0 must have rank >= 2".
Result<Matrices> operand(KernelContext& c, int i, ComputedIn computed_in = wide_dtype);
/// INVALID_ARGUMENT unless all inputs below `count` have the rank and the outer dimensions of the
/// first.
Status check_same_batch(KernelContext& c, int count);
/// INVALID_ARGUMENT "Input matrix must be square."
Status check_square(const Matrices& m);

/// Memory for output `i` of shape [outer..., inner...], in the dtype that is computed in; `narrow`
/// rounds it into the output.
Result<Tensor> result(KernelContext& c, int i, std::vector<std::int64_t> outer,
                      std::initializer_list<std::int64_t> inner,
                      ComputedIn computed_in = wide_dtype);
Result<Matrices> result_matrices(KernelContext& c, int i, std::vector<std::int64_t> outer,
                                 std::int64_t rows, std::int64_t cols,
                                 ComputedIn computed_in = wide_dtype);

/// Runs `body(i)` for every matrix of the batch; the error of the first one that failed.
Status for_each_matrix(KernelContext& c, std::int64_t count, double nanoseconds,
                       FunctionView<Status(std::int64_t)> body);

/// Which matrix of an input with these outer dimensions each matrix of the broadcast batch takes.
std::vector<std::int64_t> broadcast_indices(const std::vector<std::int64_t>& input,
                                            const std::vector<std::int64_t>& batch);

/// About: 1 ns for each multiplication of n^3.
inline double cubic(std::int64_t n) {
  return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) + 100;
}

/// What shape functions share.
PartialShape outer_of(const PartialShape& shape, int inner = 2);
std::int64_t from_end(const PartialShape& shape, int i);
/// [outer..., inner...]; unknown where the outer dimensions are.
PartialShape with_inner(const PartialShape& outer, std::initializer_list<std::int64_t> inner);
/// Square matrices in, the same shape out.
Status infer_square(ShapeContext& c);

/// Reading an attribute that has a declared default.
template <class T>
T attr_or(KernelContext& c, std::string_view name, T fallback) {
  return c.attrs().get_or(name, fallback);
}

/// The dtypes of most ops here: float, double and the complex ones.
KernelOptions kernel_options();

} // namespace troupe::linalg
