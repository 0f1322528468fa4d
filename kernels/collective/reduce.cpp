// CollectiveReduce and its later versions: every device of a group gets the merged inputs of all.
#include "kernels/collective/internal/call.hpp"
#include "kernels/collective/internal/communicator.hpp"
#include "kernels/collective/internal/subgroup.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::collective_reduce {
namespace {

using namespace collective;

Result<CollectiveCall> like_input(KernelContext& c, CollectiveCall call) {
  TROUPE_TRY(allocate_result(c, call, call.spec.shape));
  return call;
}

Result<CollectiveCall> reduce(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, begin_call(c, 1, true));
  return like_input(c, std::move(call));
}

Result<CollectiveCall> reduce_in(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, call_in_communicator(c));
  return like_input(c, std::move(call));
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto prepare = prepare_node<CollectiveKind::reduce>;
  library.op("CollectiveReduce")
      .input("input: T")
      .output("data: T")
      .attr(numbers)
      .attr(key_attrs)
      .attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}; final_op: {'Id', 'Div'}")
      .attr("subdiv_offsets: list(int); wait_for: list(int) = []")
      .attr(hint_and_timeout)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<reduce>, {.prepare = prepare})
      .doc("The inputs of all devices of a group, merged element by element.");
  library.op("CollectiveReduceV2")
      .input("input: T")
      .input(key_inputs)
      .input("ordering_token: Nordering_token * resource")
      .output("data: T")
      .attr(numbers)
      .attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}; final_op: {'Id', 'Div'}")
      .attr(token_attrs)
      .attr("max_subdivs_per_device: int = -1")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<reduce>, {.prepare = prepare})
      .doc("The inputs of all devices of a group, merged element by element; the group is an "
           "input.");
  library.op("CollectiveReduceV3")
      .input("input: T")
      .input("communicator: resource; group_assignment: int32")
      .output("data: T")
      .attr(numbers)
      .attr("reduction: {'Min', 'Max', 'Mul', 'Add'}; timeout_seconds: float = 0")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<reduce_in>, {.prepare = prepare})
      .doc("The inputs of all devices of a communicator, or of a part of it, merged element by "
           "element.");
}

} // namespace troupe::collective_reduce
