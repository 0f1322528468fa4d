// TensorFlow's names of optimisations, and what of ours does the like.
#include <algorithm>
#include <set>

#include "core/base/strings.hpp"
#include "graph/passes/optimize.hpp"

namespace troupe {
namespace {

struct Row {
  std::string_view name;
  std::string_view pass; // empty: none of ours; "*": all
};

// The switch, and the name in `optimizers` where that is another.
constexpr Row rows[] = {
    {"constant_folding", "fold_constants"},
    {"constfold", "fold_constants"},
    {"shape_optimization", "fold_shapes"},
    {"shape", "fold_shapes"},
    {"arithmetic_optimization", "simplify"},
    {"arithmetic_optimization", "merge_equal_nodes"},
    {"arithmetic_optimization", "fuse_log_softmax"},
    {"arithmetic", "simplify"},
    {"arithmetic", "merge_equal_nodes"},
    {"arithmetic", "fuse_log_softmax"},
    {"common_subgraph_elimination", "merge_equal_nodes"},
    {"dependency_optimization", "drop_control_edges"},
    {"dependency_optimization", "drop_unread_values"},
    {"dependency", "drop_control_edges"},
    {"dependency", "drop_unread_values"},
    {"model_pruning", "remove_dead_nodes"},
    {"pruning", "remove_dead_nodes"},
    {"meta_optimizer", "*"},
    {"auto_mixed_precision", ""},
    {"auto_parallel", ""},
    {"debug_stripper", "strip_debug"},
    {"function", ""},
    {"function_optimization", ""},
    {"implementation_selector", ""},
    {"layout", ""},
    {"layout_optimizer", ""},
    {"loop", ""},
    {"loop_optimization", ""},
    {"memory", ""},
    {"pin_to_host", ""},
    {"pin_to_host_optimization", ""},
    {"remap", "fuse_convolution"},
    {"remap", "fuse_elementwise"},
    {"remap", "fuse_matmul"},
    {"remapping", "fuse_convolution"},
    {"remapping", "fuse_elementwise"},
    {"remapping", "fuse_matmul"},
    {"scoped_allocator", ""},
    {"scoped_allocator_optimization", ""},
};

/// False if the name is neither ours nor TensorFlow's.
bool add_passes(std::string_view name, std::set<std::string>& out) {
  bool known = false;
  for (const Row& row : rows) {
    if (row.name != name)
      continue;
    known = true;
    if (row.pass == "*")
      for (const Pass& pass : all_passes())
        out.emplace(pass.name);
    else if (!row.pass.empty())
      out.emplace(row.pass);
  }
  if (std::ranges::find(all_passes(), name, &Pass::name) != all_passes().end()) {
    known = true;
    out.emplace(name);
  }
  return known;
}

Status no_such_pass(std::string_view name) {
  std::vector<std::string_view> ours;
  for (const Pass& pass : all_passes())
    ours.push_back(pass.name);
  return invalid_argument(str_cat("there is no optimisation '", name,
                                  "' to switch; the passes are ", str_join(ours, ", "),
                                  ", and the switches of RewriterConfig are known too"));
}

} // namespace

Result<std::vector<std::string>> passes_to_disable(std::span<const std::string> disabled,
                                                   std::span<const std::string> only) {
  std::set<std::string> off, on;
  for (const std::string& name : disabled)
    if (!add_passes(name, off))
      return no_such_pass(name);
  for (const std::string& name : only)
    add_passes(name, on);
  if (!only.empty())
    for (const Pass& pass : all_passes())
      if (!on.contains(std::string(pass.name)))
        off.emplace(pass.name);
  return std::vector<std::string>(off.begin(), off.end());
}

std::vector<std::string> passes_on_request(std::span<const std::string> names) {
  std::set<std::string> wanted;
  for (const std::string& name : names)
    add_passes(name, wanted);
  std::vector<std::string> out;
  for (const Pass& pass : all_passes())
    if (pass.on_request && wanted.contains(std::string(pass.name)))
      out.emplace_back(pass.name);
  return out;
}

} // namespace troupe
