#include "actors/step/inquiry.hpp"

#include <algorithm>

#include "actors/family/gather.hpp"

namespace troupe {

namespace {

struct Inquiry {
  std::vector<TaskRecord> tasks;
  std::vector<PeerInfo> peers; ///< what membership says of them
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

Why explain(Inquiry& inquiry) {
  for (TaskRecord& task : inquiry.tasks)
    if (!task.answered)
      task.silence = silence_of(task.task, inquiry.peers);
  return explain_step(inquiry.tasks);
}

} // namespace

void inquire(StepActor::stateful_pointer<StepState> self, const Services& services,
             std::chrono::nanoseconds budget, std::function<void(const Why&)> done) {
  const auto& state = self->state;
  const std::vector<RegisteredPart>& parts = state.request.plan->parts;
  auto inquiry = std::make_shared<Inquiry>();
  inquiry->tasks.resize(parts.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TaskRecord& record = inquiry->tasks[i];
    record.task = parts[i].task;
    record.answered = record.has_ended = !state.collector->is_open(i);
    if (!record.has_ended)
      open.push_back(i);
  }
  const bool asks_membership = state.membership && std::ranges::any_of(open, [&](std::size_t i) {
                                 return parts[i].task != services->task;
                               });
  auto answered = gather(open.size() + asks_membership,
                         [=, done = std::move(done)] { done(explain(*inquiry)); });
  for (std::size_t i : open)
    ask(self, parts[i].session, budget, ExplainPart{state.request.step_id})
        .then(
            [=](TaskRecord& answer) mutable {
              answer.task = inquiry->tasks[i].task;
              inquiry->tasks[i] = std::move(answer);
              answered();
            },
            [=](caf::error&) mutable { answered(); }); // the record says that it is silent
  if (asks_membership)
    ask(self, state.membership, budget, GetPeers{})
        .then(
            [=](PeerList& list) mutable {
              inquiry->peers = std::move(list.peers);
              answered();
            },
            [=](caf::error&) mutable { answered(); });
}

} // namespace troupe
