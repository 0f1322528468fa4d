#include "api/grpc/worker_gateway.hpp"

#include <algorithm>

#include "actors/executor/kernel_rendezvous.hpp"
#include "actors/family/ask.hpp"
#include "actors/family/children.hpp"
#include "actors/family/edge_mark.hpp"
#include "actors/protocol/error_text.hpp"
#include "api/grpc/foreign_graph.hpp"
#include "api/grpc/peer_edges.hpp"
#include "api/internal/settings.hpp"
#include "core/base/device_name.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using WorkerSelf = WorkerGatewayActor::stateful_pointer<WorkerGatewayState>;

/// Steps that have run and that no master has cleaned up, at most: the oldest goes.
constexpr std::size_t most_uncleaned_steps = 10'000;
/// Sessions of masters from before sessions had workers' halves.
constexpr std::string_view legacy_handle = "legacy";

void fail(RpcCall& call, const Status& status) {
  call.fail(Status(status.code(), worker_message(status)));
}

auto failing(const std::shared_ptr<RpcCall>& call, std::string_view what) {
  return [call, what](caf::error& error) { fail(*call, to_status(error, what)); };
}

Status unknown_session(const WorkerGatewayParts& parts, const std::string& handle) {
  return aborted(str_cat("Session handle is not found: ", handle, ". Possibly this worker (\"",
                         parts.services->task, "\") just restarted."));
}

// Null for a session that is not there.
ForeignSession* find_session(WorkerSelf self, const worker_codec::OfSession& m) {
  const std::string handle(m.session_handle.empty() ? legacy_handle : m.session_handle);
  auto it = self->state.sessions.find(handle);
  if (it == self->state.sessions.end())
    return nullptr;
  it->second.heard_us = now_us(self);
  return &it->second;
}

std::shared_ptr<PeerEdges> edges_of(WorkerSelf self, const WorkerGatewayParts& parts,
                                    const worker_codec::CreateWorkerSession& m) {
  std::map<std::string, std::string> told = m.cluster;
  PeerEdges::AddressOf address_of =
      [told = std::move(told), cluster = parts.cluster,
       own = parts.services->task](const std::string& task) -> Result<Address> {
    if (auto it = told.find(task); it != told.end())
      return Address::parse(it->second);
    if (cluster.size() > 0)
      return cluster.address_of(task);
    return failed_precondition(str_cat(own, " does not know where ", task,
                                       " listens for gRPC: start it with the cluster's addresses "
                                       "(troupe serve --cluster, or TF_CONFIG)"));
  };
  DecodeLimits limits = DecodeLimits::bounded_by(parts.services->host_memory);
  return std::make_shared<PeerEdges>(parts.peers, std::move(address_of), limits,
                                     parts.services->timeouts.step, self->state.log);
}

// What a master leaves behind that has started again, or that asks anew.
void drop_sessions_before(WorkerSelf self, const worker_codec::CreateWorkerSession& m) {
  for (auto it = self->state.sessions.begin(); it != self->state.sessions.end();) {
    const ForeignSession& session = it->second;
    const bool is_older = !m.master_task.empty() && session.master_task == m.master_task &&
                          session.master_incarnation != m.master_incarnation;
    if (!is_older) {
      ++it;
      continue;
    }
    log_info("the session ", it->first, " ends: its master ", m.master_task, " has started again");
    stop(session.actor);
    it = self->state.sessions.erase(it);
  }
}

template <class Done>
void make_session(WorkerSelf self, const WorkerGatewayParts& parts,
                  const std::shared_ptr<RpcCall>& call, const worker_codec::CreateWorkerSession& m,
                  Done done) {
  CreateWorkerSession request;
  request.session_handle = m.session_handle;
  request.isolate = m.isolate_session_state;
  request.remote_edges = edges_of(self, parts, m);
  ask(self, parts.worker, parts.services->timeouts.request, std::move(request))
      .then(
          [=](const WorkerSessionCreated& created) {
            self->monitor(caf::actor_cast<caf::actor>(created.session));
            self->state.sessions[m.session_handle] = {created.session, m.master_task,
                                                      m.master_incarnation, now_us(self)};
            done();
          },
          failing(call, "CreateWorkerSession"));
}

void handle(WorkerSelf, const WorkerGatewayParts& parts, const std::shared_ptr<RpcCall>& call,
            WorkerCall::GetStatus&) {
  call->answer(worker_codec::write_status(parts.services->devices.attributes()));
}

void handle(WorkerSelf self, const WorkerGatewayParts& parts, const std::shared_ptr<RpcCall>& call,
            worker_codec::CreateWorkerSession& m) {
  if (!self->state.refusal.ok())
    return fail(*call, self->state.refusal);
  if (!m.own_task.empty() && m.own_task != parts.services->task)
    return fail(*call, unimplemented(str_cat("the session's cluster wants this task to be ",
                                             m.own_task, ", and it is ", parts.services->task,
                                             "; start it as that task")));
  drop_sessions_before(self, m);
  if (self->state.sessions.contains(m.session_handle))
    return call->answer({}); // its master asks again
  if (parts.max_sessions > 0 &&
      self->state.sessions.size() >= static_cast<std::size_t>(parts.max_sessions))
    return fail(*call, resource_exhausted(str_cat("as many sessions of other masters are open as ",
                                                  parts.services->task, " takes (",
                                                  parts.max_sessions, "): close some")));
  make_session(self, parts, call, m, [call] { call->answer({}); });
}

void handle(WorkerSelf self, const WorkerGatewayParts&, const std::shared_ptr<RpcCall>& call,
            worker_codec::DeleteWorkerSession& m) {
  if (auto found = self->state.sessions.extract(m.session_handle); !found.empty())
    stop(found.mapped().actor); // its DOWN ends its steps
  call->answer({});
}

void register_graph(WorkerSelf self, const WorkerGatewayParts& parts,
                    const std::shared_ptr<RpcCall>& call, const WorkerSessionActor& session,
                    worker_codec::RegisterGraph& m) {
  if (m.collective_graph_key != 0)
    return fail(*call,
                unimplemented("a graph with collectives of a master that is no node of troupe; "
                              "let troupe's master drive it"));
  auto settings = settings_of(m.options, parts.services->timeouts.step.count());
  if (!settings.ok())
    return fail(*call, settings.status());
  auto plain = without_fused_ops(std::move(m.graph_def));
  if (!plain.ok())
    return fail(*call, plain.status());
  RegisterGraph request;
  request.graph_def = *std::move(plain);
  request.optimize = settings->optimize && m.debug.watches.empty();
  request.disabled_passes = std::move(settings->disabled_passes);
  request.watches = std::move(m.debug.watches);
  ask(self, session, parts.services->timeouts.compile, std::move(request))
      .then(
          [=](const GraphRegistered& registered) {
            call->answer(worker_codec::write_graph_registered(registered.graph_handle));
          },
          failing(call, "RegisterGraph"));
}

void handle(WorkerSelf self, const WorkerGatewayParts& parts, const std::shared_ptr<RpcCall>& call,
            worker_codec::RegisterGraph& m) {
  if (!self->state.refusal.ok())
    return fail(*call, self->state.refusal);
  if (const ForeignSession* session = find_session(self, m))
    return register_graph(self, parts, call, session->actor, m);
  if (m.create_worker_session_called || !m.session_handle.empty())
    return fail(*call, unknown_session(parts, m.session_handle));
  worker_codec::CreateWorkerSession legacy;
  legacy.session_handle = legacy_handle;
  auto held = std::make_shared<worker_codec::RegisterGraph>(std::move(m));
  make_session(self, parts, call, legacy, [=] {
    if (const ForeignSession* session = find_session(self, *held))
      register_graph(self, parts, call, session->actor, *held);
  });
}

void handle(WorkerSelf self, const WorkerGatewayParts& parts, const std::shared_ptr<RpcCall>& call,
            worker_codec::DeregisterGraph& m) {
  const ForeignSession* session = find_session(self, m);
  if (!session)
    return fail(*call, unknown_session(parts, m.session_handle));
  ask(self, session->actor, parts.services->timeouts.request, DeregisterGraph{m.graph_handle})
      .then([call](caf::ok_atom) { call->answer({}); }, failing(call, "DeregisterGraph"));
}

void take(WorkerSelf self, const WorkerSessionActor& session, std::uint64_t step_id,
          std::string key, std::function<void(Result<EdgeValue>)> done) {
  self->send(session, TakeEdge{step_id, std::move(key), self->address(),
                               std::make_shared<PendingReceive>(std::move(done))});
}

void answer_pull(RpcCall& call, const Result<EdgeValue>& value) {
  if (!value.ok())
    return fail(call, value.status());
  auto bytes = worker_codec::write_tensor(*value);
  if (bytes.ok())
    call.answer(*std::move(bytes));
  else
    fail(call, bytes.status());
}

void hand_over(WorkerSelf self, const WorkerSessionActor& session, std::uint64_t step_id,
               ForeignPull pull) {
  take(
      self, session, step_id, std::move(pull.key),
      [call = std::move(pull.call)](const Result<EdgeValue>& value) { answer_pull(*call, value); });
}

Status check_key(const WorkerGatewayParts& parts, const std::string& text) {
  TROUPE_ASSIGN(const ParsedKey key, parse_rendezvous_key(text));
  const std::string device(key.src_device);
  for (const DeviceAttributes& own : parts.services->devices.attributes()) {
    if (own.name != device)
      continue;
    if (own.incarnation == key.src_incarnation)
      return {};
    return aborted(str_cat(
        "RecvTensor expects a different device incarnation: ", key.src_incarnation, " vs. ",
        own.incarnation, ". Your worker job (\"", parts.services->task,
        "\") was probably restarted. Check your worker job for the reason why it was restarted."));
  }
  return invalid_argument(str_cat("RecvTensor of a value of ", device, ", which is no device of ",
                                  parts.services->task));
}

// Of a step of a master that is a node of troupe: the session, whose mark the key has, knows the
// step.
void pull_of_session(WorkerSelf self, const WorkerGatewayParts& parts, const std::string& session,
                     std::uint64_t step_id, ForeignPull pull) {
  if (auto known = self->state.marked.find(session); known != self->state.marked.end())
    return hand_over(self, known->second, step_id, std::move(pull));
  auto held = std::make_shared<ForeignPull>(std::move(pull));
  ask(self, parts.worker, parts.services->timeouts.request, FindWorkerSession{session})
      .then(
          [=](const WorkerSessionCreated& found) {
            if (self->state.marked.emplace(session, found.session).second)
              self->monitor(caf::actor_cast<caf::actor>(found.session));
            hand_over(self, found.session, step_id, std::move(*held));
          },
          failing(held->call, "RecvTensor"));
}

void handle(WorkerSelf self, const WorkerGatewayParts& parts, const std::shared_ptr<RpcCall>& call,
            worker_codec::RecvTensor& m) {
  if (Status refused = check_key(parts, m.key); !refused.ok())
    return fail(*call, refused);
  if (const std::string_view session = marked_session(parse_rendezvous_key(m.key)->edge);
      !session.empty())
    return pull_of_session(self, parts, std::string(session), static_cast<std::uint64_t>(m.step_id),
                           ForeignPull{call, m.key});
  using Answer = decltype(self->state.steps)::Answer;
  const auto step_id = static_cast<std::uint64_t>(m.step_id);
  ForeignPull pull{call, std::move(m.key)};
  switch (self->state.steps.pulls(step_id, pull, now_us(self))) {
  case Answer::hand_over:
    return hand_over(self, *self->state.steps.find(step_id), step_id, std::move(pull));
  case Answer::refused:
    return fail(*call,
                aborted(str_cat("step ", m.step_id, " has ended on ", parts.services->task)));
  case Answer::kept:
    return;
  }
}

// The step has ended everywhere: what it holds here goes, and whoever waits for it.
void end_step(WorkerSelf self, std::uint64_t step_id) {
  auto& state = self->state;
  const Status over = aborted(str_cat("Cleanup ", step_id));
  auto graph = state.graphs.extract(step_id);
  if (const WorkerSessionActor* session = state.steps.find(step_id)) {
    if (!graph.empty() && !graph.mapped().has_run)
      self->send(*session, CancelStep{step_id, {over.as_derived()}});
    self->send(*session, CleanupStep{{step_id}});
  }
  for (const ForeignPull& pull : state.steps.ended(step_id))
    fail(*pull.call, over);
  if (!graph.empty())
    for (const auto& run : graph.mapped().runs)
      run->failed(over);
}

void graph_ran(WorkerSelf self, const WorkerGatewayParts& parts, std::uint64_t step_id,
               const Status& status, std::vector<DeviceStats> stats) {
  auto it = self->state.graphs.find(step_id);
  if (it == self->state.graphs.end())
    return;
  ForeignStep& step = it->second;
  step.has_run = true;
  step.status = status;
  step.stats.devices = std::move(stats);
  for (const auto& run : step.runs) {
    if (status.ok())
      run->ran(step.stats);
    else
      run->failed(status);
    if (!run->is_answered()) // its values are on their way, or are none of the graph's
      self->delayed_send(self, parts.services->timeouts.request, ForeignRunOverdue{run});
  }
  step.runs.clear();
  self->state.ran.push_back(step_id);
  if (self->state.ran.size() > most_uncleaned_steps) {
    end_step(self, self->state.ran.front()); // nothing to do for one that was cleaned up
    self->state.ran.pop_front();
  }
}

void begin_graph(WorkerSelf self, const WorkerGatewayParts& parts,
                 const WorkerSessionActor& session, worker_codec::RunGraph& m) {
  const auto step_id = static_cast<std::uint64_t>(m.step_id);
  RunGraph request;
  request.graph_handle = std::move(m.graph_handle);
  request.step_id = step_id;
  request.trace = m.records_timeline;
  request.report_allocations = m.report_allocations;
  ask(self, session, parts.services->timeouts.step, std::move(request))
      .then([=](GraphRun& run) { graph_ran(self, parts, step_id, {}, std::move(run.stats)); },
            [=](caf::error& error) {
              graph_ran(self, parts, step_id, to_status(error, "RunGraph"), {});
            });
}

void handle(WorkerSelf self, const WorkerGatewayParts& parts, const std::shared_ptr<RpcCall>& call,
            worker_codec::RunGraph& m) {
  const auto step_id = static_cast<std::uint64_t>(m.step_id);
  const bool waits = !m.is_partial || m.is_last_partial_run;
  auto run = std::make_shared<ForeignRun>(call, m.errors_in_body, m.recv_keys, waits);
  const ForeignSession* found = find_session(self, m);
  if (!found)
    return run->failed(unknown_session(parts, m.session_handle));
  const WorkerSessionActor session = found->actor;
  if (self->state.steps.has_ended(step_id))
    return run->failed(
        aborted(str_cat("step ", m.step_id, " has ended on ", parts.services->task)));
  auto& graphs = self->state.graphs;
  const bool is_new = !graphs.contains(step_id);
  if (!is_new && !m.is_partial)
    return run->failed(aborted(str_cat("The same RunGraph request was received twice: step ",
                                       m.step_id, " runs already on ", parts.services->task)));
  for (ForeignPull& pull : self->state.steps.begun(step_id, session))
    hand_over(self, session, step_id, std::move(pull));
  ForeignStep& step = graphs[step_id];
  for (auto& [key, value] : m.sends)
    self->send(session, PutEdge{step_id, key, std::move(value), false});
  for (std::size_t i = 0; i < m.recv_keys.size(); ++i)
    take(self, session, step_id, m.recv_keys[i],
         [run, i](Result<EdgeValue> value) { run->got(i, std::move(value)); });
  if (step.has_run)
    step.status.ok() ? run->ran(step.stats) : run->failed(step.status);
  else
    step.runs.push_back(run);
  run->begin();
  call->when_gone([address = self->address(), step_id] {
    if (auto gateway = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(typed<WorkerGatewayActor>(gateway), ForeignStepGone{step_id});
  });
  if (is_new)
    begin_graph(self, parts, session, m);
}

// Nobody waits for the step any more.
void step_gone(WorkerSelf self, std::uint64_t step_id) {
  const WorkerSessionActor* session = self->state.steps.find(step_id);
  if (!session || !self->state.graphs.contains(step_id))
    return;
  self->send(*session,
             CancelStep{step_id,
                        {cancelled(str_cat("the master of step ", step_id, " has given it up"))}});
}

void handle(WorkerSelf self, const WorkerGatewayParts&, const std::shared_ptr<RpcCall>& call,
            worker_codec::CleanupGraph& m) {
  end_step(self, static_cast<std::uint64_t>(m.step_id));
  call->answer({});
}

void handle(WorkerSelf self, const WorkerGatewayParts& parts, const std::shared_ptr<RpcCall>& call,
            worker_codec::CleanupAll& m) {
  ask(self, parts.worker, parts.services->timeouts.request,
      ClearContainers{std::move(m.containers)})
      .then([call](caf::ok_atom) { call->answer({}); }, failing(call, "CleanupAll"));
}

void handle(WorkerSelf self, const WorkerGatewayParts&, const std::shared_ptr<RpcCall>& call,
            const worker_codec::Logging& m) {
  TransferLog& log = *self->state.log;
  if (m.clears)
    log.clear();
  if (m.enables || m.disables)
    log.enable(m.enables);
  std::vector<std::pair<std::int64_t, StepStats>> fetched;
  for (std::int64_t step_id : m.fetches)
    fetched.emplace_back(step_id, log.of_step(static_cast<std::uint64_t>(step_id)));
  call->answer(worker_codec::write_logging(fetched));
}

void edge_taken(EdgeTaken& m) {
  if (m.receive)
    m.receive->answer(m.status, EdgeValue{std::move(m.tensor), m.is_dead});
}

// The session has ended: a Reset of its master, a kill, or the node's end.
void session_ended(WorkerSelf self, const WorkerGatewayParts& parts, const caf::down_msg& down) {
  auto& state = self->state;
  std::erase_if(state.marked,
                [&](const auto& entry) { return entry.second->address() == down.source; });
  std::erase_if(state.sessions,
                [&](const auto& entry) { return entry.second.actor->address() == down.source; });
  state.steps.sessions_ended(
      [&](const WorkerSessionActor& session) { return session->address() == down.source; });
  const Status ended = aborted(str_cat("the session on ", parts.services->task, " has ended"));
  std::erase_if(state.graphs, [&](auto& entry) {
    if (state.steps.find(entry.first))
      return false;
    for (const auto& run : entry.second.runs)
      run->failed(ended);
    return true;
  });
}

void look_for_overdue(WorkerSelf self, const WorkerGatewayParts& parts) {
  auto& state = self->state;
  const std::chrono::microseconds unclaimed(parts.services->timeouts.unclaimed());
  const std::int64_t now = now_us(self);
  for (const auto& [step_id, pull] : state.steps.give_up_before(now - unclaimed.count()))
    fail(*pull.call,
         aborted(str_cat("step ", step_id, " has not begun on ", parts.services->task, " within ",
                         unclaimed.count() / 1'000'000,
                         " s: its master has given it up, or does not reach this task")));
  const std::chrono::microseconds idle(parts.idle_session);
  for (auto it = state.sessions.begin(); idle.count() > 0 && it != state.sessions.end();) {
    const ForeignSession& session = it->second;
    const bool is_idle =
        session.heard_us < now - idle.count() && !state.steps.runs_any_of(session.actor);
    if (!is_idle) {
      ++it;
      continue;
    }
    log_warning("the session ", it->first, " ends: its master ", session.master_task,
                " has not been heard of for ", (now - session.heard_us) / 1'000'000, " s");
    stop(session.actor);
    it = state.sessions.erase(it);
  }
  self->delayed_send(self, unclaimed / 4, LookForOverdue{});
}

} // namespace

WorkerGatewayActor::behavior_type worker_gateway(WorkerSelf self, WorkerGatewayParts parts) {
  guard_actor(self);
  self->set_down_handler([=](caf::down_msg& down) { session_ended(self, parts, down); });
  self->delayed_send(self, std::chrono::microseconds(parts.services->timeouts.unclaimed()) / 4,
                     LookForOverdue{});
  return {
      [=](const GetActors&) {
        const auto& state = self->state;
        return describe_tree(self,
                             str_cat(state.sessions.size(), " sessions of other masters, ",
                                     state.steps.num_running(), " steps, ", state.steps.num_early(),
                                     " waits for steps to come"),
                             Children{});
      },
      [=](const Drain& m) {
        self->state.refusal = m.refusal;
        return caf::ok_atom::value;
      },
      [=](WorkerCall& m) {
        std::visit([&](auto& request) { handle(self, parts, m.call, request); }, m.request);
      },
      [=](EdgeTaken& m) { edge_taken(m); },
      [=](const ForeignStepGone& m) { step_gone(self, m.step_id); },
      [=](const ForeignRunOverdue& m) { m.run->overdue(); },
      [=](LookForOverdue) { look_for_overdue(self, parts); },
  };
}

} // namespace troupe
