#include "graph/passes/late_reads.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool gives_reference(const Node& node, int slot) {
  return slot >= 0 && is_ref(node.output_types[static_cast<std::size_t>(slot)]);
}

bool takes_reference(const Node& node, const OutEdge& edge) {
  return is_ref(node.input_types[static_cast<std::size_t>(edge.dst_slot)]);
}

/// A reference, and the Enters by which its value has come into loops, the outermost first.
struct Source {
  Endpoint reference;
  std::vector<NodeId> enters;
};

// What passes on, as a value, a reference of its own device.
struct Reader {
  NodeId node = -1;
  Source source;
};

/// One variable: who writes it and who passes its value on.
struct Uses {
  std::vector<NodeId> writers;
  std::vector<Reader> readers;
};

class LateReads {
public:
  explicit LateReads(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Uses> variables;
    for (const Node* node : graph_.nodes())
      if (is_variable(*node))
        if (Uses uses = uses_of(*node); !uses.readers.empty())
          variables.push_back(std::move(uses));
    for (const Uses& uses : variables)
      for (NodeId writer : uses.writers)
        move_after(writer, uses.readers);
    for (const Uses& uses : variables)
      for (const Reader& reader : uses.readers)
        move_fetches(reader);
  }

private:
  // Where references begin.
  static bool is_variable(const Node& node) {
    return std::ranges::any_of(node.output_types, is_ref) &&
           std::ranges::none_of(node.input_types, is_ref);
  }

  static bool is_for_all_iterations(const Node& node) {
    return node.has_role(Role::enter) && node.attrs.get_or("is_constant", false);
  }

  // All ops that the reference reaches, as itself or as a value that is passed on.
  Uses uses_of(const Node& variable) const {
    Uses out;
    std::vector<Reader> todo{{variable.id, {}}};
    std::set<NodeId> seen{variable.id};
    while (!todo.empty()) {
      const auto [id, source] = todo.back();
      todo.pop_back();
      const Node& node = *graph_.node(id);
      for (const OutEdge& edge : node.outs) {
        if (edge.is_control())
          continue;
        const Node& user = *graph_.node(edge.dst);
        if (gives_reference(node, edge.src_slot) && takes_reference(user, edge)) {
          if (!seen.insert(user.id).second)
            continue;
          if (user.has_role(Role::side_effect))
            out.writers.push_back(user.id);
          todo.push_back({user.id, {}});
        } else if ((user.has_role(Role::passes_on) || is_for_all_iterations(user)) &&
                   edge.dst_slot == 0 && user.assigned_device == variable.assigned_device &&
                   !gives_reference(user, 0) && seen.insert(user.id).second) {
          Reader reader{user.id, source};
          if (gives_reference(node, edge.src_slot))
            reader.source = {{id, edge.src_slot}, {}};
          if (is_for_all_iterations(user))
            reader.source.enters.push_back(user.id);
          todo.push_back(reader);
          out.readers.push_back(std::move(reader));
        }
      }
    }
    return out;
  }

  // The consumers of `readers` that come after `writer`, while the reader does not.
  void move_after(NodeId writer, const std::vector<Reader>& readers) {
    const std::vector<NodeId> after = reached_from(writer);
    auto comes_after = [&](NodeId id) { return std::ranges::binary_search(after, id); };
    for (const Reader& reader : readers) {
      if (comes_after(reader.node))
        continue;
      const std::vector<OutEdge> edges = graph_.node(reader.node)->outs;
      for (const OutEdge& edge : edges)
        if (!edge.is_control() && comes_after(edge.dst))
          read_itself(reader, edge);
    }
  }

  void move_fetches(const Reader& reader) {
    const std::vector<OutEdge> edges = graph_.node(reader.node)->outs;
    for (const OutEdge& edge : edges)
      if (!edge.is_control() && graph_.node(edge.dst)->has_role(Role::result))
        read_itself(reader, edge);
  }

  void read_itself(const Reader& reader, const OutEdge& edge) {
    if (graph_.node(edge.dst)->assigned_device != graph_.node(reader.node)->assigned_device)
      return; // it gets what was sent
    Endpoint reference = reader.source.reference;
    for (NodeId enter : reader.source.enters) {
      reference = entered(enter, reference);
      if (reference.node < 0)
        return;
    }
    graph_.set_input(edge.dst, edge.dst_slot, reference);
    graph_.add_control_edge(reader.node, edge.dst);
  }

  // The reference within the loop that `enter` brings its value into. None if there is no such op.
  Endpoint entered(NodeId enter, Endpoint reference) {
    auto [at, is_new] = entered_.try_emplace(enter);
    if (!is_new)
      return at->second;
    const Node& value = *graph_.node(enter);
    auto added = graph_.add(graph_.unique_name(str_cat(value.name, "/reference")), "RefEnter",
                            {reference}, value.attrs);
    if (added.ok()) {
      (*added)->assigned_device = graph_.node(enter)->assigned_device;
      at->second = {(*added)->id, 0};
    }
    return at->second;
  }

  // Sorted.
  std::vector<NodeId> reached_from(NodeId start) const {
    std::set<NodeId> seen;
    std::vector<NodeId> todo{start};
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      for (const OutEdge& edge : graph_.node(id)->outs)
        if (seen.insert(edge.dst).second)
          todo.push_back(edge.dst);
    }
    return {seen.begin(), seen.end()};
  }

  Graph& graph_;
  std::map<NodeId, Endpoint> entered_; ///< by Enter
};

} // namespace

void read_references_late(Graph& graph) {
  LateReads(graph).run();
}

} // namespace troupe
