// prune: cuts a full graph down to what one signature (feeds, fetches, targets) needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

/// A tensor that takes the place of another one, within the graph.
struct TensorConnection {
  std::string from; ///< its node's own value, even where it is fed, is read …
  std::string to;   ///< … by whoever reads this one
  friend bool operator==(const TensorConnection&, const TensorConnection&) = default;
};

/// Names as clients write them: "x:0" or "x" for feeds and fetches, "x" for targets.
struct Signature {
  std::vector<std::string> feeds = {};
  std::vector<std::string> fetches = {};
  std::vector<std::string> targets = {};
  std::vector<TensorConnection> connections = {};
};

struct PrunedTypes {
  std::vector<DType> feeds; ///< references taken away
  std::vector<DType> fetches;
};

/// Where the client's ends of a partial run are: on one device, which its values come to and go
/// from while the step runs.
struct ClientEnds {
  std::string device; ///< full name, of a device in host memory
  std::uint64_t incarnation = 0;
};

/// Feed i becomes a node `_arg_<node>_<slot>_<i>` (op _Arg, attrs T and index i) in place of the
/// fed output, fetch i a node `_retval_<node>_<slot>_<i>` (op _Retval) that reads it; both take the
/// requested and the assigned device of the node. All that no fetch and no target needs is removed,
/// side effects included, and so are feeds that nothing reads. What reads an output of a node that
/// stands for a call reads it where it comes from, if the node's attribute "direct" lists it.
///
/// Of a connection, `to` is replaced as a feed is, by a node `_identity_<node>_<slot>` (op
/// Identity) that reads `from`; feeds and the connections before it count for what `from` depends
/// on.
///
/// With `ends`, feed i is a _Recv `_recv_<node>_<slot>_<i>` and fetch i a _Send
/// `_send_<node>_<slot>_<i>` instead, both assigned to the client's device, by whose name,
/// incarnation and the tensor's canonical name they are keyed.
///
/// Errors, on which the graph is unchanged: NOT_FOUND for unknown names, INVALID_ARGUMENT for an
/// output index too large, a name given twice, fed and fetched at once, a control edge fed or
/// fetched, a connection that closes a cycle, or joins two types, and a signature with neither
/// fetch nor target; in TensorFlow's words.
Result<PrunedTypes> prune(Graph& graph, const Signature& signature,
                          const ClientEnds* ends = nullptr);

/// Whether `prune` finds all names, and may run them together; its errors otherwise.
Status check_signature(const Graph& graph, const Signature& signature);

/// Of `unfed`, one that `fetches` depend on, looking no further than `fed`; empty: none. All are
/// canonical names ("x:0") that the graph has.
std::string unfed_input(const Graph& graph, const std::vector<std::string>& fetches,
                        const std::vector<std::string>& fed, const std::vector<std::string>& unfed);

} // namespace troupe
