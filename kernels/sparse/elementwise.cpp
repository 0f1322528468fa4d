// SparseDenseCwiseAdd, …Mul and …Div: the entries of a sparse tensor and the elements of a dense
// one at their places. SparseSparseMaximum and …Minimum: of two sparse tensors, where what has no
// entry is 0.
#include <algorithm>
#include <vector>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_elementwise {
namespace {

using sparse::Dims;
using sparse::Sparse;
using Computed = Types<float, double, std::int32_t, std::int64_t, std::uint64_t>;
enum class How : std::uint8_t { add, mul, div };

template <class T>
T apply(How how, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const auto x = static_cast<U>(a), y = static_cast<U>(b);
    if (how == How::div) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) // the least number has no negative
          return static_cast<T>(U(0) - x);
      return static_cast<T>(a / b);
    }
    return static_cast<T>(how == How::add ? x + y : x * y);
  } else {
    return how == How::add ? a + b : how == How::mul ? a * b : a / b;
  }
}

Status check_dense(KernelContext& c, const Dims& shape) {
  const Shape& dense = c.input(3).shape();
  const auto rank = static_cast<int>(shape.size());
  bool fits = dense.rank() <= rank;
  for (int d = 0; fits && d < dense.rank(); ++d)
    fits = dense[d] == 1 || dense[d] == shape[static_cast<std::size_t>(rank - dense.rank() + d)];
  if (!fits)
    return invalid_argument(str_cat("SparseDenseBinaryOpShared broadcasts dense to sparse only; "
                                    "got incompatible shapes: [",
                                    sparse::listed(shape), "] vs. ", dense));
  return {};
}

Result<Sparse> read(KernelContext& c) {
  const Shape &indices = c.input(0).shape(), &values = c.input(1).shape();
  if (indices.rank() != 2)
    return invalid_argument(
        str_cat("Input sp_indices should be a matrix but received shape: ", indices));
  if (values.rank() != 1 || c.input(2).shape().rank() != 1)
    return invalid_argument(str_cat("Inputs sp_values and sp_shape should be vectors but received "
                                    "shapes: ",
                                    values, " and ", c.input(2).shape()));
  if (values[0] != indices[0])
    return invalid_argument(str_cat("The first dimension of values and indices should match. (",
                                    values[0], " vs. ", indices[0], ")"));
  if (indices[1] != c.input(2).num_elements())
    return invalid_argument(
        str_cat("Number of dimensions must match second dimension of indices. Got ",
                c.input(2).num_elements(), " dimensions, indices shape: ", indices));
  TROUPE_TRY(sparse::check_shape(c.input(2).data<std::int64_t>()));
  return sparse::sparse_input(c, 0);
}

/// Which element of the dense tensor each entry meets.
Result<Dims> places(KernelContext& c, const Sparse& s) {
  const Shape& dense = c.input(3).shape();
  Dims out;
  out.reserve(static_cast<std::size_t>(s.entries));
  const auto ahead = static_cast<std::size_t>(s.rank - dense.rank());
  for (std::int64_t i = 0; i < s.entries; ++i) {
    std::int64_t at = 0;
    const auto index = s.index(i);
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= s.shape[d])
        return invalid_argument(
            "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape");
      if (d < ahead)
        continue;
      const std::int64_t dim = dense[static_cast<int>(d - ahead)];
      at = at * dim + (dim == 1 ? 0 : index[d]);
    }
    out.push_back(at);
  }
  return out;
}

template <How how>
Status compute_dense(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse s, read(c));
  TROUPE_TRY(check_dense(c, Dims(s.shape.begin(), s.shape.end())));
  TROUPE_ASSIGN(const Dims at, places(c, s));
  const DType wide = arith::widened_dtype(s.values->dtype());
  TROUPE_ASSIGN(const Tensor values, widened(c, *s.values, wide));
  TROUPE_ASSIGN(const Tensor dense, widened(c, c.input(3), wide));
  TROUPE_ASSIGN(Tensor out, wide == c.output_type(0) ? c.allocate_output(0, Shape{s.entries})
                                                     : c.allocate_temp(wide, Shape{s.entries}));
  TROUPE_TRY(dispatch(Computed{}, wide, [&]<class T>() -> Status {
    const auto from = values.data<T>(), other = dense.data<T>();
    if (how == How::div)
      for (std::int64_t i : at)
        if (other[static_cast<std::size_t>(i)] == T(0))
          return invalid_argument("SparseDenseCwiseDiv cannot divide by zero,but input dense "
                                  "tensor contains zero ");
    const auto to = out.mutable_data<T>();
    for (std::size_t i = 0; i < at.size(); ++i)
      to[i] = apply(how, from[i], other[static_cast<std::size_t>(at[i])]);
    return {};
  }));
  return narrow(c, 0, out);
}

// ---- two sparse tensors

Status check_same(const Sparse& a, const Sparse& b) {
  const auto shown = [](std::span<const std::int64_t> shape) {
    return summarize_first(Tensor::vector<std::int64_t>(shape), 10);
  };
  if (a.rank != b.rank)
    return invalid_argument(str_cat("Operands do not have the same ranks; got shapes: ",
                                    shown(a.shape), " and ", shown(b.shape)));
  for (std::size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] != b.shape[d])
      return invalid_argument(str_cat("Operands' shapes do not match: got ", a.shape[d], " and ",
                                      b.shape[d], " for dimension ", d));
  return {};
}

template <bool max>
Status compute_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse a, sparse::sparse_input(c, 0));
  TROUPE_TRY(sparse::check_bounds(a));
  TROUPE_ASSIGN(const Sparse b, sparse::sparse_input(c, 3));
  TROUPE_TRY(sparse::check_bounds(b));
  TROUPE_TRY(check_same(a, b));
  const DType wide = arith::widened_dtype(a.values->dtype());
  TROUPE_ASSIGN(const Tensor first, widened(c, *a.values, wide));
  TROUPE_ASSIGN(const Tensor second, widened(c, *b.values, wide));
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  sparse::merge(a, b, [&](std::int64_t i, std::int64_t j) { pairs.emplace_back(i, j); });
  const auto count = static_cast<std::int64_t>(pairs.size());
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, Shape{count, a.rank}));
  auto to_index = indices.mutable_data<std::int64_t>().begin();
  for (const auto& [i, j] : pairs)
    to_index = std::ranges::copy(i >= 0 ? a.index(i) : b.index(j), to_index).out;
  TROUPE_ASSIGN(Tensor out, wide == c.output_type(1) ? c.allocate_output(1, Shape{count})
                                                     : c.allocate_temp(wide, Shape{count}));
  TROUPE_TRY(dispatch(Computed{}, wide, [&]<class T>() -> Status {
    const auto value = [](std::span<const T> from, std::int64_t i) {
      return i < 0 ? T(0) : from[static_cast<std::size_t>(i)];
    };
    std::ranges::transform(pairs, out.mutable_data<T>().begin(), [&](const auto& pair) {
      const T x = value(first.data<T>(), pair.first), y = value(second.data<T>(), pair.second);
      return max ? std::max(x, y) : std::min(x, y);
    });
    return {};
  }));
  return narrow(c, 1, out);
}

Status infer_dense(ShapeContext& c) {
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 0, 2));
  return c.set_output(0, {indices[0]});
}

Status infer_sparse(ShapeContext& c) {
  TROUPE_TRY(c.set_output(0, {-1, -1}));
  return c.set_output(1, {-1});
}

constexpr auto by_clients = "its gradient is made where graphs are written";

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T", arith::dtypes_of(arith::BinaryOp::maximum)}};
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  auto dense = [&](const char* name, KernelFn compute, const char* doc) {
    library.op(name)
        .input("sp_indices: int64; sp_values: T; sp_shape: int64; dense: T")
        .output("output: T")
        .attr("T: numbertype")
        .shape_fn(infer_dense)
        .not_differentiable(by_clients)
        .cpu_kernel(compute, options())
        .doc(doc);
  };
  dense("SparseDenseCwiseAdd", compute_dense<How::add>,
        "The entries of a sparse tensor plus the elements of a dense one at their places.");
  dense("SparseDenseCwiseMul", compute_dense<How::mul>,
        "The entries of a sparse tensor times the elements of a dense one at their places.");
  dense("SparseDenseCwiseDiv", compute_dense<How::div>,
        "The entries of a sparse tensor by the elements of a dense one at their places.");
  auto both = [&](const char* name, const char* types, KernelFn compute, const char* doc) {
    library.op(name)
        .input("a_indices: int64; a_values: T; a_shape: int64; b_indices: int64; b_values: T; "
               "b_shape: int64")
        .output("output_indices: int64; output_values: T")
        .attr(types)
        .shape_fn(infer_sparse)
        .not_differentiable(by_clients)
        .cpu_kernel(compute, options())
        .doc(doc);
  };
  both("SparseSparseMaximum", "T: realnumbertype", compute_sparse<true>,
       "The larger of the elements of two sparse tensors.");
  both("SparseSparseMinimum", "T: numbertype", compute_sparse<false>,
       "The smaller of the elements of two sparse tensors.");
}

} // namespace troupe::sparse_elementwise
