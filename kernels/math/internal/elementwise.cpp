#include "kernels/math/elementwise.hpp"

#include <atomic>

namespace troupe::math {

namespace {

// Output 0 for one element, without a copy of a tensor: for kernels so small that it counts.
Status make_output_of_one(KernelContext& c) {
  Tensor& out = c.output_entry(0).tensor;
  const DType dtype = c.output_type(0);
  if (c.io().output_in_host_memory.empty() && !is_object(dtype))
    if (BufferRef buffer = Buffer::allocate(c.device().allocator(), dtype_size(dtype))) {
      out = Tensor(dtype, c.input(0).shape(), std::move(buffer));
      return {};
    }
  return c.allocate_output(0, c.input(0).shape()).status(); // says what is wrong
}

} // namespace

Status unary(KernelContext& c, arith::UnaryOp op) {
  const DType dtype = c.input(0).dtype();
  TROUPE_ASSIGN(const auto fn, arith::unary(op, dtype));
  const void* x = c.input(0).raw();
  if (c.input(0).num_elements() == 1) { // neither threads nor copies of tensors
    Tensor& one = c.output_entry(0).tensor;
    if (dtype == c.output_type(0) && c.input(0).is_unique())
      one = c.take_input(0);
    else
      TROUPE_TRY(make_output_of_one(c));
    fn(x, one.mutable_raw(), 0, 1);
    return {};
  }
  const Shape shape = c.input(0).shape();
  const bool in_place = dtype_size(dtype) == dtype_size(c.output_type(0));
  TROUPE_ASSIGN(Tensor y,
                in_place ? c.forward_or_allocate(0, 0, shape) : c.allocate_output(0, shape));
  void* out = y.mutable_raw();
  c.parallel_for(shape.num_elements(), nanoseconds(arith::cost_of(op)),
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

// One element each, as in a loop's counter: neither plan nor threads, and the tensor is moved.
Status binary_of_one(KernelContext& c, const arith::BinaryKernel& kernel,
                     const char* domain_error) {
  static const arith::BroadcastPlan plan = arith::flat_plan(1);
  const void* a = c.input(0).raw();
  const void* b = c.input(1).raw();
  Tensor& z = c.output_entry(0).tensor;
  if (c.input(0).dtype() == c.output_type(0) && c.input(0).is_unique())
    z = c.take_input(0);
  else if (c.input(1).dtype() == c.output_type(0) && c.input(1).is_unique())
    z = c.take_input(1);
  else
    TROUPE_TRY(make_output_of_one(c));
  return kernel(plan, a, b, z.mutable_raw(), 0, 1) ? Status{} : invalid_argument(domain_error);
}

} // namespace

Status binary(KernelContext& c, arith::BinaryOp op) {
  TROUPE_ASSIGN(const arith::BinaryKernel kernel, arith::binary(op, c.input(0).dtype()));
  const char* domain_error = op == arith::BinaryOp::pow
                                 ? "Integers to negative integer powers are not allowed"
                                 : "Integer division by zero";
  if (c.input(0).num_elements() == 1 && c.input(0).shape() == c.input(1).shape())
    return binary_of_one(c, kernel, domain_error);
  const double cost = nanoseconds(arith::cost_of(op));
  if (c.input(0).shape() == c.input(1).shape())
    return run_binary(c, kernel, Shape(c.input(0).shape()), cost, domain_error);
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
