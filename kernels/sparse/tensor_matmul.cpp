// SparseTensorDenseMatMul: each row of the product is a sum of rows of the dense matrix.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/sparse/internal/csr.hpp"
#include "kernels/sparse/internal/row_sums.hpp"

namespace troupe::sparse_tensor_matmul {
namespace {

using Computed = Types<float, double, std::int32_t, std::complex<double>>;

/// The product is [m, n], and sums go over k.
struct Sizes {
  bool adjoint_a = false, adjoint_b = false;
  std::int64_t m = 0, k = 0, n = 0;
};

Result<Sizes> sizes(KernelContext& c) {
  const Shape &indices = c.input(0).shape(), &values = c.input(1).shape();
  const Shape &shape = c.input(2).shape(), &b = c.input(3).shape();
  if (b.rank() != 2)
    return invalid_argument("Tensor 'b' is not a matrix");
  if (shape.rank() != 1)
    return invalid_argument("Tensor 'a_shape' is not a vector");
  if (shape[0] != 2)
    return invalid_argument("Tensor 'a_shape' must have 2 elements");
  if (values.rank() != 1)
    return invalid_argument("Tensor 'a_values' is not a vector");
  if (indices.rank() != 2)
    return invalid_argument("Tensor 'a_indices' is not a matrix");
  if (indices[0] != values[0])
    return invalid_argument(
        "Number of rows of a_indices does not match number of entries in a_values");
  if (indices[1] != 2)
    return invalid_argument("Number of columns of a_indices does not match number of entries in "
                            "a_shape");
  Sizes out;
  out.adjoint_a = c.attrs().get_or("adjoint_a", false);
  out.adjoint_b = c.attrs().get_or("adjoint_b", false);
  const auto dims = c.input(2).data<std::int64_t>();
  out.m = dims[out.adjoint_a ? 1 : 0];
  out.k = dims[out.adjoint_a ? 0 : 1];
  out.n = b[out.adjoint_b ? 0 : 1];
  const std::int64_t inner = b[out.adjoint_b ? 1 : 0];
  if (out.k != inner)
    return invalid_argument(
        str_cat("Cannot multiply A and B because inner dimension does not match: ", out.k, " vs. ",
                inner, ".  Did you forget a transpose?  Dimensions of A: [", out.m, ", ", out.k,
                ").  Dimensions of B: ", b));
  return out;
}

/// The entries by rows of the product, those of a row as they came. Index: numbers of rows of b.
template <class T, class Index>
struct Rows {
  Tensor ends, columns, values;
  std::int64_t begin(std::int64_t row) const {
    return row == 0 ? 0 : ends.data<std::int64_t>()[static_cast<std::size_t>(row - 1)];
  }
  std::int64_t count(std::int64_t row) const {
    return ends.data<std::int64_t>()[static_cast<std::size_t>(row)] - begin(row);
  }
};

template <class T, class Index>
Result<Rows<T, Index>> by_rows(KernelContext& c, const Sizes& s, const Tensor& values) {
  TROUPE_ASSIGN(const Integers indices, integers(c.input(0)));
  const std::int64_t entries = values.num_elements();
  Rows<T, Index> out;
  TROUPE_ASSIGN(out.ends, c.allocate_temp(DType::int64, Shape{s.m}));
  TROUPE_ASSIGN(out.columns, c.allocate_temp(dtype_of<Index>, Shape{entries}));
  const auto ends = out.ends.template mutable_data<std::int64_t>();
  const auto columns = out.columns.template mutable_data<Index>();
  const std::size_t row_at = s.adjoint_a ? 1 : 0, inner_at = 1 - row_at;
  std::ranges::fill(ends, 0);
  bool is_sorted = true;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < entries; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t row = indices[2 * at + row_at], inner = indices[2 * at + inner_at];
    if (inner < 0 || inner >= s.k)
      return invalid_argument(str_cat("k (", inner, ") from index[", i, ",", inner_at,
                                      "] out of bounds (>=", s.k, ")"));
    if (row < 0 || row >= s.m)
      return invalid_argument(
          str_cat("m (", row, ") from index[", i, ",", row_at, "] out of bounds (>=", s.m, ")"));
    ++ends[static_cast<std::size_t>(row)];
    is_sorted = is_sorted && row >= last;
    last = row;
    columns[at] = static_cast<Index>(inner);
  }
  constexpr bool is_complex = !std::is_arithmetic_v<T>;
  if (is_sorted && !(is_complex && s.adjoint_a)) {
    std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
    out.values = values;
    return out;
  }
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::int64_t{0});
  TROUPE_ASSIGN(out.values, c.allocate_temp(values.dtype(), Shape{entries}));
  const auto from = values.data<T>(), to = out.values.template mutable_data<T>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto place =
        static_cast<std::size_t>(ends[static_cast<std::size_t>(indices[2 * i + row_at])]++);
    columns[place] = static_cast<Index>(indices[2 * i + inner_at]);
    to[place] = s.adjoint_a ? sparse::conjugated(from[i]) : from[i];
  }
  return out;
}

/// Row after row of b as the product wants it, which is the column of a matrix that is to be
/// adjoint: all of them, or if the entries are fewer theirs, whose columns then count themselves.
template <class T, class Index>
Result<Tensor> adjoint_rows(KernelContext& c, const Sizes& s, const Tensor& b,
                            Rows<T, Index>& rows) {
  const std::int64_t entries = rows.values.num_elements();
  const bool is_few = entries < s.k;
  const std::int64_t count = is_few ? entries : s.k;
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(b.dtype(), Shape{count, s.n}));
  const T* from = b.data<T>().data();
  T* to = out.mutable_data<T>().data();
  Index* columns = rows.columns.template mutable_data<Index>().data();
  constexpr std::int64_t block = 16; // of rows that share what is read from memory at once
  c.parallel_for((count + block - 1) / block, static_cast<double>(2 * block * s.n),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t at = begin * block; at < std::min(end * block, count);
                        at += block)
                     for (std::int64_t j = 0; j < s.n; ++j)
                       for (std::int64_t i = at; i < std::min(at + block, count); ++i)
                         to[i * s.n + j] = sparse::conjugated(
                             from[j * s.k + (is_few ? static_cast<std::int64_t>(columns[i]) : i)]);
                 });
  if (is_few)
    for (std::int64_t i = 0; i < entries; ++i)
      columns[i] = static_cast<Index>(i);
  return out;
}

template <class T, class Index>
Status multiply(KernelContext& c, const Sizes& s, const Tensor& values, Tensor b, Tensor& out) {
  TROUPE_ASSIGN(auto rows, (by_rows<T, Index>(c, s, values)));
  if (s.adjoint_b) {
    TROUPE_ASSIGN(b, (adjoint_rows<T, Index>(c, s, b, rows)));
  }
  TROUPE_ASSIGN(const sparse::RowSums<Index> sum, (sparse::row_sums<T, Index>()));
  const Index* columns = rows.columns.template data<Index>().data();
  const T *factors = rows.values.template data<T>().data(), *from = b.data<T>().data();
  T* to = out.mutable_data<T>().data();
  const double per_row = static_cast<double>(values.num_elements()) /
                         static_cast<double>(std::max<std::int64_t>(s.m, 1));
  c.parallel_for(s.m, 4 + (per_row + 0.25) * static_cast<double>(s.n) * sizeof(T) / 16,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     const std::int64_t first = rows.begin(row);
                     sum(factors + first, columns + first, rows.count(row), from, s.n,
                         to + row * s.n);
                   }
                 });
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Sizes s, sizes(c));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{s.m, s.n}));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, shape));
  TROUPE_ASSIGN(const Tensor values, widened(c, c.input(1)));
  TROUPE_ASSIGN(const Tensor b, widened(c, c.input(3)));
  TROUPE_TRY(dispatch(Computed{}, values.dtype(), [&]<class T>() -> Status {
    if (s.k <= std::numeric_limits<std::int32_t>::max() &&
        values.num_elements() <= std::numeric_limits<std::int32_t>::max())
      return multiply<T, std::int32_t>(c, s, values, b, out);
    return multiply<T, std::int64_t>(c, s, values, b, out);
  }));
  return narrow(c, 0, out);
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto b, shape_rules::dims_of_rank(c, 3, 2));
  const bool adjoint_a = c.attrs().get_or("adjoint_a", false);
  const bool adjoint_b = c.attrs().get_or("adjoint_b", false);
  const auto a = c.input_as_ints(2);
  const std::int64_t rows = a && a->size() == 2 ? (*a)[adjoint_a ? 1 : 0] : -1;
  return c.set_output(0, {rows, b[adjoint_b ? 0 : 1]});
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T",
                    {DType::float32, DType::float64, DType::int32, DType::bfloat16, DType::float16,
                     DType::complex64, DType::complex128}}};
  options.expensive = true;
  library.op("SparseTensorDenseMatMul")
      .input("a_indices: Tindices; a_values: T; a_shape: int64; b: T")
      .output("product: T")
      .attr("T: type; Tindices: {int32, int64} = DT_INT64")
      .attr("adjoint_a: bool = false; adjoint_b: bool = false")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("The product of a sparse and a dense matrix.");
}

} // namespace troupe::sparse_tensor_matmul
