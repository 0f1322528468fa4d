// Select and SelectV2: output = condition ? t : e. V2 broadcasts all three; the first takes a
// condition of t's shape, a scalar, or a vector with one entry for each row of t.
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_select {
namespace {

Status differentiate_select(GradContext& g) {
  const Value condition = g.input(0), dz = g.output_grad(0);
  const Value zeros = g.zeros_like(g.input(1));
  TROUPE_TRY(g.set_input_grad(1, g.op("Select", {condition, dz, zeros})));
  return g.set_input_grad(2, g.op("Select", {condition, zeros, dz}));
}

Status differentiate_select_v2(GradContext& g) {
  const Value condition = g.input(0), dz = g.output_grad(0);
  const Value zeros = g.zeros_like(dz);
  const Value gt = g.op("SelectV2", {condition, dz, zeros});
  const Value ge = g.op("SelectV2", {condition, zeros, dz});
  TROUPE_TRY(g.set_input_grad(1, g.unbroadcast(g.input(1), g.output(0), gt, {}).first));
  return g.set_input_grad(2, g.unbroadcast(g.input(2), g.output(0), ge, {}).first);
}

Status infer_select(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape branches, shape_rules::merge_shapes(c.input(1), c.input(2)));
  const PartialShape& condition = c.input(0);
  if (condition.has_rank() && branches.has_rank() && condition.rank() > 0) {
    if (condition.rank() == branches.rank()) {
      TROUPE_ASSIGN(branches, shape_rules::merge_shapes(branches, condition));
    } else if (condition.rank() == 1 && branches.rank() > 1) {
      auto dims = branches.dims();
      TROUPE_ASSIGN(dims[0], shape_rules::merge_dims(dims[0], condition.dim(0)));
      branches = PartialShape(std::move(dims));
    } else {
      return invalid_argument(str_cat("Shapes must be equal rank, but are ", branches.rank(),
                                      " and ", condition.rank()));
    }
  }
  return c.set_output(0, std::move(branches));
}

Status infer_select_v2(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape branches, broadcast_partial(c.input(1), c.input(2)));
  TROUPE_ASSIGN(PartialShape all, broadcast_partial(branches, c.input(0)));
  return c.set_output(0, std::move(all));
}

// Objects are chosen one by one through the positions that the arithmetic chooses.
template <class T>
Status select_objects(KernelContext& c, const arith::BroadcastPlan& plan, const Shape& shape) {
  const Tensor &t = c.input(1), &e = c.input(2);
  const auto n = t.num_elements(), m = e.num_elements();
  std::vector<std::int64_t> positions(static_cast<std::size_t>(n + m)),
      chosen(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<std::int64_t>(i);
  arith::select(8, plan, c.input(0).raw(), positions.data(), positions.data() + n, chosen.data(), 0,
                shape.num_elements());
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if constexpr (std::is_same_v<T, std::string>) {
    std::size_t bytes = 0;
    for (std::int64_t i : chosen)
      bytes += (i < n ? t.data<T>()[static_cast<std::size_t>(i)]
                      : e.data<T>()[static_cast<std::size_t>(i - n)])
                   .size();
    TROUPE_TRY(out.charge(bytes));
  }
  auto to = out.mutable_data<T>();
  for (std::size_t i = 0; i < chosen.size(); ++i)
    to[i] = chosen[i] < n ? t.data<T>()[static_cast<std::size_t>(chosen[i])]
                          : e.data<T>()[static_cast<std::size_t>(chosen[i] - n)];
  return {};
}

Status run(KernelContext& c, const Shape& condition_shape, const Shape& shape) {
  if (c.device().has_own_memory())
    return math::select_on_gpu(c, condition_shape, shape);
  const DType dtype = c.input(1).dtype();
  TROUPE_ASSIGN(const arith::BroadcastPlan plan,
                math::broadcast_plan({&condition_shape, &c.input(1).shape(), &c.input(2).shape()}));
  if (is_object(dtype))
    return dispatch(Types<std::string, ResourceHandle, Variant>{}, dtype,
                    [&]<class T>() -> Status { return select_objects<T>(c, plan, shape); });
  const void* condition = c.input(0).raw();
  const void* t = c.input(1).raw();
  const void* e = c.input(2).raw();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate({1, 2}, 0, shape));
  void* to = out.mutable_raw();
  const int size = static_cast<int>(dtype_size(dtype));
  c.parallel_for(shape.num_elements(), 2 * math::cheap, [&](std::int64_t begin, std::int64_t end) {
    arith::select(size, plan, condition, t, e, to, begin, end);
  });
  return {};
}

Status compute_select(KernelContext& c) {
  const Shape &condition = c.input(0).shape(), shape = c.input(1).shape(),
              &otherwise = c.input(2).shape();
  const bool is_by_element =
      !condition.is_scalar() && !(condition.rank() == 1 && shape.rank() != 1);
  if (is_by_element && (condition != shape || condition != otherwise))
    return invalid_argument(str_cat(
        "Inputs to operation ", c.node_name(),
        " of type Select must have the same size and shape.  Input 0: ", condition, " != input ",
        condition != shape ? 1 : 2, ": ", condition != shape ? shape : otherwise));
  if (shape != otherwise)
    return invalid_argument(str_cat(
        "'then' and 'else' must have the same size.  but received: ", shape, " vs. ", otherwise));
  if (condition.is_scalar() && !c.device().has_own_memory()) {
    const bool first = c.input(0).value<bool>();
    return c.set_output(0, c.input(first ? 1 : 2));
  }
  if (condition == shape || condition.is_scalar())
    return run(c, Shape(condition), shape);
  if (shape.rank() < 1)
    return invalid_argument(str_cat("'then' must be at least a vector, but saw shape: ", shape));
  if (shape[0] != condition[0])
    return invalid_argument(
        str_cat("Number of batches of 'then' must match size of 'cond', but saw: ", shape[0],
                " vs. ", condition[0]));
  std::vector<std::int64_t> column(static_cast<std::size_t>(shape.rank()), 1);
  column[0] = condition[0];
  return run(c, Shape(std::span<const std::int64_t>(column)), shape);
}

Status compute_select_v2(KernelContext& c) {
  const Shape condition = c.input(0).shape();
  const Shape &t = c.input(1).shape(), &e = c.input(2).shape();
  if (condition == t && t == e)
    return run(c, condition, condition);
  auto branches = broadcast_shapes(t, e);
  auto all = branches.ok() ? broadcast_shapes(condition, *branches) : branches;
  if (!all.ok())
    return invalid_argument(
        str_cat("condition ", condition, ", then ", t, ", and else ", e, " must be broadcastable"));
  return run(c, condition, *all);
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

KernelOptions gpu_options() {
  return math::for_types({DType::float32, DType::float64, DType::float16, DType::bfloat16,
                          DType::int8, DType::uint8, DType::int32, DType::int64, DType::bool_});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Select")
      .input("condition: bool; t: T; e: T")
      .output("output: T")
      .attr("T: type")
      .shape_fn(infer_select)
      .gradient(differentiate_select)
      .cpu_kernel(compute_select, options())
      .gpu_kernel(compute_select, gpu_options())
      .doc("Elements, or rows, of t where the condition holds, of e elsewhere.");
  library.op("SelectV2")
      .input("condition: bool; t: T; e: T")
      .output("output: T")
      .attr("T: type")
      .shape_fn(infer_select_v2)
      .gradient(differentiate_select_v2)
      .cpu_kernel(compute_select_v2, options())
      .gpu_kernel(compute_select_v2, gpu_options())
      .doc("Elements of t where the condition holds, of e elsewhere; all three broadcast.");
}

} // namespace troupe::math_select
