#include "actors/graph_manager/watches.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::watches_test {
namespace {

const std::string device = "/job:local/replica:0/task:0/device:CPU:0";

Graph small_graph() {
  auto graph = parse_graph("x = Placeholder[dtype=DT_FLOAT]()\n"
                           "s = Split[num_split=2](axis, x)\n"
                           "axis = Const[dtype=DT_INT32, value=i32[] 0]()\n"
                           "y = Neg(s:1)\n"
                           "names = Const[dtype=DT_STRING, value=str[] \"a\"]()\n",
                           op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  return *std::move(graph);
}

Status watch(Graph& graph, std::vector<DebugWatch> watches) {
  return insert_watches(graph, device, watches, op_library().kernels);
}

DebugWatch watch_of(std::string node, int slot, std::string op) {
  return {std::move(node), slot, {std::move(op)}, {"file:///tmp/dump"}, false};
}

} // namespace

TEST_CASE("watches: a watched output is read by a node of its name, and its readers wait for it") {
  Graph graph = small_graph();
  REQUIRE(watch(graph, {watch_of("s", 1, "DebugIdentity")}).ok());
  const Node* added = graph.find("__dbg_s:1_0_DebugIdentity");
  REQUIRE(added);
  CHECK(added->inputs[0] == Endpoint{graph.find("s")->id, 1});
  CHECK(added->assigned_device == device);
  CHECK(added->attrs.get_or<std::string>("tensor_name", "") == "s:1");
  CHECK(std::ranges::count(graph.find("y")->control_inputs, added->id) == 1);
  CHECK(graph.num_nodes() == small_graph().num_nodes() + 1);
}

TEST_CASE("watches: a wildcard is of every output that no other watch names") {
  Graph graph = small_graph();
  REQUIRE(
      watch(graph, {watch_of("*", -1, "DebugIdentity"), watch_of("y", 0, "DebugNanCount")}).ok());
  for (const char* name :
       {"__dbg_x:0_0_DebugIdentity", "__dbg_s:0_0_DebugIdentity", "__dbg_s:1_0_DebugIdentity",
        "__dbg_names:0_0_DebugIdentity", "__dbg_y:0_0_DebugNanCount"})
    CHECK_MESSAGE(graph.find(name), name);
  CHECK_FALSE(graph.find("__dbg_y:0_0_DebugIdentity"));
}

TEST_CASE("watches: what is malformed, or no debug op for the dtype, is refused unless tolerated") {
  auto refused = [](DebugWatch wanted, std::string_view part) {
    Graph graph = small_graph();
    Status status = watch(graph, {wanted});
    CHECK(status.code() == Code::failed_precondition);
    CHECK_MESSAGE(status.message().find(part) != std::string::npos, status.message());
    wanted.tolerates_failures = true;
    if (wanted.slot >= 0 && wanted.node != "*")
      CHECK(watch(graph, {wanted}).ok());
    CHECK(graph.num_nodes() == small_graph().num_nodes());
  };
  refused(watch_of("*", 0, "DebugIdentity"), "expected to be -1 for wildcard");
  refused(watch_of("y", -1, "DebugIdentity"), "negative output_slot");
  refused(watch_of("y", 0, "Neg"), "Failed to create node definition for debug op Neg");
  refused(watch_of("y", 0, "DebugIdentity(nothing=1)"), "were not valid for debug node");
  refused(watch_of("names", 0, "DebugNumericSummary"), "names:0");
  Graph graph = small_graph();
  CHECK(watch(graph, {watch_of("elsewhere", 0, "DebugIdentity")}).ok());
  CHECK(graph.num_nodes() == small_graph().num_nodes());
}

} // namespace troupe::watches_test
