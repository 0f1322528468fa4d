// _Arg and _Retval: where a step's fed values come in and its fetched ones go out. The executor
// gives each _Arg its value and keeps each _Retval's input, by the index that they prepare.
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::comm_arg {
namespace {

Status refuse(KernelContext& c) {
  return internal(str_cat("node '", c.node_name(), "' (", c.node().schema->name,
                          ") is served by the executor and has no kernel of its own"));
}

} // namespace

void register_ops(OpLibrary& library) {
  const KernelOptions options{.prepare = keep_attr<std::int64_t, "index">};
  library.op("_Arg")
      .output("output: T")
      .attr("T: type; index: int >= 0")
      .stateful()
      .roles(Role::argument)
      .shape_fn(shape_unknown)
      .not_differentiable("it has no inputs")
      .kernel_on_all_devices(refuse, options)
      .doc("The fed value `index` of a step.");
  library.op("_Retval")
      .input("input: T")
      .attr("T: type; index: int >= 0")
      .stateful()
      .roles({Role::result, Role::takes_any_handle})
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .kernel_on_all_devices(refuse, options)
      .doc("Makes its input the fetched value `index` of a step.");
}

} // namespace troupe::comm_arg
