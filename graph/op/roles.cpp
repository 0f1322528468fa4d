#include "graph/op/roles.hpp"

#include <array>
#include <string_view>

namespace troupe {

std::string to_string(RoleSet roles) {
  static constexpr std::array<std::string_view, 27> names = {
      "constant",       "placeholder",      "argument",       "result",
      "send",           "receive",          "passes_on",      "no_op",
      "trigger",        "branch",           "merge",          "enter",
      "exit",           "next_iteration",   "loop_condition", "metadata",
      "check",          "random",           "blocks",         "side_effect",
      "flat",           "filtering",        "runs_functions", "variable",
      "reads_variable", "takes_any_handle", "asks_variable"};
  static_assert(names.size() == static_cast<std::size_t>(Role::asks_variable) + 1);
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (roles.has(static_cast<Role>(i))) {
      out += out.empty() ? "" : ", ";
      out += names[i];
    }
  return out;
}

} // namespace troupe
