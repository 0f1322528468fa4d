// Transpose: output dimension i is input dimension perm[i]. ConjugateTranspose: the same of
// conjugates. InvertPermutation: y[x[i]] = i.
#include <complex>
#include <numeric>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_transpose {
namespace {

using array::Dims;

/// Negative entries counted from the end, as a permutation of 0 … rank - 1.
Result<std::vector<int>> normal_permutation(std::span<const std::int64_t> perm, int rank) {
  if (static_cast<int>(perm.size()) != rank)
    return invalid_argument(str_cat("transpose expects a vector of size ", rank,
                                    ". But input(1) is a vector of size ", perm.size()));
  std::vector<int> out;
  std::vector<bool> seen(perm.size(), false);
  for (std::int64_t d : perm) {
    const std::int64_t at = d < 0 ? d + rank : d;
    if (at < 0 || at >= rank)
      return invalid_argument(str_cat(d, " is out of range [0 .. ", rank, ")"));
    seen[static_cast<std::size_t>(at)] = true;
    out.push_back(static_cast<int>(at));
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i])
      return invalid_argument(str_cat(i, " is missing from {", str_join(perm, ","), "}."));
  return out;
}

Status infer_transpose(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  const PartialShape& x = c.input(0);
  const auto perm = c.input_as_ints(1);
  const std::int64_t length = c.input(1).has_rank() ? c.input(1).dim(0) : -1;
  if (x.has_rank() && length >= 0)
    TROUPE_TRY(shape_rules::merge_dims(x.rank(), length).status());
  const std::int64_t rank = x.has_rank() ? x.rank() : length;
  if (rank < 0)
    return {};
  TROUPE_TRY(shape_rules::check_rank(rank));
  Dims dims(static_cast<std::size_t>(rank), -1);
  if (perm) {
    TROUPE_ASSIGN(const auto order, normal_permutation(*perm, static_cast<int>(rank)));
    for (std::size_t i = 0; x.has_rank() && i < order.size(); ++i)
      dims[i] = x.dim(order[i]);
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status differentiate_transpose(GradContext& g) {
  const Value back = g.op("InvertPermutation", {g.input(1)});
  return g.set_input_grad(0, g.op("Transpose", {g.output_grad(0), back}));
}

Status compute_transpose(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (c.input(1).shape().rank() != 1)
    return invalid_argument(str_cat("perm must be rank 1, got shape ", c.input(1).shape()));
  TROUPE_ASSIGN(const Integers perm, integers(c.input(1)));
  TROUPE_ASSIGN(const std::vector<int> order, normal_permutation(perm, x.shape().rank()));
  Dims dims;
  int last = -1;
  bool moves = false; // whether dimensions larger than 1 change their order
  for (int from : order) {
    dims.push_back(x.shape()[from]);
    if (x.shape()[from] == 1)
      continue;
    moves = moves || from < last;
    last = from;
  }
  const Shape shape{std::span<const std::int64_t>(dims)};
  if (!moves)
    return c.set_output(0, x.reshaped(shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  arith::StridedPlan plan;
  if (!arith::make_transpose_plan(x.shape().dims(), order, plan))
    return array::too_many_dimensions(shape);
  return array::copy_from_strided(c, plan, x, out);
}

/// Every element of output 0 by its conjugate; the output is ours alone or made so.
template <class T>
Status conjugate_output(KernelContext& c) {
  Tensor& y = c.output_entry(0).tensor;
  Tensor out = y;
  if (y.shares_buffer_with(c.input(0))) {
    TROUPE_ASSIGN(out, c.allocate_temp(y.dtype(), y.shape()));
  }
  const T* from = y.data<T>().data();
  T* to = out.mutable_data<T>().data();
  c.parallel_for(y.num_elements(), 0.5, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      to[i] = std::conj(from[i]);
  });
  return c.set_output(0, out);
}

Status compute_conjugate_transpose(KernelContext& c) {
  TROUPE_TRY(compute_transpose(c));
  if (!is_complex(c.input(0).dtype()))
    return {};
  return dispatch(Types<std::complex<float>, std::complex<double>>{}, c.input(0).dtype(),
                  [&]<class T>() -> Status { return conjugate_output<T>(c); });
}

Status differentiate_conjugate_transpose(GradContext& g) {
  const Value back = g.op("InvertPermutation", {g.input(1)});
  return g.set_input_grad(0, g.op("ConjugateTranspose", {g.output_grad(0), back}));
}

Status infer_invert(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  return c.output_like(0, 0);
}

Status compute_invert(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.shape().rank() != 1)
    return invalid_argument("invert_permutation expects a 1D vector.");
  const std::int64_t n = x.shape()[0];
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, Shape{n}));
  return dispatch(Indices{}, x.dtype(), [&]<class T>() -> Status {
    const auto in = x.data<T>();
    auto out = y.mutable_data<T>();
    std::ranges::fill(out, T{-1});
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] < 0 || in[i] >= n)
        return invalid_argument(str_cat(in[i], " is not between 0 and ", n));
      T& at = out[static_cast<std::size_t>(in[i])];
      if (at != -1)
        return invalid_argument(str_cat(in[i], " is duplicated in the input."));
      at = static_cast<T>(i);
    }
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("Transpose")
      .input("x: T; perm: Tperm")
      .output("y: T")
      .attr("T: type; Tperm: {int32, int64} = DT_INT32")
      .shape_fn(infer_transpose)
      .gradient(differentiate_transpose)
      .cpu_kernel(compute_transpose, options)
      .gpu_kernel(compute_transpose, array::on_gpu(options, "T", {"perm"}))
      .host_kernel_on_gpu(compute_transpose, array::int32_on_host(options))
      .doc("Dimension i of the output is dimension perm[i] of the input.");
  KernelOptions conjugate;
  conjugate.expensive = true;
  library.op("ConjugateTranspose")
      .input("x: T; perm: Tperm")
      .output("y: T")
      .attr("T: type; Tperm: {int32, int64} = DT_INT32")
      .shape_fn(infer_transpose)
      .gradient(differentiate_conjugate_transpose)
      .cpu_kernel(compute_conjugate_transpose, std::move(conjugate))
      .doc("Transpose, and the conjugates of complex numbers.");
  library.op("InvertPermutation")
      .input("x: T")
      .output("y: T")
      .attr("T: {int32, int64} = DT_INT32")
      .shape_fn(infer_invert)
      .not_differentiable("its values are positions")
      .cpu_kernel(compute_invert)
      .host_kernel_on_gpu(compute_invert, array::int32_on_host({}))
      .doc("The permutation that undoes x: y[x[i]] = i.");
}

} // namespace troupe::array_transpose
