// Graph: nodes joined by data and control edges. What every pass reads and rewrites; GraphDef is
// its form on the wire.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/ir/name_index.hpp"
#include "graph/op/registry.hpp"

namespace troupe {

using NodeId = std::int32_t;

/// Output `slot` of a node.
struct Endpoint {
  NodeId node = -1;
  int slot = 0;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// A data edge seen from its source. Control edges have both slots -1.
struct OutEdge {
  NodeId dst = -1;
  int dst_slot = 0; ///< input index at dst, -1: control
  int src_slot = 0; ///< -1: control
  bool is_control() const { return dst_slot < 0; }
  friend auto operator<=>(const OutEdge&, const OutEdge&) = default;
};

/// A node. Read it freely; write edges only through its Graph, the other fields directly.
struct Node {
  NodeId id = -1;
  std::string name;
  const OpSchema* op = nullptr;   ///< owned by the registry, or by the graph's functions
  AttrMap attrs;                  ///< complete: defaults filled in
  std::string device;             ///< requested, possibly partial or empty
  std::string assigned_device;    ///< full name after placement, else empty
  std::vector<DType> input_types; ///< references marked
  std::vector<DType> output_types;
  std::vector<Endpoint> inputs;       ///< one for each input_types
  std::vector<NodeId> control_inputs; ///< no duplicates
  std::vector<OutEdge> outs;          ///< every edge that leaves

  const std::string& op_name() const { return op->name; }
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  int num_outputs() const { return static_cast<int>(output_types.size()); }
  bool is_op(std::string_view name) const { return op->name == name; }
  bool has_role(Role role) const { return op->roles.has(role); }
};

/// Producer and minimum consumer versions of a GraphDef.
struct GraphVersions {
  int producer = 0;
  int min_consumer = 0;
  std::vector<int> bad_consumers;
};

class FunctionLibrary;

/// Invariants (see verify.hpp): names are unique; edges are recorded at both ends; types agree
/// along data edges. Ids are stable; the id of a removed node is not used again. Movable; `clone`
/// copies. Not for several threads at once while it is written.
class Graph {
public:
  explicit Graph(const OpRegistry& registry) : registry_(&registry) {}
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  Graph clone() const;

  const OpRegistry& registry() const { return *registry_; }
  /// The schema of an op, or of a function of this graph. NOT_FOUND as OpRegistry::lookup.
  Result<const OpSchema*> lookup_op(std::string_view name) const;

  /// Checks the op, completes the attrs (from the inputs' dtypes and number, then from defaults),
  /// resolves types and connects. INVALID_ARGUMENT / NOT_FOUND
  /// / ALREADY_EXISTS in TensorFlow's words; on an error nothing was added. Input types must match
  /// (a reference may feed a value).
  Result<Node*> add(std::string_view name, std::string_view op, std::vector<Endpoint> inputs = {},
                    AttrMap attrs = {}, std::vector<NodeId> control_inputs = {});
  /// The import's door: inputs may be connected later (`set_input` for each slot) because of loops.
  /// The inputs start out as {-1,0}.
  Result<Node*> add_unconnected(std::string_view name, const OpSchema& op, AttrMap attrs);
  /// The same with op, attrs and types of `like`, a node of this graph: nothing of them is checked
  /// again.
  Result<Node*> add_unconnected(std::string_view name, const Node& like);

  /// Room for that many more nodes, so that adding them is quicker.
  void reserve(std::size_t more);

  /// Connects or reconnects input `slot` of `dst`; the old edge goes. Types are the caller's
  /// promise.
  void set_input(NodeId dst, int slot, Endpoint src);
  /// Nothing if it is there already, or src == dst.
  void add_control_edge(NodeId src, NodeId dst);
  void remove_control_edge(NodeId src, NodeId dst);
  /// Appends a data input (for ops with lists; the caller updates attrs and input_types
  /// accordingly).
  void append_input(NodeId dst, Endpoint src, DType type);
  /// Every consumer of `from` reads `to` instead, but `to`'s own node; control edges stay.
  void replace_uses(Endpoint from, Endpoint to);
  /// Moves all consumers and control successors of `from`, but `to` itself, to `to` (same slots).
  void replace_node(NodeId from, NodeId to);
  /// Removes a node and every edge at it. Consumers' inputs become {-1,0}: the caller reconnects or
  /// removes them.
  void remove(NodeId id);
  void rename(NodeId id, std::string_view name); ///< requires the name to be free

  Node* node(NodeId id) {
    return slots_[static_cast<std::size_t>(id)].get();
  } ///< null once removed
  const Node* node(NodeId id) const { return slots_[static_cast<std::size_t>(id)].get(); }
  Node* find(std::string_view name);
  const Node* find(std::string_view name) const;
  /// `name`, or name_1, name_2 … if taken.
  std::string unique_name(std::string_view name) const;

  /// Ids run from 0 to capacity() - 1, some of them removed.
  NodeId capacity() const { return static_cast<NodeId>(slots_.size()); }
  std::size_t num_nodes() const { return num_nodes_; }
  /// Live nodes in order of id.
  std::vector<Node*> nodes();
  std::vector<const Node*> nodes() const;

  /// Every node after its inputs; back edges of loops (into Merge from NextIteration) are left out.
  /// INVALID_ARGUMENT naming a node on a cycle that no NextIteration closes. Linear, and
  /// remembered until a node or an edge comes or goes, for its copies too. Any number of readers.
  Result<std::vector<NodeId>> topological_order() const;

  GraphVersions versions;
  /// May be null. Nodes that call a function by name point into it: replace it by a copy of it.
  std::shared_ptr<const FunctionLibrary> functions;

private:
  // Positions by edge, kept only for nodes with so many edges that a search would be slow.
  struct EdgeIndex {
    std::unordered_map<NodeId, std::unordered_map<std::uint64_t, std::uint32_t>> of_node;
    std::unordered_map<std::uint64_t, std::uint32_t>* find(NodeId node) {
      auto at = of_node.find(node);
      return at == of_node.end() ? nullptr : &at->second;
    }
  };
  auto name_of() const {
    return [this](NodeId id) -> std::string_view { return node(id)->name; };
  }
  Result<std::vector<NodeId>> sort() const;
  Result<Node*> insert(std::string_view name, const OpSchema& op, AttrMap attrs, NodeTypes types);
  void push_edge(NodeId src, OutEdge edge);
  void drop_edge(NodeId src, OutEdge edge);
  void push_control_input(Node& dst, NodeId src);
  void drop_control_input(Node& dst, NodeId src);
  bool has_control_edge(NodeId src, NodeId dst);
  EdgeIndex outs_index_;    // by destination and its slot
  EdgeIndex control_index_; // of control inputs, by source
  const OpRegistry* registry_;
  std::vector<std::unique_ptr<Node>> slots_;
  NameIndex by_name_;
  // Topological; null: not known. Readers write it too, so only by atomic_load and atomic_store.
  mutable std::shared_ptr<const std::vector<NodeId>> order_;
  mutable std::unordered_map<std::string, int> suffixes_;
  std::size_t num_nodes_ = 0;
};

/// "name:slot", "name" (slot 0) or "^name". INVALID_ARGUMENT otherwise.
struct TensorName {
  std::string_view node;
  int slot = 0; ///< -1: control
};
Result<TensorName> parse_tensor_name(std::string_view text);

} // namespace troupe
