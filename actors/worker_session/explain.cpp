#include "actors/worker_session/explain.hpp"

namespace troupe {

caf::result<TaskRecord> explain_part(WorkerSessionActor::stateful_pointer<WorkerSessionState> self,
                                     const Services& services, std::uint64_t step_id) {
  struct Inquiry {
    TaskRecord record;
    std::size_t missing = 1;
    caf::typed_response_promise<TaskRecord> promise;
  };
  auto inquiry = std::make_shared<Inquiry>();
  inquiry->record.task = services->task;
  inquiry->record.answered = true;
  inquiry->promise = self->make_response_promise<TaskRecord>();
  auto promise = inquiry->promise;
  auto one_less = [=] {
    if (--inquiry->missing == 0)
      inquiry->promise.deliver(std::move(inquiry->record));
  };
  auto budget = services->timeouts.explain * 3 / 8;
  if (const auto* box = self->state.mailboxes.find(step_id)) {
    ++inquiry->missing;
    ask(self, box->rendezvous, budget, ExplainPart{step_id})
        .then(
            [=](EdgeRecords& edges) {
              inquiry->record.edges = std::move(edges.edges);
              one_less();
            },
            [=](caf::error&) { one_less(); }); // it has ended, or its keys stay unknown
  }
  ask(self, self->state.graph_manager, budget, ExplainPart{step_id})
      .then(
          [=](DeviceRecords& devices) {
            inquiry->record.has_begun = devices.has_begun;
            inquiry->record.devices = std::move(devices.devices);
            one_less();
          },
          [=](caf::error&) {
            inquiry->record.remark = "its graph manager is busy";
            one_less();
          });
  return promise;
}

} // namespace troupe
