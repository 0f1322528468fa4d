#include "graph/partition/recv_schedule.hpp"

#include "graph/partition/internal/two_tasks.hpp"
#include "graph/partition/partition.hpp"
#include "graph/passes/internal/test_text.hpp"

using namespace troupe;
using testing::a_device;

namespace {

std::string on(std::string_view task) {
  return str_cat(" on \"/job:", task, "/replica:0/task:0/device:CPU:0\"\n");
}

// On a: a chain n1 … n20; on b: early and late, which are read beside n1 and n20.
std::string chain() {
  std::string out =
      str_cat("early = Placeholder[dtype=DT_FLOAT]()", on("b"),
              "late = Placeholder[dtype=DT_FLOAT]()", on("b"), "n0 = Neg(early)", on("a"));
  for (int i = 1; i <= 20; ++i)
    str_append(out, "n", i, " = Neg(n", i - 1, ")", on("a"));
  str_append(out, "sum = Add(n20, late)", on("a"));
  return out;
}

std::int64_t one(const Node&) {
  return 1;
}

const Node* receive_of(const Graph& part, std::string_view edge) {
  for (const Node* node : part.nodes())
    if (node->is_op("_Recv") &&
        node->attrs.get_or<std::string>("tensor_name", "").find(edge) != std::string::npos)
      return node;
  return nullptr;
}

} // namespace

TEST_CASE("recv schedule: a node starts when the last of its inputs has ended") {
  OpRegistry ops = rewriting_test_ops();
  const Graph graph = graph_of(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    slow = Neg(x)
    y = Add(x, slow)
    after = NoOp() ^y
  )",
                               ops);
  auto starts = estimate_starts(
      graph, [](const Node& node) -> std::int64_t { return node.name == "slow" ? 40 : 0; });
  auto start = [&](const char* name) {
    return starts[static_cast<std::size_t>(graph.find(name)->id)];
  };
  CHECK(start("x") == 0);
  CHECK(start("slow") == 1); // nothing takes no time
  CHECK(start("y") == 41);
  CHECK(start("after") == 42);
}

TEST_CASE("recv schedule: a loop is gone through once") {
  OpRegistry ops = rewriting_test_ops();
  const Graph graph = graph_of(R"(
    zero = Const[dtype=DT_INT32, value=i32[] 0]()
    yes = Const[dtype=DT_BOOL, value=bool[] true]()
    in = Enter[frame_name="w"](zero)
    cond_in = Enter[frame_name="w", is_constant=true](yes)
    i = Merge(in, next)
    cond = LoopCond(cond_in)
    switch = Switch(i, cond)
    next = NextIteration(switch:1)
    end = Exit(switch:0)
  )",
                               ops);
  auto starts = estimate_starts(graph, one);
  CHECK(starts[static_cast<std::size_t>(graph.find("end")->id)] == 4);
}

TEST_CASE("recv schedule: a value that is needed late is received late") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(chain(), ops);
  PartitionOptions options;
  options.location = task_location;
  options.starts = estimate_starts(graph, one);
  auto parts = partition(std::move(graph), options);
  REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
  const Graph& a = parts->at("/job:a/replica:0/task:0");
  CHECK(verify(a).ok());
  const Node* early = receive_of(a, "early");
  REQUIRE(early);
  CHECK(early->control_inputs.empty());
  const Node* late = receive_of(a, "late");
  REQUIRE(late);
  REQUIRE(late->control_inputs.size() == 1);
  const Node& trigger = *a.node(late->control_inputs[0]);
  CHECK(trigger.is_op("ControlTrigger"));
  CHECK(trigger.assigned_device == a_device);
  REQUIRE(trigger.control_inputs.size() == 1);
  const std::string before = a.node(trigger.control_inputs[0])->name;
  CHECK_MESSAGE((before == "n14" || before == "n15"), before); // sum starts behind n20
}

TEST_CASE("recv schedule: without it every value is received at once") {
  OpRegistry ops = rewriting_test_ops();
  PartitionOptions options;
  options.location = task_location;
  auto parts = partition(graph_of(chain(), ops), options);
  REQUIRE(parts.ok());
  CHECK(receive_of(parts->at("/job:a/replica:0/task:0"), "late")->control_inputs.empty());
}
