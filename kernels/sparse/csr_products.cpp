// Products of sparse matrices by compressed rows (CSR): with dense ones (SparseMatrixMatMul) and
// with each other (SparseMatrixSparseMatMul).
#include <algorithm>
#include <bit>
#include <complex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/sparse/internal/csr.hpp"
#include "kernels/sparse/internal/row_sums.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_csr_products {
namespace {

using sparse::CsrMatrix;
using sparse::CsrPointer;
using sparse::CsrRows;
using sparse::CsrTypes;
using sparse::Dims;

/// What an op does with its two operands and its output.
struct Flips {
  struct Operand {
    bool transposed = false, conjugated = false;
  };
  Operand a, b, out;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Flips flips;
  for (auto& [name, operand] : {std::pair{"a", &flips.a}, {"b", &flips.b}}) {
    const bool transposed = c.attrs().get_or(str_cat("transpose_", name), false);
    const bool adjoint = c.attrs().get_or(str_cat("adjoint_", name), false);
    if (transposed && adjoint)
      return invalid_argument(
          str_cat("Only one of adjoint_", name, " and transpose_", name, " may be true."));
    *operand = {transposed || adjoint, adjoint};
  }
  flips.out = {c.attrs().get_or("transpose_output", false),
               c.attrs().get_or("conjugate_output", false)};
  return prepared(flips);
}

/// The last two dimensions exchanged, or the elements conjugated, or both.
Result<Tensor> flipped(KernelContext& c, const Tensor& from, Flips::Operand how, Tensor to) {
  const int rank = from.shape().rank();
  const std::int64_t rows = from.shape()[rank - 2], cols = from.shape()[rank - 1];
  const std::int64_t size = rows * cols, matrices = rank == 3 ? from.shape()[0] : 1;
  TROUPE_TRY(dispatch(CsrTypes{}, from.dtype(), [&]<class T>() -> Status {
    const T* x = from.data<T>().data();
    T* y = to.mutable_data<T>().data();
    c.parallel_for(matrices * rows, 2.0 * static_cast<double>(cols),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const std::int64_t m = i / rows, row = i % rows;
                       for (std::int64_t col = 0; col < cols; ++col) {
                         const T one = x[m * size + row * cols + col];
                         y[m * size + (how.transposed ? col * rows + row : row * cols + col)] =
                             how.conjugated ? sparse::conjugated(one) : one;
                       }
                     }
                   });
    return {};
  }));
  return to;
}

Shape with_matrix(const Shape& like, std::int64_t rows, std::int64_t cols) {
  const int rank = like.rank();
  return like.with_dim(rank - 2, rows).with_dim(rank - 1, cols);
}

std::string shape_text(const CsrMatrix& m) {
  return str_cat("[", sparse::listed(m.shape()), "]");
}

double per_row(const CsrMatrix& m) {
  return static_cast<double>(m.entries()) /
         static_cast<double>(std::max<std::int64_t>(m.batches() * m.rows(), 1));
}

template <class T>
Status multiply(KernelContext& c, const CsrMatrix& a, const Tensor& b, Tensor& out) {
  TROUPE_ASSIGN(const auto sum, (sparse::row_sums<T, std::int32_t>()));
  const std::int64_t n = out.shape()[out.shape().rank() - 1], rows = a.rows();
  const T* from = b.data<T>().data();
  T* to = out.mutable_data<T>().data();
  const double cost = 10 + (per_row(a) + 1) * static_cast<double>(n) * sizeof(T) / 16;
  c.parallel_for(a.batches() * rows, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const CsrRows<T> m = a.at<T>(i / rows);
      const auto row = static_cast<std::size_t>(i % rows);
      const auto first = static_cast<std::size_t>(m.row_pointers[row]);
      const auto count = static_cast<std::size_t>(m.row_pointers[row + 1]) - first;
      sum(m.values.data() + first, m.columns.data() + first, static_cast<std::int64_t>(count),
          from + i / rows * a.cols() * n, n, to + i * n);
    }
  });
  return {};
}

Status compute_dense(KernelContext& c) {
  const auto& flips = c.prepared<Flips>();
  TROUPE_ASSIGN(CsrPointer a, sparse::csr_input(c, 0));
  Tensor b = c.input(1);
  if (a->dtype() != b.dtype())
    return invalid_argument(str_cat("Input types don't match.  a.dtype == ", to_string(a->dtype()),
                                    " vs. b.dtype == ", to_string(b.dtype())));
  const int rank = a->rank();
  if (rank != b.shape().rank())
    return invalid_argument(
        str_cat("Ranks of a and b must match, saw: ", rank, " vs. ", b.shape().rank(), "."));
  if (rank == 3 && a->batches() != b.shape()[0])
    return invalid_argument(str_cat("Batch sizes of a and b must match, saw: ", a->batches(),
                                    " vs. ", b.shape()[0], "."));
  const std::int64_t a_inner = flips.a.transposed ? a->rows() : a->cols();
  const std::int64_t b_inner = b.shape()[flips.b.transposed ? rank - 1 : rank - 2];
  if (a_inner != b_inner)
    return invalid_argument(
        str_cat("Inner product dimensions of A and B do not agree. Shapes are: ", shape_text(*a),
                " vs. ", b.shape()));
  if (flips.a.transposed) {
    TROUPE_ASSIGN(a, sparse::transposed_csr(c, *a, flips.a.conjugated));
  }
  const std::int64_t rows = a->rows();
  const std::int64_t cols = b.shape()[flips.b.transposed ? rank - 2 : rank - 1];
  if (flips.b.transposed) {
    TROUPE_ASSIGN(Tensor room, c.allocate_temp(b.dtype(), with_matrix(b.shape(), a_inner, cols)));
    TROUPE_ASSIGN(b, flipped(c, b, flips.b, std::move(room)));
  }
  std::vector<std::int64_t> dims(a->shape().begin(), a->shape().end() - 2);
  dims.insert(dims.end(), {rows, cols});
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  const bool flips_out = flips.out.transposed || flips.out.conjugated;
  TROUPE_ASSIGN(Tensor product,
                flips_out ? c.allocate_temp(b.dtype(), shape) : c.allocate_output(0, shape));
  TROUPE_TRY(dispatch(CsrTypes{}, b.dtype(),
                      [&]<class T>() -> Status { return multiply<T>(c, *a, b, product); }));
  if (!flips_out)
    return {};
  TROUPE_ASSIGN(Tensor out, c.allocate_output(
                                0, flips.out.transposed ? with_matrix(shape, cols, rows) : shape));
  return flipped(c, product, flips.out, std::move(out)).status();
}

/// The columns that a matrix of the batch has, by numbers without gaps: so that what a row is
/// summed up in is not larger than the matrix. A matrix with entries for most of its columns needs
/// no names: its columns are their own numbers, and both lists are empty.
struct Columns {
  std::vector<std::int32_t> names;   ///< ascending
  std::vector<std::int32_t> numbers; ///< of the entries
  std::size_t count = 0;

  Columns(std::span<const std::int32_t> columns, std::int64_t all) {
    count = static_cast<std::size_t>(all);
    if (count <= 2 * columns.size())
      return;
    names.assign(columns.begin(), columns.end());
    std::ranges::sort(names);
    const auto rest = std::ranges::unique(names);
    names.erase(rest.begin(), rest.end());
    numbers.reserve(columns.size());
    for (std::int32_t column : columns)
      numbers.push_back(
          static_cast<std::int32_t>(std::ranges::lower_bound(names, column) - names.begin()));
    count = names.size();
  }
  std::int32_t name(std::size_t number) const {
    return names.empty() ? static_cast<std::int32_t>(number) : names[number];
  }
};

/// What a sum begins with: plus a term it is the term, -0 included.
template <class T>
constexpr T no_sum() {
  if constexpr (std::is_floating_point_v<T>)
    return -T{};
  else
    return T(-typename T::value_type{}, -typename T::value_type{});
}

/// The product of two sparse matrices by rows; sums that are 0 stay entries, as in TensorFlow.
template <class T>
struct Product {
  const CsrMatrix &a, &b;
  std::vector<Columns> columns; ///< of b's matrices
  std::size_t width = 0;        ///< the most of them

  /// Of one row; between two rows no bit is set, and every sum is no_sum.
  struct Scratch {
    std::vector<std::uint64_t> bits; // whether a column has a sum
    std::vector<T> sums;
    std::vector<std::int32_t> touched; // of a row with few terms: those columns
  };
  Scratch scratch() const {
    return {std::vector<std::uint64_t>(width / 64 + 1), std::vector<T>(width, no_sum<T>()), {}};
  }

  /// Calls body(entry of a, entry of b, numbered column) for each term of a row.
  template <class Body>
  void for_each_term(std::int64_t batch, std::int64_t row, Body body) const {
    const CsrRows<T> x = a.at<T>(batch), y = b.at<T>(batch);
    const std::vector<std::int32_t>& numbers = columns[static_cast<std::size_t>(batch)].numbers;
    const std::int32_t* const numbered = numbers.empty() ? y.columns.data() : numbers.data();
    const auto at = static_cast<std::size_t>(row);
    for (auto i = static_cast<std::size_t>(x.row_pointers[at]);
         i < static_cast<std::size_t>(x.row_pointers[at + 1]); ++i) {
      const auto inner = static_cast<std::size_t>(x.columns[i]);
      for (auto j = static_cast<std::size_t>(y.row_pointers[inner]);
           j < static_cast<std::size_t>(y.row_pointers[inner + 1]); ++j)
        body(x.values[i], y.values[j], static_cast<std::size_t>(numbered[j]));
    }
  }

  /// Whether looking at a bit for every column costs less than to list, and sort, those with terms.
  bool has_many_terms(std::int64_t batch, std::int64_t row) const {
    const CsrRows<T> x = a.at<T>(batch), y = b.at<T>(batch);
    const auto at = static_cast<std::size_t>(row);
    std::size_t terms = 0;
    for (auto i = static_cast<std::size_t>(x.row_pointers[at]);
         i < static_cast<std::size_t>(x.row_pointers[at + 1]); ++i) {
      const auto inner = static_cast<std::size_t>(x.columns[i]);
      terms += static_cast<std::size_t>(y.row_pointers[inner + 1] - y.row_pointers[inner]);
    }
    return terms * 64 >= columns[static_cast<std::size_t>(batch)].count;
  }

  /// Sets the bit; whether it was not set before.
  static bool set(Scratch& s, std::size_t column) {
    std::uint64_t& word = s.bits[column / 64];
    const std::uint64_t bit = std::uint64_t{1} << (column % 64);
    return (std::exchange(word, word | bit) & bit) == 0;
  }

  std::int64_t count(Scratch& s, std::int64_t batch, std::int64_t row) const {
    std::int64_t out = 0;
    if (has_many_terms(batch, row)) { // no branch on a bit, for half of them would be mispredicted
      for_each_term(batch, row, [&](T, T, std::size_t column) { set(s, column); });
      for (std::uint64_t& word : s.bits)
        out += std::popcount(std::exchange(word, 0));
      return out;
    }
    s.touched.clear();
    for_each_term(batch, row, [&](T, T, std::size_t column) {
      if (set(s, column))
        s.touched.push_back(static_cast<std::int32_t>(column));
    });
    for (std::int32_t column : s.touched)
      s.bits[static_cast<std::size_t>(column) / 64] = 0;
    return static_cast<std::int64_t>(s.touched.size());
  }

  void fill(Scratch& s, std::int64_t batch, std::int64_t row, std::span<std::int32_t> to_columns,
            std::span<T> to_values) const {
    const Columns& names = columns[static_cast<std::size_t>(batch)];
    std::size_t to = 0;
    const auto give = [&](std::size_t column) {
      to_columns[to] = names.name(column);
      to_values[to++] = std::exchange(s.sums[column], no_sum<T>());
    };
    if (has_many_terms(batch, row)) {
      for_each_term(batch, row, [&](T x, T y, std::size_t column) {
        set(s, column);
        s.sums[column] += x * y;
      });
      for (std::size_t i = 0; i < s.bits.size(); ++i)
        for (std::uint64_t word = std::exchange(s.bits[i], 0); word != 0; word &= word - 1)
          give(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      return;
    }
    s.touched.clear();
    for_each_term(batch, row, [&](T x, T y, std::size_t column) {
      if (set(s, column))
        s.touched.push_back(static_cast<std::int32_t>(column));
      s.sums[column] += x * y;
    });
    std::ranges::sort(s.touched);
    for (std::int32_t column : s.touched) {
      s.bits[static_cast<std::size_t>(column) / 64] = 0;
      give(static_cast<std::size_t>(column));
    }
  }
};

template <class T>
Product<T> product_of(const CsrMatrix& a, const CsrMatrix& b) {
  Product<T> out{a, b, {}, 0};
  for (std::int64_t batch = 0; batch < b.batches(); ++batch) {
    out.columns.emplace_back(b.at<T>(batch).columns, b.cols());
    out.width = std::max(out.width, out.columns.back().count);
  }
  return out;
}

Status compute_sparse(KernelContext& c) {
  const auto& flips = c.prepared<Flips>();
  TROUPE_ASSIGN(CsrPointer a, sparse::typed_csr_input(c, 0, "type"));
  TROUPE_ASSIGN(CsrPointer b, sparse::typed_csr_input(c, 1, "type"));
  if (a->rank() != b->rank())
    return invalid_argument(
        str_cat("Ranks of a and b must match, saw: ", a->rank(), " vs. ", b->rank(), "."));
  if (a->batches() != b->batches())
    return invalid_argument(str_cat("Batch sizes of A and B do not agree.  Batch sizes are: ",
                                    a->batches(), " vs. ", b->batches()));
  for (auto& [m, how] : {std::pair{&a, flips.a}, {&b, flips.b}})
    if (how.transposed) {
      TROUPE_ASSIGN(*m, sparse::transposed_csr(c, **m, how.conjugated));
    }
  if (a->cols() != b->rows())
    return invalid_argument(
        str_cat("Inner product dimensions of A and B do not agree. Shapes are: ", shape_text(*a),
                " vs. ", shape_text(*b)));
  Dims dims(a->shape().begin(), a->shape().end());
  dims.back() = b->cols();
  return dispatch(CsrTypes{}, a->dtype(), [&]<class T>() -> Status {
    auto product = product_of<T>(*a, *b);
    const double cost = 20 + 5 * per_row(*a) * per_row(*b);
    TROUPE_ASSIGN(CsrMatrix::Tensors out, sparse::make_by_rows<T>(c, dims, cost, product));
    return sparse::give_csr(c, 0, std::move(out));
  });
}

Status infer_dense(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.require_rank_at_least(1, 2));
  TROUPE_TRY(c.require_rank_at_most(1, 3));
  const PartialShape& b = c.input(1);
  if (!b.has_rank())
    return c.set_output(0, PartialShape());
  const bool transposed =
      c.attrs().get_or("transpose_b", false) || c.attrs().get_or("adjoint_b", false);
  std::vector<std::int64_t> dims = b.dims();
  std::int64_t rows = -1, cols = b.dim(b.rank() - (transposed ? 2 : 1));
  if (c.attrs().get_or("transpose_output", false))
    std::swap(rows, cols);
  dims[dims.size() - 2] = rows;
  dims[dims.size() - 1] = cols;
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_sparse(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.require_rank(1, 0));
  return sparse::infer_csr(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto flips = "transpose_a: bool = false; transpose_b: bool = false; "
                         "adjoint_a: bool = false; adjoint_b: bool = false";
  KernelOptions of_t = sparse::csr_options("T"), of_type = sparse::csr_options("type");
  of_t.prepare = of_type.prepare = prepare;
  library.op("SparseMatrixMatMul")
      .input("a: variant; b: T")
      .output("output: T")
      .attr("T: type")
      .attr(flips)
      .attr("transpose_output: bool = false; conjugate_output: bool = false")
      .shape_fn(infer_dense)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_dense, of_t)
      .doc("The dense product of a sparse matrix with a dense one, or of batches of them.");
  library.op("SparseMatrixSparseMatMul")
      .input("a: variant; b: variant")
      .output("c: variant")
      .attr(str_cat("type: ", sparse::csr_dtypes))
      .attr(flips)
      .shape_fn(infer_sparse)
      .not_differentiable(sparse::csr_gradient)
      .cpu_kernel(compute_sparse, of_type)
      .doc("The sparse product of two sparse matrices, or of batches of them.");
}

} // namespace troupe::sparse_csr_products
