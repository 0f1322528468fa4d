// Merge: the one input that is not dead, and its index. The executor starts it when that input is
// there.
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_merge {
namespace {

// What all inputs agree on.
Status infer_shapes(ShapeContext& c) {
  PartialShape common = c.input(0);
  for (int i = 1; i < c.num_inputs() && common.has_rank(); ++i) {
    const PartialShape& other = c.input(i);
    if (other.rank() != common.rank()) {
      common = PartialShape();
      break;
    }
    std::vector<std::int64_t> dims = common.dims();
    for (int k = 0; k < common.rank(); ++k)
      if (other.dim(k) != common.dim(k))
        dims[static_cast<std::size_t>(k)] = -1;
    common = PartialShape(std::move(dims));
  }
  TROUPE_TRY(c.set_output(0, std::move(common)));
  return c.set_output(1, PartialShape(std::vector<std::int64_t>{}));
}

Status compute(KernelContext& c) {
  int live = -1;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.has_input(i))
      continue;
    if (live >= 0)
      return internal("Merge can not have more than one valid input.");
    live = i;
  }
  if (live < 0) // all are dead, so are the outputs
    return {};
  c.output_entry(0) = std::move(c.input_entry(live));
  return c.set_output(1, Tensor::scalar<std::int32_t>(live));
}

constexpr auto conditionals = "graph/autodiff differentiates conditionals as a whole";
const KernelOptions options{.host_outputs = {"value_index"}};

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Merge")
      .input("inputs: N * T")
      .output("output: T; value_index: int32")
      .attr("T: type; N: int >= 1")
      .roles(Role::merge)
      .shape_fn(infer_shapes)
      .not_differentiable(conditionals)
      .host_kernel_on_gpu(compute, {.types = {{"T", {DType::int32}}}})
      .kernel_on_all_devices(compute, options)
      .doc("The first input that arrives alive, and its index.");
  library.op("RefMerge")
      .input("inputs: Ref(N * T)")
      .output("output: Ref(T); value_index: int32")
      .attr("T: type; N: int >= 1")
      .roles(Role::merge)
      .shape_fn(infer_shapes)
      .not_differentiable(conditionals)
      .kernel_on_all_devices(compute, options)
      .doc("The first reference that arrives alive, and its index.");
}

} // namespace troupe::control_merge
