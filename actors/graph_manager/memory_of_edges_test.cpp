#include "actors/graph_manager/memory_of_edges.hpp"

#include <doctest/doctest.h>

#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/fake_device.hpp"
#include "tests/support/ops/run_kernel.hpp"

using namespace troupe;

namespace {

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  return *std::move(graph);
}

/// "op name" of what gives the input.
std::string source_of(const Graph& graph, std::string_view node, int input) {
  const Endpoint from = graph.find(node)->inputs[static_cast<std::size_t>(input)];
  const Node* source = graph.node(from.node);
  return source->op_name() + " " + source->name;
}

// A Switch looks at its condition on the host; a Merge writes the number of its input there.
constexpr auto text = R"(
    p = Const[dtype=DT_BOOL, value=bool[] true]()
    x = Const[dtype=DT_FLOAT, value=f32[2] 1 2]()
    a = Switch(x, p)
    b = Switch(x, p)
    m = Merge(a:0, b:1)
    i = Identity(m:0)
    n = Snapshot(m:1)
)";

} // namespace

TEST_CASE("memory of edges: values are copied where the two ends have them in different memories") {
  testing::FakeDevice gpu;
  Graph graph = parsed(text);
  const std::size_t before = graph.num_nodes();
  Status status = copy_between_memories(graph, gpu, op_library());
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  CHECK(source_of(graph, "a", 1) == "_CopyToHost p/copy_0");
  CHECK(source_of(graph, "b", 1) == "_CopyToHost p/copy_0"); // one copy for both
  CHECK(source_of(graph, "n", 0) == "_CopyToDevice m/copy_1");
  CHECK(source_of(graph, "a", 0) == "Const x");
  CHECK(source_of(graph, "m", 0) == "Switch a");
  CHECK(source_of(graph, "i", 0) == "Merge m");
  CHECK(graph.num_nodes() == before + 2);
  CHECK(graph.find("p/copy_0")->assigned_device == gpu.name());
}

TEST_CASE("memory of edges: objects are on the host wherever they are used") {
  testing::FakeDevice gpu;
  Graph graph = parsed(R"(
      v = VarHandleOp[dtype=DT_FLOAT, shape=[2]]()
      r = ReadVariableOp[dtype=DT_FLOAT](v)
      i = Identity(r)
  )");
  Status status = copy_between_memories(graph, gpu, op_library());
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  CHECK(graph.num_nodes() == 3);
}

TEST_CASE("memory of edges: a device in host memory needs no copies") {
  testing::TestDevice cpu;
  Graph graph = parsed(text);
  const std::string before = to_text(graph);
  REQUIRE(copy_between_memories(graph, cpu.device(), op_library()).ok());
  CHECK(to_text(graph) == before);
}

TEST_CASE("memory of edges: an op without a kernel for the device is named") {
  testing::FakeDevice gpu;
  Graph graph = parsed("x = Const[dtype=DT_FLOAT, value=f32[] 1]()\ny = Erfinv(x)");
  Status status = copy_between_memories(graph, gpu, op_library());
  CHECK(status.code() == Code::not_found);
  CHECK(status.message().find("'Erfinv' used by") != std::string::npos);
}
