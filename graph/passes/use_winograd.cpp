// Convolutions are allowed to do fewer products (Winograd's minimal filtering): they get the
// attribute _winograd. Their kernels decide whether it pays. Results differ by more than the order
// of sums does, so a session may switch this pass off; without optimisation sums are plain.
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

// Not reported as a change: no other pass reads the mark, so none has to run again.
Status use_winograd(Graph& graph, PassContext& context) {
  for (Node* node : graph.nodes()) {
    context.looked_at();
    if (node->has_role(Role::filtering))
      node->attrs.set("_winograd", true);
  }
  return {};
}

} // namespace

Pass pass_use_winograd() {
  return {"use_winograd", 95, use_winograd};
}

} // namespace troupe
