#include "kernels/math/elementwise.hpp"

#include <atomic>

namespace troupe::math {

Status make_output(KernelContext& c, std::initializer_list<int> from, const Shape& shape) {
  Tensor& out = c.output_entry(0).tensor;
  const DType dtype = c.output_type(0);
  if (c.receiver || !c.io().output_in_host_memory.empty() || is_object(dtype)) [[unlikely]]
    return c.forward_or_allocate(from, 0, Shape(shape)).status();
  for (int i : from)
    if (c.input(i).dtype() == dtype && c.input(i).is_unique()) {
      out = c.take_input(i);
      return {};
    }
  const std::size_t bytes = static_cast<std::size_t>(shape.num_elements()) * dtype_size(dtype);
  BufferRef buffer = Buffer::allocate(c.device().allocator(), bytes);
  if (!buffer) [[unlikely]]
    return c.allocate_output(0, shape).status(); // says what is wrong
  out = Tensor(dtype, shape, std::move(buffer));
  return {};
}

Status unary(KernelContext& c, arith::UnaryOp op) {
  const DType dtype = c.input(0).dtype();
  TROUPE_ASSIGN(const auto fn, arith::unary(op, dtype));
  const void* x = c.input(0).raw();
  const std::int64_t elements = c.input(0).num_elements();
  TROUPE_TRY(make_output(c, {0}, c.input(0).shape()));
  void* out = c.output_entry(0).tensor.mutable_raw();
  if (elements == 1) {
    fn(x, out, 0, 1);
    return {};
  }
  c.parallel_for(elements, nanoseconds(arith::cost_of(op)),
                 [&](std::int64_t begin, std::int64_t end) { fn(x, out, begin, end); });
  return {};
}

Status unary_grad(KernelContext& c, arith::GradOp op) {
  const Shape shape = c.input(0).shape();
  if (shape.num_elements() != c.input(1).num_elements())
    return invalid_argument(
        str_cat("The two arguments to a cwise op must have same number of elements, got ",
                shape.num_elements(), " and ", c.input(1).num_elements()));
  TROUPE_ASSIGN(const auto fn, arith::unary_grad(op, c.input(0).dtype()));
  const void* y = c.input(0).raw();
  const void* dy = c.input(1).raw();
  TROUPE_ASSIGN(Tensor dx, c.forward_or_allocate({1, 0}, 0, shape));
  void* out = dx.mutable_raw();
  c.parallel_for(shape.num_elements(), nanoseconds(arith::cost_of(op)),
                 [&](std::int64_t begin, std::int64_t end) { fn(dy, y, out, begin, end); });
  return {};
}

Result<arith::BroadcastPlan> broadcast_plan(std::initializer_list<const Shape*> shapes) {
  auto it = shapes.begin();
  const Shape& a = **it++;
  const Shape& b = **it++;
  arith::BroadcastPlan plan;
  if (it == shapes.end()) {
    if (a == b)
      return arith::flat_plan(a.num_elements());
    if (arith::make_broadcast_plan({a.dims(), b.dims()}, plan))
      return plan;
  } else {
    const Shape& d = **it;
    if (a == b && b == d)
      return arith::flat_plan(a.num_elements(), 3);
    if (arith::make_broadcast_plan({a.dims(), b.dims(), d.dims()}, plan))
      return plan;
  }
  return unimplemented(str_cat("Broadcast between ", a, " and ", b, " is not supported: more than ",
                               arith::BroadcastPlan::max_rank,
                               " dimensions are left after neighbours are merged"));
}

Status run_binary(KernelContext& c, const arith::BinaryKernel& kernel, const Shape& shape,
                  double cost, const char* domain_error) {
  TROUPE_ASSIGN(const arith::BroadcastPlan plan,
                broadcast_plan({&c.input(0).shape(), &c.input(1).shape()}));
  const void* a = c.input(0).raw();
  const void* b = c.input(1).raw();
  TROUPE_ASSIGN(Tensor z, kernel.in_size == kernel.out_size
                              ? c.forward_or_allocate({0, 1}, 0, shape)
                              : c.allocate_output(0, shape));
  void* out = z.mutable_raw();
  std::atomic<bool> fine{true};
  c.parallel_for(shape.num_elements(), cost, [&](std::int64_t begin, std::int64_t end) {
    if (!kernel(plan, a, b, out, begin, end))
      fine.store(false, std::memory_order_relaxed);
  });
  return fine.load(std::memory_order_relaxed) ? Status{} : invalid_argument(domain_error);
}

namespace {

// Operands of one shape need no plan.
Status binary_of_one_shape(KernelContext& c, const arith::BinaryKernel& kernel, double cost,
                           const char* domain_error) {
  using arith::RowMode;
  const auto* a = static_cast<const std::byte*>(c.input(0).raw());
  const auto* b = static_cast<const std::byte*>(c.input(1).raw());
  const std::int64_t elements = c.input(0).num_elements();
  TROUPE_TRY(make_output(c, {0, 1}, c.input(0).shape()));
  auto* out = static_cast<std::byte*>(c.output_entry(0).tensor.mutable_raw());
  if (elements == 1) // as in a loop's counter
    return kernel.row(a, b, out, 1, RowMode::both_rows) ? Status{} : invalid_argument(domain_error);
  std::atomic<bool> fine{true};
  c.parallel_for(elements, cost, [&](std::int64_t begin, std::int64_t end) {
    if (!kernel.row(a + begin * kernel.in_size, b + begin * kernel.in_size,
                    out + begin * kernel.out_size, end - begin, RowMode::both_rows))
      fine.store(false, std::memory_order_relaxed);
  });
  return fine.load(std::memory_order_relaxed) ? Status{} : invalid_argument(domain_error);
}

} // namespace

Status binary(KernelContext& c, arith::BinaryOp op) {
  TROUPE_ASSIGN(const arith::BinaryKernel kernel, arith::binary(op, c.input(0).dtype()));
  const char* domain_error = op == arith::BinaryOp::pow
                                 ? "Integers to negative integer powers are not allowed"
                                 : "Integer division by zero";
  const double cost = nanoseconds(arith::cost_of(op));
  if (c.input(0).shape() == c.input(1).shape())
    return binary_of_one_shape(c, kernel, cost, domain_error);
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(c.input(0).shape(), c.input(1).shape()));
  return run_binary(c, kernel, shape, cost, domain_error);
}

KernelOptions for_types(std::vector<DType> types) {
  KernelOptions options;
  options.types = {{"T", std::move(types)}};
  options.expensive = true;
  return options;
}

} // namespace troupe::math
