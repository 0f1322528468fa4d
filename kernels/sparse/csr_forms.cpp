// Sparse matrices by compressed rows (CSR) from dense and sparse tensors, and back; their parts.
#include <algorithm>

#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/sparse/internal/csr.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_csr_forms {
namespace {

using sparse::CsrMatrix;
using sparse::CsrTypes;
using sparse::Dims;

std::string listed_with_spaces(std::span<const std::int64_t> index) {
  return str_join(std::vector<std::int64_t>(index.begin(), index.end()), ", ");
}

/// Pointers and columns of entries [entries, rank], which come in order of their rows; the values
/// are still to be set. `outside(i, index)` is the refusal of an entry that the dims do not have.
template <class Outside>
Result<CsrMatrix::Tensors> from_entries(KernelContext& c, const Dims& dims, DType dtype,
                                        std::span<const std::int64_t> indices, std::int64_t entries,
                                        Outside outside) {
  TROUPE_ASSIGN(CsrMatrix::Tensors out, sparse::allocate_csr(c, dims, dtype, entries));
  const auto rank = dims.size();
  const std::int64_t rows = dims[rank - 2], batches = rank == 3 ? dims[0] : 1;
  const auto begins = out.batch_pointers.mutable_data<std::int32_t>();
  const auto pointers = out.row_pointers.mutable_data<std::int32_t>();
  const auto columns = out.columns.mutable_data<std::int32_t>();
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < entries; ++i) {
    const auto index = indices.subspan(static_cast<std::size_t>(i) * rank, rank);
    for (std::size_t d = 0; d < rank; ++d)
      if (index[d] < 0 || index[d] >= dims[d])
        return invalid_argument(outside(i, listed_with_spaces(index)));
    if (index[rank - 1] > INT32_MAX)
      return invalid_argument(
          str_cat("indices[", i, "] = [", sparse::listed(index),
                  "] has a column above 2147483647, the last that a sparse matrix has"));
    const std::int64_t batch = rank == 3 ? index[0] : 0;
    const std::int64_t row = batch * (rows + 1) + index[rank - 2];
    if (row < last)
      return invalid_argument(
          str_cat("indices[", i, "] = [", sparse::listed(index),
                  "] is out of order: a sparse matrix takes entries in order of their rows. Use "
                  "`tf.sparse.reorder` first"));
    last = row;
    ++pointers[static_cast<std::size_t>(row) + 1];
    ++begins[static_cast<std::size_t>(batch) + 1];
    columns[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(index[rank - 1]);
  }
  for (std::int64_t b = 0; b < batches; ++b) {
    begins[static_cast<std::size_t>(b) + 1] += begins[static_cast<std::size_t>(b)];
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(b * (rows + 1) + row);
      pointers[at + 1] += pointers[at];
    }
  }
  return out;
}

Status compute_from_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const sparse::Sparse from, sparse::sparse_input(c, 0));
  TROUPE_ASSIGN(const Dims dims, sparse::csr_dims(c.input(2)));
  const auto outside = [](std::int64_t i, const std::string& index) {
    return str_cat("Sparse index tuple indices[", i, ", :] = [", index, "] is out of bounds");
  };
  TROUPE_ASSIGN(CsrMatrix::Tensors out,
                from_entries(c, dims, c.input(1).dtype(), from.indices, from.entries, outside));
  out.values = c.input(1);
  return sparse::give_csr(c, 0, std::move(out));
}

Status compute_from_dense(KernelContext& c) {
  const Tensor &dense = c.input(0), &indices = c.input(1);
  const int rank = dense.shape().rank();
  if (rank != 2 && rank != 3)
    return invalid_argument(
        str_cat("params must have rank == 2 or 3; but saw shape: ", dense.shape()));
  if (indices.shape().rank() != 2)
    return invalid_argument(str_cat("indices must be a matrix, but saw shape: ", indices.shape()));
  if (indices.shape()[1] != rank)
    return invalid_argument(str_cat(
        "indices.shape[1] must be equal to the rank of params, but saw: ", indices.shape()[1],
        " vs. ", rank));
  const Dims dims(dense.shape().dims().begin(), dense.shape().dims().end());
  const auto places = indices.data<std::int64_t>();
  const std::int64_t entries = indices.shape()[0];
  const auto outside = [&](std::int64_t i, const std::string& index) {
    return str_cat("indices[", i, "] = [", index, "] does not index into param shape ",
                   dense.shape(), ", node name: ", c.node_name());
  };
  TROUPE_ASSIGN(CsrMatrix::Tensors out,
                from_entries(c, dims, dense.dtype(), places, entries, outside));
  TROUPE_TRY(dispatch(CsrTypes{}, dense.dtype(), [&]<class T>() -> Status {
    const auto from = dense.data<T>();
    const auto to = out.values.mutable_data<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < dims.size(); ++d)
        at = at * dims[d] + places[i * dims.size() + d];
      to[i] = from[static_cast<std::size_t>(at)];
    }
    return {};
  }));
  return sparse::give_csr(c, 0, std::move(out));
}

/// Calls body(batch, row, entry) for every entry, in order.
template <class Body>
void for_each_entry(const CsrMatrix& m, Body body) {
  const auto pointers = m.tensors().row_pointers.data<std::int32_t>();
  for (std::int64_t batch = 0; batch < m.batches(); ++batch)
    for (std::int64_t row = 0; row < m.rows(); ++row) {
      const auto at = static_cast<std::size_t>(batch * (m.rows() + 1) + row);
      for (std::int64_t i = pointers[at]; i < pointers[at + 1]; ++i)
        body(batch, row, static_cast<std::size_t>(m.begin(batch) + i));
    }
}

Status check_type(KernelContext& c, const CsrMatrix& m) {
  if (m.dtype() == c.output_type(0))
    return {};
  return invalid_argument(str_cat("Asked for a CSRSparseMatrix of type ",
                                  to_string(c.output_type(0)),
                                  " but saw dtype: ", to_string(m.dtype())));
}

Status compute_to_dense(KernelContext& c) {
  TROUPE_ASSIGN(const auto m, sparse::csr_input(c, 0));
  TROUPE_TRY(check_type(c, *m));
  TROUPE_ASSIGN(const Shape shape, Shape::make(m->shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  return dispatch(CsrTypes{}, m->dtype(), [&]<class T>() -> Status {
    const auto to = out.mutable_data<T>();
    std::ranges::fill(to, T{});
    const auto columns = m->tensors().columns.data<std::int32_t>();
    const auto values = m->tensors().values.data<T>();
    for_each_entry(*m, [&](std::int64_t batch, std::int64_t row, std::size_t i) {
      to[static_cast<std::size_t>((batch * m->rows() + row) * m->cols() + columns[i])] = values[i];
    });
    return {};
  });
}

Status compute_to_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const auto m, sparse::csr_input(c, 0));
  if (m->dtype() != c.output_type(1))
    return invalid_argument(str_cat("Expected a CSRSparseMatrix of type ",
                                    to_string(c.output_type(1)),
                                    " but saw type: ", to_string(m->dtype())));
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, Shape{m->entries(), m->rank()}));
  auto to = indices.mutable_data<std::int64_t>().begin();
  const auto columns = m->tensors().columns.data<std::int32_t>();
  for_each_entry(*m, [&](std::int64_t batch, std::int64_t row, std::size_t i) {
    if (m->rank() == 3)
      *to++ = batch;
    *to++ = row;
    *to++ = columns[i];
  });
  TROUPE_TRY(c.set_output(1, m->tensors().values));
  return c.set_output(2, m->tensors().shape);
}

Status compute_components(KernelContext& c) {
  TROUPE_ASSIGN(const auto m, sparse::csr_input(c, 0));
  if (m->dtype() != c.output_type(2))
    return invalid_argument(str_cat("dtype of input is not equal to 'type': ",
                                    to_string(m->dtype()), " vs. ", to_string(c.output_type(2))));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat("index should be a scalar, but saw: ", c.input(1).to_string()));
  const std::int64_t index = c.input(1).value<std::int32_t>();
  if (index < 0 || index >= m->batches())
    return invalid_argument(str_cat("index (", index, ") not in [0, ", m->batches(), ")"));
  return dispatch(CsrTypes{}, m->dtype(), [&]<class T>() -> Status {
    const sparse::CsrRows<T> one = m->at<T>(index);
    const auto entries = static_cast<std::int64_t>(one.values.size());
    TROUPE_ASSIGN(Tensor pointers, c.allocate_output(0, Shape{m->rows() + 1}));
    std::ranges::copy(one.row_pointers, pointers.mutable_data<std::int32_t>().begin());
    TROUPE_ASSIGN(Tensor columns, c.allocate_output(1, Shape{entries}));
    std::ranges::copy(one.columns, columns.mutable_data<std::int32_t>().begin());
    TROUPE_ASSIGN(Tensor values, c.allocate_output(2, Shape{entries}));
    std::ranges::copy(one.values, values.mutable_data<T>().begin());
    return {};
  });
}

Status compute_nnz(KernelContext& c) {
  TROUPE_ASSIGN(const auto m, sparse::csr_input(c, 0));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, m->rank() == 3 ? Shape{m->batches()} : Shape{}));
  const auto to = out.mutable_data<std::int32_t>();
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<std::int32_t>(m->entries(static_cast<std::int64_t>(i)));
  return {};
}

Status compute_zeros(KernelContext& c) {
  TROUPE_ASSIGN(const Dims dims, sparse::csr_dims(c.input(0)));
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("type"));
  TROUPE_ASSIGN(CsrMatrix::Tensors out, sparse::allocate_csr(c, dims, dtype, 0));
  return sparse::give_csr(c, 0, std::move(out));
}

Status infer_from_dense(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(c.require_rank_at_most(0, 3));
  TROUPE_TRY(c.require_rank(1, 2));
  return sparse::infer_csr(c);
}

Status infer_to_sparse(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.set_output(0, {-1, -1}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.set_output(2, {-1});
}

Status infer_components(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.require_rank(1, 0));
  for (int i : {0, 1, 2})
    TROUPE_TRY(c.set_output(i, {-1}));
  return {};
}

Status infer_unknown(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return c.set_output(0, PartialShape());
}

} // namespace

void register_ops(OpLibrary& library) {
  const KernelOptions of_t = sparse::csr_options("T"), of_type = sparse::csr_options("type");
  const std::string t = str_cat("T: ", sparse::csr_dtypes),
                    type = str_cat("type: ", sparse::csr_dtypes);
  library.op("SparseTensorToCSRSparseMatrix")
      .input("indices: int64; values: T; dense_shape: int64")
      .output("sparse_matrix: variant")
      .attr(t)
      .shape_fn(sparse::infer_csr)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_from_sparse, of_t)
      .doc("The sparse matrix, or batch of them, of a sparse tensor of rank 2 or 3.");
  library.op("DenseToCSRSparseMatrix")
      .input("dense_input: T; indices: int64")
      .output("sparse_output: variant")
      .attr(t)
      .shape_fn(infer_from_dense)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_from_dense, of_t)
      .doc("The sparse matrix of a dense one's elements at `indices`.");
  library.op("CSRSparseMatrixToDense")
      .input("sparse_input: variant")
      .output("dense_output: type")
      .attr(type)
      .shape_fn(infer_unknown)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_to_dense, of_type)
      .doc("The dense matrix, or batch of them; 0 where there is no entry.");
  library.op("CSRSparseMatrixToSparseTensor")
      .input("sparse_matrix: variant")
      .output("indices: int64; values: type; dense_shape: int64")
      .attr(type)
      .shape_fn(infer_to_sparse)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_to_sparse, of_type)
      .doc("A sparse tensor of the matrix's entries.");
  library.op("CSRSparseMatrixComponents")
      .input("csr_sparse_matrix: variant; index: int32")
      .output("row_ptrs: int32; col_inds: int32; values: type")
      .attr(type)
      .shape_fn(infer_components)
      .not_differentiable("it takes a matrix apart")
      .cpu_kernel(compute_components, of_type)
      .doc("Row pointers, columns and values of one matrix of a batch.");
  library.op("SparseMatrixNNZ")
      .input("sparse_matrix: variant")
      .output("nnz: int32")
      .shape_fn(infer_unknown)
      .not_differentiable("it counts")
      .cpu_kernel(compute_nnz)
      .doc("How many entries each matrix of a batch has.");
  library.op("SparseMatrixZeros")
      .input("dense_shape: int64")
      .output("sparse_matrix: variant")
      .attr(type)
      .shape_fn(sparse::infer_csr)
      .not_differentiable("it has no differentiable input")
      .cpu_kernel(compute_zeros, of_type)
      .doc("Sparse matrices without entries.");
}

} // namespace troupe::sparse_csr_forms
