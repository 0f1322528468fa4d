// The frame ops of v1 loops. Their kernels hand the input on; entering, leaving and counting
// iterations is the executor's work.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_loop {
namespace {

Status infer_scalar(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return c.output_like(0, 0);
}

Status compute(KernelContext& c) {
  c.output_entry(0) = std::move(c.input_entry(0));
  return {};
}

Result<std::shared_ptr<const void>> check_enter(PrepareContext& c) {
  TROUPE_ASSIGN(std::int64_t parallel, c.attr<std::int64_t>("parallel_iterations"));
  if (parallel < 1)
    return invalid_argument(str_cat("node '", c.node_name(), "' has parallel_iterations ", parallel,
                                    ", expected at least 1"));
  return std::shared_ptr<const void>();
}

constexpr auto loops = "graph/autodiff does not differentiate loops";
constexpr auto enter_attrs = "T: type; frame_name: string; is_constant: bool = false; "
                             "parallel_iterations: int = 10";

/// One op for values and one, "Ref…", for references.
void add_pair(OpLibrary& library, Role role, const std::string& name, std::string_view attrs,
              const KernelOptions& options, std::string_view doc) {
  KernelOptions counters = options; // which conditions read on the host
  counters.types = {{"T", {DType::int32}}};
  library.op(name)
      .input("data: T")
      .output("output: T")
      .attr(attrs)
      .roles(role)
      .shape_fn(shape_unchanged)
      .not_differentiable(loops)
      .host_kernel_on_gpu(compute, counters)
      .kernel_on_all_devices(compute, options)
      .doc(doc);
  library.op("Ref" + name)
      .input("data: Ref(T)")
      .output("output: Ref(T)")
      .attr(attrs)
      .roles(role)
      .shape_fn(shape_unchanged)
      .not_differentiable(loops)
      .kernel_on_all_devices(compute, options)
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add_pair(library, Role::enter, "Enter", enter_attrs, {.prepare = check_enter},
           "Brings its input into the loop `frame_name`: into iteration 0, or into every one if "
           "is_constant.");
  add_pair(library, Role::exit, "Exit", "T: type", {},
           "Takes a loop's value out into the frame around it.");
  add_pair(library, Role::next_iteration, "NextIteration", "T: type", {},
           "Takes its input to the next iteration.");
  library.op("LoopCond")
      .input("input: bool")
      .output("output: bool")
      .roles({Role::loop_condition, Role::passes_on})
      .shape_fn(infer_scalar)
      .not_differentiable(loops)
      .kernel_on_all_devices(compute, {.host_inputs = {"input"}, .host_outputs = {"output"}})
      .doc("The condition of a loop: its Switches read it.");
}

} // namespace troupe::control_loop
