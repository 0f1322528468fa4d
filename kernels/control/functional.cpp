// Ops that call functions. graph/functions puts other nodes in their place before the graph is
// placed. Calls of a function within itself stay, and those on a target that the graph computes:
// they have kernels.
#include "graph/op/grad_context.hpp"
#include "kernels/framework/functions.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_functional {
namespace {

constexpr auto clients = "clients bring the gradients of conditionals and loops along as functions";

// The gradient of the function for the same arguments.
Status differentiate_call(GradContext& g) {
  TROUPE_ASSIGN(FunctionRef f, g.attrs().get<FunctionRef>("f"));
  std::vector<Value> inputs;
  std::vector<DType> in, out;
  for (int i = 0; i < g.num_inputs(); ++i) {
    inputs.push_back(g.input(i));
    out.push_back(remove_ref(g.dtype(g.input(i))));
  }
  for (int i = 0; i < g.num_outputs(); ++i)
    inputs.push_back(g.output_grad(i).is_none() ? g.zeros_like(g.output(i)) : g.output_grad(i));
  for (Value v : inputs)
    in.push_back(remove_ref(g.dtype(v)));
  if (out.empty())
    return {};
  Value gradients = g.op("SymbolicGradient", inputs, {{"Tin", in}, {"Tout", out}, {"f", f}});
  for (int i = 0; i < g.num_inputs(); ++i)
    if (is_floating(out[static_cast<std::size_t>(i)]) ||
        is_complex(out[static_cast<std::size_t>(i)]))
      TROUPE_TRY(g.set_input_grad(i, g.slot(gradients, i)));
  return {};
}

Status infer_results(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.output_like(i, i));
  return {};
}

Status infer_branches(ShapeContext& c) {
  auto shapes = c.attrs().get_or<std::vector<PartialShape>>("output_shapes", {});
  if (shapes.size() == static_cast<std::size_t>(c.num_outputs()))
    for (int i = 0; i < c.num_outputs(); ++i)
      TROUPE_TRY(c.set_output(i, shapes[static_cast<std::size_t>(i)]));
  return {};
}

Status hand_on(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    c.output_entry(i) = std::move(c.input_entry(i));
  return {};
}

// Of the functions `all` with the inputs from `first_arg` on.
template <class Functions>
void call_one_of(KernelContext& c, KernelDone done, Functions all_functions, int first_arg) {
  const auto begin = [&]() -> Status {
    TROUPE_ASSIGN(const auto all, all_functions());
    TROUPE_ASSIGN(const auto function, all->find(c.prepared<FunctionRef>()));
    Tensors args;
    for (int i = first_arg; i < c.num_inputs(); ++i)
      args.push_back(c.take_input(i));
    function->call(call_from(c, std::move(args)), [&c, done](Result<Tensors> results) {
      Status status = results.status();
      if (status.ok() && static_cast<int>(results->size()) != c.num_outputs())
        status = invalid_argument(str_cat("Function has ", results->size(), " outputs, but ",
                                          c.num_outputs(), " were expected"));
      for (int i = 0; status.ok() && i < c.num_outputs(); ++i)
        status = c.set_output(i, std::move((*results)[static_cast<std::size_t>(i)]));
      done(std::move(status));
    });
    return {};
  };
  if (Status status = begin(); !status.ok())
    done(std::move(status));
}

void call(KernelContext& c, KernelDone done) {
  call_one_of(
      c, std::move(done), [&] { return functions(c); }, 0);
}

void call_on_target(KernelContext& c, KernelDone done) {
  const auto on_target = [&]() -> Result<std::shared_ptr<Functions>> {
    if (!c.input(0).shape().is_scalar())
      return invalid_argument("target must be a scalar");
    TROUPE_ASSIGN(const auto all, functions(c));
    return all->on(c.input(0).data<std::string>()[0]);
  };
  call_one_of(c, std::move(done), on_target, 1);
}

Status refuse(KernelContext& c) {
  TROUPE_ASSIGN(const auto code, c.attr<std::int64_t>("code"));
  TROUPE_ASSIGN(const auto message, c.attr<std::string>("message"));
  const bool is_error = code > 0 && code <= static_cast<std::int64_t>(Code::unauthenticated);
  return Status(is_error ? static_cast<Code>(code) : Code::internal, message);
}

void add_call(OpLibrary& library, std::string_view name, bool is_stateful) {
  auto op = library.op(name);
  op.input("args: Tin")
      .output("output: Tout")
      .attr("Tin: list(type) >= 0; Tout: list(type) >= 0; f: func")
      .attr("config: string = ''; config_proto: string = ''; executor_type: string = ''");
  if (is_stateful)
    op.stateful();
  op.roles(Role::runs_functions)
      .shape_fn(shape_unknown)
      .gradient(differentiate_call)
      .cpu_kernel_async(call, {.prepare = keep_attr<FunctionRef, "f">})
      .doc("Calls the function `f`. The function's body takes its place, unless it is within that "
           "body.");
}

void add_if(OpLibrary& library, std::string_view name, bool is_stateful) {
  auto op = library.op(name);
  op.input("cond: Tcond; input: Tin")
      .output("output: Tout")
      .attr("Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0")
      .attr("then_branch: func; else_branch: func; output_shapes: list(shape) = []");
  if (is_stateful)
    op.stateful();
  op.shape_fn(infer_branches)
      .not_differentiable(clients)
      .doc("Calls one of two functions. It has no kernel: Switch and Merge take its place.");
}

void add_case(OpLibrary& library, std::string_view name, bool is_stateful) {
  auto op = library.op(name);
  op.input("branch_index: int32; input: Tin")
      .output("output: Tout")
      .attr("Tin: list(type) >= 0; Tout: list(type) >= 0")
      .attr("branches: list(func) >= 1; output_shapes: list(shape) = []");
  if (is_stateful)
    op.stateful();
  op.shape_fn(infer_branches)
      .not_differentiable(clients)
      .doc("Calls one of several functions, the last if the index is out of range. It has no "
           "kernel: "
           "_SwitchN and Merge take its place.");
}

void add_while(OpLibrary& library, std::string_view name, bool is_stateful) {
  auto op = library.op(name);
  op.input("input: T")
      .output("output: T")
      .attr("T: list(type) >= 0; cond: func; body: func")
      .attr("output_shapes: list(shape) = []; parallel_iterations: int = 10");
  if (is_stateful)
    op.stateful();
  op.shape_fn(infer_branches)
      .not_differentiable(clients)
      .doc(
          "Calls `body` as long as `cond` holds. It has no kernel: a loop of Enter, Merge, Switch, "
          "NextIteration and Exit takes its place.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add_call(library, "PartitionedCall", false);
  add_call(library, "StatefulPartitionedCall", true);
  add_if(library, "StatelessIf", false);
  add_if(library, "If", true);
  add_case(library, "StatelessCase", false);
  add_case(library, "Case", true);
  add_while(library, "StatelessWhile", false);
  add_while(library, "While", true);
  library.op("SymbolicGradient")
      .input("input: Tin")
      .output("output: Tout")
      .attr("Tin: list(type) >= 1; Tout: list(type) >= 1; f: func")
      .shape_fn(infer_results)
      .not_differentiable("second derivatives of functions are not supported")
      .doc(
          "The gradients of a function's arguments from these and the gradients of its results. It "
          "has no kernel: the function's gradient takes its place.");
  library.op("For")
      .input("start: int32; limit: int32; delta: int32; input: T")
      .output("output: T")
      .attr("T: list(type) >= 0; body: func")
      .shape_fn(shape_unknown)
      .not_differentiable(clients)
      .doc("Calls `body` with start, start + delta and so on up to the limit. It has no kernel: a "
           "loop takes its place.");
  library.op("RemoteCall")
      .input("target: string; args: Tin")
      .output("output: Tout")
      .attr("Tin: list(type) >= 1; Tout: list(type) >= 1; f: func")
      .stateful()
      .roles(Role::runs_functions)
      .shape_fn(shape_unknown)
      .not_differentiable(clients)
      .cpu_kernel_async(call_on_target, {.prepare = keep_attr<FunctionRef, "f">})
      .doc("Calls the function `f` on the device `target`. Where the target is a constant, the "
           "function's body takes its place, else it is a device of the same task.");
  library.op("_Results")
      .input("input: T")
      .output("output: T")
      .attr("T: list(type) >= 1; direct: list(int) = []")
      .roles(Role::takes_any_handle)
      .shape_fn(infer_results)
      .not_differentiable("it is there only after differentiation")
      .kernel_on_all_devices(hand_on)
      .doc(
          "Stands for a call whose body became part of the graph: its results, under its name. Who "
          "reads a result that `direct` lists may read it where it comes from. In traces its op is "
          "`_shown_as`, if it has that.");
  library.op("_Refusal")
      .output("output: Tout")
      .attr("Tout: list(type) >= 0; code: int; message: string")
      .stateful()
      .shape_fn(shape_unknown)
      .not_differentiable("it is there only after differentiation")
      .kernel_on_all_devices(refuse)
      .doc("Stands for a call that could not become part of the graph: an error that says why.");
}

} // namespace troupe::control_functional
