// Ops that TensorFlow has for its own tests and examples: kernels picked by a label, what a node
// knows of its graph and its place.
#include "devices/device.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_test_ops {
namespace {

Status say(KernelContext& c, std::string text) {
  return c.set_output(0, Tensor::scalar<std::string>(std::move(text)));
}

Status fact(KernelContext& c) {
  return say(c, "0! == 1");
}
Status other_fact(KernelContext& c) {
  return say(c, "Sergey Brin and Batman have never been seen at the same place at the same time.");
}

Status default_label(KernelContext& c) {
  return say(c, "My label is: default");
}
Status own_label(KernelContext& c) {
  return say(c, "My label is: " + c.attrs().get_or<std::string>("_kernel", ""));
}

Status infer_of_vector(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  return c.set_output(0, Shape{});
}

Result<std::shared_ptr<const void>> read_version(PrepareContext& c) {
  return prepared(c.graph_version());
}
Status version(KernelContext& c) {
  return c.set_output(0, Tensor::scalar<std::int32_t>(c.prepared<int>()));
}

Status device(KernelContext& c) {
  return say(c, std::string(c.device().name()));
}

Status dtype(KernelContext& c) {
  return say(c, std::string(to_string(c.input(0).dtype())));
}

Status one(KernelContext& c) {
  return c.set_output(0, Tensor::scalar(1.0f));
}

Status yes(KernelContext& c) {
  return c.set_output(0, Tensor::scalar(true));
}

Status nothing(KernelContext&) {
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Fact")
      .output("fact: string")
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(fact)
      .cpu_kernel(other_fact, {.labels = {"sergey", "Sergey"}})
      .doc("A fact of mathematics.");
  library.op("KernelLabel")
      .output("result: string")
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(default_label)
      .cpu_kernel(own_label, {.labels = {"overload_1", "overload_2"}})
      .doc("The label of its kernel, which the attribute _kernel picks.");
  library.op("KernelLabelRequired")
      .input("input: int32")
      .output("result: string")
      .shape_fn(infer_of_vector)
      .not_differentiable("its output is a text")
      .cpu_kernel(own_label, {.labels = {"overload_1", "overload_2"}})
      .doc("The label of its kernel; there is none for nodes without the attribute _kernel.");
  library.op("GraphDefVersion")
      .output("version: int32")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(version, {.prepare = read_version})
      .doc("The version of GraphDef that the graph was written in.");
  library.op("Old")
      .shape_fn(shape_none)
      .not_differentiable("it has no inputs")
      .cpu_kernel(nothing)
      .doc("Does nothing; of graphs below version 8.");
  library.op("TestAttr")
      .output("out: T")
      .attr("T: {float, double}")
      .stateful()
      .shape_fn(shape_unknown)
      .not_differentiable("it has no inputs")
      .cpu_kernel(one, {.types = {{"T", {DType::float32}}}})
      .doc("One, as a float; there is no kernel for doubles.");
  library.op("DevicePlacementOp")
      .output("device: string")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(device, {.host_outputs = {"device"}})
      .doc("The full name of the node's device.");
  library.op("DtypeWithDefaultOp")
      .input("in: T")
      .output("dtype: string")
      .attr("T: type = DT_UINT8")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("its output is a text")
      .cpu_kernel(dtype)
      .doc("The name of its input's dtype.");
  library.op("IsTensorFloat32Enabled")
      .output("enabled: bool")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(yes)
      .doc("Whether products of floats may be computed from fewer bits: a client's switch, which "
           "does not reach a node.");
}

} // namespace troupe::control_test_ops
