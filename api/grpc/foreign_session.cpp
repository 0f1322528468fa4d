#include "api/grpc/foreign_session.hpp"

#include <algorithm>

#include "actors/family/children.hpp"
#include "actors/worker_session/hand_over_edge.hpp"
#include "api/grpc/foreign_part.hpp"
#include "api/grpc/worker_client_codec.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using SessionSelf = ForeignSessionActor::stateful_pointer<ForeignSessionState>;
using Setup = std::shared_ptr<const ForeignSessionSetup>;

} // namespace

Status of_task(const Status& status, const ForeignTaskInfo& info, std::uint64_t step_id) {
  if (status.code() == Code::unavailable)
    return unavailable(str_cat("task ", info.task, ", TensorFlow's server at ", info.address,
                               ", cannot be reached: ", status.message(),
                               "; it has ended, or is cut off"))
        .with_origin({"", "", info.task, step_id});
  constexpr std::string_view mark = "[[{{node ";
  std::string text = status.message(), node;
  if (auto at = text.find(mark); at != text.npos) {
    auto end = text.find("}}]]", at);
    if (end != text.npos) {
      node = text.substr(at + mark.size(), end - at - mark.size());
      auto from = text.find_last_not_of(" \n\t", at == 0 ? 0 : at - 1);
      text.erase(from == text.npos ? 0 : from + 1, end + 4 - (from == text.npos ? 0 : from + 1));
    }
  }
  Status out(status.code(), std::move(text));
  if (status.derived())
    out = out.as_derived();
  return out.with_origin(
      {node, "", info.devices.empty() ? info.task : info.devices.front().name, step_id});
}

namespace {

caf::result<GraphRegistered> register_graph(SessionSelf self, const Setup& setup,
                                            const RegisterGraph& m) {
  auto part = foreign_part(m.graph_def, [&](std::string_view device) -> std::uint64_t {
    for (const DeviceAttributes& known : setup->info->devices)
      if (known.name == device)
        return known.incarnation;
    return 0;
  });
  if (!part.ok())
    return to_error(part.status());
  if (!m.watches.empty())
    return to_error(unimplemented(
        str_cat("watching tensors on ", setup->info->task, ", which is TensorFlow's")));
  auto promise = self->make_response_promise<GraphRegistered>();
  self->state.calls.start(
      self, "RegisterGraph", worker_codec::write_register_graph(setup->handle, part->graph_def),
      setup->services->timeouts.compile,
      [=, feeds = part->feed_keys, fetches = part->fetch_keys](Result<std::string>& bytes) mutable {
        auto handle = bytes.ok() ? worker_codec::read_graph_registered(*bytes)
                                 : Result<std::string>(bytes.status());
        if (!handle.ok())
          return void(promise.deliver(
              to_error(of_task(handle.status().with_context("RegisterGraph"), *setup->info))));
        self->state.graphs[*handle] = {std::move(feeds), std::move(fetches)};
        promise.deliver(GraphRegistered{*handle, true, true});
      });
  return promise;
}

// The fetched values by number, of an answer that has them by key.
Result<GraphRun> to_graph_run(worker_codec::GraphRunWords words,
                              const std::vector<std::string>& fetch_keys) {
  GraphRun out;
  out.retvals.resize(fetch_keys.size());
  out.stats = std::move(words.stats);
  for (std::size_t i = 0; i < fetch_keys.size(); ++i) {
    auto value =
        std::ranges::find(words.values, fetch_keys[i],
                          [](const auto& entry) -> const std::string& { return entry.first; });
    if (value == words.values.end())
      return internal(str_cat("the answer lacks the value of ", fetch_keys[i]));
    out.retvals[i] = WireTensor(value->second);
  }
  return out;
}

caf::result<GraphRun> run_graph(SessionSelf self, const Setup& setup, RunGraph& m) {
  auto& state = self->state;
  auto graph = state.graphs.find(m.graph_handle);
  if (graph == state.graphs.end())
    return to_error(aborted(str_cat("Graph handle is not found: ", m.graph_handle,
                                    ". It is none of ", setup->info->task)));
  worker_codec::RunGraphWords words{
      setup->handle, m.graph_handle,       m.step_id,  {}, graph->second.fetch_keys,
      m.trace,       m.report_allocations, random_id()};
  if (m.args.size() != graph->second.feed_keys.size())
    return to_error(internal(str_cat("a graph with ", graph->second.feed_keys.size(),
                                     " fed values was run with ", m.args.size())));
  for (std::size_t i = 0; i < m.args.size(); ++i)
    words.sends.emplace_back(graph->second.feed_keys[i], std::move(m.args[i].tensor));
  auto request = worker_codec::write_run_graph(words);
  if (!request.ok())
    return to_error(request.status());
  auto promise = self->make_response_promise<GraphRun>();
  const std::uint64_t step_id = m.step_id;
  state.runs[step_id].call = state.calls.start(
      self, "RunGraph", *request, setup->services->timeouts.step,
      [=, fetches = graph->second.fetch_keys](Result<std::string>& bytes) mutable {
        auto ended = self->state.runs.extract(step_id);
        if (!ended.empty() && !ended.mapped().cancelled.ok())
          return void(promise.deliver(to_error(ended.mapped().cancelled.as_derived())));
        auto words = bytes.ok()
                         ? worker_codec::read_graph_run(
                               *bytes, DecodeLimits::bounded_by(setup->services->host_memory))
                         : Result<worker_codec::GraphRunWords>(bytes.status());
        auto run = words.ok() ? to_graph_run(*std::move(words), fetches)
                              : Result<GraphRun>(words.status());
        if (run.ok())
          promise.deliver(*std::move(run));
        else
          promise.deliver(to_error(of_task(run.status(), *setup->info, step_id)));
      });
  return promise;
}

// The end of its call is the answer of one that runs: `why`, as a consequence.
void end_step(SessionSelf self, std::uint64_t step_id, const Status& why) {
  self->state.edges->end_step(step_id);
  auto run = self->state.runs.find(step_id);
  if (run == self->state.runs.end() || !run->second.cancelled.ok())
    return;
  run->second.cancelled = why;
  self->state.calls.cancel(run->second.call);
}

void clean_up(SessionSelf self, const Setup& setup, const std::vector<std::uint64_t>& steps) {
  for (std::uint64_t step_id : steps) {
    end_step(self, step_id, aborted(str_cat("Cleanup ", step_id)));
    if (setup->is_masters())
      self->state.calls.start(self, "CleanupGraph", worker_codec::write_cleanup_graph(step_id),
                              setup->services->timeouts.request, [](Result<std::string>&) {});
  }
}

// Each value comes by itself, or the reason why it does not.
EdgesSent receive_tensors(SessionSelf self, const Setup& setup, const ReceiveTensors& m) {
  for (const std::string& key : m.keys)
    self->state.edges->receive(m.step_id, setup->info->task, key,
                               [receiver = m.receiver->address(), step_id = m.step_id, key,
                                setup](Result<EdgeValue> value) {
                                 if (!value.ok())
                                   value = of_task(value.status(), *setup->info, step_id);
                                 hand_over_edge(receiver, step_id, setup->info->task, key,
                                                std::move(value));
                               });
  EdgesSent out;
  out.sends_unasked = false;
  return out;
}

TaskRecord explain(const ForeignSessionState& state, const ForeignSessionSetup& setup,
                   std::uint64_t step_id) {
  TaskRecord out;
  out.task = setup.info->task;
  out.answered = true;
  out.has_begun = state.runs.contains(step_id);
  return out;
}

} // namespace

ForeignSessionActor::behavior_type foreign_session(SessionSelf self, ForeignSessionSetup given) {
  guard_actor(self);
  const Setup setup = std::make_shared<const ForeignSessionSetup>(std::move(given));
  const ForeignTaskInfo& info = *setup->info;
  self->state.calls = PeerCalls(setup->peers, info.address);
  self->state.edges = std::make_shared<PeerEdges>(
      setup->peers, [setup](const std::string&) -> Result<Address> { return setup->info->address; },
      DecodeLimits::bounded_by(setup->services->host_memory), setup->services->timeouts.step);
  if (!setup->is_masters())
    if (auto reader = caf::actor_cast<caf::strong_actor_ptr>(setup->reader))
      self->monitor(caf::actor_cast<caf::actor>(reader));
  self->set_down_handler(
      [self](const caf::down_msg&) { self->quit(caf::exit_reason::user_shutdown); });
  self->set_exit_handler([=](caf::exit_msg& exit) {
    for (const auto& [step_id, run] : self->state.runs)
      self->state.edges->end_step(step_id);
    if (setup->is_masters()) // nobody waits for the answer
      setup->peers->start(setup->info->address, "/tensorflow.WorkerService/DeleteWorkerSession",
                          worker_codec::write_delete_worker_session(setup->handle),
                          setup->services->timeouts.request, [](const Result<std::string>&) {});
    self->quit(exit.reason);
  });
  return {
      [=](RunGraph& m) {
        clean_up(self, setup, m.ended);
        return run_graph(self, setup, m);
      },
      [](const GraphPiece&) {}, // of masters on other nodes, and this actor is its master's own
      [=](const RegisterGraph& m) { return register_graph(self, setup, m); },
      [=](const DeregisterGraph& m) {
        self->state.graphs.erase(m.graph_handle);
        self->state.calls.start(self, "DeregisterGraph",
                                worker_codec::write_deregister_graph(setup->handle, m.graph_handle),
                                setup->services->timeouts.request, [](Result<std::string>&) {});
        return caf::ok_atom::value;
      },
      [=](const CancelStep& m) { end_step(self, m.step_id, reason_of(m.status)); },
      [=](const CleanupStep& m) { clean_up(self, setup, m.step_ids); },
      [=](const ExplainPart& m) { return explain(self->state, *setup, m.step_id); },
      [=](const ReceiveTensors& m) { return receive_tensors(self, setup, m); },
      [=](const ResumeSession& m) -> caf::result<caf::ok_atom> {
        if (!setup->is_masters())
          return to_error(
              aborted(str_cat(setup->info->task, " holds nothing of session ", setup->handle)));
        for (const auto& [step_id, run] : self->state.runs)
          end_step(self, step_id, reason_of(m.why));
        return caf::ok_atom::value;
      },
      [=](const Drain&) { return caf::ok_atom::value; },
      [=](const GetActors&) {
        return describe_tree(
            self,
            str_cat(self->state.graphs.size(), " graphs, ", self->state.runs.size(), " steps"),
            Children{});
      },
      [=](PeerAnswered& m) { self->state.calls.answered(m); },
      // A TensorFlow task pulls its values from the worker gateways, and knows no leases.
      [=](const EdgesArrived&) {},
      [=](const EdgesLost&) {},
      [=](const PutEdge&) {},
      [=](const TakeEdge&) {},
      [=](const PeerLost&) {},
      [=](const RenewLease&) {},
      [=](CheckLeases) {},
      [=](const FindPeerSession&) -> caf::result<WorkerSessionCreated> {
        return to_error(unimplemented("a task that is TensorFlow's finds its peers itself"));
      },
      [=](const WantEdges&) -> caf::result<EdgesSent> {
        return to_error(unimplemented("a task that is TensorFlow's asks for its values itself"));
      },
  };
}

} // namespace troupe
