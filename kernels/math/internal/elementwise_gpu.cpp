// Elementwise kernels for GPUs: shapes and memory as on the host, the elements by elementwise.cu.
#include <algorithm>

#include "kernels/gpu/launch.hpp"
#include "kernels/math/elementwise.hpp"
#include "kernels/math/internal/elementwise_kernels.hpp"

namespace troupe::math {
namespace {

using namespace gpu;

/// Rank -1: the operands have the output's shape, and need no plan.
constexpr Broadcast one_shape{.rank = -1};

Result<Broadcast> plan_of(const Shape& a, const Shape& b) {
  if (a == b)
    return one_shape;
  TROUPE_ASSIGN(const arith::BroadcastPlan plan, broadcast_plan({&a, &b}));
  return broadcast_of(plan);
}

bool gives_booleans(arith::BinaryOp op) {
  using arith::BinaryOp;
  return op == BinaryOp::equal || op == BinaryOp::not_equal || op == BinaryOp::less ||
         op == BinaryOp::less_equal || op == BinaryOp::greater || op == BinaryOp::greater_equal;
}
bool gives_booleans(arith::UnaryOp op) {
  using arith::UnaryOp;
  return op == UnaryOp::is_nan || op == UnaryOp::is_inf || op == UnaryOp::is_finite;
}

template <class Op>
KernelOptions of_gpu(Op op, std::initializer_list<DType> candidates) {
  const std::vector<DType> known = arith::dtypes_of(op);
  std::vector<DType> types;
  for (DType type : candidates)
    if (std::ranges::find(known, type) != known.end())
      types.push_back(type);
  KernelOptions options;
  options.types = {{"T", std::move(types)}};
  return options;
}

constexpr auto f32 = DType::float32, f64 = DType::float64, f16 = DType::float16,
               bf16 = DType::bfloat16, i64 = DType::int64;

} // namespace

Status unary_on_gpu(KernelContext& c, arith::UnaryOp op) {
  const Tensor& x = c.input(0);
  const DType dtype = x.dtype();
  const std::int64_t n = x.num_elements();
  const void* from = x.raw();
  const bool is_test = gives_booleans(op);
  TROUPE_ASSIGN(Tensor y, is_test ? c.allocate_output(0, x.shape())
                                  : c.forward_or_allocate(0, 0, Shape(x.shape())));
  if (n == 0)
    return {};
  return launch(c, is_test ? gpu::kernels::test : gpu::kernels::unary, dtype,
                over_packs(n, dtype_size(dtype)), static_cast<int>(op), from, y.mutable_raw(), n);
}

Status unary_grad_on_gpu(KernelContext& c, arith::GradOp op, int dy, int x) {
  const Tensor &gradient = c.input(dy), &value = c.input(x);
  const Shape shape = c.input(0).shape();
  const std::int64_t n = gradient.num_elements();
  if (n != value.num_elements())
    return invalid_argument(
        str_cat("The two arguments to a cwise op must have same number of elements, got ",
                c.input(0).num_elements(), " and ", c.input(1).num_elements()));
  const DType dtype = gradient.dtype();
  const void *of_dy = gradient.raw(), *of_x = value.raw();
  TROUPE_ASSIGN(Tensor dx, c.forward_or_allocate({dy, x}, 0, shape));
  if (n == 0)
    return {};
  return launch(c, gpu::kernels::unary_grad, dtype, over_packs(n, dtype_size(dtype)),
                static_cast<int>(op), of_dy, of_x, dx.mutable_raw(), n);
}

Status binary_on_gpu(KernelContext& c, arith::BinaryOp op) {
  const Tensor &a = c.input(0), &b = c.input(1);
  const DType dtype = a.dtype();
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(a.shape(), b.shape()));
  TROUPE_ASSIGN(const Broadcast plan, plan_of(a.shape(), b.shape()));
  const void *left = a.raw(), *right = b.raw();
  const bool compares = gives_booleans(op);
  TROUPE_ASSIGN(Tensor z,
                compares ? c.allocate_output(0, shape) : c.forward_or_allocate({0, 1}, 0, shape));
  const std::int64_t n = shape.num_elements();
  if (n == 0)
    return {};
  return launch(c, compares ? gpu::kernels::compare : gpu::kernels::binary, dtype,
                compares ? over(n) : over_packs(n, dtype_size(dtype)), static_cast<int>(op), plan,
                left, right, z.mutable_raw(), n);
}

Status binary_on_gpu(KernelContext& c, arith::BinaryOp op, const arith::BroadcastPlan& plan,
                     const void* a, const void* b, Tensor& z) {
  if (plan.size == 0)
    return {};
  return launch(c, gpu::kernels::binary, z.dtype(), over_packs(plan.size, dtype_size(z.dtype())),
                static_cast<int>(op), broadcast_of(plan), a, b, z.mutable_raw(), plan.size);
}

Status apply_on_gpu(KernelContext& c, arith::BinaryOp op, Tensor& variable, const Tensor& value) {
  const std::int64_t n = value.num_elements();
  if (n == 0)
    return {};
  return launch(c, gpu::kernels::binary, value.dtype(), over_packs(n, dtype_size(value.dtype())),
                static_cast<int>(op), one_shape, variable.raw(), value.raw(),
                variable.mutable_raw(), n);
}

Status select_on_gpu(KernelContext& c, const Shape& condition, const Shape& shape) {
  const Tensor &t = c.input(1), &e = c.input(2);
  Broadcast plan = one_shape;
  if (condition != t.shape() || t.shape() != e.shape()) {
    TROUPE_ASSIGN(const arith::BroadcastPlan three,
                  broadcast_plan({&condition, &t.shape(), &e.shape()}));
    plan = broadcast_of(three);
  }
  const void *cond = c.input(0).raw(), *left = t.raw(), *right = e.raw();
  const std::size_t size = dtype_size(t.dtype());
  TROUPE_ASSIGN(Tensor z, c.forward_or_allocate({1, 2}, 0, shape));
  const std::int64_t n = shape.num_elements();
  if (n == 0)
    return {};
  const DType bits = size == 1   ? DType::uint8
                     : size == 2 ? DType::uint16
                     : size == 4 ? DType::uint32
                                 : DType::uint64;
  return launch(c, gpu::kernels::select, bits, over(n), plan, cond, left, right, z.mutable_raw(),
                n);
}

Status cast_on_gpu(KernelContext& c, bool is_truncated, int dropped_bits) {
  const Tensor& x = c.input(0);
  if (x.dtype() == c.output_type(0))
    return c.set_output(0, x);
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  const std::int64_t n = x.num_elements();
  if (n == 0)
    return {};
  const int from = is_truncated ? -1 : static_cast<int>(x.dtype());
  return launch(c, gpu::kernels::cast, y.dtype(), over(n), from, dropped_bits, x.raw(),
                y.mutable_raw(), n);
}

Status add_n_on_gpu(KernelContext& c, std::span<const void* const> arrays, Tensor& sum) {
  const std::int64_t n = sum.num_elements();
  for (std::size_t at = 0; n > 0 && at < arrays.size();) {
    InputList list;
    const bool is_added = at > 0;
    for (; at < arrays.size() && list.count < max_listed; ++at)
      list.data[list.count++] = arrays[at];
    TROUPE_TRY(launch(c, gpu::kernels::add_n, sum.dtype(), over_packs(n, dtype_size(sum.dtype())),
                      list, is_added, sum.mutable_raw(), n));
  }
  return {};
}

Status clip_on_gpu(KernelContext& c) {
  const Tensor &x = c.input(0), &low = c.input(1), &high = c.input(2);
  const Shape shape = x.shape();
  const DType dtype = x.dtype();
  for (const Tensor* bound : {&low, &high})
    if (bound->shape() != shape && bound->num_elements() != 1)
      return invalid_argument(str_cat(
          "clip_value_min and clip_value_max must be either of the same "
          "shape as input, or a scalar. input shape: ",
          shape, "clip_value_min shape: ", low.shape(), "clip_value_max shape: ", high.shape()));
  const void *from = x.raw(), *least = low.raw(), *most = high.raw();
  const int low_stride = low.num_elements() == 1 ? 0 : 1,
            high_stride = high.num_elements() == 1 ? 0 : 1;
  TROUPE_ASSIGN(Tensor y, c.forward_or_allocate(0, 0, shape));
  const std::int64_t n = shape.num_elements();
  if (n == 0)
    return {};
  return launch(c, gpu::kernels::clip, dtype, over(n), from, least, most, low_stride, high_stride,
                y.mutable_raw(), n);
}

KernelOptions for_gpu(arith::UnaryOp op) {
  return of_gpu(op, {f32, f64, f16, bf16, i64});
}
KernelOptions for_gpu(arith::GradOp op) {
  return of_gpu(op, {f32, f64, f16, bf16});
}
// An integer divided by zero is an error, which a kernel on a GPU cannot tell in time.
KernelOptions for_gpu(arith::BinaryOp op) {
  using arith::BinaryOp;
  if (op == BinaryOp::floor_div || op == BinaryOp::floor_mod || op == BinaryOp::trunc_div ||
      op == BinaryOp::trunc_mod || op == BinaryOp::pow)
    return of_gpu(op, {f32, f64, f16, bf16});
  if (gives_booleans(op))
    return of_gpu(op, {f32, f64, f16, bf16, i64, DType::bool_});
  return of_gpu(op, {f32, f64, f16, bf16, i64});
}

} // namespace troupe::math
