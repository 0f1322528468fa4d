#include "kernels/reduce/internal/reduction.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>

#include "kernels/arith/movement.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::reduce {
namespace {

using Dims = std::vector<std::int64_t>;

struct Attrs {
  bool keep_dims = false;
};

/// Which dimensions are reduced.
struct Mask {
  std::size_t size;
  std::size_t reduced = 0;
  std::array<bool, Shape::max_rank> bits = {};
  std::span<const bool> span() const { return {bits.data(), size}; }
};

Result<Mask> make_mask(std::span<const std::int64_t> axes, int rank) {
  if (rank > Shape::max_rank)
    return invalid_argument(
        str_cat("a tensor has at most ", Shape::max_rank, " dimensions, not ", rank));
  Mask mask{.size = static_cast<std::size_t>(rank), .reduced = axes.size()};
  for (std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return invalid_argument(str_cat("Invalid reduction dimension (", axis, " for input with ",
                                      rank, " dimension(s)"));
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (mask.bits[at])
      return invalid_argument(
          str_cat("Invalid reduction arguments: Axes contains duplicate dimension: ", at));
    mask.bits[at] = true;
  }
  return mask;
}

Integers result_dims(std::span<const std::int64_t> dims, const Mask& mask, bool keep_dims) {
  Integers out(keep_dims ? mask.size : mask.size - mask.reduced);
  std::int64_t* to = out.begin();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!mask.bits[i])
      *to++ = dims[i];
    else if (keep_dims)
      *to++ = 1;
  return out;
}

constexpr double unit_cost = 0.2;                 // nanoseconds per element
constexpr std::int64_t worth_splitting = 200'000; // elements

/// Few outputs from a large input: each thread takes its part of every output.
Status run_in_parts(KernelContext& c, const arith::ReduceKernel& kernel,
                    const arith::ReducePlan& plan, const void* x, Tensor& out, std::int64_t parts) {
  TROUPE_ASSIGN(Tensor sums, c.allocate_temp(DType::int64, Shape{parts, plan.outputs}));
  std::int64_t* acc = sums.mutable_data<std::int64_t>().data();
  const double cost = unit_cost * static_cast<double>(plan.outputs * plan.count / parts);
  c.parallel_for(parts, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      arith::reduce_partial(kernel, plan, x, acc + k * plan.outputs, k * plan.split / parts,
                            (k + 1) * plan.split / parts);
  });
  arith::reduce_combine(kernel, plan, acc, static_cast<int>(parts), out.mutable_raw());
  return {};
}

Status run(KernelContext& c, const arith::ReduceKernel& kernel, const arith::ReducePlan& plan,
           const void* x, Tensor& out) {
  const std::int64_t threads = c.device().compute().threads();
  const std::int64_t parts = std::min(threads, plan.split);
  if (plan.outputs < 4 * threads && parts > 1 && plan.outputs * plan.count >= worth_splitting)
    return run_in_parts(c, kernel, plan, x, out, parts);
  void* to = out.mutable_raw();
  c.parallel_for(plan.outputs, unit_cost * static_cast<double>(plan.count),
                 [&](std::int64_t begin, std::int64_t end) {
                   arith::run_reduce(kernel, plan, x, to, begin, end);
                 });
  return {};
}

/// `x` with the kept dimensions in front of the reduced ones. `what` it is for, in the error.
Result<Tensor> kept_to_front(KernelContext& c, const Tensor& x, const Mask& mask,
                             std::string_view what) {
  std::vector<int> order;
  for (bool reduced : {false, true})
    for (std::size_t i = 0; i < mask.size; ++i)
      if (mask.bits[i] == reduced)
        order.push_back(static_cast<int>(i));
  arith::StridedPlan move;
  if (!arith::make_transpose_plan(x.shape().dims(), order, move))
    return unimplemented(str_cat(what, " of shape ", x.shape(),
                                 " alternates too often between reduced and kept dimensions"));
  TROUPE_ASSIGN(Tensor moved, c.allocate_temp(x.dtype(), x.shape()));
  const int size = static_cast<int>(dtype_size(x.dtype()));
  void* to = moved.mutable_raw();
  c.parallel_for(move.size, 0.5, [&](std::int64_t begin, std::int64_t end) {
    arith::copy_from_strided(size, move, x.raw(), to, begin, end);
  });
  return moved;
}

/// For reduced and kept dimensions that alternate too often for one plan.
Status run_transposed(KernelContext& c, const arith::ReduceKernel& kernel, const Tensor& x,
                      const Mask& mask, Tensor& out) {
  TROUPE_ASSIGN(const Tensor moved, kept_to_front(c, x, mask, "a reduction"));
  const std::int64_t outputs = out.num_elements();
  const std::int64_t dims[] = {outputs, x.num_elements() / outputs};
  const bool reduced[] = {false, true};
  arith::ReducePlan plan;
  TROUPE_CHECK(arith::make_reduce_plan(dims, reduced, plan), "two dimensions");
  return run(c, kernel, plan, moved.raw(), out);
}

Status run_by(KernelContext& c, const arith::ReduceKernel& kernel, const Mask& mask,
              const Shape& shape) {
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  arith::ReducePlan plan;
  return arith::make_reduce_plan(x.shape().dims(), mask.span(), plan)
             ? run(c, kernel, plan, x.raw(), out)
             : run_transposed(c, kernel, x, mask, out);
}

/// Sums and means of complex numbers: those of their parts, which are one more dimension.
Status reduce_parts(KernelContext& c, arith::ReduceOp op, Mask mask, const Shape& shape) {
  const Tensor& x = c.input(0);
  const DType part = x.dtype() == DType::complex64 ? DType::float32 : DType::float64;
  TROUPE_ASSIGN(const arith::ReduceKernel kernel, arith::reduce(op, part));
  Dims dims(x.shape().dims().begin(), x.shape().dims().end());
  dims.push_back(2);
  if (mask.size == Shape::max_rank)
    return unimplemented(str_cat("a sum of complex numbers of shape ", x.shape()));
  mask.bits[mask.size++] = false;
  arith::ReducePlan plan;
  if (!arith::make_reduce_plan(dims, mask.span(), plan))
    return unimplemented(str_cat("a reduction of complex numbers of shape ", x.shape(),
                                 " alternates too often between reduced and kept dimensions"));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  if (x.num_elements() == 0) { // a mean of nothing is 0, too, as TensorFlow has it
    std::memset(out.mutable_raw(), 0, out.byte_size());
    return {};
  }
  return run(c, kernel, plan, x.raw(), out);
}

/// Products of complex numbers, in double: rare, so one after the other.
Status multiply_complex(KernelContext& c, const Mask& mask, const Shape& shape) {
  using Complex = std::complex<double>;
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_ASSIGN(const Tensor moved, kept_to_front(c, x, mask, "a product of complex numbers"));
  const std::int64_t outputs = shape.num_elements();
  const std::int64_t count = outputs == 0 ? 0 : x.num_elements() / outputs;
  return dispatch(Types<std::complex<float>, Complex>{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = moved.data<T>().data();
    auto to = out.mutable_data<T>();
    for (T& product : to) {
      Complex exact = 1;
      for (std::int64_t k = 0; k < count; ++k)
        exact *= Complex(*from++);
      product = T(exact);
    }
    return {};
  });
}

} // namespace

Status reduce_on_gpu(KernelContext& c, gpu::Reduce op) {
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(const Integers axes, integers(c.input(1)));
  TROUPE_ASSIGN(const Mask mask, make_mask(axes, x.shape().rank()));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(result_dims(x.shape().dims(), mask, c.prepared<Attrs>().keep_dims)));
  if (shape.num_elements() == x.num_elements() && op != gpu::Reduce::root_of_squares)
    return c.set_output(0, x.reshaped(shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  return gpu::reduce(c, op, x.shape().dims(), mask.span(), x.dtype(), x.raw(), out.mutable_raw());
}

Status reduce(KernelContext& c, arith::ReduceOp op) {
  if (c.input(0).kind() == MemoryKind::device)
    return reduce_on_gpu(c, static_cast<gpu::Reduce>(op));
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(const Integers axes, integers(c.input(1)));
  TROUPE_ASSIGN(const Mask mask, make_mask(axes, x.shape().rank()));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(result_dims(x.shape().dims(), mask, c.prepared<Attrs>().keep_dims)));
  if (is_complex(x.dtype()))
    return op == arith::ReduceOp::prod ? multiply_complex(c, mask, shape)
                                       : reduce_parts(c, op, mask, shape);
  if (shape.num_elements() == x.num_elements() && shape.num_elements() > 0)
    return c.set_output(0, x.reshaped(shape));
  TROUPE_ASSIGN(const arith::ReduceKernel kernel, arith::reduce(op, x.dtype()));
  return run_by(c, kernel, mask, shape);
}

Status reduce(KernelContext& c, const arith::ReduceKernel& kernel) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(const Integers axes, integers(c.input(1)));
  TROUPE_ASSIGN(const Mask mask, make_mask(axes, x.shape().rank()));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(result_dims(x.shape().dims(), mask, c.prepared<Attrs>().keep_dims)));
  return run_by(c, kernel, mask, shape);
}

Status infer_shape(ShapeContext& c) {
  const PartialShape& x = c.input(0);
  if (!x.has_rank())
    return {};
  TROUPE_ASSIGN(const bool keep_dims, c.attr<bool>("keep_dims"));
  if (const auto axes = c.input_as_ints(1)) {
    TROUPE_ASSIGN(const Mask mask, make_mask(*axes, x.rank()));
    const Integers dims = result_dims(x.dims(), mask, keep_dims);
    return c.set_output(0, PartialShape(Dims(dims.begin(), dims.end())));
  }
  if (keep_dims)
    return c.set_output(0, PartialShape(Dims(x.dims().size(), -1)));
  // Each axis takes one dimension away.
  const PartialShape& axes = c.input(1);
  const bool known = axes.is_fully_defined() && axes.rank() <= 1;
  const std::int64_t count = !known ? -1 : axes.rank() == 0 ? 1 : axes.dim(0);
  if (count < 0 || count > x.rank())
    return {};
  return c.set_output(0, PartialShape(Dims(static_cast<std::size_t>(x.rank() - count), -1)));
}

namespace {

// Complex numbers are summed part by part, and multiplied one by one.
std::vector<DType> reduced_dtypes(arith::ReduceOp op) {
  std::vector<DType> out = arith::dtypes_of(op);
  if (op == arith::ReduceOp::sum || op == arith::ReduceOp::mean || op == arith::ReduceOp::prod)
    out.insert(out.end(), {DType::complex64, DType::complex128});
  return out;
}

} // namespace

void add_reduction(OpLibrary& library, std::string_view name, std::string_view types,
                   arith::ReduceOp function, KernelFn fn, GradientFn gradient,
                   std::string_view why_none, std::string_view doc) {
  KernelOptions options;
  options.expensive = true;
  options.prepare = [](PrepareContext& c) -> Result<std::shared_ptr<const void>> {
    TROUPE_ASSIGN(const bool keep_dims, c.attr<bool>("keep_dims"));
    return prepared(Attrs{keep_dims});
  };
  KernelOptions on_gpu{.host_inputs = {"reduction_indices"}, .prepare = options.prepare};
  KernelOptions on_host{.prepare = options.prepare};
  auto op = library.op(name);
  op.attr("keep_dims: bool = false");
  if (types.empty()) {
    op.input("input: bool; reduction_indices: Tidx").output("output: bool");
  } else {
    op.input("input: T; reduction_indices: Tidx").output("output: T").attr(types);
    options.types = {{"T", reduced_dtypes(function)}};
    on_gpu.types = {{"T", gpu::numbers()}};
    on_host.types = {{"T", {DType::int32}}};
    op.host_kernel_on_gpu(fn, std::move(on_host));
  }
  if (gradient)
    op.gradient(gradient);
  else
    op.not_differentiable(why_none);
  op.attr("Tidx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .cpu_kernel(fn, std::move(options))
      .gpu_kernel(fn, std::move(on_gpu))
      .doc(doc);
}

} // namespace troupe::reduce
