#include "actors/worker_session/explain.hpp"

#include "actors/family/gather.hpp"

namespace troupe {

caf::result<TaskRecord> explain_part(WorkerSessionActor::stateful_pointer<WorkerSessionState> self,
                                     const Services& services, std::uint64_t step_id) {
  struct Inquiry {
    TaskRecord record;
    caf::typed_response_promise<TaskRecord> promise;
  };
  auto inquiry = std::make_shared<Inquiry>();
  inquiry->record.task = services->task;
  inquiry->record.answered = true;
  inquiry->promise = self->make_response_promise<TaskRecord>();
  auto promise = inquiry->promise;
  const auto* box = self->state.mailboxes.find(step_id);
  auto answered =
      gather(box ? 2 : 1, [=] { inquiry->promise.deliver(std::move(inquiry->record)); });
  auto budget = services->timeouts.explain * 3 / 8;
  if (box)
    ask(self, box->rendezvous, budget, ExplainPart{step_id})
        .then(
            [=](EdgeRecords& edges) mutable {
              inquiry->record.edges = std::move(edges.edges);
              answered();
            },
            [=](caf::error&) mutable { answered(); }); // it has ended, or its keys stay unknown
  ask(self, self->state.graph_manager, budget, ExplainPart{step_id})
      .then(
          [=](DeviceRecords& devices) mutable {
            inquiry->record.has_begun = devices.has_begun;
            inquiry->record.devices = std::move(devices.devices);
            answered();
          },
          [=](caf::error&) mutable {
            inquiry->record.silence.kind = SilenceRecord::Kind::busy;
            answered();
          });
  return promise;
}

} // namespace troupe
