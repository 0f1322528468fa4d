// Session: what it says of its cluster, its steps and its graph.
#include "api/internal/session_impl.hpp"

#include "actors/step/step_text.hpp"

namespace troupe {

Result<std::vector<DeviceAttributes>> Session::devices() {
  if (!impl_)
    return moved_from_session();
  TROUPE_ASSIGN(DeviceList list,
                impl_->ask<DeviceList>(ListDevices{}, impl_->timeouts.request, "ListDevices"));
  return std::move(list.devices);
}

Result<std::vector<StepSummary>> Session::steps() {
  if (!impl_)
    return moved_from_session();
  TROUPE_ASSIGN(StepList list,
                impl_->ask<StepList>(GetSteps{}, impl_->timeouts.request, "GetSteps"));
  std::vector<StepSummary> out;
  for (StepInfo& step : list.steps)
    out.push_back(
        {step.step_id, std::move(step.signature), std::move(step.state), step.duration_us});
  return out;
}

std::string WaitReport::to_text() const {
  std::string out;
  for (const StepWait& step : steps)
    out += format_step({step.step_id, step.signature, step.running_us, step.tree, step.cause});
  for (const std::string& remark : remarks)
    str_append(out, remark, "\n");
  return out;
}

Result<WaitReport> Session::why(std::uint64_t step_id) {
  if (!impl_)
    return moved_from_session();
  const Timeouts& t = impl_->timeouts;
  TROUPE_ASSIGN(StepsExplained explained,
                impl_->ask<StepsExplained>(ExplainStep{step_id}, t.request + 3 * t.explain,
                                           "asking why steps run"));
  WaitReport out;
  for (StepExplained& step : explained.steps)
    out.steps.push_back({step.step_id, std::move(step.signature), step.running_us,
                         std::move(step.tree), std::move(step.cause)});
  out.remarks = std::move(explained.remarks);
  return out;
}

Result<Placement> Session::explain(const std::vector<std::string>& feeds,
                                   const std::vector<std::string>& fetches,
                                   const std::vector<std::string>& targets) {
  if (!impl_)
    return moved_from_session();
  TROUPE_ASSIGN(GraphExplained found,
                impl_->ask<GraphExplained>(ExplainGraph{feeds, fetches, targets},
                                           impl_->timeouts.compile, "ExplainGraph"));
  return Placement{std::move(found.placement), std::move(found.partitions)};
}

} // namespace troupe
