// CollectiveBcastSend, CollectiveBcastRecv: every device of a group gets the value of the one that
// sends.
#include "core/base/strings.hpp"
#include "kernels/collective/internal/call.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::collective_broadcast {
namespace {

using namespace collective;

constexpr auto dtypes = "T: {bool, float, half, double, int32, int64}";

Status infer_from_attr(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  return c.set_output(0, std::move(shape));
}

Status infer_from_input(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(3));
  return c.set_output(0, std::move(shape));
}

Result<CollectiveCall> send(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, begin_call(c, 1, true));
  call.is_source = true;
  call.output = call.input;
  const auto& attrs = c.prepared<NodeAttrs>();
  if (attrs.has_keys && !(attrs.shape.to_shape() == call.spec.shape))
    return internal(str_cat("Declared shape of op ", c.node_name(),
                            ": Broadcast(1) does not match shape of input: ",
                            attrs.shape.to_string(), " and ", call.spec.shape));
  return call;
}

Result<CollectiveCall> receive(KernelContext& c) {
  TROUPE_ASSIGN(CollectiveCall call, begin_call(c, 0, false));
  const auto& attrs = c.prepared<NodeAttrs>();
  if (attrs.has_keys) {
    const auto shape = attrs.shape.to_shape();
    if (!shape)
      return invalid_argument(str_cat("the attribute shape of node '", c.node_name(), "' is ",
                                      attrs.shape.to_string(),
                                      "; a receiver has to know every dimension"));
    call.spec.shape = *shape;
  } else {
    TROUPE_ASSIGN(call.spec.shape, shape_from(c.input(3)));
  }
  TROUPE_TRY(allocate_result(c, call, call.spec.shape));
  return call;
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto prepare = prepare_node<CollectiveKind::broadcast>;
  library.op("CollectiveBcastSend")
      .input("input: T")
      .output("data: T")
      .attr(dtypes)
      .attr(key_attrs)
      .attr("shape: shape")
      .attr(hint_and_timeout)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(infer_from_attr)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<send>, {.prepare = prepare})
      .doc("Sends its input to all devices of a group, each of which receives it.");
  library.op("CollectiveBcastRecv")
      .output("data: T")
      .attr(dtypes)
      .attr(key_attrs)
      .attr("shape: shape")
      .attr(hint_and_timeout)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(infer_from_attr)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<receive>, {.prepare = prepare})
      .doc("What another device of the group sends to all.");
  library.op("CollectiveBcastSendV2")
      .input("input: T")
      .input(key_inputs)
      .output("data: T")
      .attr(dtypes)
      .attr(hint_and_timeout)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<send>, {.prepare = prepare})
      .doc("Sends its input to all devices of a group; the group is an input.");
  library.op("CollectiveBcastRecvV2")
      .input(key_inputs)
      .input("shape: Tshape")
      .output("data: T")
      .attr(dtypes)
      .attr("Tshape: {int32, int64} = DT_INT32")
      .attr(hint_and_timeout)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(infer_from_input)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(run<receive>, {.prepare = prepare})
      .doc("What another device of the group sends to all; group and shape are inputs.");
}

} // namespace troupe::collective_broadcast
