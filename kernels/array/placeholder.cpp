// Placeholders: outputs that a step's caller feeds.
#include "graph/op/grad_context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_placeholder {
namespace {

Status shape_of_attr(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  return c.set_output(0, std::move(shape));
}

// Whoever feeds it may give any value of the declared shape, so the default's says nothing more.
Status shape_of_default(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
  TROUPE_TRY(shape_rules::merge_shapes(c.input(0), shape).status());
  return c.set_output(0, std::move(shape));
}

Status refuse(KernelContext& c) {
  std::string message = str_cat("You must feed a value for placeholder tensor '", c.node_name(),
                                "' with dtype ", to_string(c.output_type(0)));
  const auto shape = c.attrs().get_or("shape", PartialShape());
  if (shape.rank() > 0) // TensorFlow does not name a scalar's
    str_append(message, " and shape ", shape);
  return invalid_argument(std::move(message));
}

Status pass_on(KernelContext& c) {
  const auto& shape = c.prepared<PartialShape>();
  if (!shape.is_compatible_with(PartialShape(c.input(0).shape())))
    return invalid_argument(str_cat("the default of placeholder '", c.node_name(), "' has shape ",
                                    c.input(0).shape(), ", expected ", shape));
  return c.set_output(0, c.take_input(0));
}

Status differentiate_default(GradContext& g) {
  return g.set_input_grad(0, g.output_grad(0));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Placeholder")
      .output("output: dtype")
      .attr("dtype: type; shape: shape = { unknown_rank: true }")
      .roles(Role::placeholder)
      .shape_fn(shape_of_attr)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(refuse)
      .doc("A value that each step must be fed.");
  library.op("PlaceholderV2")
      .output("output: dtype")
      .attr("dtype: type; shape: shape")
      .roles(Role::placeholder)
      .shape_fn(shape_of_attr)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(refuse)
      .doc("A value that each step must be fed.");
  library.op("PlaceholderWithDefault")
      .input("input: dtype")
      .output("output: dtype")
      .attr("dtype: type; shape: shape")
      .roles(Role::placeholder)
      .shape_fn(shape_of_default)
      .gradient(differentiate_default)
      .kernel_on_all_devices(pass_on, {.prepare = keep_attr<PartialShape, "shape">})
      .doc("Its input, unless a step is fed another value.");
}

} // namespace troupe::array_placeholder
