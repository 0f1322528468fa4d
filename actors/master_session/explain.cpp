#include "actors/master_session/explain.hpp"

#include "actors/family/gather.hpp"
#include "actors/family/spawn_apart.hpp"

#include <algorithm>

#include "actors/step/why_tree.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"

namespace troupe {

namespace {

/// Steps that are asked at once.
constexpr std::size_t max_steps = 16;

struct Inquiry {
  StepsExplained answer;
  caf::typed_response_promise<StepsExplained> promise;
};

std::string has_ended(std::uint64_t step_id, const std::vector<StepInfo>& known) {
  for (const StepInfo& step : known)
    if (step.step_id == step_id && step.state != "running")
      return str_cat("step ", step_id, " has ended: ", step.state);
  return str_cat("step ", step_id, " has ended");
}

bool is_running(std::uint64_t step_id, const std::vector<StepInfo>& known) {
  return std::any_of(known.begin(), known.end(), [&](const StepInfo& step) {
    return step.step_id == step_id && step.state == "running";
  });
}

void remark_on_waiting_runs(const MasterSessionState& state, std::vector<std::string>& remarks) {
  state.waiting.for_each_graph([&](const ClientGraph& graph, std::size_t runs) {
    const Signature& signature = graph.signature;
    remarks.push_back(
        str_cat(runs, runs == 1 ? " run waits" : " runs wait", " for the first graph of fetches [",
                str_join(signature.fetches, ", "), "] targets [", str_join(signature.targets, ", "),
                "]: it is being built, compiled by its tasks, or waits ", "for another one"));
  });
}

// A step in its caller's hands: of its kernels the one is known that holds the thread.
StepExplained explain_direct(const DirectStepInfo& step, const std::string& task) {
  TaskRecord record;
  record.task = task;
  record.answered = record.has_begun = true;
  const Executable& executable = *step.plan->parts[0].executable;
  for (const Executable::Computing& kernel : executable.computing(step.step_id)) {
    DeviceRecord& device = record.devices.emplace_back();
    device.device = executable.device().name();
    device.unfinished = 1;
    NodeRecord& node = device.nodes.emplace_back();
    node.node = kernel.node;
    node.op = kernel.op;
    node.state = NodeRecord::State::running;
    node.running_us = kernel.running_us;
  }
  if (record.devices.empty())
    record.devices.emplace_back();
  Why why = explain_step({record});
  return {step.step_id, step.plan->signature,
          std::max<std::int64_t>(0, steady_micros() - step.start_us), std::move(why.tree),
          std::move(why.cause)};
}

// Those of a caller's hands answer at once.
void explain_direct_steps(const MasterSessionState& state, const std::string& task,
                          std::uint64_t asked_for, StepsExplained& answer) {
  if (!state.direct)
    return;
  for (const DirectStepInfo& step : state.direct->list())
    if (step.is_running && (asked_for == 0 || asked_for == step.step_id) &&
        answer.steps.size() < max_steps)
      answer.steps.push_back(explain_direct(step, task));
}

} // namespace

std::vector<StepInfo> known_steps(MasterSessionSelf self) {
  const auto& state = self->state;
  const std::int64_t now = exact_us(self);
  std::vector<StepInfo> out = state.log.list(now);
  if (!state.direct)
    return out;
  const std::int64_t to_wall = wall_micros() - now;
  for (const DirectStepInfo& step : state.direct->list())
    out.push_back({step.step_id,
                   step.plan->signature,
                   step.is_running ? "running" : "done",
                   step.start_us + to_wall,
                   step.is_running ? now - step.start_us : step.duration_us,
                   {}});
  auto is_running = [](const StepInfo& step) { return step.state == "running"; };
  auto ended = std::stable_partition(out.begin(), out.end(), is_running);
  std::stable_sort(ended, out.end(), [](const StepInfo& a, const StepInfo& b) {
    return a.start_us + a.duration_us > b.start_us + b.duration_us;
  });
  if (auto most = static_cast<std::ptrdiff_t>(StepLog::max_finished); out.end() - ended > most)
    out.erase(ended + most, out.end());
  return out;
}

caf::result<StepsExplained> explain_steps(MasterSessionSelf self, const MasterSessionParts& parts,
                                          const ExplainStep& request) {
  auto& state = self->state;
  std::vector<StepInfo> known = known_steps(self);
  auto inquiry = std::make_shared<Inquiry>();
  std::vector<StepInfo> wanted;
  for (const StepInfo& step : known)
    if (state.steps.find(step.step_id) && (request.step_id == 0 || request.step_id == step.step_id))
      wanted.push_back(step);
  if (request.step_id == 0)
    remark_on_waiting_runs(state, inquiry->answer.remarks);
  else if (wanted.empty() && std::none_of(known.begin(), known.end(), [&](const StepInfo& step) {
             return step.step_id == request.step_id;
           }))
    inquiry->answer.remarks.push_back(
        str_cat("there is no step ", request.step_id, " in this session, running or lately ended"));
  else if (wanted.empty() && !is_running(request.step_id, known))
    inquiry->answer.remarks.push_back(has_ended(request.step_id, known));
  explain_direct_steps(state, parts.services->task, request.step_id, inquiry->answer);
  if (wanted.empty())
    return std::move(inquiry->answer);
  std::stable_sort(wanted.begin(), wanted.end(), [](const StepInfo& a, const StepInfo& b) {
    return a.duration_us > b.duration_us;
  });
  if (wanted.size() > max_steps) {
    inquiry->answer.remarks.push_back(
        str_cat(wanted.size() - max_steps, " more steps run, begun later"));
    wanted.resize(max_steps);
  }
  inquiry->promise = self->make_response_promise<StepsExplained>();
  auto promise = inquiry->promise;
  auto answered = gather(wanted.size(), [=] {
    auto& steps = inquiry->answer.steps;
    std::sort(steps.begin(), steps.end(), [](const StepExplained& a, const StepExplained& b) {
      return a.running_us > b.running_us;
    });
    inquiry->promise.deliver(std::move(inquiry->answer));
  });
  std::uint64_t asked_for = request.step_id;
  for (const StepInfo& step : wanted) {
    std::uint64_t step_id = step.step_id;
    ask(self, state.steps.find(step_id)->actor, parts.services->timeouts.explain * 3 / 2,
        ExplainStep{step_id})
        .then(
            [=](StepExplained& explained) mutable {
              inquiry->answer.steps.push_back(std::move(explained));
              answered();
            },
            [=](caf::error& error) mutable {
              if (error == caf::sec::request_timeout)
                inquiry->answer.remarks.push_back(
                    str_cat("step ", step_id, " did not answer in time; ask again"));
              else if (asked_for != 0)
                inquiry->answer.remarks.push_back(has_ended(step_id, known_steps(self)));
              answered();
            });
  }
  return promise;
}

namespace {

// Explains one graph and ends. It has a thread of its own, because that may take long.
using Explainer = caf::typed_actor<caf::replies_to<ExplainGraph>::with<GraphExplained>>;
struct ExplainerState {
  static constexpr const char* name = "explainer";
};

Result<GraphExplained> explain(ClientGraphRequest request, const Services& services) {
  GraphExplained out;
  TROUPE_ASSIGN(const Graph placed, place_full_graph(request, *services));
  for (const Node* node : placed.nodes())
    out.placement.emplace_back(node->name, node->assigned_device);
  if (request.signature.fetches.empty() && request.signature.targets.empty())
    return out;
  TROUPE_ASSIGN(auto built, build_client_graph(request, *services));
  for (const ClientPart& part : built.parts) {
    ImportOptions import;
    import.allow_internal_ops = true;
    auto graph = read_graph_bytes(part.graph_def, services->library->ops, import);
    out.partitions.emplace_back(part.task,
                                graph.ok() ? to_text(*graph) : graph.status().to_string());
  }
  return out;
}

Explainer::behavior_type explainer(Explainer::stateful_pointer<ExplainerState> self,
                                   Services services, ClientGraphRequest request) {
  guard_actor(self);
  return {[=](const ExplainGraph& m) -> caf::result<GraphExplained> {
    self->quit();
    ClientGraphRequest full = request;
    full.signature = {m.feeds, m.fetches, m.targets};
    auto explained = explain(std::move(full), services);
    if (!explained.ok())
      return to_error(explained.status());
    return *std::move(explained);
  }};
}

} // namespace

namespace {

void start_explaining(MasterSessionSelf self, const MasterSessionParts& parts,
                      const ExplainGraph& m, caf::typed_response_promise<GraphExplained> promise) {
  auto& state = self->state;
  ClientGraphRequest request;
  request.full = state.record.graph;
  request.placed = state.graphs.placed;
  request.assigned = state.record.assigned;
  request.devices = state.tasks.devices;
  request.settings = state.record.settings;
  const Services& services = parts.services;
  Result<Explainer> worker = spawn_apart(self, services->threads->are_real(), "to explain a graph",
                                         explainer, services, std::move(request));
  if (!worker) {
    promise.deliver(to_error(worker.status()));
    return;
  }
  // Not delegated: a client takes a bounced request for our own end.
  std::string what =
      str_cat("explaining the graph of session ", state.record.handle, " on ", services->task);
  ask(self, *worker, services->timeouts.compile, m)
      .then([=](GraphExplained& explained) mutable { promise.deliver(std::move(explained)); },
            [=](caf::error& error) mutable { promise.deliver(to_error(to_status(error, what))); });
}

} // namespace

caf::result<GraphExplained> explain_graph(MasterSessionSelf self, const MasterSessionParts& parts,
                                          ExplainGraph& m) {
  auto& state = self->state;
  auto promise = self->make_response_promise<GraphExplained>();
  if (state.growth.is_growing())
    state.growth.ask({std::move(m), promise});
  else
    start_explaining(self, parts, m, promise);
  return promise;
}

void start_explanations(MasterSessionSelf self, const MasterSessionParts& parts) {
  for (auto& [request, promise] : self->state.growth.take_questions())
    start_explaining(self, parts, request, promise);
}

} // namespace troupe
