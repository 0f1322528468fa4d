#include "graph/partition/partition.hpp"

#include "graph/partition/frames.hpp"
#include "graph/partition/internal/two_tasks.hpp"
#include "graph/passes/internal/test_text.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

// `$` stands for the task and the device: on "/job:a$".
std::map<std::string, Graph> cut(const OpRegistry& ops, std::string_view text,
                                 PartitionOptions options = {}) {
  auto parts = partition(graph_of(expand(text), ops), options);
  REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
  for (auto& [name, graph] : *parts) {
    Status sound = verify(graph);
    CHECK_MESSAGE(sound.ok(), name, ": ", sound.to_string());
  }
  return *std::move(parts);
}

int count(const Graph& graph, std::string_view op) {
  int n = 0;
  for (const Node* node : graph.nodes())
    n += node->is_op(op);
  return n;
}

std::vector<const Node*> all(const Graph& graph, std::string_view op) {
  std::vector<const Node*> out;
  for (const Node* node : graph.nodes())
    if (node->is_op(op))
      out.push_back(node);
  return out;
}

bool has_control(const Graph& graph, const Node& node, const Node* from) {
  return from && std::ranges::find(node.control_inputs, from->id) != node.control_inputs.end() &&
         graph.node(from->id) == from;
}

// Every _Send has one _Recv with the same attrs, and the other way round.
void check_pairs(const std::map<std::string, Graph>& parts) {
  std::vector<std::string> sends, recvs;
  for (const auto& [name, graph] : parts)
    for (const Node* node : graph.nodes()) {
      bool send = node->is_op("_Send");
      if (!send && !node->is_op("_Recv"))
        continue;
      const AttrMap& attrs = node->attrs;
      std::string own = *attrs.get<std::string>(send ? "send_device" : "recv_device");
      CHECK(own == node->assigned_device);
      (send ? sends : recvs)
          .push_back(str_cat(*attrs.get<std::string>("tensor_name"), ";",
                             *attrs.get<std::string>("send_device"), ";",
                             *attrs.get<std::string>("recv_device"), ";",
                             *attrs.get<std::int64_t>("send_device_incarnation"), ";",
                             to_string(*attrs.find(send ? "T" : "tensor_type"))));
    }
  std::ranges::sort(sends);
  std::ranges::sort(recvs);
  CHECK(sends == recvs);
  CHECK(std::ranges::adjacent_find(sends) == sends.end());
}

} // namespace

TEST_CASE("partition: one device gives one partition, unchanged") {
  OpRegistry ops = rewriting_test_ops();
  constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    y = Neg(x) on "/job:a$"
    z = NoOp() ^y on "/job:a$")";
  auto parts = cut(ops, text);
  REQUIRE(parts.size() == 1);
  check_text(parts.at(std::string(a_device)), expand(text));
}

TEST_CASE("partition: a cut edge gets one send and one receive") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = cut(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    y = Neg(x) on "/job:b$")");
  REQUIRE(parts.size() == 2);
  auto attrs = [](std::string_view type) {
    return str_cat("[client_terminated=false, recv_device=\"/job:b$\", send_device=\"/job:a$\", "
                   "send_device_incarnation=0, tensor_name=\"edge_1_x\"",
                   type, "]");
  };
  check_text(parts.at(std::string(a_device)),
             expand(str_cat("x = Placeholder[dtype=DT_FLOAT]() on \"/job:a$\"\nx/_1 = _Send",
                            attrs(""), "(x) on \"/job:a$\"")));
  check_text(parts.at(std::string(b_device)),
             expand(str_cat("x/_2 = _Recv", attrs(", tensor_type=DT_FLOAT"),
                            "() on \"/job:b$\"\ny = Neg(x/_2) on \"/job:b$\"")));
}

TEST_CASE("partition: an output read often on the other side crosses once") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = cut(ops, R"(
    x = Placeholder[dtype=DT_BOOL]() on "/job:a$"
    s = Switch(x, x) on "/job:a$"
    p = LogicalNot(s:0) on "/job:b$"
    q = LogicalNot(s:0) on "/job:b$"
    r = LogicalNot(s:1) on "/job:b$"
    t = LogicalNot(s:1) on "/job:c$")");
  CHECK(count(parts.at(std::string(b_device)), "_Recv") == 2);
  CHECK(count(parts.at(expand("/job:c$")), "_Recv") == 1);
  CHECK(count(parts.at(std::string(a_device)), "_Send") == 3);
  check_pairs(parts);
}

TEST_CASE("partition: a control edge travels as an empty constant, once") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = cut(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    y = NoOp() ^x on "/job:b$"
    z = NoOp() ^x on "/job:b$")");
  const Graph& a = parts.at(std::string(a_device));
  const Graph& b = parts.at(std::string(b_device));
  REQUIRE(count(a, "_Send") == 1);
  REQUIRE(count(b, "_Recv") == 1);
  REQUIRE(count(b, "Identity") == 1);
  const Node* dummy = all(a, "Const")[0];
  CHECK(has_control(a, *dummy, a.find("x")));
  CHECK(dummy->attrs.get<Tensor>("value")->num_elements() == 0);
  CHECK(all(a, "_Send")[0]->inputs[0].node == dummy->id);
  const Node* identity = all(b, "Identity")[0];
  CHECK(identity->inputs[0].node == all(b, "_Recv")[0]->id);
  CHECK(has_control(b, *b.find("y"), identity));
  CHECK(has_control(b, *b.find("z"), identity));
  check_pairs(parts);
}

TEST_CASE("partition: data and control edges between two nodes cross apart") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = cut(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    y = Neg(x) ^x on "/job:b$"
    z = Neg(x) on "/job:b$")");
  CHECK(count(parts.at(std::string(a_device)), "_Send") == 2);
  check_pairs(parts);
}

TEST_CASE("partition: a reference is read anew by each reader, after its other inputs") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = cut(ops, R"(
    v = VariableV2[dtype=DT_FLOAT]() on "/job:a$"
    i = Placeholder[dtype=DT_FLOAT]() on "/job:b$"
    before = NoOp() on "/job:b$"
    y = Add(v, i) ^before on "/job:b$"
    z = Neg(v) on "/job:b$")");
  const Graph& b = parts.at(std::string(b_device));
  CHECK(count(b, "_Recv") == 2);
  const Node* recv = b.node(b.find("y")->inputs[0].node);
  CHECK(recv->is_op("_Recv"));
  CHECK(recv->output_types[0] == DType::float32);
  CHECK(has_control(b, *recv, b.find("i")));
  CHECK(has_control(b, *recv, b.find("before")));
  check_pairs(parts);
}

TEST_CASE("partition: pairs carry the incarnation of the sending device") {
  OpRegistry ops = rewriting_test_ops();
  PartitionOptions options;
  options.incarnation = [](std::string_view device) -> std::uint64_t {
    return device == a_device ? 0xfedcba9876543210U : 0;
  };
  auto parts = cut(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    y = Neg(x) on "/job:b$"
    z = Neg(y) on "/job:a$")",
                   options);
  auto incarnation = [&](std::string_view part) {
    return static_cast<std::uint64_t>(
        *all(parts.at(std::string(part)), "_Send")[0]->attrs.get<std::int64_t>(
            "send_device_incarnation"));
  };
  CHECK(incarnation(a_device) == 0xfedcba9876543210U);
  CHECK(incarnation(b_device) == 0);
  check_pairs(parts);
}

TEST_CASE("partition: by task first, by device then") {
  OpRegistry ops = rewriting_test_ops();
  PartitionOptions by_task;
  by_task.location = task_location;
  auto tasks = cut(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    y = Neg(x) on "/job:b$"
    z = Neg(x) on "/job:b/replica:0/task:0/device:GPU:0")",
                   by_task);
  REQUIRE(tasks.size() == 2);
  Graph& b = tasks.at("/job:b/replica:0/task:0");
  CHECK(count(b, "_Recv") == 1);
  PartitionOptions by_device;
  by_device.location = device_location;
  by_device.control_flow_added = true;
  auto devices = partition(b.clone(), by_device);
  REQUIRE(devices.ok());
  REQUIRE(devices->size() == 2);
  CHECK(count(devices->at(std::string(b_device)), "_Send") == 1);
  CHECK(count(devices->at("/job:b/replica:0/task:0/device:GPU:0"), "_Recv") == 1);
}

TEST_CASE("partition: an input that is not connected stays so") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph(ops);
  auto node = graph.add_unconnected("y", *ops.find("Neg"), {{"T", DType::float32}});
  REQUIRE(node.ok());
  (*node)->assigned_device = a_device;
  auto parts = partition(std::move(graph), {});
  REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
  CHECK(parts->at(std::string(a_device)).find("y")->inputs[0].node == -1);
}

TEST_CASE("partition: floats may travel as bfloat16, cut off on the way and widened after") {
  OpRegistry ops = rewriting_test_ops();
  PartitionOptions options;
  options.send_floats_as_bfloat16 = true;
  auto parts = cut(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    i = Placeholder[dtype=DT_INT32]() on "/job:a$"
    y = Neg(x) on "/job:b$"
    j = Neg(i) on "/job:b$")",
                   options);
  const Graph& a = parts.at(std::string(a_device));
  const Graph& b = parts.at(std::string(b_device));
  REQUIRE(count(a, "Cast") == 1);
  CHECK(*all(a, "Cast")[0]->attrs.get<bool>("Truncate"));
  CHECK(b.node(b.find("y")->inputs[0].node)->is_op("Cast"));
  CHECK(b.node(b.find("j")->inputs[0].node)->is_op("_Recv"));
  check_pairs(parts);
}

TEST_CASE("partition: a node without device is refused") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = partition(graph_of("x = NoOp()", ops), {});
  CHECK(parts.status().code() == Code::internal);
  CHECK(parts.status().message().find("node 'x' (NoOp) has no device") != std::string::npos);
}

TEST_CASE("partition: a small constant is repeated, not sent, unless it waits for something") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = cut(ops, R"(
    c = Const[dtype=DT_FLOAT, value=f32[] 3]() on "/job:a$"
    p = Placeholder[dtype=DT_FLOAT]() on "/job:a$"
    waits = Const[dtype=DT_FLOAT, value=f32[] 4]() ^p on "/job:a$"
    large = Const[dtype=DT_FLOAT, value=f32[257] 5]() on "/job:a$"
    y = AddN(c, waits, large) on "/job:b$"
    z = Neg(c) on "/job:b$")");
  const Graph& b = parts.at(std::string(b_device));
  REQUIRE(count(b, "Const") == 1);
  CHECK(all(b, "Const")[0]->attrs.get<Tensor>("value")->value<float>() == 3);
  CHECK(all(b, "Const")[0]->assigned_device == b_device);
  CHECK(count(b, "_Recv") == 2);
  CHECK(count(parts.at(std::string(a_device)), "_Send") == 2);
  check_pairs(parts);
}

TEST_CASE("partition: a reference that would have to travel is refused") {
  OpRegistry ops = rewriting_test_ops();
  auto parts = partition(graph_of(expand(R"(
    v = VariableV2[dtype=DT_FLOAT]() on "/job:a$"
    x = Placeholder[dtype=DT_FLOAT]() on "/job:b$"
    y = Assign(v, x) on "/job:b$")"),
                                  ops),
                         {});
  CHECK(parts.status().code() == Code::invalid_argument);
  CHECK(parts.status().message().find("node 'y' (Assign) on /job:b") != std::string::npos);
}

TEST_CASE("partition: work counted in nodes is linear, a hub's readers share one pair") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph(ops);
  auto hub = graph.add("hub", "Placeholder", {}, {{"dtype", DType::float32}});
  REQUIRE(hub.ok());
  (*hub)->assigned_device = a_device;
  for (int i = 0; i < 20000; ++i) {
    auto reader = graph.add(str_cat("r", i), "Neg", {{(*hub)->id, 0}});
    REQUIRE(reader.ok());
    (*reader)->assigned_device = b_device;
  }
  auto parts = partition(std::move(graph), {});
  REQUIRE(parts.ok());
  CHECK(parts->at(std::string(a_device)).num_nodes() == 2);
  CHECK(parts->at(std::string(b_device)).num_nodes() == 20001);
}
