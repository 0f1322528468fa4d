#include "graph/passes/late_reads.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool gives_reference(const Node& node, int slot) {
  return slot >= 0 && is_ref(node.output_types[static_cast<std::size_t>(slot)]);
}

bool takes_reference(const Node& node, const OutEdge& edge) {
  return is_ref(node.input_types[static_cast<std::size_t>(edge.dst_slot)]);
}

/// A reference, and the outputs of the Enters and Switches by which its value has come into loops
/// and branches, the outermost first.
struct Source {
  Endpoint reference;
  std::vector<Endpoint> gates;
};

// An output that passes on, as a value, a reference of its own device.
struct Reader {
  NodeId node = -1;
  int slot = 0;
  Source source;

  bool gives(const OutEdge& edge) const { return !edge.is_control() && edge.src_slot == slot; }
};

struct Writer {
  NodeId node = -1;
  std::set<std::string> loops; ///< frame names, of those that it is in
};

/// One variable: who writes it, who passes its value on, and whom the reference itself leaves for
/// another device.
struct Uses {
  std::vector<Writer> writers;
  std::vector<Reader> readers;
  std::vector<Reader> leaving;

  bool are_written_in(const std::string& loop) const {
    return std::ranges::any_of(writers, [&](const Writer& w) { return w.loops.contains(loop); });
  }
};

class LateReads {
public:
  explicit LateReads(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Uses> variables;
    for (const Node* node : graph_.nodes())
      if (is_variable(*node))
        if (Uses uses = uses_of(*node); !uses.readers.empty() || !uses.leaving.empty())
          variables.push_back(std::move(uses));
    for (const Uses& uses : variables) {
      std::vector<std::vector<NodeId>> after; // each writer
      for (const Writer& writer : uses.writers)
        after.push_back(reached_from(writer.node));
      for (const std::vector<NodeId>& one : after)
        move_after(one, uses.readers);
      for (const std::vector<Reader>* from : {&uses.readers, &uses.leaving})
        for (const Reader& reader : *from)
          send_after(reader, uses.writers, after);
    }
    for (const Uses& uses : variables)
      for (const Reader& reader : uses.readers) {
        move_fetches(reader);
        read_in_each_iteration(reader, uses);
      }
  }

private:
  static constexpr int any_slot = -1;

  // Where references begin.
  static bool is_variable(const Node& node) {
    return std::ranges::any_of(node.output_types, is_ref) &&
           std::ranges::none_of(node.input_types, is_ref);
  }

  static bool is_for_all_iterations(const Node& node) {
    return node.has_role(Role::enter) && node.attrs.get_or("is_constant", false);
  }

  static std::string frame_of(const Node& enter) {
    return enter.attrs.get_or<std::string>("frame_name", "");
  }
  static bool is_switch(const Node& node) {
    return node.has_role(Role::branch) && node.num_outputs() == 2;
  }

  // All ops that the reference reaches, as itself or as a value that is passed on.
  Uses uses_of(const Node& variable) const {
    Uses out;
    struct Visit {
      Reader at;
      std::set<std::string> loops;
    };
    std::vector<Visit> todo{{{variable.id, any_slot, {}}, {}}};
    std::set<NodeId> seen{variable.id};
    while (!todo.empty()) {
      auto [at, loops] = std::move(todo.back());
      const auto& [id, slot, source] = at;
      todo.pop_back();
      const Node& node = *graph_.node(id);
      for (const OutEdge& edge : node.outs) {
        if (edge.is_control() || (slot != any_slot && edge.src_slot != slot))
          continue;
        const Node& user = *graph_.node(edge.dst);
        const bool is_gate = is_for_all_iterations(user) || is_switch(user);
        if (gives_reference(node, edge.src_slot) && !takes_reference(user, edge) &&
            user.assigned_device != node.assigned_device)
          out.leaving.push_back({id, edge.src_slot, {{id, edge.src_slot}, {}}});
        if (gives_reference(node, edge.src_slot) && takes_reference(user, edge)) {
          if (!seen.insert(user.id).second)
            continue;
          auto inside = loops;
          if (user.has_role(Role::enter))
            inside.insert(frame_of(user));
          if (user.has_role(Role::side_effect))
            out.writers.push_back({user.id, inside});
          todo.push_back({{user.id, any_slot, {}}, std::move(inside)});
        } else if ((user.has_role(Role::passes_on) || is_gate) && edge.dst_slot == 0 &&
                   user.assigned_device == variable.assigned_device && !gives_reference(user, 0) &&
                   seen.insert(user.id).second) {
          for (int i = 0; i < (is_switch(user) ? 2 : 1); ++i) {
            Reader reader{user.id, i, source};
            if (gives_reference(node, edge.src_slot))
              reader.source = {{id, edge.src_slot}, {}};
            if (is_gate)
              reader.source.gates.push_back({user.id, i});
            todo.push_back({reader, {}});
            out.readers.push_back(std::move(reader));
          }
        }
      }
    }
    return out;
  }

  // The consumers of `readers` that come after a writer, while the reader does not.
  void move_after(const std::vector<NodeId>& after, const std::vector<Reader>& readers) {
    auto comes_after = [&](NodeId id) { return std::ranges::binary_search(after, id); };
    for (const Reader& reader : readers) {
      if (comes_after(reader.node))
        continue;
      const std::vector<OutEdge> edges = graph_.node(reader.node)->outs;
      for (const OutEdge& edge : edges)
        if (reader.gives(edge) && comes_after(edge.dst))
          read_itself(reader, edge);
    }
  }

  // What comes after writers and is on another device gets what an Identity on the variable's
  // device reads after them.
  void send_after(const Reader& reader, const std::vector<Writer>& writers,
                  const std::vector<std::vector<NodeId>>& after) {
    if (!reader.source.gates.empty())
      return;
    const std::vector<OutEdge> edges = graph_.node(reader.node)->outs;
    for (const OutEdge& edge : edges) {
      const Node& user = *graph_.node(edge.dst);
      if (!reader.gives(edge) || takes_reference(user, edge) ||
          user.assigned_device == graph_.node(reader.node)->assigned_device)
        continue;
      std::vector<NodeId> before;
      for (std::size_t i = 0; i < writers.size(); ++i)
        if (writers[i].loops.empty() && writers[i].node != reader.node &&
            std::ranges::binary_search(after[i], edge.dst) &&
            !std::ranges::binary_search(after[i], reader.node))
          before.push_back(writers[i].node);
      if (!before.empty())
        if (const NodeId late = late_snapshot(reader, std::move(before)); late >= 0)
          graph_.set_input(edge.dst, edge.dst_slot, {late, 0});
    }
  }

  // -1 if there is no Identity.
  NodeId late_snapshot(const Reader& reader, std::vector<NodeId> writers) {
    const Endpoint reference = reader.source.reference;
    const auto [at, is_new] =
        snapshots_.try_emplace({reference.node, reference.slot, std::move(writers)}, -1);
    if (!is_new)
      return at->second;
    const Node& variable = *graph_.node(reference.node);
    AttrMap attrs;
    attrs.set("T", remove_ref(variable.output_types[static_cast<std::size_t>(reference.slot)]));
    auto added = graph_.add(graph_.unique_name(str_cat(variable.name, "/late")), "Identity",
                            {reference}, std::move(attrs));
    if (!added.ok())
      return -1;
    at->second = (*added)->id;
    (*added)->assigned_device = graph_.node(reference.node)->assigned_device;
    for (NodeId writer : std::get<2>(at->first))
      graph_.add_control_edge(writer, at->second);
    return at->second;
  }

  void move_fetches(const Reader& reader) {
    const std::vector<OutEdge> edges = graph_.node(reader.node)->outs;
    for (const OutEdge& edge : edges)
      if (reader.gives(edge) && graph_.node(edge.dst)->has_role(Role::result))
        read_itself(reader, edge);
  }

  // An Enter's value into all iterations of a loop that writes the variable: each iteration takes a
  // snapshot of its own as it begins. What is ordered after a write reads the reference by now.
  void read_in_each_iteration(const Reader& reader, const Uses& uses) {
    const Node& enter = *graph_.node(reader.node);
    if (!is_for_all_iterations(enter) || !uses.are_written_in(frame_of(enter)))
      return;
    const std::vector<OutEdge> edges = enter.outs;
    const Endpoint reference = reference_of(reader);
    if (reference.node < 0 ||
        std::ranges::none_of(edges, [](const OutEdge& e) { return !e.is_control(); }))
      return;
    AttrMap attrs;
    attrs.set("T", enter.attrs.get_or("T", DType::invalid));
    auto snapshot = graph_.add(graph_.unique_name(str_cat(enter.name, "/snapshot")), "Identity",
                               {reference}, std::move(attrs));
    if (!snapshot.ok())
      return;
    (*snapshot)->assigned_device = graph_.node(reader.node)->assigned_device;
    for (const OutEdge& edge : edges)
      if (!edge.is_control())
        graph_.set_input(edge.dst, edge.dst_slot, {(*snapshot)->id, 0});
  }

  void read_itself(const Reader& reader, const OutEdge& edge) {
    if (graph_.node(edge.dst)->assigned_device != graph_.node(reader.node)->assigned_device)
      return; // it gets what was sent
    const Endpoint reference = reference_of(reader);
    if (reference.node < 0)
      return;
    graph_.set_input(edge.dst, edge.dst_slot, reference);
    graph_.add_control_edge(reader.node, edge.dst);
  }

  // Where the reader's value is, the reference. None if there is no such op.
  Endpoint reference_of(const Reader& reader) {
    Endpoint reference = reader.source.reference;
    for (Endpoint gate : reader.source.gates)
      if (reference.node >= 0)
        reference = behind(gate, reference);
    return reference;
  }

  // The reference within the loop or branch that `gate` brings its value into.
  Endpoint behind(Endpoint gate, Endpoint reference) {
    auto [at, is_new] = gates_.try_emplace(gate.node, -1);
    if (is_new) {
      const Node& value = *graph_.node(gate.node);
      std::vector<Endpoint> inputs{reference};
      if (is_switch(value))
        inputs.push_back(value.inputs[1]);
      auto added = graph_.add(graph_.unique_name(str_cat(value.name, "/reference")),
                              is_switch(value) ? "RefSwitch" : "RefEnter", inputs, value.attrs);
      if (added.ok()) {
        (*added)->assigned_device = graph_.node(gate.node)->assigned_device;
        at->second = (*added)->id;
      }
    }
    return at->second < 0 ? Endpoint{} : Endpoint{at->second, gate.slot};
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
  std::map<NodeId, NodeId> gates_; ///< those of references, by those of values
  /// By the reference's node and slot, and the writers that they come after.
  std::map<std::tuple<NodeId, int, std::vector<NodeId>>, NodeId> snapshots_;
};

} // namespace

void read_references_late(Graph& graph) {
  LateReads(graph).run();
}

} // namespace troupe
