// Convolutions are allowed to do fewer products (Winograd's minimal filtering): they get the
// attribute _winograd. Their kernels decide whether it pays. Results differ by more than the order
// of sums does, so a session may switch this pass off; without optimisation sums are plain.
#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

bool is_convolution(const Node& node) {
  return node.is_op("Conv2D") || node.is_op("_FusedConv2D") || node.is_op("Conv2DBackpropInput") ||
         node.is_op("Conv2DBackpropFilter");
}

// Not reported as a change: no other pass reads the mark, so none has to run again.
Status run(Graph& graph, PassContext& context) {
  for (Node* node : graph.nodes()) {
    context.looked_at();
    if (is_convolution(*node))
      node->attrs.set("_winograd", true);
  }
  return {};
}

} // namespace

Pass pass_use_winograd() {
  return {"use_winograd", 95, run};
}

} // namespace troupe
