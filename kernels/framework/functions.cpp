#include "kernels/framework/functions.hpp"

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"

namespace troupe {

Result<std::shared_ptr<Functions>> functions(const KernelContext& c) {
  if (Functions* of_graph = c.step().functions)
    return of_graph->shared_from_this();
  return internal(
      str_cat("node '", c.node_name(), "' runs functions, and its graph has none here"));
}

FunctionCall call_from(const KernelContext& c, Tensors args) {
  FunctionCall call;
  call.args = std::move(args);
  call.cancellation = &c.cancellation();
  call.step_id = c.step().step_id;
  call.depth = c.step().call_depth + 1;
  return call;
}

} // namespace troupe
