#include "actors/master_session/extend.hpp"

#include "actors/master_session/builds.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"

namespace troupe {

namespace {

using Self = MasterSessionSelf;
using Parts = MasterSessionParts;

// On a compute thread. A copy is extended, so that steps that are being built keep what they saw,
// and an error changes nothing. A node that no device may have is an error of the addition, as in
// TensorFlow.
GraphParsed parse(const Graph& graph, const std::string& bytes, ClientGraphRequest& placing,
                  const NodeServices& services) {
  auto extended = std::make_shared<Graph>(graph.clone());
  ImportOptions import;
  import.limits =
      DecodeLimits::bounded_by(services.host_memory); // constants count as values of steps do
  import.ignore_unknown_attrs = true; // of a client that is newer, as TensorFlow does
  GraphParsed out{0, nullptr, extend_graph_bytes(*extended, bytes, import)};
  if (!out.status.ok())
    return out;
  placing.full = extended;
  if (!placing.settings->place_pruned) {
    auto placed = place_for_later(placing, services);
    if (!placed.ok()) {
      out.status = placed.status();
      return out;
    }
    out.placed = std::move(placed->placed);
    out.assigned = std::move(placed->assigned);
  }
  out.graph = std::move(extended);
  return out;
}

// What the first addition makes of the graph.
void parse_next(Self self, const Parts& parts) {
  auto& state = self->state;
  for (Extension& refused : state.growth.refused(state.record.version))
    refused.promise.deliver(
        to_error(aborted(str_cat("Current version is ", state.record.version,
                                 " but caller expected ", refused.request.current_version, "."))));
  std::uint64_t ticket = 0;
  Extension* next = state.growth.begin(ticket);
  if (!next)
    return graph_is_settled(self, parts);
  auto bytes = std::make_shared<std::string>(std::move(next->request.graph_def));
  auto placing = std::make_shared<ClientGraphRequest>();
  placing->assigned = state.record.assigned;
  placing->devices = state.tasks.devices;
  placing->settings = state.record.settings;
  caf::actor_addr address = self->address();
  parts.services->threads->run([=, graph = state.record.graph, services = parts.services] {
    GraphParsed message = parse(*graph, *bytes, *placing, *services);
    message.ticket = ticket;
    if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(typed<MasterSessionActor>(actor), std::move(message));
  });
}

} // namespace

caf::result<GraphExtended> extend_graph(Self self, const Parts& parts, ExtendGraph& m) {
  auto& state = self->state;
  state.client.watch.heard(now_us(self));
  auto bytes = state.pieces.whole(std::move(m.graph_def));
  if (!bytes)
    return to_error(bytes.status());
  m.graph_def = *std::move(bytes);
  if (state.end.is_closing())
    return to_error(failed_precondition("Session is closed."));
  if (state.record.settings->static_graph && state.record.graph->num_nodes() > 0)
    return to_error(failed_precondition("Extending the graph is not supported when "
                                        "`optimize_for_static_graph` is true."));
  auto promise = self->make_response_promise<GraphExtended>();
  if (state.growth.add({std::move(m), promise}))
    parse_next(self, parts);
  return promise;
}

void graph_parsed(Self self, const Parts& parts, GraphParsed& parsed) {
  auto& state = self->state;
  auto extension = state.growth.parsed(parsed.ticket);
  if (!extension)
    return;
  if (parsed.status.ok()) {
    state.record.extend(std::move(parsed.graph), extension->request.begins);
    state.graphs.placed = std::move(parsed.placed);
    state.record.assign(parsed.assigned);
    keep_record(self, parts);
    extension->promise.deliver(GraphExtended{state.record.version});
  } else {
    extension->promise.deliver(to_error(parsed.status));
  }
  parse_next(self, parts);
}

} // namespace troupe
