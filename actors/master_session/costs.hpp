// What a step's nodes have cost, from what its tasks recorded. Plain.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/step/step.hpp"
#include "core/trace/cost_graph.hpp"
#include "core/trace/step_stats.hpp"

namespace troupe {

/// The nodes of all parts of the plan, with the times and outputs that are in `stats`.
std::vector<CostNode> costs_of(const StepPlan& plan, const std::vector<DeviceStats>& stats);

/// By node: what it took when it was last told; `before` may be null. For estimates of other steps.
using KnownCosts = std::map<std::string, std::int64_t>;
std::shared_ptr<const KnownCosts> with_costs(const KnownCosts* before,
                                             const std::vector<CostNode>& costs);

} // namespace troupe
