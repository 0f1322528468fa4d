// PyFunc, PyFuncStateless and EagerPyFunc call a function of the client's Python, which a server
// has not: they fail where they run, so that a graph may hold them in branches that are not taken.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_py_func {
namespace {

Status refuse(KernelContext& c) {
  return invalid_argument(str_cat(
      "ValueError: Could not find callback with key=", c.attrs().get_or("token", std::string()),
      " in the registry. Nodes run no Python: write the function in TensorFlow's ops, or compute "
      "what it gives in the client and feed it"));
}

void add(OpLibrary& library, std::string_view name, std::string_view attrs, bool is_stateful) {
  auto op = library.op(name);
  op.input("input: Tin")
      .output("output: Tout")
      .attr(str_cat("token: string; ", attrs, "Tin: list(type) >= 0; Tout: list(type) >= 0"))
      .shape_fn(shape_unknown)
      .not_differentiable("a server has no Python")
      .cpu_kernel(refuse)
      .doc("Fails: it would call a function of the client's Python.");
  if (is_stateful)
    op.stateful().roles(Role::side_effect);
}

} // namespace

void register_ops(OpLibrary& library) {
  add(library, "PyFunc", "", true);
  add(library, "PyFuncStateless", "", false);
  add(library, "EagerPyFunc", "is_async: bool = false; ", true);
}

} // namespace troupe::control_py_func
