// SparseMatrixSparseCholesky, and SparseMatrixOrderingAMD, which finds an order of rows that keeps
// its factor sparse. Eigen's algorithms, as in TensorFlow, so that orders and structures are the
// same.
#include <atomic>
#include <complex>
#include <limits>
#include <vector>

#include "kernels/framework/eigen_checks.hpp"

#include <Eigen/SparseCholesky>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/sparse/internal/csr.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_csr_cholesky {
namespace {

using sparse::CsrMatrix;
using sparse::CsrRows;
using sparse::CsrTypes;
using sparse::Dims;
using Permutation = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;
/// Computed in double, rounded once.
using Wide = Types<double, std::complex<double>>;

Status check_square(const CsrMatrix& m) {
  if (m.rows() != m.cols())
    return invalid_argument(
        str_cat("sparse matrix must be square; got: ", m.rows(), " != ", m.cols()));
  if (m.rows() > INT32_MAX)
    return invalid_argument(str_cat("a matrix of ", m.rows(), " rows has no order in int32"));
  return {};
}

Status compute_ordering(KernelContext& c) {
  TROUPE_ASSIGN(const auto m, sparse::csr_input(c, 0));
  TROUPE_TRY(check_square(*m));
  const std::int64_t n = m->rows();
  TROUPE_ASSIGN(Tensor out,
                c.allocate_output(0, m->rank() == 2 ? Shape{n} : Shape{m->batches(), n}));
  const auto to = out.mutable_data<std::int32_t>();
  const CsrMatrix::Tensors& t = m->tensors();
  const double cost = 10.0 * static_cast<double>(n + m->entries());
  c.parallel_for(m->batches(), cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t batch = begin; batch < end; ++batch) {
      // Only the structure counts: columns stand for the values.
      const std::int32_t* columns = t.columns.data<std::int32_t>().data() + m->begin(batch);
      const Eigen::Map<const Eigen::SparseMatrix<int, Eigen::RowMajor>> matrix(
          n, n, m->entries(batch), t.row_pointers.data<std::int32_t>().data() + batch * (n + 1),
          columns, columns);
      Permutation order;
      Eigen::AMDOrdering<int>()(matrix.selfadjointView<Eigen::Lower>(), order);
      std::copy_n(order.indices().data(), n, to.begin() + batch * n);
    }
  });
  return {};
}

/// The order for each matrix, checked.
Result<std::span<const std::int32_t>> permutations(const CsrMatrix& m, const Tensor& permutation) {
  const Shape& shape = permutation.shape();
  if (shape.rank() + 1 != m.rank())
    return invalid_argument(str_cat("sparse matrix must have the same rank as permutation; got: ",
                                    m.rank(), " != ", shape.rank(), " + 1."));
  if (shape[m.rank() - 2] != m.rows())
    return invalid_argument(
        str_cat("permutation must have the same number of elements in each batch as the number of "
                "rows in sparse matrix; got: ",
                shape[m.rank() - 2], " != ", m.rows()));
  if (m.rank() == 3 && shape[0] != m.batches())
    return invalid_argument(
        str_cat("permutation must have the same batch size as sparse matrix; got: ", shape[0],
                " != ", m.batches()));
  const auto out = permutation.data<std::int32_t>();
  std::vector<std::int64_t> named_by(static_cast<std::size_t>(m.rows()), -1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t batch = static_cast<std::int64_t>(i) / m.rows();
    if (out[i] < 0 || out[i] >= m.rows() ||
        std::exchange(named_by[static_cast<std::size_t>(out[i])], batch) == batch)
      return invalid_argument(str_cat("permutation must name every row once; element ", i, " is ",
                                      out[i], " and there are ", m.rows(), " rows"));
  }
  return out;
}

template <class W>
struct Factors {
  using Sparse = Eigen::SparseMatrix<W, Eigen::ColMajor>;
  const std::vector<Sparse>& all;
  struct Scratch {};
  Scratch scratch() const { return {}; }
  const Sparse& at(std::int64_t batch) const { return all[static_cast<std::size_t>(batch)]; }
  std::int64_t count(Scratch&, std::int64_t batch, std::int64_t row) const {
    return at(batch).outerIndexPtr()[row + 1] - at(batch).outerIndexPtr()[row];
  }
  template <class T>
  void fill(Scratch&, std::int64_t batch, std::int64_t row, std::span<std::int32_t> columns,
            std::span<T> values) const {
    const std::int64_t begin = at(batch).outerIndexPtr()[row];
    std::copy_n(at(batch).innerIndexPtr() + begin, columns.size(), columns.begin());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<T>(at(batch).valuePtr()[begin + static_cast<std::int64_t>(i)]);
  }
};

template <class T, class W>
Status factorize(KernelContext& c, const CsrMatrix& m, std::span<const std::int32_t> orders) {
  // By columns, as the factor comes: a symmetric matrix is the same by rows, read from above.
  using Sparse = typename Factors<W>::Sparse;
  const std::int64_t n = m.rows();
  std::vector<Sparse> factors(static_cast<std::size_t>(m.batches()));
  const double per_row = static_cast<double>(m.entries()) /
                         static_cast<double>(std::max<std::int64_t>(n * m.batches(), 1));
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> failed = none;
  c.parallel_for(
      m.batches(), 100 + per_row * per_row * static_cast<double>(n),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t batch = begin; batch < end; ++batch) {
          const CsrRows<T> from = m.at<T>(batch);
          std::vector<W> values(from.values.begin(), from.values.end());
          const Eigen::Map<const Sparse> matrix(n, n, static_cast<Eigen::Index>(values.size()),
                                                from.row_pointers.data(), from.columns.data(),
                                                values.data());
          const Permutation order(Eigen::Map<const Eigen::VectorXi>(orders.data() + batch * n, n));
          Sparse permuted;
          permuted.template selfadjointView<Eigen::Upper>() =
              matrix.template selfadjointView<Eigen::Upper>().twistedBy(order.inverse());
          Eigen::SimplicialLLT<Sparse, Eigen::Upper, Eigen::NaturalOrdering<int>> solver(permuted);
          if (solver.info() != Eigen::Success) {
            std::int64_t first = failed;
            while (batch < first && !failed.compare_exchange_weak(first, batch)) {
            }
            return;
          }
          factors[static_cast<std::size_t>(batch)] = solver.matrixU();
        }
      });
  if (failed != none)
    return invalid_argument(str_cat("Sparse Cholesky factorization failed for batch index ",
                                    failed.load(), ". The input might not be valid."));
  Factors<W> source{factors};
  TROUPE_ASSIGN(CsrMatrix::Tensors out,
                sparse::make_by_rows<T>(c, Dims(m.shape().begin(), m.shape().end()),
                                        10 + 4 * per_row, source));
  return sparse::give_csr(c, 0, std::move(out));
}

Status compute_cholesky(KernelContext& c) {
  TROUPE_ASSIGN(const auto m, sparse::csr_input(c, 0));
  TROUPE_ASSIGN(const DType type, c.attr<DType>("type"));
  if (m->dtype() != type)
    return invalid_argument(str_cat("Asked for a CSRSparseMatrix of type ", to_string(type),
                                    " but saw dtype: ", to_string(m->dtype())));
  TROUPE_TRY(check_square(*m));
  TROUPE_ASSIGN(const auto orders, permutations(*m, c.input(1)));
  return dispatch(CsrTypes{}, m->dtype(), [&]<class T>() -> Status {
    using W = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
    return factorize<T, W>(c, *m, orders);
  });
}

Status infer_ordering(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return c.set_output(0, PartialShape());
}

Status infer_cholesky(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.require_rank_at_least(1, 1));
  TROUPE_TRY(c.require_rank_at_most(1, 2));
  return sparse::infer_csr(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SparseMatrixOrderingAMD")
      .input("input: variant")
      .output("output: int32")
      .shape_fn(infer_ordering)
      .not_differentiable("its output are places")
      .cpu_kernel(compute_ordering)
      .doc("For each matrix an order of its rows that keeps the Cholesky factor sparse.");
  KernelOptions options = sparse::csr_options("type");
  options.expensive = true;
  library.op("SparseMatrixSparseCholesky")
      .input("input: variant; permutation: int32")
      .output("output: variant")
      .attr(str_cat("type: ", sparse::csr_dtypes))
      .shape_fn(infer_cholesky)
      .not_differentiable("TensorFlow has no gradient for it")
      .cpu_kernel(compute_cholesky, options)
      .doc("The sparse Cholesky factor of each matrix with its rows in the given order.");
}

} // namespace troupe::sparse_csr_cholesky
