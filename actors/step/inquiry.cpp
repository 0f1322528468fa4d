#include "actors/step/inquiry.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

struct Inquiry {
  std::vector<TaskRecord> tasks;
  std::vector<PeerInfo> peers; ///< what membership says of them
  std::size_t missing = 1;
  std::function<void(const Why&)> done;
};

SilenceRecord silence_of(const std::string& task, const std::vector<PeerInfo>& peers) {
  using Kind = SilenceRecord::Kind;
  auto peer = std::find_if(peers.begin(), peers.end(), [&](auto& p) { return p.task == task; });
  if (peer == peers.end())
    return {};
  if (peer->is_connected)
    return {Kind::heard, peer->silent_us, {}};
  if (peer->last_loss)
    return {Kind::lost, 0, to_string(*peer->last_loss)};
  return {Kind::unreached, 0, {}};
}

void one_less(const std::shared_ptr<Inquiry>& inquiry) {
  if (--inquiry->missing > 0)
    return;
  for (TaskRecord& task : inquiry->tasks)
    if (!task.answered)
      task.silence = silence_of(task.task, inquiry->peers);
  std::exchange(inquiry->done, {})(explain_step(inquiry->tasks));
}

} // namespace

void inquire(StepActor::stateful_pointer<StepState> self, const Services& services,
             std::chrono::nanoseconds budget, std::function<void(const Why&)> done) {
  const auto& state = self->state;
  const std::vector<RegisteredPart>& parts = state.request.plan->parts;
  auto inquiry = std::make_shared<Inquiry>();
  inquiry->done = std::move(done);
  inquiry->tasks.resize(parts.size());
  bool has_remote = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TaskRecord& record = inquiry->tasks[i];
    record.task = parts[i].task;
    record.answered = record.has_ended = !state.collector->is_open(i);
    if (record.has_ended)
      continue;
    has_remote = has_remote || parts[i].task != services->task;
    ++inquiry->missing;
    ask(self, parts[i].session, budget, ExplainPart{state.request.step_id})
        .then(
            [=](TaskRecord& answer) {
              answer.task = inquiry->tasks[i].task;
              inquiry->tasks[i] = std::move(answer);
              one_less(inquiry);
            },
            [=](caf::error&) { one_less(inquiry); }); // the record says that it is silent
  }
  if (has_remote && state.membership) {
    ++inquiry->missing;
    ask(self, state.membership, budget, GetPeers{})
        .then(
            [=](PeerList& list) {
              inquiry->peers = std::move(list.peers);
              one_less(inquiry);
            },
            [=](caf::error&) { one_less(inquiry); });
  }
  one_less(inquiry); // its own
}

} // namespace troupe
