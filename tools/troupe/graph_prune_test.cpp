#include "tools/troupe/graph_prune.hpp"

#include <doctest/doctest.h>

#include "proto/graph.pb.h"

namespace troupe {
namespace {

constexpr const char* graph = R"(
node { name: 'x' op: 'Placeholder' }
node { name: 'reader' op: 'FancyReader' }
node { name: 'parse' op: 'FancyParse' input: 'reader' }
node { name: 'two' op: 'Const' }
node { name: 'y' op: 'Mul' input: 'x' input: 'two' input: '^init' }
node { name: 'init' op: 'NoOp' }
node { name: 'z' op: 'Neg' input: 'parse:1' }
node { name: 'save' op: 'SaveV9' input: 'y' }
versions { producer: 27 }
)";

std::string names_of(const Result<std::string>& bytes) {
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  tensorflow::GraphDef def;
  REQUIRE(def.ParseFromString(*bytes));
  CHECK(def.versions().producer() == 27);
  std::string out;
  for (const auto& node : def.node())
    out += node.name() + " ";
  return out;
}

TEST_CASE("graph prune: what a fetch is computed from stays, in order, and nothing else") {
  CHECK(names_of(needed_part_of_graph(graph, {"y:0"}, {{"x", DType::float32}})) == "x two y init ");
  CHECK(names_of(needed_part_of_graph(graph, {"^init"}, {})) == "init ");
  CHECK(names_of(needed_part_of_graph(graph, {"z"}, {})) == "reader parse z ");
}

TEST_CASE("graph prune: a fed node becomes a Placeholder, and what leads to it goes") {
  auto bytes = needed_part_of_graph(graph, {"save"}, {{"y:0", DType::int32}});
  CHECK(names_of(bytes) == "y save ");
  tensorflow::GraphDef def;
  REQUIRE(def.ParseFromString(*bytes));
  CHECK(def.node(0).op() == "Placeholder");
  CHECK(def.node(0).attr().at("dtype").type() == tensorflow::DT_INT32);
  CHECK(names_of(needed_part_of_graph(graph, {"z"}, {{"parse", DType::int32}})) ==
        "reader parse z "); // output 1 is not fed
  CHECK(names_of(needed_part_of_graph(graph, {"z"}, {{"parse:1", DType::int32}})) ==
        "reader parse z "); // a Placeholder has no output 1
}

TEST_CASE("graph prune: a graph of which everything is needed is left as it is") {
  constexpr const char* small = "node { name: 'a' op: 'NoOp' }\n";
  auto same = needed_part_of_graph(small, {"a"}, {});
  REQUIRE(same.ok());
  CHECK(*same == small);
}

TEST_CASE("graph prune: a node that is not there is told with the nearest") {
  auto wrong = needed_part_of_graph(graph, {"svae"}, {});
  CHECK(wrong.status().code() == Code::not_found);
  CHECK(wrong.status().message() == "the graph has no node 'svae'; did you mean 'save'?");
  CHECK(needed_part_of_graph(graph, {"y"}, {{"elephant", DType::float32}}).status().message() ==
        "the graph has no node 'elephant'");
  CHECK(needed_part_of_graph("\xff\xff", {"y"}, {}).status().code() == Code::invalid_argument);
}

} // namespace
} // namespace troupe
