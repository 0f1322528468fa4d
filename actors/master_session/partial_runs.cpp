#include "actors/master_session/partial_runs.hpp"

#include <algorithm>

#include "actors/transport/transport.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = MasterSessionSelf;
using Parts = MasterSessionParts;
using Names = std::vector<std::string>;

/// Partial runs that are set up and not over, at most: whoever forgets them is told so.
constexpr std::size_t max_partial_runs = 10'000;

Names canonical(const Names& names) {
  Names out;
  for (const std::string& name : names)
    out.push_back(canonical_tensor_name(name));
  return out;
}

// Null if there is none, or no more.
PartialStep* find(Self self, const std::string& handle, std::uint64_t& step_id) {
  auto& partial = self->state.partial;
  auto found = std::ranges::find_if(
      partial, [&](const auto& entry) { return std::to_string(entry.first) == handle; });
  if (found == partial.end())
    return nullptr;
  step_id = found->first;
  return &found->second;
}

// From now on its client has so long.
void set_due(Self self, const Parts& parts, PartialStep& partial) {
  using std::chrono::microseconds;
  const microseconds idle(parts.services->timeouts.partial_run);
  if (!partial.run.is_waited_for())
    partial.due_us = now_us(self) + idle.count();
  else
    partial.due_us = partial.timeout_us > 0 ? exact_us(self) + partial.timeout_us : 0;
  look_at(self, partial.due_us);
}

// Whoever sends it again is told the same.
void deliver_call(Self self, const Parts& parts, PartialCall& call, StepOutcome outcome) {
  self->state.log.answered(call.request_id, outcome, call.may_come_again);
  keep_large_answers_for_a_while(self);
  for (Client& other : call.joined)
    deliver(self, parts, outcome, other);
  deliver(self, parts, std::move(outcome), call.client);
}

void answer_calls(Self self, const Parts& parts, std::uint64_t step_id) {
  PartialStep& partial = self->state.partial.at(step_id);
  for (auto& [call, values] : partial.run.take_answers()) {
    StepOutcome outcome;
    outcome.result.emplace();
    outcome.result->step_id = step_id;
    outcome.result->tensors.assign(values.begin(), values.end());
    deliver_call(self, parts, call, std::move(outcome));
  }
  if (partial.run.has_ended() && partial.run.is_complete())
    self->state.partial.erase(step_id);
  else if (!partial.run.is_waited_for())
    set_due(self, parts, partial);
}

// Wherever it is: set up, waiting for its graph, or running.
void end_run(Self self, const Parts& parts, std::uint64_t step_id, const Status& why) {
  if (const RunningStep* running = self->state.steps.find(step_id))
    self->send(running->actor, EndStep{{why}});
  else
    partial_step_ended(self, parts, step_id, to_error(why));
}

void hand_over(Self self, const Parts& parts, std::uint64_t step_id,
               std::vector<std::pair<std::size_t, Tensor>> feeds) {
  auto found = self->state.partial.find(step_id);
  if (found == self->state.partial.end() || feeds.empty())
    return;
  PartialStep& partial = found->second;
  const RunningStep* running = self->state.steps.find(step_id);
  if (!running) {
    if (!partial.run.has_ended())
      std::ranges::move(feeds, std::back_inserter(partial.early));
    return;
  }
  for (const auto& [number, value] : feeds)
    if (Status status = check_feed(*partial.bound->graph, number, value); !status.ok())
      return end_run(self, parts, step_id, status);
  self->send(running->actor, FeedStep{step_id, std::move(feeds)});
}

// Large ones are pulled first.
void take_feeds(Self self, const Parts& parts, std::uint64_t step_id,
                std::vector<std::size_t> numbers, std::vector<WireTensor> values) {
  auto arrived = [=, numbers = std::move(numbers)](std::vector<Tensor> tensors) {
    std::vector<std::pair<std::size_t, Tensor>> feeds;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      feeds.emplace_back(numbers[i], std::move(tensors[i]));
    hand_over(self, parts, step_id, std::move(feeds));
  };
  if (std::ranges::none_of(values, &WireTensor::is_ticket)) {
    std::vector<Tensor> tensors;
    for (WireTensor& value : values)
      tensors.push_back(std::move(value.tensor));
    return arrived(std::move(tensors));
  }
  from_wire(self, parts.services, parts.transport, std::move(values),
            [=](Status status, std::vector<Tensor> tensors) {
              if (status.ok())
                arrived(std::move(tensors));
              else if (self->state.partial.count(step_id))
                end_run(self, parts, step_id, feed_lost(parts, status));
            });
}

void begin_step(Self self, const Parts& parts, std::uint64_t step_id, PartialStep& partial) {
  partial.is_begun = true;
  WaitingRun run;
  run.bound = partial.bound;
  run.partial_step = step_id;
  admit(self, parts, std::move(run));
}

// What is said of a call before anything of it is done; nothing is changed then.
Status check_call(const MasterSessionState& state, const PartialStep& partial, const Names& feeds,
                  const Names& fetches) {
  TROUPE_TRY(partial.run.check(feeds, fetches));
  const auto [fed, unfed] = partial.run.fed_with(feeds);
  if (std::string name = unfed_input(*state.record.graph, fetches, fed, unfed); !name.empty())
    return invalid_argument(
        str_cat("Fetch ", name, " can't be computed from the feeds that have been fed so far."));
  return {};
}

} // namespace

caf::result<PartialRunSetUp> set_up_partial_run(Self self, const Parts& parts, SetUpPartialRun& m) {
  auto& state = self->state;
  state.client.watch.heard(now_us(self));
  if (Status status = state.end.refusal(); !status.ok())
    return to_error(status);
  if (state.partial.size() >= max_partial_runs)
    return to_error(resource_exhausted(
        str_cat(max_partial_runs, " partial runs of this session are not over; feed and fetch all "
                                  "that they were set up with")));
  if (Status status = check_signature(*state.record.graph, {m.feeds, m.fetches, m.targets});
      !status.ok())
    return to_error(status);
  auto bound = state.signatures.bind(m.feeds, m.fetches, m.targets, GraphUse::partial_runs);
  if (!bound.ok())
    return to_error(bound.status());
  const Signature& signature = (*bound)->graph->signature;
  const std::uint64_t step_id = new_step_id();
  PartialStep made{{signature.feeds, signature.fetches}, *bound, false, {}};
  PartialStep& partial = state.partial.emplace(step_id, std::move(made)).first->second;
  set_due(self, parts, partial);
  return PartialRunSetUp{std::to_string(step_id)};
}

caf::result<RunStepResult> run_partially(Self self, const Parts& parts, RunStep& m) {
  auto& state = self->state;
  std::uint64_t step_id = 0;
  PartialStep* partial = find(self, m.partial_run_handle, step_id);
  if (!partial)
    return to_error(invalid_argument("Must run PartialRunSetup before performing partial runs"));
  if (Status failure = partial->run.failure(); !failure.ok()) {
    state.partial.erase(step_id);
    return to_error(failure);
  }
  Names feeds;
  std::vector<std::size_t> numbers;
  std::vector<WireTensor> values;
  for (auto& [name, value] : m.feeds) {
    feeds.push_back(canonical_tensor_name(name));
    values.push_back(std::move(value));
  }
  const Names fetches = canonical(m.fetches);
  if (Status status = check_call(state, *partial, feeds, fetches); !status.ok())
    return to_error(status);
  for (const std::string& feed : feeds)
    numbers.push_back(*partial->run.feed_number(feed));
  partial->run.begin(feeds, fetches, {client_of(self), m.request_id, m.may_come_again});
  partial->timeout_us = timeout_of(parts, state, m.timeout_us);
  set_due(self, parts, *partial);
  const bool is_first = !partial->is_begun;
  answer_calls(self, parts, step_id);
  if (is_first)
    begin_step(self, parts, step_id, *partial);
  take_feeds(self, parts, step_id, std::move(numbers), std::move(values));
  return caf::delegated<RunStepResult>{}; // the promise answers
}

bool is_wanted(Self self, std::uint64_t step_id) {
  auto found = self->state.partial.find(step_id);
  return found != self->state.partial.end() && found->second.run.failure().ok();
}

void partial_step_began(Self self, const RunningStep& running) {
  PartialStep& partial = self->state.partial.at(running.run.partial_step);
  for (const auto& [number, value] : partial.early)
    if (Status status = check_feed(*partial.bound->graph, number, value); !status.ok())
      return self->send(running.actor, EndStep{{status}});
  self->send(running.actor, FeedStep{running.run.partial_step, std::exchange(partial.early, {})});
}

void step_fetched(Self self, const Parts& parts, StepFetched& m) {
  auto found = self->state.partial.find(m.step_id);
  if (found == self->state.partial.end())
    return;
  found->second.run.fetched(m.fetch, std::move(m.value));
  answer_calls(self, parts, m.step_id);
}

void partial_step_ended(Self self, const Parts& parts, std::uint64_t step_id,
                        const caf::error& error) {
  auto& state = self->state;
  auto found = state.partial.find(step_id);
  if (found == state.partial.end())
    return;
  PartialStep& partial = found->second;
  partial.early.clear();
  if (!error) {
    partial.run.ended();
    return answer_calls(self, parts, step_id);
  }
  const Status why = to_status(error, str_cat("step ", step_id));
  for (PartialCall& call : partial.run.fail(why))
    deliver_call(self, parts, call, StepOutcome{std::nullopt, error});
  if (partial.run.failure().ok()) // it has been told
    state.partial.erase(found);
  else
    set_due(self, parts, partial);
}

PartialCall* find_partial_call(Self self, std::uint64_t request_id) {
  for (auto& [step_id, partial] : self->state.partial)
    if (auto* call = partial.run.find_call(
            [&](const PartialCall& call) { return call.request_id == request_id; }))
      return call;
  return nullptr;
}

bool cancel_partial_run(Self self, const Parts& parts, std::uint64_t request_id) {
  for (auto& [step_id, partial] : self->state.partial)
    if (partial.run.find_call(
            [&](const PartialCall& call) { return call.request_id == request_id; })) {
      end_run(self, parts, step_id,
              cancelled(str_cat("step ", step_id, " was cancelled by its client")));
      return true;
    }
  return false;
}

std::int64_t end_late_partial_runs(Self self, const Parts& parts, std::int64_t now_us) {
  std::int64_t next = 0;
  std::vector<std::pair<std::uint64_t, Status>> late;
  for (auto& [step_id, partial] : self->state.partial)
    if (partial.due_us == 0) {
      continue;
    } else if (partial.due_us > now_us) {
      next = next == 0 ? partial.due_us : std::min(next, partial.due_us);
    } else {
      partial.due_us = 0;
      late.emplace_back(
          step_id,
          partial.run.is_waited_for()
              ? deadline_exceeded(str_cat("a call of partial run ", step_id,
                                          " took longer than its deadline of ",
                                          partial.timeout_us / 1000, " ms"))
              : deadline_exceeded(str_cat(
                    "partial run ", step_id, " was given up: no call of it has come for ",
                    parts.services->timeouts.partial_run.count() / 1000, " s; set up another")));
    }
  for (const auto& [step_id, why] : late) {
    auto& partial = self->state.partial.at(step_id);
    if (!partial.is_begun || partial.run.has_ended() || !partial.run.failure().ok())
      self->state.partial.erase(step_id); // nobody waits, and nothing runs
    else
      end_run(self, parts, step_id, why);
  }
  return next;
}

void end_partial_runs(Self self, const Parts& parts, const Status& why) {
  std::vector<std::uint64_t> all;
  for (const auto& [step_id, partial] : self->state.partial)
    all.push_back(step_id);
  for (std::uint64_t step_id : all)
    end_run(self, parts, step_id, why);
}

} // namespace troupe
