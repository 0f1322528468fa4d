#include "graph/ir/graph.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/test_ops.hpp"

using namespace troupe;

namespace {

Node& must(Result<Node*> result) {
  REQUIRE_MESSAGE(result.ok(), result.status().to_string());
  return **result;
}

// a → b → c and a ⇢ c
struct Chain {
  OpRegistry ops = test_ops();
  Graph g{ops};
  Node& a = must(g.add("a", "Source"));
  Node& b = must(g.add("b", "Neg", {{a.id, 0}}));
  Node& c = must(g.add("c", "Neg", {{b.id, 0}}, {}, {a.id}));
};

} // namespace

TEST_CASE("graph: an edge is recorded at both of its ends") {
  Chain t;
  CHECK(t.b.inputs == std::vector<Endpoint>{{t.a.id, 0}});
  CHECK(t.c.control_inputs == std::vector<NodeId>{t.a.id});
  CHECK(t.a.outs == std::vector<OutEdge>{{t.b.id, 0, 0}, {t.c.id, -1, -1}});
  CHECK(t.b.input_types == std::vector{DType::float32});
  CHECK(t.g.find("b") == &t.b);
  CHECK(t.g.find("d") == nullptr);
}

TEST_CASE("graph: adding checks names, ops, inputs and types, and adds nothing on an error") {
  Chain t;
  auto fails = [&](auto result, Code code, std::string_view part) {
    REQUIRE(!result.ok());
    CHECK(result.status().code() == code);
    CHECK_MESSAGE(result.status().message().find(part) != std::string::npos,
                  result.status().message());
  };
  fails(t.g.add("a", "Source"), Code::already_exists, "Node name 'a' already exists");
  fails(t.g.add("", "Source"), Code::invalid_argument, "invalid characters");
  fails(t.g.add("x y", "Source"), Code::invalid_argument, "invalid characters");
  fails(t.g.add("x", "source"), Code::not_found, "did you mean 'Source'");
  fails(t.g.add("x", "Neg"), Code::invalid_argument, "missing attr 'T'");
  fails(t.g.add("x", "Neg", {{99, 0}}), Code::invalid_argument, "node number 99");
  fails(t.g.add("x", "Neg", {{t.a.id, 1}}), Code::invalid_argument, "output 1 of 'a'");
  fails(t.g.add("x", "Add", {{t.a.id, 0}}), Code::invalid_argument,
        "NodeDef expected inputs 'float, float' do not match 1 inputs");
  fails(t.g.add("x", "Neg", {{t.a.id, 0}}, {{"T", DType::int32}}), Code::invalid_argument,
        "Input 0 of node x was passed float from a:0 incompatible with expected int32.");
  fails(t.g.add("x", "Source", {}, {}, {7}), Code::invalid_argument, "control input");
  CHECK(t.g.num_nodes() == 3);
  CHECK(t.a.outs.size() == 2);
}

TEST_CASE("graph: a reference may feed a value, a value may not feed a reference") {
  OpRegistry ops = test_ops();
  Graph g(ops);
  Node& v = must(g.add("v", "Variable", {}, {{"dtype", DType::float32}}));
  CHECK(v.output_types == std::vector{make_ref(DType::float32)});
  Node& n = must(g.add("n", "Neg", {{v.id, 0}}));
  CHECK(n.input_types == std::vector{DType::float32});
  CHECK(g.add("s", "Assign", {{v.id, 0}, {n.id, 0}}).ok());
  auto bad = g.add("t", "Assign", {{n.id, 0}, {n.id, 0}});
  REQUIRE(!bad.ok());
  CHECK(bad.status().message() ==
        "Input 0 of node t was passed float from n:0 incompatible with expected float_ref.");
}

TEST_CASE("graph: reconnecting an input drops the old edge") {
  Chain t;
  t.g.set_input(t.c.id, 0, {t.a.id, 0});
  CHECK(t.b.outs.empty());
  CHECK(t.a.outs.size() == 3);
  t.g.set_input(t.c.id, 0, {});
  CHECK(t.a.outs.size() == 2);
}

TEST_CASE("graph: removing a node leaves its consumers unconnected") {
  Chain t;
  NodeId b = t.b.id;
  t.g.remove(b);
  CHECK(t.g.node(b) == nullptr);
  CHECK(t.c.inputs[0] == Endpoint{});
  CHECK(t.a.outs == std::vector<OutEdge>{{t.c.id, -1, -1}});
  CHECK(t.g.num_nodes() == 2);
  CHECK(must(t.g.add("b", "Source")).id == 3);
}

TEST_CASE("graph: control edges are never doubled, nor lead from a node to itself") {
  Chain t;
  t.g.add_control_edge(t.a.id, t.c.id);
  t.g.add_control_edge(t.c.id, t.c.id);
  CHECK(t.c.control_inputs.size() == 1);
  t.g.remove_control_edge(t.a.id, t.c.id);
  t.g.remove_control_edge(t.a.id, t.c.id);
  CHECK(t.c.control_inputs.empty());
  CHECK(t.a.outs.size() == 1);
}

TEST_CASE("graph: replacing uses spares the node that replaces") {
  Chain t;
  Node& between = must(t.g.add("between", "Neg", {{t.a.id, 0}}));
  t.g.replace_uses({t.a.id, 0}, {between.id, 0});
  CHECK(t.b.inputs[0] == Endpoint{between.id, 0});
  CHECK(between.inputs[0] == Endpoint{t.a.id, 0});
  t.g.replace_node(t.a.id, between.id);
  CHECK(t.c.control_inputs == std::vector{between.id});
  CHECK(t.a.outs == std::vector<OutEdge>{{between.id, 0, 0}});
}

TEST_CASE("graph: a clone has its own nodes") {
  Chain t;
  Graph copy = t.g.clone();
  t.g.remove(t.b.id);
  REQUIRE(copy.find("b"));
  CHECK(copy.find("c")->inputs[0] == Endpoint{copy.find("b")->id, 0});
  CHECK(copy.find("b") != &t.b);
}

TEST_CASE("graph: names can be changed and made unique") {
  Chain t;
  t.g.rename(t.a.id, "z");
  CHECK(t.g.find("z") == &t.a);
  CHECK(t.g.find("a") == nullptr);
  CHECK(t.g.unique_name("a") == "a");
  CHECK(t.g.unique_name("z") == "z_1");
  CHECK(t.g.unique_name("z") == "z_2");
}

TEST_CASE("graph: topological order puts inputs first and allows loops through NextIteration") {
  OpRegistry ops = test_ops();
  Graph g(ops);
  Node& a = must(g.add("a", "Source"));
  Node& merge = must(g.add_unconnected("merge", *ops.find("Merge"),
                                       {{"T", DType::float32}, {"N", std::int64_t{2}}}));
  Node& neg = must(g.add("neg", "Neg", {{merge.id, 0}}));
  Node& next = must(g.add("next", "NextIteration", {{neg.id, 0}}));
  g.set_input(merge.id, 0, {a.id, 0});
  g.set_input(merge.id, 1, {next.id, 0});
  auto order = g.topological_order();
  REQUIRE(order.ok());
  CHECK(*order == std::vector{a.id, merge.id, neg.id, next.id});
  g.set_input(merge.id, 1, {neg.id, 0});
  auto cycle = g.topological_order();
  REQUIRE(!cycle.ok());
  CHECK(cycle.status().code() == Code::invalid_argument);
  CHECK(cycle.status().message().find("depends on itself") != std::string::npos);
  CHECK(cycle.status().message().find("'a'") == std::string::npos);
}

namespace {

// The order of a copy that had to forget it.
std::vector<NodeId> fresh_order(const Graph& graph) {
  Graph copy = graph.clone();
  copy.remove(must(copy.add("forget", "Source")).id);
  return *copy.topological_order();
}

bool puts_inputs_first(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<std::size_t> at(static_cast<std::size_t>(graph.capacity()), order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    at[static_cast<std::size_t>(order[i])] = i;
  auto is_before = [&](NodeId a, NodeId b) {
    return at[static_cast<std::size_t>(a)] < at[static_cast<std::size_t>(b)];
  };
  for (const Node* node : graph.nodes()) {
    if (at[static_cast<std::size_t>(node->id)] == order.size())
      return false;
    for (Endpoint input : node->inputs)
      if (input.node >= 0 && !is_before(input.node, node->id))
        return false;
    for (NodeId from : node->control_inputs)
      if (!is_before(from, node->id))
        return false;
  }
  return order.size() == graph.num_nodes();
}

} // namespace

TEST_CASE("graph: the remembered order is the one of the graph after any edits") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    std::mt19937 dice(seed);
    OpRegistry ops = test_ops();
    Graph graph(ops);
    NodeId first = must(graph.add("n0", "Source")).id;
    std::vector<NodeId> rank = {first}; // edges go from earlier to later: no cycles
    auto pick = [&](std::size_t below) { return static_cast<std::size_t>(dice() % below); };
    for (int edit = 0; edit < 200; ++edit) {
      std::size_t later = rank.size() < 2 ? 0 : 1 + pick(rank.size() - 1);
      NodeId dst = rank[later];
      switch (dice() % 8) {
      case 0:
      case 1:
      case 2:
        rank.push_back(
            must(graph.add("n" + std::to_string(edit + 1), "Neg", {{rank[pick(rank.size())], 0}}))
                .id);
        break;
      case 3:
        if (later > 0)
          graph.set_input(dst, 0, {rank[pick(later)], 0});
        break;
      case 4:
        if (later > 0)
          graph.add_control_edge(rank[pick(later)], dst);
        break;
      case 5:
        if (later > 0 && !graph.node(dst)->control_inputs.empty())
          graph.remove_control_edge(graph.node(dst)->control_inputs.front(), dst);
        break;
      case 6:
        if (later > 0) {
          graph.replace_node(dst, rank[pick(later)]);
          graph.remove(dst);
          rank.erase(rank.begin() + static_cast<std::ptrdiff_t>(later));
        }
        break;
      default: {
        graph.rename(dst, "r" + std::to_string(edit));
        Graph copy = graph.clone();
        graph = std::move(copy);
      }
      }
      auto order = graph.topological_order();
      REQUIRE(order.ok());
      REQUIRE(puts_inputs_first(graph, *order));
      REQUIRE(*order == fresh_order(graph));
    }
  }
}

TEST_CASE("graph: a remembered order hides no cycle, and a copy's edits do not change it") {
  Chain t;
  auto before = t.g.topological_order();
  Graph copy = t.g.clone();
  copy.remove(t.c.id);
  CHECK(*t.g.topological_order() == *before);
  CHECK(copy.topological_order()->size() == before->size() - 1);
  t.g.set_input(t.b.id, 0, {t.c.id, 0});
  CHECK_FALSE(t.g.topological_order().ok());
}

TEST_CASE("graph: a node made like another has its op, attrs and types, and no edges") {
  Chain t;
  Node& like = must(t.g.add_unconnected("d", t.c));
  CHECK(like.op == t.c.op);
  CHECK(like.attrs == t.c.attrs);
  CHECK(like.output_types == t.c.output_types);
  CHECK(like.inputs == std::vector{Endpoint{}});
  CHECK(like.control_inputs.empty());
  CHECK(t.g.add_unconnected("d", t.c).status().code() == Code::already_exists);
}

TEST_CASE("graph: nodes with very many edges stay consistent while edges come and go") {
  constexpr int n = 100'000;
  OpRegistry ops = test_ops();
  Graph g(ops);
  Node& hub = must(g.add("hub", "Source"));
  Node& sink = must(g.add("sink", "NoOp"));
  std::vector<NodeId> leaves;
  for (int i = 0; i < n; ++i) {
    Node& leaf = must(g.add(str_cat("leaf", i), "Neg", {{hub.id, 0}}, {}, {hub.id}));
    leaves.push_back(leaf.id);
    g.add_control_edge(leaf.id, sink.id);
    g.add_control_edge(hub.id, sink.id);
  }
  CHECK(hub.outs.size() == 2 * n + 1);
  CHECK(sink.control_inputs.size() == n + 1);
  for (int i = 0; i < n; i += 2)
    g.remove_control_edge(hub.id, leaves[static_cast<std::size_t>(i)]);
  CHECK(hub.outs.size() == n + n / 2 + 1);
  for (int i = 0; i < n; i += 4)
    g.remove(leaves[static_cast<std::size_t>(i)]);
  CHECK(sink.control_inputs.size() == n - n / 4 + 1);
  for (const OutEdge& edge : hub.outs) {
    const Node* dst = g.node(edge.dst);
    REQUIRE(dst);
    if (edge.is_control())
      REQUIRE((dst == &sink || dst->control_inputs == std::vector{hub.id}));
    else
      REQUIRE(dst->inputs[0] == Endpoint{hub.id, 0});
  }
  NodeId hub_id = hub.id;
  g.remove(hub_id);
  CHECK(sink.control_inputs.size() == n - n / 4);
  for (const Node* node : g.nodes())
    if (node->is_op("Neg"))
      REQUIRE(node->inputs[0] == Endpoint{});
}

TEST_CASE("graph: tensor names") {
  CHECK(parse_tensor_name("a/b")->node == "a/b");
  CHECK(parse_tensor_name("a/b")->slot == 0);
  CHECK(parse_tensor_name("a:12")->slot == 12);
  CHECK(parse_tensor_name("^a")->slot == -1);
  CHECK(parse_tensor_name("^a")->node == "a");
  for (const char* bad :
       {"", "^", ":1", "a:", "a:x", "a:-1", "a:99999999999", "^a:1", "a b", "a:1:2"})
    CHECK_MESSAGE(parse_tensor_name(bad).status().code() == Code::invalid_argument, bad);
}
