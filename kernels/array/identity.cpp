// Ops that hand their inputs on as they are.
#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_identity {
namespace {

Status infer_shapes_like_inputs(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.output_like(i, i));
  return {};
}

Status differentiate(GradContext& g) {
  for (int i = 0; i < g.num_inputs(); ++i)
    TROUPE_TRY(g.set_input_grad(i, g.output_grad(i)));
  return {};
}

Status refuse(GradContext& g) {
  return invalid_argument(str_cat("Gradient explicitly disabled. Reason: '",
                                  g.attrs().get_or<std::string>("message", ""), "'"));
}

// Values and references alike.
Status compute(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    c.output_entry(i) = std::move(c.input_entry(i));
  return {};
}

// A variable may change behind its handle.
Status compute_guaranteed(KernelContext& c) {
  if (c.output_type(0) == DType::resource)
    return invalid_argument("Input tensor cannot be a resource variable handle.");
  return compute(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Identity")
      .input("input: T")
      .output("output: T")
      .attr("T: type")
      .roles(Role::passes_on)
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .host_kernel_on_gpu(compute, {.types = {{"T", {DType::int32}}}})
      .kernel_on_all_devices(compute)
      .doc("Its input.");
  library.op("IdentityN")
      .input("input: T")
      .output("output: T")
      .attr("T: list(type) >= 1")
      .shape_fn(infer_shapes_like_inputs)
      .gradient(differentiate)
      .kernel_on_all_devices(compute)
      .doc("Its inputs, each.");
  library.op("Snapshot")
      .input("input: T")
      .output("output: T")
      .attr("T: type")
      .roles(Role::passes_on)
      .shape_fn(shape_unchanged)
      .not_differentiable("TensorFlow defines no gradient for it")
      .kernel_on_all_devices(compute)
      .doc("Its input, which later assignments to a variable do not change.");
  library.op("_EagerConst")
      .input("input: T")
      .output("output: T")
      .attr("T: type")
      .roles(Role::passes_on)
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .kernel_on_all_devices(compute)
      .doc("Its input: a value that a function's client has made a constant of.");
  library.op("XlaClusterOutput")
      .input("input: T")
      .output("outputs: T")
      .attr("T: type")
      .roles(Role::passes_on)
      .shape_fn(shape_unchanged)
      .not_differentiable("TensorFlow prohibits gradients of what xla.compile made")
      .kernel_on_all_devices(compute)
      .doc("Its input: a result of a part of the graph that was marked for compilation.");
  library.op("RefIdentity")
      .input("input: Ref(T)")
      .output("output: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input()
      .roles(Role::passes_on)
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .kernel_on_all_devices(compute)
      .doc("The same reference.");
  library.op("DebugGradientIdentity")
      .input("input: T")
      .output("output: T")
      .attr("T: type")
      .allows_uninitialized_input()
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .kernel_on_all_devices(compute)
      .doc("Its input, at a place where a debugger sees the gradient.");
  library.op("DebugGradientRefIdentity")
      .input("input: Ref(T)")
      .output("output: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input()
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .kernel_on_all_devices(compute)
      .doc("The same reference, at a place where a debugger sees the gradient.");
  library.op("StopGradient")
      .input("input: T")
      .output("output: T")
      .attr("T: type")
      .roles({Role::passes_on, Role::flat})
      .shape_fn(shape_unchanged)
      .not_differentiable("it stands for a constant; nothing flows through it")
      .kernel_on_all_devices(compute)
      .doc("Its input; differentiation takes it for a constant.");
  library.op("GuaranteeConst")
      .input("input: T")
      .output("output: T")
      .attr("T: type")
      .stateful()
      .shape_fn(shape_unchanged)
      .not_differentiable("its input is a constant")
      .kernel_on_all_devices(compute_guaranteed)
      .doc("Its input, which the graph's author knows to be the same in every step.");
  library.op("PreventGradient")
      .input("input: T")
      .output("output: T")
      .attr("T: type; message: string = ''")
      .roles(Role::passes_on)
      .shape_fn(shape_unchanged)
      .gradient(refuse)
      .kernel_on_all_devices(compute)
      .doc("Its input; differentiating through it is an error with `message`.");
}

} // namespace troupe::array_identity
