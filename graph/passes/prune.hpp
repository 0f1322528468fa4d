// prune: cuts a full graph down to what one signature (feeds, fetches, targets) needs.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

/// Names as clients write them: "x:0" or "x" for feeds and fetches, "x" for targets.
struct Signature {
  std::vector<std::string> feeds = {};
  std::vector<std::string> fetches = {};
  std::vector<std::string> targets = {};
};

struct PrunedTypes {
  std::vector<DType> feeds; ///< references taken away
  std::vector<DType> fetches;
};

/// Feed i becomes a node `_arg_<node>_<slot>_<i>` (op _Arg, attrs T and index i) in place of the
/// fed output, fetch i a node `_retval_<node>_<slot>_<i>` (op _Retval) that reads it; both take the
/// requested and the assigned device of the node. All that no fetch and no target needs is removed,
/// side effects included, and so are feeds that nothing reads.
///
/// Errors, on which the graph is unchanged: NOT_FOUND for unknown names, INVALID_ARGUMENT for an
/// output index too large, a name given twice, fed and fetched at once, a control edge fed or
/// fetched, and a signature with neither fetch nor target; in TensorFlow's words.
Result<PrunedTypes> prune(Graph& graph, const Signature& signature);

} // namespace troupe
