#include <doctest/doctest.h>

#include "graph/partition/frames.hpp"
#include "graph/partition/internal/two_tasks.hpp"
#include "graph/partition/partition.hpp"
#include "graph/passes/internal/test_text.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// while (i < i) i = -i, with the body on `body`.
std::string loop(std::string_view body, std::string_view frame = "f") {
  return expand(str_cat(R"(
    zero = Const[dtype=DT_INT32, value=i32[] 0]() on "/job:a$"
    e = Enter[frame_name=")",
                        frame, R"(", parallel_iterations=3](zero) on "/job:a$"
    m = Merge[T=DT_INT32, N=2](e, n) on "/job:a$"
    l = Less(m, m) on "/job:a$"
    c = LoopCond(l) on "/job:a$"
    s = Switch(m, c) on "/job:a$"
    body = Neg(s:1) on "/job:)",
                        body, R"($"
    n = NextIteration(body) on "/job:a$"
    x = Exit(s:0) on "/job:a$")"));
}

std::vector<const Node*> control_loop_nodes(const Graph& graph, std::string_view op) {
  std::vector<const Node*> out;
  for (const Node* node : graph.nodes())
    if (node->name.starts_with("_cloop") && node->is_op(op))
      out.push_back(node);
  return out;
}

} // namespace

TEST_CASE(
    "partition: a loop on one device gets no control loop, though its input comes from afar") {
  OpRegistry ops = rewriting_test_ops();
  std::string text = loop("a") + expand("\ny = Neg(x) on \"/job:b$\"");
  auto parts = partition(graph_of(text, ops), {});
  REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
  for (const auto& [name, graph] : *parts) {
    CHECK(control_loop_nodes(graph, "Merge").empty());
    CHECK(verify(graph).ok());
  }
}

TEST_CASE("partition: a body elsewhere gets a control loop that paces its receives") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = partition(graph_of(loop("b"), ops), {});
  REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
  const Graph& b = parts->at(b_device);
  REQUIRE(verify(b).ok());
  auto enters = control_loop_nodes(b, "Enter"), merges = control_loop_nodes(b, "Merge"),
       switches = control_loop_nodes(b, "Switch"), nexts = control_loop_nodes(b, "NextIteration");
  REQUIRE(enters.size() == 1);
  REQUIRE(merges.size() == 1);
  REQUIRE(switches.size() == 1);
  REQUIRE(nexts.size() == 1);
  CHECK(*enters[0]->attrs.get<std::string>("frame_name") == "f");
  CHECK(*enters[0]->attrs.get<std::int64_t>("parallel_iterations") == 3);
  CHECK(merges[0]->inputs == std::vector<Endpoint>{{enters[0]->id, 0}, {nexts[0]->id, 0}});
  CHECK(switches[0]->inputs[0] == Endpoint{merges[0]->id, 0});
  CHECK(nexts[0]->inputs[0] == Endpoint{switches[0]->id, 1});
  // It is started by an empty constant, and its condition arrives from the other device.
  CHECK(b.node(enters[0]->inputs[0].node)->is_op("Const"));
  CHECK(b.node(switches[0]->inputs[1].node)->is_op("_Recv"));
  // Every _Recv runs within the loop.
  int recvs = 0;
  for (const Node* node : b.nodes())
    if (node->is_op("_Recv")) {
      ++recvs;
      CHECK(std::ranges::find(node->control_inputs, merges[0]->id) != node->control_inputs.end());
    }
  CHECK(recvs == 2);
  auto frames = find_frames(b);
  REQUIRE_MESSAGE(frames.ok(), frames.status().to_string());
  CHECK(frames->of_node(*b.find("body")) == 1);
}

TEST_CASE("partition: the device that holds the loop is paced too where it receives in it") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = partition(graph_of(loop("b"), ops), {});
  REQUIRE(parts.ok());
  const Graph& a = parts->at(a_device);
  auto merges = control_loop_nodes(a, "Merge");
  REQUIRE(merges.size() == 1);
  for (const Node* node : a.nodes())
    if (node->is_op("_Recv"))
      CHECK(std::ranges::find(node->control_inputs, merges[0]->id) != node->control_inputs.end());
  CHECK(find_frames(a).ok());
}

TEST_CASE("partition: the second cut keeps pacing what it cuts within a loop") {
  OpRegistry ops = rewriting_test_ops();
  std::string text = loop("b");
  std::string device = "/job:a/replica:0/task:0/device:GPU:0";
  text.replace(text.find(b_device), std::string_view(b_device).size(), device);
  PartitionOptions by_task;
  by_task.location = task_location;
  auto tasks = partition(graph_of(text, ops), by_task);
  REQUIRE_MESSAGE(tasks.ok(), tasks.status().to_string());
  REQUIRE(tasks->size() == 1);
  PartitionOptions by_device;
  by_device.control_flow_added = true;
  auto devices = partition(std::move(tasks->begin()->second), by_device);
  REQUIRE_MESSAGE(devices.ok(), devices.status().to_string());
  const Graph& gpu = devices->at(device);
  auto merges = control_loop_nodes(gpu, "Merge");
  REQUIRE(merges.size() == 1);
  int recvs = 0;
  for (const Node* node : gpu.nodes())
    if (node->is_op("_Recv")) {
      ++recvs;
      CHECK(std::ranges::find(node->control_inputs, merges[0]->id) != node->control_inputs.end());
    }
  CHECK(recvs == 2);
  CHECK(find_frames(gpu).ok());
}

TEST_CASE("partition: nested loops stack their control loops") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = partition(graph_of(expand(R"(
    zero = Const[dtype=DT_INT32, value=i32[] 0]() on "/job:a$"
    e = Enter[frame_name="outer"](zero) on "/job:a$"
    m = Merge[T=DT_INT32, N=2](e, n) on "/job:a$"
    l = Less(m, m) on "/job:a$"
    c = LoopCond(l) on "/job:a$"
    s = Switch(m, c) on "/job:a$"
    x = Exit(s:0) on "/job:a$"
    e2 = Enter[frame_name="inner"](s:1) on "/job:a$"
    m2 = Merge[T=DT_INT32, N=2](e2, n2) on "/job:a$"
    l2 = Less(m2, m2) on "/job:a$"
    c2 = LoopCond(l2) on "/job:a$"
    s2 = Switch(m2, c2) on "/job:a$"
    body = Neg(s2:1) on "/job:b$"
    n2 = NextIteration(body) on "/job:a$"
    x2 = Exit(s2:0) on "/job:a$"
    n = NextIteration(x2) on "/job:a$")"),
                                  ops),
                         {});
  REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
  const Graph& b = parts->at(b_device);
  auto enters = control_loop_nodes(b, "Enter");
  REQUIRE(enters.size() == 2);
  const Node* inner = enters[0];
  const Node* outer = enters[1];
  if (*inner->attrs.get<std::string>("frame_name") == "outer")
    std::swap(inner, outer);
  CHECK(b.node(outer->inputs[0].node)->is_op("Const"));
  CHECK(b.node(inner->inputs[0].node)->name.starts_with("_cloop"));
  CHECK(b.node(inner->inputs[0].node)->is_op("Merge"));
  auto frames = find_frames(b);
  REQUIRE_MESSAGE(frames.ok(), frames.status().to_string());
  CHECK(frames->frames.size() == 3);
  CHECK(verify(b).ok());
}

TEST_CASE("partition: a loop across devices needs a LoopCond") {
  OpRegistry ops = rewriting_test_ops();
  std::string text = loop("b", "endless");
  text.replace(text.find("LoopCond"), 8, "LogicalNot");
  auto parts = partition(graph_of(text, ops), {});
  CHECK(parts.status().code() == Code::invalid_argument);
  CHECK(parts.status().message() == "A cross-device loop must have a pivot predicate: endless");
}

TEST_CASE("partition: Switch, Exit, Enter and NextIteration move to their neighbours") {
  OpRegistry ops = rewriting_test_ops();
  std::string text = loop("a");
  for (std::string_view line : {"Enter[", "Switch(", "NextIteration(", "Exit("}) {
    auto at = text.find("/job:a", text.find(line));
    text.replace(at, 6, "/job:b");
  }
  auto parts = partition(graph_of(text, ops), {});
  REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
  CHECK(parts->size() == 1);
  CHECK(parts->begin()->first == a_device);
}
