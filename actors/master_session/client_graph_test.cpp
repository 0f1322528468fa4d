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
