#include "kernels/state/internal/change.hpp"

#include "core/base/strings.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::state {

Result<std::shared_ptr<Variable>> variable_to_change(KernelContext& c, int i) {
  if (!is_ref(c.io().types.inputs[static_cast<std::size_t>(i)]))
    return resource_variable(c, i);
  const auto& variable = c.input_ref(i);
  if (!variable->is_initialized())
    return failed_precondition(
        str_cat("Attempting to use uninitialized value: the variable that node '", c.node_name(),
                "' changes has none. Run its initializer first"));
  return variable;
}

void give_ref(KernelContext& c, std::shared_ptr<Variable> variable) {
  if (c.num_outputs() > 0 && is_ref(c.output_type(0)))
    c.set_output_ref(0, std::move(variable));
}

} // namespace troupe::state
