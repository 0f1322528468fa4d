// Sparse matrices by compressed rows (CSR): sums, scaling, transposes, and softmax among the
// entries of each row. TensorFlow has all but the transpose on GPUs only.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/framework/op_library.hpp"
#include "kernels/sparse/internal/csr.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_csr_values {
namespace {

using sparse::CsrMatrix;
using sparse::CsrRows;
using sparse::CsrTypes;
using sparse::Dims;

double entries_of_row(const CsrMatrix& m) {
  return static_cast<double>(m.entries()) /
         static_cast<double>(std::max<std::int64_t>(m.batches() * m.rows(), 1));
}

/// Walks two rows with ascending columns at once: body(column, i, j), -1 for the one without an
/// entry.
template <class T, class Body>
void merge_rows(const CsrRows<T>& a, const CsrRows<T>& b, std::int64_t row, Body body) {
  const auto at = static_cast<std::size_t>(row);
  std::int64_t i = a.row_pointers[at], j = b.row_pointers[at];
  const std::int64_t a_end = a.row_pointers[at + 1], b_end = b.row_pointers[at + 1];
  while (i < a_end || j < b_end) {
    const std::int64_t a_column = i < a_end ? a.columns[static_cast<std::size_t>(i)] : INT64_MAX;
    const std::int64_t b_column = j < b_end ? b.columns[static_cast<std::size_t>(j)] : INT64_MAX;
    body(std::min(a_column, b_column), a_column <= b_column ? i : -1,
         b_column <= a_column ? j : -1);
    i += a_column <= b_column ? 1 : 0;
    j += b_column <= a_column ? 1 : 0;
  }
}

/// alpha * a + beta * b; entries where one of the two has one.
template <class T>
struct Sum {
  const CsrMatrix &a, &b;
  T alpha, beta;
  struct Scratch {};
  Scratch scratch() const { return {}; }
  std::int64_t count(Scratch&, std::int64_t batch, std::int64_t row) const {
    std::int64_t out = 0;
    merge_rows(a.at<T>(batch), b.at<T>(batch), row, [&](auto, auto, auto) { ++out; });
    return out;
  }
  void fill(Scratch&, std::int64_t batch, std::int64_t row, std::span<std::int32_t> columns,
            std::span<T> values) const {
    const CsrRows<T> x = a.at<T>(batch), y = b.at<T>(batch);
    std::size_t at = 0;
    merge_rows(x, y, row, [&](std::int64_t column, std::int64_t i, std::int64_t j) {
      T sum{};
      if (i >= 0)
        sum += alpha * x.values[static_cast<std::size_t>(i)];
      if (j >= 0)
        sum += beta * y.values[static_cast<std::size_t>(j)];
      columns[at] = static_cast<std::int32_t>(column);
      values[at++] = sum;
    });
  }
};

Status compute_add(KernelContext& c) {
  TROUPE_ASSIGN(const auto a, sparse::typed_csr_input(c, 0, "T"));
  TROUPE_ASSIGN(const auto b, sparse::typed_csr_input(c, 1, "T"));
  for (int i : {2, 3})
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(str_cat("Expected ", i == 2 ? "alpha" : "beta",
                                      " to be a scalar, saw shape: ", c.input(i).shape()));
  if (!std::ranges::equal(a->shape(), b->shape()))
    return invalid_argument(str_cat("Incompatible shapes of a and b, a.shape == [",
                                    sparse::listed(a->shape()), "], b.shape == [",
                                    sparse::listed(b->shape()), "]"));
  return dispatch(CsrTypes{}, a->dtype(), [&]<class T>() -> Status {
    Sum<T> sum{*a, *b, c.input(2).value<T>(), c.input(3).value<T>()};
    const double cost = 20 + 4 * (entries_of_row(*a) + entries_of_row(*b));
    TROUPE_ASSIGN(
        CsrMatrix::Tensors out,
        sparse::make_by_rows<T>(c, Dims(a->shape().begin(), a->shape().end()), cost, sum));
    return sparse::give_csr(c, 0, std::move(out));
  });
}

Status compute_mul(KernelContext& c) {
  TROUPE_ASSIGN(const auto a, sparse::csr_input(c, 0));
  const Tensor& b = c.input(1);
  if (a->dtype() != b.dtype())
    return invalid_argument(str_cat("Input types don't match.  a.dtype == ", to_string(a->dtype()),
                                    " vs. b.dtype == ", to_string(b.dtype())));
  const bool by_matrix = b.shape().rank() == 3;
  if (by_matrix && (a->rank() != 3 || b.shape() != Shape{a->batches(), 1, 1}))
    return invalid_argument(
        str_cat("If b is a rank-3 tensor, then a must be a rank 3 and the size of b be "
                "[batch_size, 1, 1].  But the shape of b is: ",
                b.shape(), " and the shape of a is: [", sparse::listed(a->shape()), "]"));
  if (!by_matrix && !b.shape().is_scalar())
    return unimplemented(
        str_cat("Multiplying by a 2D+ dense tensor is not currently supported, but shape of b is: ",
                b.shape()));
  CsrMatrix::Tensors out = a->tensors();
  TROUPE_ASSIGN(out.values, c.allocate_temp(a->dtype(), out.columns.shape()));
  TROUPE_TRY(dispatch(CsrTypes{}, a->dtype(), [&]<class T>() -> Status {
    const auto to = out.values.mutable_data<T>();
    const auto from = a->tensors().values.data<T>();
    for (std::int64_t batch = 0; batch < a->batches(); ++batch) {
      const T factor = b.data<T>()[by_matrix ? static_cast<std::size_t>(batch) : 0];
      for (auto i = static_cast<std::size_t>(a->begin(batch));
           i < static_cast<std::size_t>(a->begin(batch + 1)); ++i)
        to[i] = from[i] * factor;
    }
    return {};
  }));
  return sparse::give_csr(c, 0, std::move(out));
}

Status compute_transpose(KernelContext& c) {
  TROUPE_ASSIGN(const auto from, sparse::typed_csr_input(c, 0, "type"));
  TROUPE_ASSIGN(const auto out,
                sparse::transposed_csr(c, *from, c.attrs().get_or("conjugate", false)));
  return sparse::give_csr(c, 0, out->tensors());
}

Status compute_conj(KernelContext& c) {
  TROUPE_ASSIGN(const auto from, sparse::csr_input(c, 0));
  CsrMatrix::Tensors out = from->tensors();
  if (!is_complex(from->dtype()))
    return sparse::give_csr(c, 0, std::move(out));
  TROUPE_ASSIGN(out.values, c.allocate_temp(from->dtype(), out.columns.shape()));
  TROUPE_TRY(dispatch(CsrTypes{}, from->dtype(), [&]<class T>() -> Status {
    std::ranges::transform(from->tensors().values.data<T>(), out.values.mutable_data<T>().begin(),
                           [](T x) { return sparse::conjugated(x); });
    return {};
  }));
  return sparse::give_csr(c, 0, std::move(out));
}

/// Runs body(batch, row) for all rows.
template <class Body>
void for_each_row(KernelContext& c, const CsrMatrix& m, double cost, Body body) {
  c.parallel_for(m.batches() * m.rows(), cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      body(i / m.rows(), i % m.rows());
  });
}

Status compute_softmax(KernelContext& c) {
  TROUPE_ASSIGN(const auto from, sparse::typed_csr_input(c, 0, "type"));
  CsrMatrix::Tensors out = from->tensors();
  TROUPE_ASSIGN(out.values, c.allocate_temp(from->dtype(), out.columns.shape()));
  TROUPE_TRY(dispatch(Floats{}, from->dtype(), [&]<class T>() -> Status {
    const auto all = out.values.mutable_data<T>();
    for_each_row(
        c, *from, 20 + 10 * entries_of_row(*from), [&](std::int64_t batch, std::int64_t row) {
          const CsrRows<T> m = from->at<T>(batch);
          const auto at = static_cast<std::size_t>(row);
          const auto begin = static_cast<std::size_t>(m.row_pointers[at]);
          const auto x =
              m.values.subspan(begin, static_cast<std::size_t>(m.row_pointers[at + 1]) - begin);
          if (x.empty())
            return;
          const auto y =
              all.subspan(static_cast<std::size_t>(from->begin(batch)) + begin, x.size());
          const T largest = *std::ranges::max_element(x);
          T sum = 0;
          for (std::size_t i = 0; i < x.size(); ++i)
            sum += y[i] = std::exp(x[i] - largest);
          for (T& one : y)
            one /= sum;
        });
    return {};
  }));
  return sparse::give_csr(c, 0, std::move(out));
}

/// softmax * (grad - sum of grad * softmax in the row); where the gradient has no entry it is 0.
Status compute_softmax_grad(KernelContext& c) {
  TROUPE_ASSIGN(const auto softmax, sparse::typed_csr_input(c, 0, "type"));
  TROUPE_ASSIGN(const auto grad, sparse::typed_csr_input(c, 1, "type"));
  if (softmax->rank() != grad->rank())
    return invalid_argument(str_cat("Ranks of softmax and grad_softmax matrices differ: ",
                                    softmax->rank(), " vs. ", grad->rank()));
  if (!std::ranges::equal(softmax->shape(), grad->shape()))
    return invalid_argument(str_cat("Shapes of softmax and grad_softmax matrices differ: [",
                                    sparse::listed(softmax->shape()), "] vs. [",
                                    sparse::listed(grad->shape()), "]"));
  CsrMatrix::Tensors out = softmax->tensors();
  TROUPE_ASSIGN(out.values, c.allocate_temp(softmax->dtype(), out.columns.shape()));
  TROUPE_TRY(dispatch(Floats{}, softmax->dtype(), [&]<class T>() -> Status {
    const auto all = out.values.mutable_data<T>();
    for_each_row(c, *softmax, 20 + 10 * entries_of_row(*softmax),
                 [&](std::int64_t batch, std::int64_t row) {
                   const CsrRows<T> y = softmax->at<T>(batch), g = grad->at<T>(batch);
                   const auto to = all.subspan(static_cast<std::size_t>(softmax->begin(batch)));
                   T sum = 0;
                   merge_rows(y, g, row, [&](auto, std::int64_t i, std::int64_t j) {
                     if (i < 0)
                       return;
                     const auto at = static_cast<std::size_t>(i);
                     to[at] = j < 0 ? T{} : g.values[static_cast<std::size_t>(j)];
                     sum += to[at] * y.values[at];
                   });
                   const auto at = static_cast<std::size_t>(row);
                   for (auto i = static_cast<std::size_t>(y.row_pointers[at]);
                        i < static_cast<std::size_t>(y.row_pointers[at + 1]); ++i)
                     to[i] = (to[i] - sum) * y.values[i];
                 });
    return {};
  }));
  return sparse::give_csr(c, 0, std::move(out));
}

} // namespace

void register_ops(OpLibrary& library) {
  const std::string type = str_cat("type: ", sparse::csr_dtypes);
  library.op("SparseMatrixAdd")
      .input("a: variant; b: variant; alpha: T; beta: T")
      .output("c: variant")
      .attr(str_cat("T: ", sparse::csr_dtypes))
      .shape_fn(sparse::infer_csr)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_add, sparse::csr_options("T"))
      .doc("alpha * a + beta * b of sparse matrices with ascending columns.");
  library.op("SparseMatrixMul")
      .input("a: variant; b: T")
      .output("output: variant")
      .attr("T: type")
      .shape_fn(sparse::infer_csr)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_mul, sparse::csr_options("T"))
      .doc("Sparse matrices times a scalar, or each times one of its own.");
  library.op("SparseMatrixTranspose")
      .input("input: variant")
      .output("output: variant")
      .attr(str_cat("conjugate: bool = false; ", type))
      .shape_fn(sparse::infer_csr)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_transpose, sparse::csr_options("type"))
      .doc("The transpose of each matrix, conjugated if asked.");
  // The op itself is in math/.
  library.kernels.add({.op = "Conj",
                       .device_type = "CPU",
                       .compute = compute_conj,
                       .options = {.types = {{"T", {DType::variant}}}}});
  KernelOptions real;
  real.types = {{"type", {DType::float32, DType::float64}}};
  library.op("SparseMatrixSoftmax")
      .input("logits: variant")
      .output("softmax: variant")
      .attr("type: {float, double}")
      .shape_fn(sparse::infer_csr)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_softmax, real)
      .doc("Probabilities among the entries of each row.");
  library.op("SparseMatrixSoftmaxGrad")
      .input("softmax: variant; grad_softmax: variant")
      .output("gradient: variant")
      .attr("type: {float, double}")
      .shape_fn(sparse::infer_csr)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_softmax_grad, real)
      .doc("The gradient of SparseMatrixSoftmax.");
}

} // namespace troupe::sparse_csr_values
