// Graphs and clients that a gateway must survive: each ends with a canonical code and a sentence,
// the node goes on, and gives the memory back.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/endless_graph.hpp"
#include "tests/support/gateway/gateway_rig.hpp"

namespace troupe::gateway_hostile_test {

using troupe::testing::comes_true;
using troupe::testing::GatewayRig;
using troupe::testing::parsed;

namespace {

struct Hostile : GatewayRig {
  static NodeOptions small_node() {
    NodeOptions out;
    out.memory_limit = std::int64_t{256} << 20;
    return out;
  }
  explicit Hostile(GatewayOptions options = {}) : GatewayRig(options, small_node()) {}

  Result<std::string> create(const tensorflow::GraphDef& graph) {
    tensorflow::CreateSessionRequest request;
    *request.mutable_graph_def() = graph;
    TROUPE_ASSIGN(std::string bytes, client->call("CreateSession", request.SerializeAsString(),
                                                  std::chrono::minutes(5)));
    tensorflow::CreateSessionResponse answer;
    REQUIRE(answer.ParseFromString(bytes));
    return answer.session_handle();
  }
  static tensorflow::GraphDef graph_of(std::string_view text) {
    auto graph = parse_graph(text, op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    tensorflow::GraphDef out;
    REQUIRE(out.ParseFromString(*write_graph_bytes(*graph)));
    return out;
  }
  /// The end of a step of `graph` that fetches or runs `name`, in a session of its own.
  tensorflow::RunStepResponse end_of(const tensorflow::GraphDef& graph, const std::string& name,
                                     std::int64_t timeout_ms) {
    auto session = create(graph);
    REQUIRE_MESSAGE(session.ok(), session.status().to_string());
    auto request = step(*session, name.find(':') == name.npos ? "" : name);
    if (request.fetch_size() == 0)
      request.add_target(name);
    request.mutable_options()->set_timeout_in_ms(timeout_ms);
    auto answer = parsed<tensorflow::RunStepResponse>(
        client->call("RunStep", request.SerializeAsString(), std::chrono::minutes(5)));
    CHECK(close(*session).ok());
    return answer;
  }
  void check_end(const tensorflow::RunStepResponse& answer, tensorflow::error::Code code) {
    CHECK_MESSAGE(answer.status_code() == code, answer.status_error_message());
    CHECK_FALSE(answer.status_error_message().empty());
    check_calm();
  }
  /// It serves, and nothing of what was is left.
  void check_calm() {
    CHECK(comes_true([] {
      return counter("master_sessions").value() == 0 && counter("master_steps").value() == 0 &&
             counter("executors").value() == 0 && counter("graphs").value() == 0;
    }));
    const std::string session = open();
    auto request = step(session, "y:0");
    feed(request, "x:0", Tensor::scalar(2.0f));
    CHECK(value(run(request)).value<float>() == -2);
    CHECK(close(session).ok());
  }
};

} // namespace

TEST_CASE_FIXTURE(Hostile, "hostile graphs: results that no memory holds") {
  const char* fill = R"(
d = Const[dtype=DT_INT32, value=i32[2] 1048576 1048576]()
one = Const[dtype=DT_FLOAT, value=f32[] 1]()
big = Fill(d, one)
)";
  check_end(end_of(graph_of(fill), "big:0", 0), tensorflow::error::RESOURCE_EXHAUSTED);
  const char* tile = R"(
few = Const[dtype=DT_FLOAT, value=f32[2] 1 2]()
times = Const[dtype=DT_INT32, value=i32[1] 2147483647]()
big = Tile(few, times)
)";
  check_end(end_of(graph_of(tile), "big:0", 0), tensorflow::error::RESOURCE_EXHAUSTED);
}

TEST_CASE_FIXTURE(Hostile, "hostile graphs: a loop without an end has the step's time") {
  check_end(end_of(graph_of(troupe::testing::endless_graph), "end", 500),
            tensorflow::error::DEADLINE_EXCEEDED);
}

TEST_CASE_FIXTURE(Hostile, "hostile graphs: a queue that nobody drains ends at the memory limit") {
  // Each round puts another megabyte into a queue without a capacity.
  const char* filling = R"(
q = FIFOQueueV2[component_types=[DT_FLOAT], capacity=-1]()
size = Const[dtype=DT_INT32, value=i32[1] 262144]()
zero = Const[dtype=DT_INT32, value=i32[] 0]()
yes = Const[dtype=DT_BOOL, value=bool[] true]()
in = Enter[frame_name="w"](zero)
yes_in = Enter[frame_name="w", is_constant=true](yes)
size_in = Enter[frame_name="w", is_constant=true](size)
q_in = Enter[frame_name="w", is_constant=true](q)
i = Merge(in, next)
cond = LoopCond(yes_in)
switch = Switch(i, cond)
body = Identity(switch:1)
value = RandomUniform[dtype=DT_FLOAT](size_in) ^body
put = QueueEnqueueV2(q_in, value)
next = NextIteration(body) ^put
end = Exit(switch:0)
)";
  check_end(end_of(graph_of(filling), "end", 60'000), tensorflow::error::RESOURCE_EXHAUSTED);
}

TEST_CASE_FIXTURE(Hostile, "hostile graphs: a function that calls itself twice") {
  auto graph = graph_of("x = Const[dtype=DT_FLOAT, value=f32[] 1]()");
  auto call = [](tensorflow::NodeDef& node, const char* name, const char* input) {
    node.set_name(name);
    node.set_op("PartitionedCall");
    node.add_input(input);
    auto& attrs = *node.mutable_attr();
    attrs["Tin"].mutable_list()->add_type(tensorflow::DT_FLOAT);
    attrs["Tout"].mutable_list()->add_type(tensorflow::DT_FLOAT);
    attrs["f"].mutable_func()->set_name("again");
  };
  call(*graph.add_node(), "y", "x");
  auto& function = *graph.mutable_library()->add_function();
  function.mutable_signature()->set_name("again");
  auto& in = *function.mutable_signature()->add_input_arg();
  in.set_name("a");
  in.set_type(tensorflow::DT_FLOAT);
  auto& out = *function.mutable_signature()->add_output_arg();
  out.set_name("r");
  out.set_type(tensorflow::DT_FLOAT);
  call(*function.add_node_def(), "p", "a");
  call(*function.add_node_def(), "q", "p:output:0");
  (*function.mutable_ret())["r"] = "q:output:0";
  auto answer = end_of(graph, "y:0", 20'000);
  CAPTURE(answer.status_error_message());
  CHECK((answer.status_code() == tensorflow::error::INVALID_ARGUMENT ||
         answer.status_code() == tensorflow::error::RESOURCE_EXHAUSTED ||
         answer.status_code() == tensorflow::error::DEADLINE_EXCEEDED));
  check_calm();
}

TEST_CASE_FIXTURE(Hostile, "hostile graphs: a million nodes run, or are refused with a sentence") {
  auto graph = graph_of("n0 = Const[dtype=DT_FLOAT, value=f32[] 1]()");
  constexpr int nodes = 1'000'000;
  for (int i = 1; i < nodes; ++i) {
    auto& node = *graph.add_node();
    node.set_name(str_cat("n", i));
    node.set_op("Neg");
    node.add_input(str_cat("n", i - 1));
    (*node.mutable_attr())["T"].set_type(tensorflow::DT_FLOAT);
  }
  auto session = create(graph);
  if (!session.ok()) {
    CHECK_MESSAGE(session.status().code() == Code::resource_exhausted,
                  session.status().to_string());
  } else {
    auto request = step(*session, str_cat("n", nodes - 1, ":0"));
    auto answer = parsed<tensorflow::RunStepResponse>(
        client->call("RunStep", request.SerializeAsString(), std::chrono::minutes(5)));
    CAPTURE(answer.status_error_message());
    if (answer.status_code() == tensorflow::error::OK)
      CHECK(value(answer).value<float>() == -1);
    else
      CHECK(answer.status_code() == tensorflow::error::RESOURCE_EXHAUSTED);
    CHECK(close(*session).ok());
  }
  check_calm();
}

TEST_CASE("hostile clients: sessions without an end are refused, and room comes back") {
  GatewayOptions options;
  options.max_sessions = 50;
  Hostile f(options);
  const auto graph = Hostile::graph_of("x = Const[dtype=DT_FLOAT, value=f32[] 1]()");
  std::vector<std::string> made;
  for (int i = 0; i < 2000; ++i) {
    auto session = f.create(graph);
    if (session.ok())
      made.push_back(*session);
    else
      CHECK(session.status().code() == Code::resource_exhausted);
  }
  CHECK(made.size() == 50);
  for (const std::string& session : made)
    CHECK(f.close(session).ok());
  f.check_calm();
}

} // namespace troupe::gateway_hostile_test
