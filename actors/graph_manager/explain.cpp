#include "actors/graph_manager/explain.hpp"

#include "actors/family/gather.hpp"

namespace troupe {

namespace {

struct Inquiry {
  DeviceRecords answer;
  bool has_silent = false;
  caf::typed_response_promise<DeviceRecords> promise;
};

// The kernels that hold the threads of executors; a device without a name stands for one that
// cannot be told.
void add_silent_devices(const GraphManagerState& state, std::uint64_t step_id,
                        std::vector<DeviceRecord>& devices) {
  std::size_t before = devices.size();
  for (const auto& [handle, graph] : state.graphs)
    for (const auto& executable : graph->executables)
      for (const Executable::Computing& kernel : executable->computing(step_id)) {
        DeviceRecord& device = devices.emplace_back();
        device.device = executable->device().name();
        device.unfinished = 1;
        NodeRecord& node = device.nodes.emplace_back();
        node.node = kernel.node;
        node.op = kernel.op;
        node.state = NodeRecord::State::running;
        node.running_us = kernel.running_us;
      }
  if (devices.size() == before)
    devices.emplace_back();
}

} // namespace

caf::result<DeviceRecords>
explain_devices(GraphManagerActor::stateful_pointer<GraphManagerState> self,
                const Services& services, std::uint64_t step_id) {
  const RunningGraph* run = self->state.steps.find(step_id);
  if (!run)
    return DeviceRecords{};
  auto inquiry = std::make_shared<Inquiry>();
  inquiry->answer.has_begun = true;
  inquiry->promise = self->make_response_promise<DeviceRecords>();
  auto answered = gather(run->outcome.num_missing(), [=] {
    if (inquiry->has_silent)
      add_silent_devices(self->state, step_id, inquiry->answer.devices);
    inquiry->promise.deliver(std::move(inquiry->answer));
  });
  for (const PartRunner& runner : run->runners) {
    if (!runner.executor)
      continue; // its part has ended
    ask(self, runner.executor, services->timeouts.explain / 4, ExplainPart{step_id})
        .then(
            [=](DeviceRecords& one) mutable {
              for (DeviceRecord& device : one.devices)
                inquiry->answer.devices.push_back(std::move(device));
              answered();
            },
            [=](caf::error& error) mutable { // else its part has ended
              if (error == caf::sec::request_timeout)
                inquiry->has_silent = true;
              answered();
            });
  }
  return inquiry->promise;
}

} // namespace troupe
