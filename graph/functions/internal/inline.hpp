// Puts a copy of a function's body into a graph.
#pragma once

#include <string>
#include <vector>

#include "graph/convert/function_body.hpp"

namespace troupe::functions {

/// Where a body goes.
struct InlineSite {
  std::string scope;            ///< its nodes are named "<scope>/<name>"
  std::string device;           ///< of the call
  bool is_multi_device = true;  ///< nodes keep what they ask for, completed by `device`
  std::vector<Endpoint> inputs; ///< one for each argument, of the graph
  NodeId gate = -1;             ///< readers of arguments wait for it
  /// Nodes that read nothing, or only invariants of the loop around, wait for it.
  NodeId trigger = -1;
};

/// The copy of each body node; an argument's is where its value comes from.
class InlinedBody {
public:
  Endpoint of(Endpoint e) const {
    Endpoint at = first_[static_cast<std::size_t>(e.node)];
    return {at.node, at.slot + e.slot};
  }
  NodeId node_of(NodeId id) const { return first_[static_cast<std::size_t>(id)].node; }
  const std::vector<NodeId>& nodes() const { return nodes_; }

private:
  friend Result<InlinedBody> inline_body(Graph& graph, const FunctionBody& body,
                                         const InlineSite& site);
  std::vector<Endpoint> first_; // by body node: the copy's output 0
  std::vector<NodeId> nodes_;   // in the order of the body
};

/// An invariant has its value in every round, also in the one that the loop's condition ends.
bool is_loop_invariant(const Graph& graph, Endpoint e);

/// Names in `_class` and the names of loops within the body are put into the scope too.
Result<InlinedBody> inline_body(Graph& graph, const FunctionBody& body, const InlineSite& site);

} // namespace troupe::functions
