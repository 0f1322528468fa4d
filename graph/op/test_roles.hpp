// For tests whose ops stand for TensorFlow's: the roles that the op library gives ops of these
// names.
#pragma once

#include <string_view>
#include <unordered_map>

#include "graph/op/schema.hpp"

namespace troupe {

inline RoleSet test_roles(std::string_view op) {
  static const std::unordered_map<std::string_view, RoleSet> table = {
      {"Const", Role::constant},
      {"Placeholder", Role::placeholder},
      {"_Arg", Role::argument},
      {"_Retval", {Role::result, Role::takes_any_handle}},
      {"_Send", Role::send},
      {"_Recv", {Role::receive, Role::blocks}},
      {"Identity", Role::passes_on},
      {"StopGradient", {Role::passes_on, Role::flat}},
      {"ZerosLike", Role::flat},
      {"NoOp", Role::no_op},
      {"ControlTrigger", Role::trigger},
      {"Switch", Role::branch},
      {"Merge", Role::merge},
      {"Enter", Role::enter},
      {"RefEnter", Role::enter},
      {"Exit", Role::exit},
      {"NextIteration", Role::next_iteration},
      {"LoopCond", {Role::loop_condition, Role::passes_on}},
      {"Shape", Role::metadata},
      {"Size", Role::metadata},
      {"Rank", Role::metadata},
      {"RandomUniform", Role::random},
      {"Variable", Role::variable},
      {"VariableV2", Role::variable},
      {"VarHandleOp", Role::variable},
      {"ReadVariableOp", Role::reads_variable},
      {"Assign", {Role::side_effect, Role::flat}},
      {"AssignVariableOp", Role::side_effect},
  };
  auto known = table.find(op);
  return known == table.end() ? RoleSet{} : known->second;
}

/// The schema with those roles.
inline OpSchema with_test_roles(OpSchema schema) {
  schema.roles |= test_roles(schema.name);
  return schema;
}

} // namespace troupe
