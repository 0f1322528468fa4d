#include "actors/master_session/client_graph.hpp"

#include <doctest/doctest.h>

#include "graph/ir/text.hpp"

using namespace troupe;

namespace {

const std::string here = "/job:worker/replica:0/task:0", there = "/job:ps/replica:0/task:0";

struct Fixture {
  NodeServices services;
  ClientGraphRequest request;
  Fixture() {
    services.task = here;
    services.library = &op_library();
    request.devices = {{here + "/device:CPU:0", "CPU", 0, 1, ""},
                       {there + "/device:CPU:0", "CPU", 0, 2, ""}};
    request.own_task = here;
  }
  void parse(std::string_view text) {
    auto graph = parse_graph(text, services.library->ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    request.full = std::make_shared<const Graph>(*std::move(graph));
  }
  ClientGraphParts build(Signature signature) {
    request.signature = std::move(signature);
    auto built = build_client_graph(request, services);
    REQUIRE_MESSAGE(built.ok(), built.status().to_string());
    return *std::move(built);
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "client graph: only the own task's part is handed over as a graph") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/job:ps"
    y = Neg(x) @"/job:ps"
    z = Exp(y) @"/job:worker")");
  auto built = build({{"x:0"}, {"z:0"}, {}});
  REQUIRE(built.parts.size() == 2);
  for (const ClientPart& part : built.parts) {
    CHECK((part.graph != nullptr) == (part.task == here));
    CHECK(part.graph_def.empty() == (part.task == here));
    CHECK_FALSE(part.is_final);
    if (part.graph)
      CHECK(part.graph->find("z") != nullptr);
  }
  CHECK(request.full->find("z")->assigned_device.empty());

  request.own_task = "";
  for (const ClientPart& part : build({{"x:0"}, {"z:0"}, {}}).parts) {
    CHECK(part.graph == nullptr);
    CHECK_FALSE(part.graph_def.empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "client graph: a placement serves the next signature") {
  parse(R"(
    v = VarHandleOp[dtype=DT_FLOAT, shape=[]]() @"/job:ps"
    w = ReadVariableOp[dtype=DT_FLOAT](v)
    x = Placeholder[dtype=DT_FLOAT]() @"/job:worker"
    y = Neg(x) @"/job:worker")");
  auto first = build({{"x:0"}, {"y:0"}, {}});
  REQUIRE(first.parts.size() == 1);
  CHECK(first.parts[0].task == here);
  auto assigned = first.assigned;
  REQUIRE_FALSE(assigned.empty());
  CHECK(assigned[0] == std::pair<std::string, std::string>("v", there + "/device:CPU:0"));

  request.placed = first.placed;
  auto second = build({{}, {"w:0"}, {}});
  CHECK(second.placed == first.placed);
  CHECK(second.assigned.empty());
  REQUIRE(second.parts.size() == 1);
  CHECK(second.parts[0].task == there);
  auto placed = place_full_graph(request, services);
  REQUIRE(placed.ok());
  CHECK(placed->find("w")->assigned_device == there + "/device:CPU:0");
  CHECK(placed->find("y")->assigned_device == here + "/device:CPU:0");
}

TEST_CASE_FIXTURE(Fixture, "client graph: a part is final if it is all, on one device, optimised") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/job:worker"
    y = Neg(x) @"/job:worker/device:CPU:0"
    z = Exp(y) @"/job:worker/device:CPU:1")");
  request.devices.push_back({here + "/device:CPU:1", "CPU", 0, 3, ""});
  auto is_final = [&](const char* fetch) {
    auto built = build({{"x:0"}, {fetch}, {}});
    REQUIRE(built.parts.size() == 1);
    return built.parts[0].is_final;
  };
  CHECK(is_final("y:0"));
  CHECK_FALSE(is_final("z:0"));
  SessionSettings plain;
  plain.optimize = false;
  request.settings = std::make_shared<const SessionSettings>(plain);
  CHECK_FALSE(is_final("y:0"));
}

TEST_CASE_FIXTURE(Fixture, "client graph: what a run needs of a task is known before it is built") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/job:worker/task:0"
    y = Neg(x) @"/job:ps/task:0"
    passed = Identity(x) @"/job:ps/task:0"
    z = Exp(passed) @"/job:worker/task:0"
    two = Const[dtype=DT_FLOAT, value=f32[] 2]() @"/job:ps/task:0"
    four = Mul(two, two) @"/job:ps/task:0"
    folded = Mul(x, four) @"/job:worker/task:0"
    anywhere = Neg(y))");
  auto needs = [&](Signature signature, const PlacedDevices* placed = nullptr) {
    return needs_task(*request.full, placed, signature, there);
  };
  CHECK(needs({{"x"}, {"y"}, {}}));
  CHECK(needs({{"x:0"}, {}, {"y"}}));
  CHECK(needs({{"x"}, {"anywhere"}, {}}));       // by way of y
  CHECK_FALSE(needs({{"y"}, {"anywhere"}, {}})); // y is fed
  CHECK_FALSE(needs({{"x"}, {"z"}, {}}));        // what passes on may go
  CHECK_FALSE(needs({{"x"}, {"folded"}, {}}));   // so may what constants give
  CHECK_FALSE(needs({{}, {"nobody"}, {}}));
  // Placed, every node has a device.
  auto built = build({{"x"}, {"anywhere"}, {}});
  REQUIRE(built.placed != nullptr);
  const bool is_there =
      task_of_device(built.placed->names[static_cast<std::size_t>(
          built.placed->of[static_cast<std::size_t>(request.full->find("anywhere")->id)])]) ==
      there;
  CHECK(needs({{"y"}, {"anywhere"}, {}}, built.placed.get()) == is_there);
}

TEST_CASE_FIXTURE(Fixture, "client graph: an op without a kernel matters to whoever runs it") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    n = Const[dtype=DT_INT32, value=i32[] 2]()
    size = CudnnRNNParamsSize[T=DT_FLOAT, S=DT_INT32](n, n, n) @"/job:ps"
    next = Neg(size)
    y = Neg(x) ^size
    z = Exp(x))");
  auto error = [&](Signature signature) {
    request.signature = std::move(signature);
    return build_client_graph(request, services).status();
  };
  CHECK(error({{"x:0"}, {"z:0"}, {}}).ok());
  CHECK(error({{"size:0"}, {"next:0"}, {}}).ok());
  Status refused = error({{}, {"next:0"}, {}});
  CHECK(refused.code() == Code::invalid_argument);
  CHECK(refused.message().starts_with("No OpKernel was registered to support Op "
                                      "'CudnnRNNParamsSize' used by {{node size}} with these "
                                      "attrs: ["));
  CHECK(refused.message().ends_with(
      "]\nRegistered devices: [CPU]\nRegistered kernels:\n  <no registered kernels>\n"));
  CHECK(refused.origin().node == "size");
  CHECK(refused.origin().device == there + "/device:CPU:0");
  CHECK_FALSE(error({{"x:0"}, {"y:0"}, {}}).ok()); // by the control edge
}

namespace {

const Node* node_of(const ClientGraphParts& built, const std::string& task, std::string_view op) {
  for (const ClientPart& part : built.parts)
    if (part.task == task && part.graph)
      for (const Node* node : part.graph->nodes())
        if (node->is_op(op))
          return node;
  return nullptr;
}

SessionSettings settings() {
  return {};
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "client graph: floats may travel between tasks as bfloat16") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/job:ps"
    z = Exp(x) @"/job:worker"
    i = Placeholder[dtype=DT_INT32]() @"/job:ps"
    n = Neg(i) @"/job:worker")");
  SessionSettings narrow;
  narrow.bfloat16_sendrecv = true;
  request.settings = std::make_shared<const SessionSettings>(narrow);
  auto built = build({{"x:0"}, {"z:0"}, {}});
  const Node* recv = node_of(built, here, "_Recv");
  REQUIRE(recv);
  CHECK(recv->attrs.get_or<DType>("tensor_type", DType::invalid) == DType::bfloat16);
  CHECK(node_of(built, here, "Cast"));
  built = build({{"i:0"}, {"n:0"}, {}});
  CHECK(node_of(built, here, "_Recv")->attrs.get_or<DType>("tensor_type", DType::invalid) ==
        DType::int32);
  request.settings = std::make_shared<const SessionSettings>(settings());
  built = build({{"x:0"}, {"z:0"}, {}});
  CHECK(node_of(built, here, "_Recv")->attrs.get_or<DType>("tensor_type", DType::invalid) ==
        DType::float32);
}

TEST_CASE_FIXTURE(Fixture, "client graph: receives are put off if the session asks for it") {
  std::string text = R"(
    late = Placeholder[dtype=DT_FLOAT]() @"/job:ps"
    n0 = Placeholder[dtype=DT_FLOAT]() @"/job:worker")";
  for (int i = 1; i <= 20; ++i)
    text +=
        "\nn" + std::to_string(i) + " = Assert0(n" + std::to_string(i - 1) + ") @\"/job:worker\"";
  for (std::size_t at; (at = text.find("Assert0")) != text.npos;)
    text.replace(at, 7, "MatrixInverse");
  text += "\nsum = AddV2(n20, late) @\"/job:worker\"";
  parse(text);
  for (const bool scheduled : {false, true}) {
    SessionSettings with;
    with.recv_scheduling = scheduled;
    request.settings = std::make_shared<const SessionSettings>(with);
    auto built = build({{"late:0", "n0:0"}, {"sum:0"}, {}});
    const Node* recv = node_of(built, here, "_Recv");
    REQUIRE(recv);
    CHECK(recv->control_inputs.empty() == !scheduled);
  }
  // What nodes have taken moves the time that is waited for.
  request.costs = std::make_shared<const std::map<std::string, std::int64_t>>(
      std::map<std::string, std::int64_t>{{"n1", 1000}});
  auto built = build({{"late:0", "n0:0"}, {"sum:0"}, {}});
  const Node* recv = node_of(built, here, "_Recv");
  REQUIRE(recv->control_inputs.size() == 1);
  for (const ClientPart& part : built.parts)
    if (part.task == here) {
      const Node& trigger = *part.graph->node(recv->control_inputs[0]);
      CHECK(part.graph->node(trigger.control_inputs.at(0))->name == "n1");
    }
}

TEST_CASE_FIXTURE(Fixture,
                  "client graph: what is known of shapes stands at the nodes, if asked for") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT, shape=[2,?]]() @"/job:worker"
    w = Const[dtype=DT_FLOAT, value=f32[3,4] 0]() @"/job:worker"
    y = MatMul(x, w) @"/job:worker")");
  SessionSettings with;
  with.infer_shapes = true;
  request.settings = std::make_shared<const SessionSettings>(with);
  auto built = build({{}, {"y:0"}, {}});
  const Node* y = built.parts.at(0).graph->find("y");
  REQUIRE(y);
  CHECK(y->attrs.get_or<std::vector<PartialShape>>("_output_shapes", {}) ==
        std::vector<PartialShape>{PartialShape{2, 4}});
  request.settings = std::make_shared<const SessionSettings>(settings());
  built = build({{}, {"y:0"}, {}});
  CHECK_FALSE(built.parts.at(0).graph->find("y")->attrs.find("_output_shapes"));
}

TEST_CASE_FIXTURE(Fixture,
                  "client graph: only what runs needs a device, if the session asks for it") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Neg(x)
    elsewhere = Neg(x) @"/job:nowhere")");
  request.signature = {{"x:0"}, {"y:0"}, {}};
  const Status refused = build_client_graph(request, services).status();
  CHECK(refused.code() == Code::invalid_argument);
  CHECK(refused.message().find("{{node elsewhere}} was explicitly assigned to /job:nowhere") !=
        std::string::npos);
  CHECK(refused.message().ends_with("\n\t [[elsewhere]]"));
  CHECK(place_for_later(request, services).status() == refused);
  SessionSettings with;
  with.place_pruned = true;
  request.settings = std::make_shared<const SessionSettings>(with);
  auto built = build({{"x:0"}, {"y:0"}, {}});
  CHECK(built.parts.size() == 1);
  CHECK(built.placed == nullptr);
  request.signature = {{"x:0"}, {"elsewhere:0"}, {}};
  CHECK(build_client_graph(request, services).status().code() == Code::invalid_argument);
}

TEST_CASE_FIXTURE(Fixture, "client graph: one that is watched stays as its client made it") {
  parse(R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/job:worker"
    a = Identity(x) @"/job:worker"
    b = Identity(a) @"/job:worker"
    y = Neg(b) @"/job:worker")");
  CHECK_FALSE(build({{"x:0"}, {"y:0"}, {}}).parts.at(0).graph->find("a"));
  request.is_watched = true;
  auto built = build({{"x:0"}, {"y:0"}, {}});
  CHECK(built.parts.at(0).graph->find("a"));
  CHECK_FALSE(built.parts.at(0).is_final);
}
