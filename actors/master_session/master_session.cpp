#include "actors/master_session/master_session.hpp"

#include <algorithm>

#include "actors/family/rounds.hpp"
#include "actors/family/wire.hpp"
#include "actors/master_session/builds.hpp"
#include "actors/master_session/debug_notes.hpp"
#include "actors/master_session/explain.hpp"
#include "actors/master_session/extend.hpp"
#include "actors/master_session/partial_runs.hpp"
#include "actors/master_session/runs.hpp"
#include "actors/protocol/error_text.hpp"
#include "actors/protocol/local/session.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

MasterSessionState::~MasterSessionState() {
  if (direct)
    direct->close();
  auto because = [&](std::string_view what, std::string_view then) {
    return to_error(end.cut_short(record.handle, task, what, then));
  };
  const caf::error not_done =
      because("a request", "nothing of it was done. The session goes on: ask again");
  for (Extension& extension : growth.take_additions())
    extension.promise.deliver(not_done);
  for (Explanation& explanation : growth.take_questions())
    explanation.promise.deliver(not_done);
  for (WaitingRun& run : waiting.take_all()) {
    for (Client& other : run.joined)
      other.promise.deliver(not_done);
    if (run.partial_step == 0)
      run.client.promise.deliver(not_done);
  }
  for (auto& [step_id, unfinished] : partial)
    for (PartialCall& call : unfinished.run.fail({})) {
      const caf::error error =
          because(str_cat("partial run ", step_id),
                  "what it has done of its work is not known. The session goes on: set up another");
      for (Client& other : call.joined)
        other.promise.deliver(error);
      call.client.promise.deliver(error);
    }
  running_master_steps().add(-static_cast<std::int64_t>(steps.size()));
  for (auto& [step_id, step] : steps) {
    const caf::error error = because(
        str_cat("step ", step_id),
        "what it has done of its work is not known. The session goes on, its variables stay "
        "as they are: run the step again if it may be done twice");
    for (Client& other : step.run.joined)
      other.promise.deliver(error);
    if (step.run.partial_step == 0)
      step.run.client.promise.deliver(error);
    stop(step.actor); // a kill does not pass the exit handler
  }
  for (const StepActor& actor : steps.resting())
    stop(actor);
}

std::int64_t MasterSessionState::num_finished() const {
  return log.num_finished() + (direct ? direct->num_finished() : 0);
}

namespace {

/// As long as a part may wait for the news that a step has ended well; it holds nothing but an
/// empty rendezvous.
constexpr std::chrono::milliseconds cleanups_wait{20};

using Self = MasterSessionSelf;
using Parts = MasterSessionParts;

// Ends running steps with `why`; their answers reach their clients through the ordinary path.
void cancel_steps(Self self, const Status& why) {
  for (const auto& [step_id, step] : self->state.steps)
    self->send(step.actor, EndStep{{why}});
}

void leave_workers(Self self, const Parts& parts) {
  for (const SessionWorker& worker : self->state.tasks.workers)
    if (self->state.tasks.health.is_well(worker.task))
      ask(self, worker.worker, parts.services->timeouts.request,
          DeleteWorkerSession{self->state.record.handle})
          .then([](caf::ok_atom) {},
                [](caf::error&) {}); // its lease frees it if this does not reach it
}

// Answers once the running steps have ended, or after their time to do so.
caf::result<caf::ok_atom> close(Self self, const Parts& parts) {
  auto& state = self->state;
  if (state.end.close()) {
    if (state.direct)
      state.direct->close();
    cancel_steps(self, cancelled("Step was cancelled by an explicit call to `Session::Close()`."));
    leave_workers(self, parts);
  }
  // The exit comes after the answers that cancelled steps have already sent us.
  self->delayed_send(
      self, state.steps.empty() ? std::chrono::milliseconds(0) : parts.services->timeouts.cancel,
      CheckLeases{});
  return caf::ok_atom::value;
}

void peer_lost(Self self, const Parts& parts, const PeerLost& lost) {
  auto& state = self->state;
  Status why =
      lost.reason == LossReason::restarted ? aborted(lost.sentence) : unavailable(lost.sentence);
  if (state.end.is_closing() || !state.tasks.health.lose(lost.task, why))
    return;
  if (state.direct)
    state.direct->close();
  for (const auto& [step_id, step] : state.steps)
    self->send(step.actor, lost);
  lose_registering(self, parts, lost.task);
  lose_waiting(self, parts, lost.task);
}

// The client is told before its connection is closed, so that both ends say the same of it.
void give_up_client(Self self, const Parts& parts, std::int64_t silent_us,
                    const std::optional<Wire>& wire) {
  auto& state = self->state;
  if (!state.client.watch.give_up())
    return;
  log_warning("session ", state.record.handle, " is closed: its client has not been heard of for ",
              silent_us / 1000, " ms");
  Status why = aborted(str_cat("session ", state.record.handle, " was closed by task ", state.task,
                               ", its master, which had heard nothing of its client for ",
                               silent_us / 1000, " ms, though both run; make a new session"));
  auto close_both = [=] {
    (void)close(self, parts);
    if (wire)
      close_wire(wire->host, wire->port);
  };
  ask_watched(self, typed<SessionActor>(state.client.actor), parts.services->timeouts.heartbeat / 5,
              SessionEnded{{why}})
      .then([=](caf::ok_atom) { close_both(); }, [=](caf::error&) { close_both(); });
}

// A client that is not heard of for its lease has ended, or is cut off; bytes of a long message on
// a slow link are word of it too.
void check_client(Self self, const Parts& parts) {
  using Verdict = ClientWatch::Verdict;
  const std::int64_t lease_us = self->state.record.settings->lease_us;
  if (self->state.client.watch.judge(now_us(self), lease_us) == Verdict::well)
    return;
  auto client = self->state.client.actor ? self->state.client.actor->node() : caf::node_id{};
  ask_wire(self, parts.services, client, [=](std::optional<Wire> wire) {
    auto& state = self->state;
    const std::int64_t now = now_us(self);
    if (state.end.is_closing() || state.client.watch.judge(now, lease_us) != Verdict::lost)
      return;
    if (wire && wire->state.lives(std::chrono::microseconds(lease_us)))
      return;
    if (state.client.actor)
      return give_up_client(self, parts, state.client.watch.silent_us(now), wire);
    log_warning("session ", state.record.handle, " is closed: its client has never been heard of");
    (void)close(self, parts);
  });
}

void renew(Self self, const Parts& parts) {
  auto& state = self->state;
  for (const SessionWorker& worker : state.tasks.workers)
    if (worker.task != parts.services->task && state.tasks.health.is_well(worker.task))
      self->send(worker.session, RenewLease{});
  if (state.client.actor)
    self->send(typed<SessionActor>(state.client.actor), RenewLease{});
}

// Its connection is closed, or it has ended; nobody else may use the session.
void client_ended(Self self, const Parts& parts) {
  auto& state = self->state;
  state.client.actor = nullptr;
  if (state.end.is_closing())
    return;
  log_info("session ", state.record.handle, " is closed: its client has gone");
  (void)close(self, parts);
}

void tick(Self self, const Parts& parts) {
  auto& state = self->state;
  if (state.end.is_closing()) {
    self->quit(caf::exit_reason::user_shutdown);
    return;
  }
  check_client(self, parts);
  renew(self, parts);
  look_for_lost_tasks(self, parts);
  self->delayed_send(self, until_next_round(self, parts.services->timeouts.lease / 4),
                     CheckLeases{});
}

SessionInfo describe(const MasterSessionState& state, std::int64_t now) {
  SessionInfo info;
  info.session_handle = state.record.handle;
  info.nodes = static_cast<std::int64_t>(state.record.graph->num_nodes());
  info.client_graphs = static_cast<std::int64_t>(state.signatures.size());
  info.running_steps = static_cast<std::int64_t>(state.log.num_running());
  info.finished_steps = state.num_finished();
  info.age_us = now - state.created_us;
  return info;
}

// A step that has ended meanwhile is told nothing: its actor may serve another one.
void tell_step(Self self, PartRun ended) {
  if (RunningStep* step = self->state.steps.find(ended.step_id))
    self->send(step->actor, std::move(ended));
}

void run_part(Self self, RunPart& m) {
  auto& state = self->state;
  const std::uint64_t step_id = m.run.step_id;
  RunningStep* step = state.steps.find(step_id);
  if (!step)
    return;
  if (m.part->getf(caf::abstract_actor::is_cleaned_up_flag)) // CAF would drop the request
    return tell_step(self,
                     {step_id, m.index, {}, caf::make_error(caf::sec::request_receiver_down)});
  m.run.ended = state.ended.take(m.part);
  auto answer = self->request(m.part, caf::infinite, std::move(m.run));
  step->asked.push_back(answer.id()); // the wait ends with the step
  answer.then(
      [=, index = m.index](GraphRun& run) {
        tell_step(self, {step_id, index, std::move(run), {}});
      },
      [=, index = m.index](caf::error& error) {
        make_plain(error);
        tell_step(self, {step_id, index, {}, std::move(error)});
      });
}

// In steady state the next RunGraph takes the news along, and no message is sent for them.
void send_cleanups(Self self) {
  auto cleanups = self->state.ended.take_all();
  for (const SessionWorker& worker : self->state.tasks.workers) // in an order that repeats itself
    if (auto ended = cleanups.find(worker.session); ended != cleanups.end())
      self->send(worker.session, CleanupStep{std::move(ended->second)});
}

void clean_up_part(Self self, const CleanupPart& m) {
  if (!m.may_wait)
    return self->send(m.part, CleanupStep{{m.step_id}});
  if (self->state.ended.add(m.part, m.step_id))
    self->delayed_send(self, cleanups_wait, SendCleanups{});
}

caf::result<caf::ok_atom> watch(Self self, const Parts& parts) {
  for (const SessionWorker& worker : self->state.tasks.workers)
    if (worker.task != parts.services->task)
      ask(self, parts.membership, parts.services->timeouts.request,
          WatchPeer{worker.task, caf::actor_cast<MasterSessionActor>(self->ctrl())})
          .then([](caf::ok_atom) {}, [](caf::error&) {}); // membership never refuses
  return caf::ok_atom::value;
}

caf::result<CallableMade> make_callable(Self self, const Parts& parts, MakeCallable& m) {
  auto& state = self->state;
  if (Status status = state.end.refusal(); !status.ok())
    return to_error(status);
  GraphVariant variant(m.partition_graphs ? GraphUse::shown_runs : GraphUse::runs);
  variant.connections = m.connections;
  if (!m.watches.empty())
    variant.watches = std::make_shared<const std::vector<DebugWatch>>(std::move(m.watches));
  auto bound = state.signatures.bind(m.feeds, m.fetches, m.targets, variant);
  if (!bound.ok())
    return to_error(bound.status());
  // Names that the graph does not have are an error now, as in TensorFlow, and not of the first
  // run.
  if (Status status = check_signature(*state.record.graph, (*bound)->graph->signature);
      !status.ok()) {
    if (!(*bound)->graph->plan)
      state.signatures.drop((*bound)->graph);
    return to_error(status);
  }
  const std::uint64_t id = state.record.add_callable(
      {std::move(m.feeds), std::move(m.fetches), std::move(m.targets), std::move(m.connections)});
  state.callables[id] = *std::move(bound);
  keep_record(self, parts);
  return CallableMade{id};
}

caf::result<caf::ok_atom> release_callable(Self self, const Parts& parts, std::uint64_t id) {
  auto& state = self->state;
  if (!state.callables.erase(id))
    return to_error(invalid_argument(str_cat("there is no callable ", id)));
  state.record.release_callable(id);
  keep_record(self, parts);
  return caf::ok_atom::value;
}

// A worker session that ends while we live was killed, crashed, or belongs to a worker that
// started again: what it held is gone.
void worker_session_ended(Self self, const Parts& parts, const std::string& task,
                          const caf::error& reason) {
  // The connection is gone, and all that it carried. Membership says a moment later whether the
  // process has ended or gave us up; only if it says nothing, what is known here is told.
  if (reason == caf::exit_reason::remote_link_unreachable) {
    self->delayed_send(self, parts.services->timeouts.explain,
                       PeerLost{task, 0, LossReason::crashed,
                                str_cat("the connection to task ", task,
                                        " has ended, and with it this session's part there; make a "
                                        "new session")});
    return;
  }
  peer_lost(self, parts,
            {task, 0, LossReason::restarted,
             str_cat("this session's part on task ", task, " has ended (", error_text(reason),
                     "): graphs and steps it held are gone; make a new session")});
}

void somebody_ended(Self self, const Parts& parts, const caf::down_msg& down) {
  auto& state = self->state;
  if (state.client.actor && state.client.actor == down.source)
    return client_ended(self, parts);
  step_lost(self, parts, down);
  for (const SessionWorker& worker : state.tasks.workers)
    if (worker.session && worker.session == down.source && state.tasks.health.is_well(worker.task))
      worker_session_ended(self, parts, worker.task, down.reason);
}

void end(Self self, const Parts& parts, const caf::error& why) {
  auto& state = self->state;
  for (const auto& [step_id, step] : state.steps)
    self->send_exit(step.actor, caf::exit_reason::user_shutdown);
  for (const StepActor& actor : state.steps.resting())
    self->send_exit(actor, caf::exit_reason::user_shutdown);
  if (state.end.close())
    leave_workers(self, parts);
  const Status& reason = state.end.reason();
  self->quit(reason.ok() ? why : to_error(reason));
}

// The session ends with its client; nobody takes its place.
caf::ok_atom client_spoke(Self self) {
  auto& state = self->state;
  auto sender = self->current_sender();
  if (sender && sender->node() != self->node() && !state.client.actor) {
    state.client.actor = sender;
    self->monitor(caf::actor_cast<caf::actor>(sender));
  }
  if (sender == state.client.actor)
    state.client.watch.heard(now_us(self));
  return caf::ok_atom::value;
}

// The part of a task that was given up serves nobody, though the task may be reached again.
caf::result<caf::ok_atom> confirm_lease(Self self, const std::string& task) {
  const auto& state = self->state;
  if (!state.end.is_closing() && state.tasks.health.is_well(task))
    return caf::ok_atom::value;
  return to_error(aborted(str_cat("session ", state.record.handle, " has given up task ", task)));
}

caf::result<ActorTree> tree(Self self) {
  const auto& state = self->state;
  Children steps;
  for (const auto& [step_id, step] : state.steps)
    steps.add(str_cat("step-", step_id), step.actor);
  for (std::size_t i = 0; i < state.steps.resting().size(); ++i)
    steps.add(str_cat("resting-step.", i), state.steps.resting()[i]);
  return describe_tree(
      self, str_cat(state.record.graph->num_nodes(), " nodes, ", state.steps.size(), " steps"),
      steps);
}

void use(MasterSessionState& state, std::vector<SessionWorker> workers) {
  state.tasks.workers = std::move(workers);
  for (const SessionWorker& worker : state.tasks.workers) {
    state.tasks.health.use(worker.task);
    state.tasks.devices.insert(state.tasks.devices.end(), worker.devices.begin(),
                               worker.devices.end());
    if (!worker.lost.ok())
      state.tasks.health.lose(worker.task, worker.lost);
  }
  std::ranges::stable_partition(state.tasks.devices, [&](const DeviceAttributes& device) {
    return task_of_device(device.name) == state.task; // clients are told of these first
  });
}

// Names that could be bound once can be again.
void recall(MasterSessionState& state, SessionRecord record) {
  state.record = std::move(record);
  for (const auto& names : state.record.signatures)
    (void)state.signatures.bind(names->feeds, names->fetches, names->targets);
  for (const auto& [id, names] : state.record.callables) {
    GraphVariant variant;
    variant.connections = names->connections;
    if (auto bound = state.signatures.bind(names->feeds, names->fetches, names->targets, variant);
        bound.ok())
      state.callables[id] = *std::move(bound);
  }
}

} // namespace

void keep_record(Self self, const Parts& parts) {
  if (auto master = caf::actor_cast<caf::strong_actor_ptr>(parts.master))
    self->send(typed<MasterActor>(master),
               SessionChanged{std::make_shared<const SessionRecord>(self->state.record)});
}

MasterSessionActor::behavior_type master_session(Self self, Parts parts, SessionRecord record,
                                                 std::vector<SessionWorker> workers,
                                                 std::shared_ptr<DirectSteps> direct) {
  guard_actor(self);
  auto& state = self->state;
  const Services& services = parts.services;
  state.task = services->task;
  state.direct = std::move(direct);
  if (state.direct)
    state.direct->reopen();
  state.created_us = now_us(self);
  state.client.watch.heard(state.created_us);
  use(state, std::move(workers));
  recall(state, std::move(record));
  for (const SessionWorker& worker : state.tasks.workers)
    if (worker.session)
      self->monitor(caf::actor_cast<caf::actor>(worker.session));
  self->set_down_handler([=](caf::down_msg& down) { somebody_ended(self, parts, down); });
  if (services->network->reaches_others()) {
    (void)watch(self, parts);
    renew(self, parts);
    self->delayed_send(self, until_next_round(self, services->timeouts.lease / 4), CheckLeases{});
  }
  self->set_exit_handler([=](caf::exit_msg& exit) { end(self, parts, exit.reason); });
  // Those of each step come first: CAF tries them in this order.
  return {
      [=](RunStep& m) { return run_step(self, parts, m); },
      [=](StepFinished& m) { step_finished(self, parts, m); },
      [=](StepFetched& m) { step_fetched(self, parts, m); },
      [=](RunPart& m) { run_part(self, m); },
      [=](const CleanupPart& m) { clean_up_part(self, m); },
      [=](GraphPiece& m) {
        self->state.client.watch.heard(now_us(self));
        self->state.pieces.add(std::move(m.bytes));
      },
      [=](ExtendGraph& m) { return extend_graph(self, parts, m); },
      [=](const CancelRun& m) { cancel_run(self, parts, m.request_id); },
      [=](SetUpPartialRun& m) { return set_up_partial_run(self, parts, m); },
      [=](MakeCallable& m) { return make_callable(self, parts, m); },
      [=](RunCallable& m) { return run_callable(self, parts, m); },
      [=](const ReleaseCallable& m) { return release_callable(self, parts, m.handle); },
      [=](const ListDevices&) { return DeviceList{self->state.tasks.devices}; },
      [=](const GetSteps&) { return StepList{known_steps(self)}; },
      [=](const GetSessions&) { return SessionList{{describe(self->state, now_us(self))}}; },
      [=](ExplainGraph& m) { return explain_graph(self, parts, m); },
      [=](const ExplainStep& m) { return explain_steps(self, parts, m); },
      [=](const CloseSession&) { return close(self, parts); },
      [=](const RenewLease&) { return client_spoke(self); },
      [=](const ConfirmLease& m) { return confirm_lease(self, m.task); },
      [=](const Drain& m) { return drain(self, parts, m); },
      [=](const PeerLost& m) { peer_lost(self, parts, m); },
      [=](const GetActors&) { return tree(self); },
      [=](const CancelPart& m) { self->send(m.part, m.cancel); },
      [=](SendCleanups) { send_cleanups(self); },
      [=](CheckLeases) { tick(self, parts); },
      [=](EndLateSteps) { end_late_steps(self, parts); },
      [=](GraphParsed& m) { graph_parsed(self, parts, m); },
      [=](ClientGraphBuilt& m) { client_graph_built(self, parts, m); },
      [=](const DebugNoteWritten& m) { debug_note_written(self, parts, m); },
  };
}

} // namespace troupe
