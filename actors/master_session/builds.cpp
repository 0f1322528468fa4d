#include "actors/master_session/builds.hpp"
#include "actors/family/graph_pieces.hpp"

#include <algorithm>

#include "actors/family/edge_mark.hpp"
#include "actors/master_session/explain.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = MasterSessionSelf;
using Parts = MasterSessionParts;

void finish_build(Self self, const Parts& parts, const std::shared_ptr<ClientGraph>& graph,
                  const Status& status) {
  auto& state = self->state;
  auto waiting = state.waiting.graph_is_ready(graph);
  if (!status.ok()) {
    state.signatures.drop(graph);
    state.graphs.parts.erase(graph.get());
  }
  state.graphs.queue.end();
  build_next(self, parts);
  graph_is_ready(self, parts, waiting, status);
}

// Empty if the session has nothing on our own task.
std::string task_in_process(Self self, const NodeServices& services) {
  for (const SessionWorker& worker : self->state.tasks.workers)
    if (worker.task == services.task && worker.session && worker.session->node() == self->node())
      return worker.task;
  return {};
}

using RegistrationRef = std::shared_ptr<Registration>;

/// Client graphs of a session that are kept, and their nodes together; one more makes the one go
/// that was not run for longest.
constexpr std::size_t max_graphs = 2'000, max_nodes = 4'000'000;

void deregister(Self self, const Parts& parts, const WorkerSessionActor& session,
                const std::string& graph_handle) {
  ask(self, session, parts.services->timeouts.request, DeregisterGraph{graph_handle})
      .then([](caf::ok_atom) {}, [](caf::error&) {}); // the session's end frees it too
}

// Whoever makes a new signature for each of its steps has the room of some.
void forget_unused(Self self, const Parts& parts) {
  auto& state = self->state;
  for (const auto& graph : state.signatures.take_unused(max_graphs, max_nodes)) {
    state.graphs.parts.erase(graph.get());
    if (graph->plan)
      for (const RegisteredPart& part : graph->plan->parts)
        if (state.tasks.health.is_well(part.task))
          deregister(self, parts, part.session, part.graph_handle);
  }
}

void finish_if_decided(Self self, const Parts& parts, const RegistrationRef& registration) {
  if (!registration->answers.is_decided() || self->state.graphs.registration != registration)
    return;
  self->state.graphs.registration = nullptr;
  const Status& status = registration->answers.status();
  if (status.ok())
    registration->graph->plan = std::make_shared<const StepPlan>(std::move(registration->plan));
  else
    for (const RegisteredPart& part : registration->plan.parts)
      if (!part.graph_handle.empty())
        deregister(self, parts, part.session, part.graph_handle);
  finish_build(self, parts, registration->graph, status);
  forget_unused(self, parts);
}

void ask_to_register(Self self, const Parts& parts, const RegistrationRef& registration,
                     std::size_t i, ClientPart& part) {
  auto& state = self->state;
  const SessionSettings& settings = *state.record.settings;
  RegisterGraph request;
  request.graph_def = std::move(part.graph_def);
  request.graph = std::move(part.graph);
  request.disabled_passes = settings.disabled_passes;
  request.optimize = settings.optimize && !part.is_final;
  request.wants_costs = settings.cost_model_every > 0;
  if (registration->graph->watches) {
    request.watches = *registration->graph->watches;
    request.optimize = false;
  }
  const RegisteredPart& entry = registration->plan.parts[i];
  send_pieces(self, entry.session, request.graph_def);
  ask_watched(self, entry.session, parts.services->timeouts.compile, std::move(request))
      .then(
          [=](GraphRegistered& answer) {
            if (!registration->answers.registered(i))
              return; // lost meanwhile
            RegisteredPart& entry = registration->plan.parts[i];
            if (self->state.graphs.registration != registration) // another part has failed before
              return deregister(self, parts, entry.session, answer.graph_handle);
            entry.graph_handle = std::move(answer.graph_handle);
            entry.has_remote_edges = answer.has_remote_edges;
            entry.manager = answer.manager;
            entry.node_states = std::move(answer.node_states);
            entry.executable = std::move(answer.executable);
            entry.cost_nodes = std::move(answer.cost_nodes);
            finish_if_decided(self, parts, registration);
          },
          [=, task = entry.task](caf::error& error) {
            registration->answers.failed(i, to_status(error, str_cat("RegisterGraph on ", task)));
            finish_if_decided(self, parts, registration);
          });
}

std::string describe(const Signature& signature) {
  return str_cat("feeds [", str_join(signature.feeds, ", "), "] fetches [",
                 str_join(signature.fetches, ", "), "] targets [",
                 str_join(signature.targets, ", "), "]");
}

// A partial run's feeds and fetches come and go by a device of this process.
ClientEnds client_ends(const MasterSessionState& state, const std::string& own_task) {
  for (const DeviceAttributes& device : state.tasks.devices)
    if (device.type == "CPU" && task_of_device(device.name) == own_task)
      return {device.name, device.incarnation};
  return {};
}

ClientEdges client_edges(const MasterSessionState& state, const std::string& own_task,
                         ClientGraphParts& built) {
  ClientEdges out;
  for (const SessionWorker& worker : state.tasks.workers)
    if (worker.task == own_task)
      out.session = worker.session;
  out.feeds = std::move(built.feed_keys);
  out.fetches = std::move(built.fetch_keys);
  return out;
}

std::vector<std::string> tasks_of(const ClientGraphParts& built) {
  std::vector<std::string> out;
  for (const ClientPart& part : built.parts)
    out.push_back(part.task);
  return out;
}

void register_parts(Self self, const Parts& parts, const std::shared_ptr<ClientGraph>& graph,
                    ClientGraphParts& built) {
  auto& state = self->state;
  auto registration =
      std::make_shared<Registration>(Registration{graph, {}, PartAnswers(tasks_of(built))});
  state.graphs.registration = registration;
  registration->plan.signature = describe(graph->signature);
  registration->plan.num_fetches = graph->signature.fetches.size();
  registration->plan.parts.resize(built.parts.size());
  graph->num_nodes = built.num_nodes;
  if (graph->use == GraphUse::partial_runs)
    registration->plan.client = client_edges(state, parts.services->task, built);
  for (std::size_t i = 0; i < built.parts.size(); ++i) {
    ClientPart& part = built.parts[i];
    auto worker = std::find_if(state.tasks.workers.begin(), state.tasks.workers.end(),
                               [&](const SessionWorker& w) { return w.task == part.task; });
    if (worker == state.tasks.workers.end()) {
      registration->answers.failed(i,
                                   internal(str_cat("a part of the graph was placed on ", part.task,
                                                    ", which the session does not use")));
      continue;
    }
    RegisteredPart& entry = registration->plan.parts[i];
    entry.task = part.task;
    entry.session = worker->session;
    entry.feed_of = part.feed_of;
    entry.fetch_of = part.fetch_of;
    entry.retvals = part.retvals;
    if (const Status* loss = state.tasks.health.loss(part.task)) {
      registration->answers.failed(i, *loss);
      continue;
    }
    if (graph->use == GraphUse::shown_runs)
      state.graphs.parts[graph.get()].push_back(part.graph_def);
    ask_to_register(self, parts, registration, i, part);
  }
  finish_if_decided(self, parts, registration);
}

} // namespace

void stop_unwanted_build(MasterSessionState& state) {
  const BuildQueue::GraphRef graph = state.graphs.queue.under_way();
  if (state.graphs.unwanted && graph && !state.waiting.is_wanted(graph))
    state.graphs.unwanted->store(true);
}

void build_next(Self self, const Parts& parts) {
  auto& state = self->state;
  auto build =
      state.growth.is_growing() ? std::nullopt : state.graphs.queue.begin(state.record.version);
  if (!build)
    return;
  auto request = std::make_shared<ClientGraphRequest>();
  request->full = state.record.graph;
  request->placed = state.graphs.placed;
  request->assigned = state.record.assigned;
  request->signature = build->graph->signature;
  request->is_watched = build->graph->watches != nullptr;
  request->costs = state.graphs.costs;
  request->devices = state.tasks.devices;
  request->settings = state.record.settings;
  request->unwanted = state.graphs.unwanted = std::make_shared<std::atomic<bool>>(false);
  if (std::ranges::any_of(state.tasks.workers, &SessionWorker::is_foreign))
    request->edge_mark = edge_mark(state.record.handle);
  if (build->graph->use != GraphUse::shown_runs)
    request->own_task = task_in_process(self, *parts.services);
  if (build->graph->use == GraphUse::partial_runs)
    request->client_ends = client_ends(state, parts.services->task);
  caf::actor_addr address = self->address();
  Services services = parts.services;
  services->threads->run([=, ticket = build->ticket] {
    auto built = build_client_graph(*request, *services);
    if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address)) {
      ClientGraphBuilt message{ticket, nullptr, built.status()};
      if (built.ok())
        message.parts = std::make_shared<ClientGraphParts>(*std::move(built));
      caf::anon_send(typed<MasterSessionActor>(actor), std::move(message));
    }
  });
}

void lose_registering(Self self, const Parts& parts, const std::string& task) {
  const RegistrationRef registration = self->state.graphs.registration;
  const Status* loss = self->state.tasks.health.loss(task);
  if (!registration || !loss)
    return;
  registration->answers.lose(task, *loss);
  finish_if_decided(self, parts, registration);
}

void client_graph_built(Self self, const Parts& parts, ClientGraphBuilt& built) {
  auto& state = self->state;
  const BuildQueue::Build* build = state.graphs.queue.find(built.ticket);
  if (!build)
    return;
  auto graph = build->graph;
  const bool was_stopped = std::exchange(state.graphs.unwanted, nullptr)->load();
  if (was_stopped && !built.status.ok() && state.waiting.is_wanted(graph)) {
    state.graphs.queue.end(); // somebody has come since it was stopped
    state.graphs.queue.add(graph);
    return build_next(self, parts);
  }
  if (!built.status.ok())
    return finish_build(self, parts, graph, built.status);
  if (!state.graphs.placed) { // of a session that was made again, or places what it prunes
    if (state.record.assign(built.parts->assigned))
      keep_record(self, parts);
    if (build->version == state.record.version) // else the graph was extended meanwhile
      state.graphs.placed = built.parts->placed;
  }
  graph->feed_types = std::move(built.parts->feed_types);
  graph->feed_shapes = std::move(built.parts->feed_shapes);
  if (state.record.settings->any_feed_shape)
    std::ranges::fill(graph->feed_shapes, PartialShape());
  register_parts(self, parts, graph, *built.parts);
}

void graph_is_settled(Self self, const Parts& parts) {
  start_explanations(self, parts);
  build_next(self, parts);
}

} // namespace troupe
