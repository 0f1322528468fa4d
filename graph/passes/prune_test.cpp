#include "graph/passes/prune.hpp"

#include "graph/passes/internal/test_text.hpp"

using namespace troupe;

namespace {

constexpr auto linear = R"(
  x = Placeholder[dtype=DT_FLOAT]() @"/job:worker/task:1"
  w = VariableV2[dtype=DT_FLOAT]()
  y = MatMul(x, w)
  z = Neg(y)
  seen = NoOp() ^x
  other = Assign(w, z)
)";

void refuses(const Signature& signature, Code code, std::string_view part) {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  auto types = prune(graph, signature);
  REQUIRE(!types.ok());
  CHECK(types.status().code() == code);
  CHECK_MESSAGE(types.status().message().find(part) != std::string::npos, types.status().message());
  check_text(graph, to_text(graph_of(linear, ops)));
}

} // namespace

TEST_CASE("prune: feeds become _Arg, fetches _Retval, and the rest goes, side effects too") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  auto types = prune(graph, {{"x:0"}, {"y:0"}, {}});
  REQUIRE_MESSAGE(types.ok(), types.status().to_string());
  CHECK(types->feeds == std::vector{DType::float32});
  CHECK(types->fetches == std::vector{DType::float32});
  check_text(graph, R"(
    _arg_x_0_0 = _Arg[T=DT_FLOAT, index=0]() @"/job:worker/task:1"
    w = VariableV2[dtype=DT_FLOAT]()
    y = MatMul(_arg_x_0_0, w)
    _retval_y_0_0 = _Retval[index=0](y)
  )");
}

TEST_CASE("prune: what lies before a fed output is cut, a target and its inputs stay") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  REQUIRE(prune(graph, {{"y"}, {}, {"z"}}).ok());
  check_text(graph, R"(
    _arg_y_0_0 = _Arg[T=DT_FLOAT, index=0]()
    z = Neg(_arg_y_0_0)
  )");
}

TEST_CASE("prune: a control edge from a fed placeholder comes from its _Arg") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  REQUIRE(prune(graph, {{"x"}, {}, {"seen"}}).ok());
  check_text(graph, R"(
    _arg_x_0_0 = _Arg[T=DT_FLOAT, index=0]() @"/job:worker/task:1"
    seen = NoOp() ^_arg_x_0_0
  )");
}

TEST_CASE("prune: a fetched reference gives the value behind it") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  auto types = prune(graph, {{}, {"w"}, {}});
  REQUIRE(types.ok());
  CHECK(types->fetches == std::vector{DType::float32});
  check_text(graph, R"(
    w = VariableV2[dtype=DT_FLOAT]()
    _retval_w_0_0 = _Retval[index=0](w)
  )");
}

TEST_CASE("prune: a feed that nothing reads is taken and dropped") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  auto types = prune(graph, {{"x", "z"}, {"w"}, {}});
  REQUIRE(types.ok());
  CHECK(types->feeds.size() == 2);
  CHECK(graph.num_nodes() == 2);
}

TEST_CASE("prune: a variable may be fed where only its value is read") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  REQUIRE(prune(graph, {{"w", "x"}, {"y"}, {}}).ok());
  check_text(graph, R"(
    _arg_w_0_0 = _Arg[T=DT_FLOAT, index=0]()
    _arg_x_0_1 = _Arg[T=DT_FLOAT, index=1]() @"/job:worker/task:1"
    y = MatMul(_arg_x_0_1, _arg_w_0_0)
    _retval_y_0_0 = _Retval[index=0](y)
  )");
}

TEST_CASE("prune: errors are TensorFlow's, and leave the graph alone") {
  refuses({{}, {"nix:0"}, {}}, Code::not_found, "FetchOutputs node nix:0: not found");
  refuses({{"nix"}, {"y"}, {}}, Code::not_found, "FeedInputs: unable to find feed output nix:0");
  refuses({{}, {"y:3"}, {}}, Code::invalid_argument,
          "FetchOutputs y:3: output index too large, must be < 1");
  refuses({{"x:1"}, {"y"}, {}}, Code::invalid_argument,
          "FeedInputs: x:1 should have output index < 1");
  refuses({{}, {}, {"z", "nix", "nada"}}, Code::not_found,
          "PruneForTargets: Some target nodes not found: nix nada ");
  refuses({{"x", "x:0"}, {"y"}, {}}, Code::invalid_argument, "\"x:0\" fed more than once");
  refuses({{}, {"y", "y:0"}, {}}, Code::invalid_argument, "\"y:0\" fetched more than once");
  refuses({{"y"}, {"y:0"}, {}}, Code::invalid_argument, "is both fed and fetched");
  refuses({{"^x"}, {"y"}, {}}, Code::invalid_argument, "cannot be fed");
  refuses({{}, {"^y"}, {}}, Code::invalid_argument,
          "Tried to fetch data for '^y', which produces no output.");
  refuses({{}, {"seen"}, {}}, Code::invalid_argument,
          "pass 'seen' as an argument to the 'target_node_names'");
  refuses({{"w"}, {}, {"other"}}, Code::invalid_argument,
          "'w:0' cannot be fed: 'other' (Assign) needs the reference itself");
  refuses({{"x"}, {}, {}}, Code::invalid_argument, "Must specify at least one target");
}

TEST_CASE("prune: with the client's ends, feeds are received and fetches are sent there") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  const ClientEnds ends{"/job:master/replica:0/task:0/device:CPU:0", 7};
  auto types = prune(graph, {{"w:0", "x:0"}, {"y:0"}, {"seen"}}, &ends);
  REQUIRE_MESSAGE(types.ok(), types.status().to_string());
  CHECK(types->feeds == std::vector{DType::float32, DType::float32});
  CHECK(types->fetches == std::vector{DType::float32});
  const Node* feed = graph.find("_recv_x_0_1");
  REQUIRE(feed);
  CHECK(feed->op_name() == "_Recv");
  CHECK(feed->assigned_device == ends.device);
  CHECK(feed->attrs.get_or<std::string>("tensor_name", "") == "x:0");
  CHECK(feed->attrs.get_or<std::string>("send_device", "") == ends.device);
  CHECK(feed->attrs.get_or<std::int64_t>("send_device_incarnation", 0) == 7);
  const Node* fetch = graph.find("_send_y_0_0");
  REQUIRE(fetch);
  CHECK(fetch->op_name() == "_Send");
  CHECK(fetch->attrs.get_or<std::string>("tensor_name", "") == "y:0");
  CHECK(fetch->attrs.get_or<std::string>("recv_device", "") == ends.device);
  CHECK_FALSE(graph.find("x"));
  CHECK_FALSE(graph.find("w"));
  REQUIRE(graph.find("seen"));
  CHECK(graph.find("seen")->control_inputs == std::vector<NodeId>{feed->id});
}

TEST_CASE("prune: a connected tensor takes the place of another, within the graph") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  auto types = prune(graph, {{}, {"y:0"}, {"seen"}, {{"w:0", "x:0"}}});
  REQUIRE_MESSAGE(types.ok(), types.status().to_string());
  CHECK(types->feeds.empty());
  check_text(graph, R"(
    w = VariableV2[dtype=DT_FLOAT]()
    _identity_x_0 = Identity[T=DT_FLOAT](w) @"/job:worker/task:1"
    y = MatMul(_identity_x_0, w)
    _retval_y_0_0 = _Retval[index=0](y)
    seen = NoOp() ^_identity_x_0
  )");
}

TEST_CASE("prune: a connection reads the node's own value, even where that is fed") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  REQUIRE(prune(graph, {{"x"}, {"z"}, {}, {{"x", "y"}}}).ok());
  check_text(graph, R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/job:worker/task:1"
    _identity_y_0 = Identity[T=DT_FLOAT](x)
    z = Neg(_identity_y_0)
    _retval_z_0_0 = _Retval[index=0](z)
  )");
}

TEST_CASE("prune: connections of what is not there, of one tensor twice, and in a circle") {
  const auto joined = [](const std::string& from, const std::string& to) {
    return Signature{{}, {"z"}, {}, {{from, to}}};
  };
  refuses(joined("no:0", "x:0"), Code::invalid_argument,
          "Requested tensor connection from unknown node: \"x:0\".");
  refuses(joined("^w", "x:0"), Code::invalid_argument, "from unknown node");
  refuses(joined("", "x:0"), Code::invalid_argument, "from unknown node");
  refuses(joined("w:7", "x:0"), Code::invalid_argument,
          "Requested tensor connection from unknown edge: \"x:0\" (actual number of outputs = 1).");
  refuses(joined("w:0", "no:0"), Code::not_found, "FeedInputs: unable to find feed output no:0");
  refuses(joined("w:0", "x:3"), Code::invalid_argument,
          "FeedInputs: x:3 should have output index < 1");
  refuses(joined("y:0", "x:0"), Code::invalid_argument,
          "Requested Tensor connection between nodes \"x\" and \"y\" would create a cycle.");
  refuses(joined("x:0", "x:0"), Code::invalid_argument, "would create a cycle");
  refuses({{}, {"z"}, {}, {{"w", "x"}, {"w", "x"}}}, Code::invalid_argument,
          "Endpoint \"x\" fed more than once.");
  refuses({{"x"}, {"z"}, {}, {{"w", "x"}}}, Code::invalid_argument, "fed more than once.");
  refuses({{}, {"x"}, {}, {{"w", "x"}}}, Code::invalid_argument, "x is both fed and fetched.");
  // A circle of connections; what is fed closes none.
  refuses({{}, {"z"}, {}, {{"w", "x"}, {"y", "w"}}}, Code::invalid_argument,
          "would create a cycle");
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  CHECK(prune(graph, {{"y"}, {"z"}, {}, {{"z", "x"}}}).ok());
}

TEST_CASE("prune: a client's end that nothing reads is not there") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(linear, ops);
  const ClientEnds ends{"/job:master/replica:0/task:0/device:CPU:0", 7};
  REQUIRE(prune(graph, {{"x:0", "y:0"}, {"z:0"}, {}}, &ends).ok());
  CHECK_FALSE(graph.find("_recv_x_0_0"));
  CHECK(graph.find("_recv_y_0_1"));
}

TEST_CASE("prune: which feed a fetch still needs") {
  OpRegistry ops = rewriting_test_ops();
  const Graph graph = graph_of(linear, ops);
  CHECK(unfed_input(graph, {"z:0"}, {}, {"x:0"}) == "x:0");
  CHECK(unfed_input(graph, {"z:0"}, {"x:0"}, {"w:0"}) == "w:0");
  CHECK(unfed_input(graph, {"z:0"}, {"y:0"}, {"x:0", "w:0"}).empty()); // behind what is fed
  CHECK(unfed_input(graph, {"z:0"}, {"x:0"}, {}).empty());
  CHECK(unfed_input(graph, {"w:0"}, {}, {"x:0"}).empty());
}

TEST_CASE("prune: a signature is checked without its being run") {
  OpRegistry ops = rewriting_test_ops();
  const Graph graph = graph_of(linear, ops);
  CHECK(check_signature(graph, {{"x"}, {"y"}, {"seen"}}).ok());
  CHECK(check_signature(graph, {{"x"}, {}, {}}) ==
        invalid_argument("Must specify at least one target to fetch or execute."));
  CHECK(check_signature(graph, {{}, {"no"}, {}}).code() == Code::not_found);
}
