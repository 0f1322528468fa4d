// SparseAdd and its gradient, SparseTensorDenseAdd, SparseSoftmax.
#include <algorithm>
#include <array>
#include <cmath>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/framework/wrapping.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_arithmetic {
namespace {

using sparse::Dims;
using sparse::Sparse;
using Computed = Types<float, double, std::int32_t, std::int64_t, std::complex<double>>;

/// The terms of a sum, a and b.
Result<std::array<Sparse, 2>> operands(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(3), &a_values = c.input(1), &b_values = c.input(4);
  const Tensor &a_shape = c.input(2), &b_shape = c.input(5);
  const auto both = [](const Tensor& x, const Tensor& y) {
    return str_cat(x.shape(), " and ", y.shape());
  };
  if (a.shape().rank() != 2 || b.shape().rank() != 2)
    return invalid_argument("Input indices should be matrices but received shapes: " + both(a, b));
  const std::int64_t rank = a.shape()[1];
  if (b.shape()[1] != rank)
    return invalid_argument(
        str_cat("Input indices must have the same dimension, got ", rank, " and ", b.shape()[1]));
  if (a_values.shape().rank() != 1 || b_values.shape().rank() != 1)
    return invalid_argument("Input values should be vectors but received shapes: " +
                            both(a_values, b_values));
  if (a_values.num_elements() != a.shape()[0] || b_values.num_elements() != b.shape()[0])
    return invalid_argument(str_cat("Expected ", a.shape()[0], " and ", b.shape()[0],
                                    " non-empty input values, got ", a_values.num_elements(),
                                    " and ", b_values.num_elements()));
  if (a_shape.shape().rank() != 1 || b_shape.shape().rank() != 1)
    return invalid_argument("Input shapes should be a vector but received shapes " +
                            both(a_shape, b_shape));
  if (a_shape.num_elements() != rank)
    return invalid_argument(
        str_cat("Second dimension of a_indices and length of a_shape must match, got ", rank,
                " and ", a_shape.num_elements()));
  if (a_shape.num_elements() != b_shape.num_elements())
    return invalid_argument(
        str_cat("Operands do not have the same ranks; got shapes: ", summarize_first(a_shape, 10),
                " and ", summarize_first(b_shape, 10)));
  const auto in_a = a_shape.data<std::int64_t>(), in_b = b_shape.data<std::int64_t>();
  for (std::size_t d = 0; d < in_a.size(); ++d)
    if (in_a[d] != in_b[d])
      return invalid_argument(str_cat("Operands' shapes do not match: got ", in_a[d], " and ",
                                      in_b[d], " for dimension ", d));
  return std::array{Sparse{a.data<std::int64_t>(), &a_values, in_a, a.shape()[0], rank},
                    Sparse{b.data<std::int64_t>(), &b_values, in_b, b.shape()[0], rank}};
}

template <class T>
double magnitude(T x) {
  return static_cast<double>(std::abs(x));
}

Status compute_add(KernelContext& c) {
  TROUPE_ASSIGN(const auto terms, operands(c));
  if (!c.input(6).shape().is_scalar())
    return invalid_argument(
        str_cat("The magnitude threshold must be a scalar: got shape ", c.input(6).shape()));
  TROUPE_ASSIGN(const Tensor threshold, widened(c, c.input(6), DType::float64));
  TROUPE_ASSIGN(const Tensor av, widened(c, *terms[0].values));
  TROUPE_ASSIGN(const Tensor bv, widened(c, *terms[1].values));
  return dispatch(Computed{}, av.dtype(), [&]<class T>() -> Status {
    const double least = threshold.value<double>();
    const Sparse &first = terms[0], &second = terms[1];
    const auto x = av.data<T>(), y = bv.data<T>();
    std::vector<T> sums;
    std::vector<const std::int64_t*> places;
    const auto most = static_cast<std::size_t>(std::max(first.entries, second.entries));
    sums.reserve(most);
    places.reserve(most);
    sparse::merge(first, second, [&](std::int64_t i, std::int64_t j) {
      T sum{};
      if (i >= 0)
        sum = add_wrapping(sum, x[static_cast<std::size_t>(i)]);
      if (j >= 0)
        sum = add_wrapping(sum, y[static_cast<std::size_t>(j)]);
      if (i >= 0 && j >= 0 && !(magnitude(sum) >= least))
        return;
      places.push_back(i >= 0 ? first.indices.data() + i * first.rank
                              : second.indices.data() + j * second.rank);
      sums.push_back(sum);
    });
    const auto count = static_cast<std::int64_t>(sums.size());
    TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{count, first.rank}));
    std::int64_t* to = out.mutable_data<std::int64_t>().data();
    for (const std::int64_t* place : places)
      to = std::copy_n(place, first.rank, to);
    TROUPE_ASSIGN(Tensor values, allocate_widened(c, 1, Shape{count}));
    std::ranges::copy(sums, values.mutable_data<T>().begin());
    TROUPE_TRY(c.set_output(2, c.input(2)));
    return narrow(c, 1, values);
  });
}

/// Each operand's entry gets the gradient of the sum's entry of the same index, or 0.
Status compute_add_grad(KernelContext& c) {
  const Tensor& grad = c.input(0);
  const auto ranks = {c.input(1).shape().rank(), c.input(2).shape().rank(),
                      c.input(3).shape().rank()};
  if (std::ranges::any_of(ranks, [](int rank) { return rank != 2; }))
    return invalid_argument(
        str_cat("Input indices should be matrices but received shapes: ", c.input(1).shape(),
                " and ", c.input(2).shape(), " and ", c.input(3).shape()));
  Sparse parts[3]; // a, b, sum
  for (int i = 0; i < 3; ++i) {
    const Tensor& indices = c.input(i + 1);
    parts[i].indices = indices.data<std::int64_t>();
    parts[i].entries = indices.shape()[0];
    parts[i].rank = indices.shape()[1];
  }
  if (grad.shape().rank() != 1)
    return invalid_argument(
        str_cat("Input backprop_val_grad should be a vector but received shape: ", grad.shape()));
  if (parts[0].rank != parts[1].rank || parts[0].rank != parts[2].rank)
    return invalid_argument(str_cat(
        "The densified operands should have the same ndims; for A, B, sum got: ", parts[0].rank,
        ", ", parts[1].rank, ", ", parts[2].rank));
  if (grad.num_elements() != parts[2].entries)
    return invalid_argument(
        str_cat("# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of "
                "sum): got ",
                grad.num_elements(), " and ", parts[2].entries));
  TROUPE_ASSIGN(Tensor zero, c.allocate_temp(grad.dtype(), Shape{}));
  std::fill_n(static_cast<std::byte*>(zero.mutable_raw()), zero.byte_size(), std::byte{0});
  for (int i : {0, 1}) {
    Dims order(static_cast<std::size_t>(parts[i].entries), -1);
    sparse::merge(parts[i], parts[2], [&](std::int64_t at, std::int64_t in_sum) {
      if (at >= 0)
        order[static_cast<std::size_t>(at)] = in_sum;
    });
    TROUPE_TRY(sparse::take(c, i, grad, order, &zero));
  }
  return {};
}

Status compute_dense_add(KernelContext& c) {
  const Tensor &b = c.input(3), &a_indices = c.input(0), &a_values = c.input(1);
  if (a_indices.shape().rank() != 2)
    return invalid_argument(
        str_cat("Input a_indices should be a matrix but received shape: ", a_indices.shape()));
  if (a_values.shape().rank() != 1 || c.input(2).shape().rank() != 1)
    return invalid_argument(str_cat(
        "Inputs a_values and a_shape should be vectors but received shapes: ", a_values.shape(),
        " and ", c.input(2).shape()));
  if (a_indices.shape()[0] != a_values.shape()[0])
    return invalid_argument(str_cat("Dimensions ", a_values.shape()[0], " and ",
                                    a_indices.shape()[0], " are not compatible"));
  TROUPE_ASSIGN(const Integers dims, integers(c.input(2)));
  const int rank = b.shape().rank();
  if (a_indices.shape()[1] != static_cast<std::int64_t>(dims.size()))
    return invalid_argument(
        str_cat("Dimensions ", a_indices.shape()[1], " and ", dims.size(), " are not compatible"));
  if (static_cast<int>(dims.size()) != rank)
    return invalid_argument(
        str_cat("Two operands have different ranks; received: ", dims.size(), " and ", rank));
  for (int d = 0; d < rank; ++d)
    if (dims[static_cast<std::size_t>(d)] != b.shape()[d])
      return invalid_argument(
          str_cat("Dimension ", d, " does not equal (no broadcasting is supported): sparse side ",
                  dims[static_cast<std::size_t>(d)], " vs dense side ", b.shape()[d]));
  TROUPE_ASSIGN(const Integers indices, integers(a_indices));
  TROUPE_ASSIGN(const Tensor values, widened(c, a_values));
  TROUPE_ASSIGN(const Tensor dense, widened(c, b));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, b.shape()));
  TROUPE_TRY(dispatch(Computed{}, values.dtype(), [&]<class T>() -> Status {
    std::ranges::copy(dense.data<T>(), out.mutable_data<T>().begin());
    for (std::int64_t i = 0; i < values.num_elements(); ++i) {
      std::int64_t at = 0;
      for (int d = 0; d < rank; ++d) {
        const std::int64_t x = indices[static_cast<std::size_t>(i * rank + d)];
        if (x < 0 || x >= b.shape()[d])
          return invalid_argument(
              str_cat("Sparse tensor has an invalid index on dimension ", d, ": a_indices(", i, ",",
                      d, ") = ", x, ", dense tensor shape: ",
                      str_join(Dims(b.shape().dims().begin(), b.shape().dims().end()), " ")));
        at = at * b.shape()[d] + x;
      }
      out.mutable_data<T>()[static_cast<std::size_t>(at)] +=
          values.data<T>()[static_cast<std::size_t>(i)];
    }
    return {};
  }));
  return narrow(c, 0, out);
}

/// Among the entries of one row of the last dimension.
Status compute_softmax(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  if (indices.shape().rank() != 2)
    return invalid_argument(
        str_cat("Input sp_indices should be a matrix but received shape: ", indices.shape()));
  if (values.shape().rank() != 1 || shape.shape().rank() != 1)
    return invalid_argument(str_cat(
        "Inputs sp_values and sp_shape should be vectors but received shapes: ", values.shape(),
        " and ", shape.shape()));
  if (shape.num_elements() < 2)
    return invalid_argument(
        str_cat("Input should have rank >= 2, but received shape: ", summarize_first(shape, 3)));
  TROUPE_TRY(sparse::check_shape(shape.data<std::int64_t>()));
  TROUPE_ASSIGN(const Sparse s, sparse::sparse_tensor(indices, values, shape));
  TROUPE_ASSIGN(const Tensor in, widened(c, *s.values));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, in.shape()));
  TROUPE_TRY(dispatch(Floats{}, in.dtype(), [&]<class T>() -> Status {
    const auto x = in.data<T>();
    const auto y = out.mutable_data<T>();
    const auto row_of = [&](std::int64_t i) {
      return s.index(i).first(static_cast<std::size_t>(s.rank - 1));
    };
    for (std::int64_t begin = 0; begin < s.entries;) {
      std::int64_t end = begin + 1;
      while (end < s.entries && std::ranges::equal(row_of(begin), row_of(end)))
        ++end;
      const auto first = x.begin() + begin, last = x.begin() + end;
      const T largest = *std::max_element(first, last);
      T sum = 0;
      for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at)
        sum += y[at] = std::exp(x[at] - largest);
      for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at)
        y[at] /= sum;
      begin = end;
    }
    return {};
  }));
  return narrow(c, 0, out);
}

Status infer_add(ShapeContext& c) {
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(c.require_rank(2, 1));
  TROUPE_TRY(c.set_output(0, {-1, indices[1]}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.output_like(2, 2);
}

Status infer_add_grad(ShapeContext& c) {
  TROUPE_ASSIGN(const auto a, shape_rules::dims_of_rank(c, 1, 2));
  TROUPE_ASSIGN(const auto b, shape_rules::dims_of_rank(c, 2, 2));
  TROUPE_TRY(c.set_output(0, {a[0]}));
  return c.set_output(1, {b[0]});
}

constexpr auto no_gradient = "its gradient is made where graphs are written";

void add_sums(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T",
                    {DType::float32, DType::float64, DType::int64, DType::int32, DType::int16,
                     DType::int8, DType::complex64, DType::complex128}}};
  library.op("SparseAdd")
      .input("a_indices: int64; a_values: T; a_shape: int64; b_indices: int64; b_values: T; "
             "b_shape: int64; thresh: Treal")
      .output("sum_indices: int64; sum_values: T; sum_shape: int64")
      .attr("T: numbertype; Treal: realnumbertype")
      .shape_fn(infer_add)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_add, options)
      .doc("The sum of two sparse tensors without entries below a threshold.");
  library.op("SparseAddGrad")
      .input("backprop_val_grad: T; a_indices: int64; b_indices: int64; sum_indices: int64")
      .output("a_val_grad: T; b_val_grad: T")
      .attr("T: numbertype")
      .shape_fn(infer_add_grad)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_add_grad, options)
      .doc("The gradient of SparseAdd.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add_sums(library);
  KernelOptions dense;
  dense.types = {{"T",
                  {DType::float32, DType::float64, DType::int32, DType::int64, DType::int16,
                   DType::int8, DType::uint8, DType::uint16, DType::uint32, DType::uint64,
                   DType::bfloat16, DType::float16, DType::complex64, DType::complex128}}};
  library.op("SparseTensorDenseAdd")
      .input("a_indices: Tindices; a_values: T; a_shape: Tindices; b: T")
      .output("output: T")
      .attr("T: numbertype; Tindices: {int32, int64}")
      .shape_fn([](ShapeContext& c) { return c.output_like(0, 3); })
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_dense_add, dense)
      .doc("A dense tensor with the entries of a sparse one added.");
  KernelOptions softmax;
  softmax.types = {{"T", {DType::float32, DType::float64, DType::float16}}};
  library.op("SparseSoftmax")
      .input("sp_indices: int64; sp_values: T; sp_shape: int64")
      .output("output: T")
      .attr("T: {half, float, double}")
      .shape_fn([](ShapeContext& c) { return c.output_like(0, 1); })
      .not_differentiable(no_gradient)
      .cpu_kernel(compute_softmax, softmax)
      .doc("Probabilities among the entries of each row.");
}

} // namespace troupe::sparse_arithmetic
