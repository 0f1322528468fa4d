#include "graph/passes/internal/test_text.hpp"
#include "graph/passes/optimize.hpp"

using namespace troupe;

namespace {

constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    c = Conv2D[strides=[1,1,1,1], padding="SAME"](x, w)
    r = Relu(c)
    fetch = Neg(r))";

Graph with_winograd(const OpRegistry& ops, std::vector<std::string> disabled) {
  Graph graph = graph_of(text, ops);
  REQUIRE(optimize(graph, {.disabled = std::move(disabled), .preserve = {"fetch"}}).ok());
  return graph;
}

} // namespace

TEST_CASE("use_winograd: convolutions are marked, and nothing else") {
  OpRegistry ops = fusing_test_ops();
  Graph graph = with_winograd(ops, {});
  int marked = 0;
  for (const Node* node : graph.nodes()) {
    const bool is_marked = node->attrs.get_or("_winograd", false);
    CHECK_MESSAGE(is_marked == node->is_op("Conv2D"), node->name);
    marked += is_marked;
  }
  CHECK(marked == 1);
}

TEST_CASE("use_winograd: switched off by its name it marks nothing") {
  OpRegistry ops = fusing_test_ops();
  Graph graph = with_winograd(ops, {"use_winograd"});
  for (const Node* node : graph.nodes())
    CHECK_FALSE(node->attrs.get_or("_winograd", false));
}
