#include "actors/master_session/costs.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace troupe {

namespace {
constexpr std::string_view stream_suffix = "/stream:all";
}

std::vector<CostNode> costs_of(const StepPlan& plan, const std::vector<DeviceStats>& stats) {
  std::vector<CostNode> out;
  for (const RegisteredPart& part : plan.parts) {
    const auto first = static_cast<std::int32_t>(out.size());
    for (CostNode node : part.cost_nodes) {
      for (CostNode::Input& input : node.inputs)
        input.node += first;
      for (std::int32_t& id : node.control_inputs)
        id += first;
      out.push_back(std::move(node));
    }
  }
  std::unordered_map<std::string, CostNode*> by_place; // device and name
  for (CostNode& node : out)
    by_place.emplace(node.device + '\n' + node.name, &node);
  // A kernel of a GPU returns when its work is enqueued; what that takes stands under the stream.
  std::unordered_set<CostNode*> on_stream;
  for (const DeviceStats& device : stats) {
    if (!device.device.ends_with(stream_suffix))
      continue;
    const std::string name = device.device.substr(0, device.device.size() - stream_suffix.size());
    for (const NodeStats& run : device.nodes)
      if (auto found = by_place.find(name + '\n' + run.node); found != by_place.end()) {
        on_stream.insert(found->second);
        found->second->compute_us += run.end_us - run.start_us;
      }
  }
  for (const DeviceStats& device : stats)
    for (const NodeStats& run : device.nodes) {
      auto found = by_place.find(device.device + '\n' + run.node);
      if (found == by_place.end())
        continue;
      CostNode& node = *found->second;
      if (!on_stream.contains(&node))
        node.compute_us += run.end_us - run.start_us;
      for (const OutputStats& output : run.outputs)
        if (const auto slot = static_cast<std::size_t>(output.slot);
            output.slot >= 0 && slot < node.outputs.size())
          node.outputs[slot] = {output.bytes, output.dtype, output.dims};
    }
  return out;
}

std::shared_ptr<const KnownCosts> with_costs(const KnownCosts* before,
                                             const std::vector<CostNode>& costs) {
  auto out = before ? std::make_shared<KnownCosts>(*before) : std::make_shared<KnownCosts>();
  for (const CostNode& node : costs)
    (*out)[node.name] = node.compute_us;
  return out;
}

} // namespace troupe
