// CollectiveReduceScatterV2, CollectiveAllToAllV2 and V3: every device of a group gets its part
// along dimension 0, of the merged inputs or of each input.
#include "core/base/strings.hpp"
#include "kernels/collective/internal/call.hpp"
#include "kernels/collective/internal/subgroup.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::collective_scatter {
namespace {

using namespace collective;

Status infer_scattered(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  if (!c.input(0).has_rank())
    return c.set_output(0, {});
  auto dims = c.input(0).dims();
  const auto size = c.input_as_ints(1);
  const bool is_known =
      size && size->size() == 1 && (*size)[0] > 0 && dims[0] >= 0 && dims[0] % (*size)[0] == 0;
  dims[0] = is_known ? dims[0] / (*size)[0] : -1;
  return c.set_output(0, PartialShape(std::move(dims)));
}

Result<CollectiveCall> reduce_scatter(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, begin_call(c, 1, true));
  const Shape& shape = call.spec.shape;
  const int size = call.spec.group_size;
  if (shape.rank() < 1)
    return invalid_argument(str_cat("Input should have rank > 0, got ", shape.rank()));
  if (shape[0] % size != 0)
    return invalid_argument(str_cat("dimension [0] of input (", shape[0],
                                    ") must be divisible by group size (", size, ")"));
  TROUPE_TRY(allocate_result(c, call, shape.with_dim(0, shape[0] / size)));
  return call;
}

Result<CollectiveCall> exchange(KernelContext& c, CollectiveCall call) {
  const Shape& shape = call.spec.shape;
  const int size = call.spec.group_size;
  if (shape.rank() < 1)
    return invalid_argument(str_cat("Input should have rank > 0, got ", shape.rank()));
  if (shape[0] != size)
    return invalid_argument(str_cat("input to all-to-all first dimension size (", shape[0],
                                    ") must be the same as group size (", size, ")"));
  TROUPE_TRY(allocate_result(c, call, shape));
  return call;
}

Result<CollectiveCall> all_to_all(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, begin_call(c, 1, true));
  return exchange(c, std::move(call));
}

Result<CollectiveCall> all_to_all_in(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, call_in_communicator(c));
  return exchange(c, std::move(call));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("CollectiveReduceScatterV2")
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
      .shape_fn(infer_scattered)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<reduce_scatter>,
                        {.prepare = prepare_node<CollectiveKind::reduce_scatter>})
      .doc("This device's part along dimension 0 of the merged inputs of all devices of a group.");
  library.op("CollectiveAllToAllV2")
      .input("input: T")
      .input(key_inputs)
      .input("ordering_token: Nordering_token * resource")
      .output("data: T")
      .attr(numbers)
      .attr(token_attrs)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<all_to_all>, {.prepare = prepare_node<CollectiveKind::all_to_all>})
      .doc(
          "This device's part along dimension 0 of every input of a group, in the order of ranks.");
  library.op("CollectiveAllToAllV3")
      .input("input: T")
      .input("communicator: resource; group_assignment: int32")
      .output("data: T")
      .attr(numbers)
      .attr("timeout_seconds: float = 0")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<all_to_all_in>, {.prepare = prepare_node<CollectiveKind::all_to_all>})
      .doc("This device's part along dimension 0 of every input of a communicator, or of a part of "
           "it.");
}

} // namespace troupe::collective_scatter
