// CollectiveGather: every device of a group gets the inputs of all, one after the other along
// dimension 0, in the order of ranks.
#include "core/base/strings.hpp"
#include "kernels/collective/internal/call.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::collective_gather {
namespace {

using namespace collective;

Status infer(ShapeContext& c, std::optional<std::int64_t> group_size) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  if (!c.input(0).has_rank())
    return c.set_output(0, {});
  auto dims = c.input(0).dims();
  if (group_size && dims[0] >= 0) {
    TROUPE_ASSIGN(dims[0], shape_rules::multiply_dims(dims[0], *group_size));
  } else {
    dims[0] = shape_rules::unknown_dim;
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_with_attr(ShapeContext& c) {
  TROUPE_ASSIGN(const std::int64_t size, c.attr<std::int64_t>("group_size"));
  return infer(c, size > 0 ? std::optional(size) : std::nullopt);
}

Status infer_with_input(ShapeContext& c) {
  const auto size = c.input_as_ints(1);
  return infer(c, size && size->size() == 1 && (*size)[0] > 0 ? std::optional((*size)[0])
                                                              : std::nullopt);
}

Result<CollectiveCall> gather(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, begin_call(c, 1, true));
  const Shape& shape = call.spec.shape;
  if (shape.rank() < 1)
    return invalid_argument(str_cat("the input of node '", c.node_name(),
                                    "' is a scalar; inputs are gathered along dimension 0, so "
                                    "the shape must be at least rank 1 but is rank 0"));
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  TROUPE_ASSIGN(dims[0], shape_rules::multiply_dims(dims[0], call.spec.group_size));
  TROUPE_ASSIGN(const Shape result, Shape::make(dims));
  TROUPE_TRY(allocate_result(c, call, result));
  return call;
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto prepare = prepare_node<CollectiveKind::gather>;
  library.op("CollectiveGather")
      .input("input: T")
      .output("data: T")
      .attr("T: {float, half, double, int32, int64}")
      .attr(key_attrs)
      .attr("shape: shape")
      .attr(hint_and_timeout)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(infer_with_attr)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<gather>, {.prepare = prepare})
      .doc("The inputs of all devices of a group, one after the other along dimension 0.");
  library.op("CollectiveGatherV2")
      .input("input: T")
      .input(key_inputs)
      .input("ordering_token: Nordering_token * resource")
      .output("data: T")
      .attr("T: {float, half, double, int32, int64}")
      .attr(token_attrs)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(infer_with_input)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<gather>, {.prepare = prepare})
      .doc("The inputs of all devices of a group, one after the other along dimension 0; the group "
           "is an input.");
}

} // namespace troupe::collective_gather
