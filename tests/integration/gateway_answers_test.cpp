// What TensorFlow's server answers to requests that no client of its own sends: recorded from
// TensorFlow 2.21, as text. Where ours is another on purpose, the row says why.
#include <google/protobuf/text_format.h>

#include "core/base/strings.hpp"
#include "tests/support/gateway/gateway_rig.hpp"

namespace troupe::gateway_answers_test {

using troupe::testing::parsed;
using troupe::testing::RpcClient;

namespace {

const std::string versions = " versions { producer: 2474 }";

std::string c(const std::string& name = "c", const std::string& more = "") {
  return "node { name: '" + name +
         "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { "
         "tensor "
         "{ dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } " +
         more + "} ";
}
std::string node_text(const std::string& name, const std::string& op,
                      const std::string& more = "") {
  return "node { name: '" + name + "' op: '" + op + "' " + more + "} ";
}
std::string typed(const char* type = "DT_FLOAT") {
  return str_cat("attr { key: 'T' value { type: ", type, " } } ");
}
const std::string x =
    node_text("x", "Placeholder", "attr { key: 'dtype' value { type: DT_FLOAT } } ");
const std::string row = node_text("row", "Placeholder",
                                  "attr { key: 'dtype' value { type: DT_FLOAT } } "
                                  "attr { key: 'shape' value { shape { dim { size: 3 } } } } ");
const std::string twice = node_text("twice", "AddV2", "input: 'row' input: 'row' " + typed());
const std::string y = node_text("y", "AddV2", "input: 'x' input: 'c' " + typed());

template <class Request>
std::string bytes_of(const std::string& text) {
  Request request;
  REQUIRE_MESSAGE(google::protobuf::TextFormat::ParseFromString(text, &request), text);
  return request.SerializeAsString();
}

struct Server {
  std::shared_ptr<ClusterNode> node;
  std::unique_ptr<Gateway> gateway;
  std::unique_ptr<RpcClient> client;
  std::string session;

  Server() {
    NodeOptions options;
    options.job = "local";
    options.compute_threads = 1;
    auto started = ClusterNode::start(options);
    REQUIRE(started.ok());
    node = *std::move(started);
    GatewayOptions of_gateway;
    of_gateway.address = {"127.0.0.1", 0};
    auto opened = Gateway::start(*node, of_gateway);
    REQUIRE(opened.ok());
    gateway = *std::move(opened);
    client = std::make_unique<RpcClient>("tensorflow.MasterService", gateway->port());
    session = create(c() + x + row + twice + y + node_text("n1", "NoOp") + versions);
  }

  std::string create(const std::string& graph, const std::string& config = "") {
    return parsed<tensorflow::CreateSessionResponse>(
               client->call("CreateSession", creation(graph, config)))
        .session_handle();
  }
  static std::string creation(const std::string& graph, const std::string& config = "") {
    return bytes_of<tensorflow::CreateSessionRequest>(
        str_cat("graph_def { ", graph, " } config { ", config, " } target: 'grpc://here:1'"));
  }
  // "@" stands for the session.
  std::string request(const std::string& method, std::string text) const {
    for (std::size_t at; (at = text.find('@')) != text.npos;)
      text.replace(at, 1, session);
    if (method == "RunStep")
      return bytes_of<tensorflow::RunStepRequest>(text);
    if (method == "ExtendSession")
      return bytes_of<tensorflow::ExtendSessionRequest>(text);
    if (method == "MakeCallable")
      return bytes_of<tensorflow::MakeCallableRequest>(text);
    if (method == "RunCallable")
      return bytes_of<tensorflow::RunCallableRequest>(text);
    if (method == "ReleaseCallable")
      return bytes_of<tensorflow::ReleaseCallableRequest>(text);
    if (method == "PartialRunSetup")
      return bytes_of<tensorflow::PartialRunSetupRequest>(text);
    if (method == "ListDevices")
      return bytes_of<tensorflow::ListDevicesRequest>(text);
    if (method == "Reset")
      return bytes_of<tensorflow::ResetRequest>(text);
    return bytes_of<tensorflow::CloseSessionRequest>(text);
  }
};

/// `message`: how it begins; empty: the call succeeds.
struct Row {
  const char* name;
  std::string text;
  Code code = Code::ok;
  std::string message = {};
};

void check(const std::string& name, const Status& status, Code code, std::string message,
           const std::string& session = "") {
  for (std::size_t at; (at = message.find('@')) != message.npos;)
    message.replace(at, 1, session);
  CAPTURE(name);
  CHECK_MESSAGE(status.code() == code, status.to_string());
  CHECK_MESSAGE(status.message().substr(0, message.size()) == message, status.message());
}

} // namespace

TEST_CASE_FIXTURE(Server, "gateway answers: CreateSession") {
  const std::string on_nowhere = c("c", "device: '/job:local/task:9' ");
  const Row rows[] = {
      {"without default attributes", c() + x + y + versions},
      {"an empty graph", versions},
      {"producer 0", c() + " versions { producer: 0 }"},
      {"a newer producer", c() + " versions { producer: 99999 }"},
      {"a consumer that is to be newer", c() + " versions { producer: 2474 min_consumer: 99999 }",
       Code::invalid_argument,
       "GraphDef min consumer version 99999 above current version 2474 for TensorFlow 2.21.0.  "
       "Please "
       "upgrade TensorFlow."},
      {"a consumer that is bad", c() + " versions { producer: 2474 bad_consumers: 2474 }",
       Code::invalid_argument,
       "GraphDef disallows consumer version 2474.  Please upgrade TensorFlow: this version is "
       "likely "
       "buggy."},
      {"an unknown op", node_text("a", "Nope") + versions, Code::not_found,
       "Op type not registered 'Nope' in binary running on "},
      {"a name twice", c() + c() + versions, Code::invalid_argument, "Node 'c' is not unique"},
      {"an input that is not there", y + c() + versions, Code::invalid_argument,
       "Node 'y': Unknown input node 'x'"},
      {"a name that begins with _", node_text("_a", "NoOp") + versions, Code::invalid_argument,
       "Illegal op name '_a'\n\t [[{{node _a}}]]"},
      {"a space in a name", node_text("a b", "NoOp") + versions, Code::invalid_argument,
       "Illegal op name 'a b'\n\t [[{{node a b}}]]"},
      {"an unknown attribute",
       node_text("a", "NoOp", "attr { key: 'foo' value { i: 3 } } ") + versions},
      {"a type that does not match",
       c() + node_text("y", "Neg", "input: 'c' " + typed("DT_INT32")) + versions,
       Code::invalid_argument,
       "Input 0 of node y was passed float from c:0 incompatible with expected int32."},
      {"a control input before data",
       c() + node_text("y", "Neg", "input: '^c' input: 'c' " + typed()) + versions,
       Code::invalid_argument, "All control inputs must follow all data inputs\n\t [[{{node y}}]]"},
      {"an output that is not there",
       c() + node_text("y", "Neg", "input: 'c:1' " + typed()) + versions, Code::invalid_argument,
       "Node 'y': Connecting to invalid output 1 of source node c which has 1 outputs."},
      {"a circle (TensorFlow counts its nodes)",
       node_text("a", "Neg", "input: 'b' " + typed()) +
           node_text("b", "Neg", "input: 'a' " + typed()) + versions,
       Code::invalid_argument, ""},
      {"a device that is not there", on_nowhere + versions, Code::invalid_argument,
       "Cannot assign a device for operation c: {{node c}} was explicitly assigned to "
       "/job:local/task:9 "
       "but available devices are [ /job:local/replica:0/task:0/device:CPU:0 ]. Make sure the "
       "device "
       "specification refers to a valid device.\n\t [[c]]"},
      {"a device that is none", c("c", "device: 'garbage' ") + versions, Code::invalid_argument,
       ""},
      {"an old form of a device", c("c", "device: '/cpu:0' ") + versions},
  };
  for (const Row& row : rows)
    check(row.name, client->call("CreateSession", creation(row.text)).status(), row.code,
          row.message);
  struct Configured {
    const char* name;
    std::string graph, config;
    Code code = Code::ok;
    std::string message = {};
  };
  const Configured configs[] = {
      {"a device that is not there, with soft placement", on_nowhere, "allow_soft_placement: true",
       Code::invalid_argument, "Cannot assign a device for operation c: "},
      {"a device that is not there, placing what is pruned", on_nowhere,
       "graph_options { place_pruned_graph: true }"}, // a step that runs it fails
      {"thread pools", c(), "session_inter_op_thread_pool { num_threads: 2 }",
       Code::invalid_argument, "Distributed session does not support session thread pool options."},
      {"threads of its own", c(), "use_per_session_threads: true", Code::invalid_argument,
       "Distributed session does not support session thread pool options."},
      {"a cluster without the server", c(),
       "cluster_def { job { name: 'w' tasks { key: 0 value: 'a:1' } } }", Code::invalid_argument,
       "The master (current machine) is not included in the provided cluster_def. "},
      {"a cluster in which the server is what it is already", c(),
       "cluster_def { job { name: 'local' tasks { key: 0 value: 'here:1' } } }",
       Code::invalid_argument,
       "The ClusterSpec names the job and task index to be the same names that were provided when "
       "the "
       "server booted. This is currently not allowed. Job: local, task index: 0"},
      {"a cluster in which the server is two tasks", c(),
       "cluster_def { job { name: 'w' tasks { key: 0 value: 'here:1' } tasks { key: 1 value: "
       "'here:1' } } }",
       Code::invalid_argument,
       "Found multiple matching tasks that correspond to to the master. Master target: "
       "'grpc://here:1'."},
      {"options that TensorFlow's servers overlook", c(),
       "device_count { key: 'GPU' value: 3 } intra_op_parallelism_threads: -1 placement_period: 7 "
       "gpu_options { allow_growth: true } graph_options { timeline_step: -2 build_cost_model: -1 "
       "}"},
  };
  for (const Configured& row : configs)
    check(row.name,
          client->call("CreateSession", creation(row.graph + versions, row.config)).status(),
          row.code, row.message);
}

TEST_CASE_FIXTURE(Server, "gateway answers: ExtendSession") {
  const std::string nothing = "session_handle: '@' current_graph_version: ";
  const Row rows[] = {
      {"version 0", nothing + "0 graph_def { " + node_text("e1", "NoOp") + versions + "}"},
      {"version 0 with other nodes",
       nothing + "0 graph_def { " + node_text("e2", "NoOp") + versions + "}", Code::aborted,
       "Current version is 1 but caller expected 0."},
      {"version 5", nothing + "5 graph_def { " + node_text("e2", "NoOp") + versions + "}",
       Code::aborted, "Current version is 1 but caller expected 5."},
      {"a node that is there",
       nothing + "1 graph_def { " + node_text("n1", "NoOp") + versions + "}",
       Code::invalid_argument,
       "GraphDef argument to Extend includes node 'n1', which was created by a previous call to "
       "Create "
       "or Extend in this session."},
      {"a device that is not there",
       nothing + "1 graph_def { " + c("elsewhere", "device: '/job:nowhere' ") + versions + "}",
       Code::invalid_argument, "Cannot assign a device for operation elsewhere: "},
      {"another producer",
       nothing + "1 graph_def { " + node_text("e3", "NoOp") + " versions { producer: 9 } }"},
      {"an input that is not there",
       nothing + "2 graph_def { " + node_text("z", "Neg", "input: 'n9' " + typed()) + versions +
           "}",
       Code::invalid_argument, "Node 'z': Unknown input node 'n9'"},
      {"a session that is not there", "session_handle: 'zz'", Code::aborted,
       "Session zz is not found."},
      {"no session", "", Code::aborted, "Session  is not found."},
  };
  for (const Row& row : rows)
    check(row.name, client->call("ExtendSession", request("ExtendSession", row.text)).status(),
          row.code, row.message);
  // A refused extension leaves the session as it was.
  CHECK(client->call("RunStep", request("RunStep", "session_handle: '@' fetch: 'c:0'")).ok());
  session = create(c() + versions, "experimental { optimize_for_static_graph: true }");
  check("a static graph",
        client
            ->call("ExtendSession",
                   request("ExtendSession",
                           nothing + "0 graph_def { " + node_text("e1", "NoOp") + versions + "}"))
            .status(),
        Code::failed_precondition,
        "Extending the graph is not supported when `optimize_for_static_graph` is true.");
}

TEST_CASE_FIXTURE(Server, "gateway answers: RunStep") {
  const auto feed = [](const std::string& name, const std::string& tensor) {
    return str_cat("feed { name: '", name, "' tensor { ", tensor, " } } ");
  };
  const std::string five = "dtype: DT_FLOAT tensor_shape {} float_val: 5";
  const std::string fed = feed("x:0", five), run = "session_handle: '@' ";
  const Row rows[] = {
      {"typed fields", run + fed + "fetch: 'y:0'"},
      {"a fetch twice", run + fed + "fetch: 'y:0' fetch: 'y:0'"},
      {"a feed twice", run + fed + fed + "fetch: 'y:0'", Code::invalid_argument,
       "Endpoint \"x:0\" fed more than once."},
      {"a fetch without slot (TensorFlow hangs)", run + fed + "fetch: 'y'"},
      {"a feed without slot (TensorFlow hangs)", run + feed("x", five) + "fetch: 'y:0'"},
      {"an unknown fetch", run + fed + "fetch: 'nope:0'", Code::not_found,
       "FetchOutputs node nope:0: not found"},
      {"an output that is not there", run + fed + "fetch: 'y:3'", Code::invalid_argument,
       "FetchOutputs y:3: output index too large, must be < 1"},
      {"an unknown target", run + fed + "target: 'nope'", Code::not_found,
       "PruneForTargets: Some target nodes not found: nope "},
      {"an unknown feed", run + feed("nope:0", five) + "fetch: 'y:0'", Code::not_found,
       "FeedInputs: unable to find feed output nope:0"},
      {"a placeholder that is not fed", run + "fetch: 'y:0'", Code::invalid_argument,
       "From /job:local/replica:0/task:0:\nYou must feed a value for placeholder tensor 'x' with "
       "dtype "
       "float\n\t [[{{node x}}]]"},
      {"a feed whose shape its placeholder denies",
       run + feed("row:0", "dtype: DT_FLOAT tensor_shape {} float_val: 5") + "fetch: 'twice:0'"},
      {"a feed without tensor", run + feed("x:0", "") + "fetch: 'y:0'", Code::invalid_argument,
       "Invalid TensorProto for feed value 0"},
      {"a feed of an unknown shape",
       run + feed("x:0", "dtype: DT_FLOAT tensor_shape { dim { size: -1 } } float_val: 5") +
           "fetch: 'y:0'",
       Code::invalid_argument, "Invalid TensorProto for feed value 0"},
      {"a feed with too few bytes",
       run + fed +
           feed("c:0", "dtype: DT_FLOAT tensor_shape { dim { size: 3 } } tensor_content: 'abcd'") +
           "fetch: 'y:0'",
       Code::invalid_argument, "Invalid TensorProto for feed value 1"},
      {"a feed of one value for three",
       run + feed("x:0", "dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: 1") +
           "fetch: 'y:0'"},
      // TensorFlow says INTERNAL, of a node that the client does not know.
      {"a feed of another dtype",
       run + feed("x:0", "dtype: DT_INT32 tensor_shape {} int_val: 5") + "fetch: 'y:0'",
       Code::invalid_argument, "Tensor x:0 is fed with int32 but has dtype float"},
      {"a fetch of what has no value", run + "fetch: 'n1:0'", Code::invalid_argument,
       "Tried to fetch data for 'n1:0', which produces no output.  To run to a node but not fetch "
       "any "
       "data, pass 'n1:0' as an argument to the 'target_node_names' argument of the Session::Run "
       "API."},
      {"a target with a slot", run + "target: 'c:0'"},
      {"nothing", run, Code::invalid_argument,
       "Must specify at least one target to fetch or execute."},
      {"a fetch and a target", run + "fetch: 'c:0' target: 'n1'"},
      {"a tensor fed and fetched", run + fed + "fetch: 'x:0'", Code::invalid_argument,
       "x:0 is both fed and fetched."},
      {"a session that is not there", "session_handle: 'zz' fetch: 'y:0'", Code::aborted,
       "Session zz is not found."},
      {"a partial run that is not there", run + "fetch: 'y:0' partial_run_handle: '77'",
       Code::invalid_argument, "Must run PartialRunSetup before performing partial runs"},
      {"a timeout and a trace",
       run + "fetch: 'c:0' options { timeout_in_ms: 60000 trace_level: FULL_TRACE }"},
      {"a timeout that is none", run + "fetch: 'c:0' options { timeout_in_ms: -1000 }"},
      {"a thread pool that is not there", run + "fetch: 'c:0' options { inter_op_thread_pool: 2 }"},
      {"another one", run + "fetch: 'c:0' options { inter_op_thread_pool: -5 }"},
  };
  for (const Row& row : rows) {
    check(row.name, client->call("RunStep", request("RunStep", row.text)).status(), row.code,
          row.message);
    // In the body the same.
    auto answer = parsed<tensorflow::RunStepResponse>(client->call(
        "RunStep", request("RunStep", row.text + " store_errors_in_response_body: true")));
    const auto code = static_cast<Code>(answer.status_code());
    check(row.name, code == Code::ok ? Status() : Status(code, answer.status_error_message()),
          row.code, row.message);
  }
  session = create(c() + versions, "experimental { disable_output_partition_graphs: true }");
  check(
      "partition graphs that are disabled",
      client
          ->call("RunStep",
                 request("RunStep", run + "fetch: 'c:0' options { output_partition_graphs: true }"))
          .status(),
      Code::invalid_argument,
      "RunOptions.output_partition_graphs() is not supported when disable_output_partition_graphs "
      "is "
      "true.");
}

TEST_CASE_FIXTURE(Server, "gateway answers: partial runs") {
  const std::string of = "session_handle: '@' ";
  const Row rows[] = {
      {"without feeds", of + "fetch: 'c:0'"},
      {"a session that is not there", "session_handle: 'zz' fetch: 'y:0'", Code::aborted,
       "Session zz is not found."},
      {"an unknown fetch", of + "fetch: 'nope:0'", Code::not_found,
       "FetchOutputs node nope:0: not found"},
      {"nothing to run", of + "feed: 'x:0'", Code::invalid_argument,
       "Must specify at least one target to fetch or execute."},
  };
  for (const Row& row : rows)
    check(row.name, client->call("PartialRunSetup", request("PartialRunSetup", row.text)).status(),
          row.code, row.message);
  const std::string handle =
      parsed<tensorflow::PartialRunSetupResponse>(
          client->call("PartialRunSetup",
                       request("PartialRunSetup", of + "feed: 'x:0' fetch: 'y:0' fetch: 'c:0'")))
          .partial_run_handle();
  const std::string piece = of + "partial_run_handle: '" + handle + "' ";
  const std::string feed =
      "feed { name: 'x:0' tensor { dtype: DT_FLOAT tensor_shape {} float_val: 5 } } ";
  const Row pieces[] = {
      {"a fetch that was not named", piece + "fetch: 'x:0'", Code::invalid_argument,
       "The fetch x:0 was not specified in partial_run_setup."},
      {"a feed that was not named",
       piece + "feed { name: 'c:0' tensor { dtype: DT_FLOAT tensor_shape {} float_val: 5 } } "
               "fetch: 'y:0'",
       Code::invalid_argument, "The feed c:0 was not specified in partial_run_setup."},
      {"one", piece + "fetch: 'c:0'"},
      {"the same again", piece + "fetch: 'c:0'", Code::invalid_argument,
       "The fetch c:0 has already been fetched."},
      {"too early", piece + "fetch: 'y:0'", Code::invalid_argument,
       "Fetch x:0 can't be computed from the feeds that have been fed so far."},
      {"the last", piece + feed + "fetch: 'y:0'"},
      {"one more", piece + "fetch: 'y:0'", Code::invalid_argument,
       "Must run PartialRunSetup before performing partial runs"},
  };
  for (const Row& row : pieces)
    check(row.name, client->call("RunStep", request("RunStep", row.text)).status(), row.code,
          row.message);
}

TEST_CASE_FIXTURE(Server, "gateway answers: callables") {
  const auto make = [](const std::string& options) {
    return str_cat("session_handle: '@' options { ", options, " }");
  };
  const auto joined = [](const std::string& from, const std::string& to) {
    return str_cat("tensor_connection { from_tensor: '", from, "' to_tensor: '", to, "' } ");
  };
  const Row rows[] = {
      {"a session that is not there", "session_handle: 'zz'", Code::aborted,
       "Session zz is not found."},
      {"nothing", make(""), Code::invalid_argument,
       "Must specify at least one target to fetch or execute."},
      {"an unknown fetch", make("fetch: 'nope:0'"), Code::not_found,
       "FetchOutputs node nope:0: not found"},
      {"devices of feeds",
       make("feed: 'x:0' fetch: 'y:0' feed_devices { key: 'x:0' value: '/cpu:0' }"),
       Code::unimplemented,
       "CallableOptions::feed_devices and CallableOptions::fetch_devices to configure "
       "feeding/fetching "
       "tensors to/from device memory is not yet supported when using a remote session."},
      {"a connection from an unknown node", make("fetch: 'y:0' " + joined("nope:0", "x:0")),
       Code::invalid_argument, "Requested tensor connection from unknown node: \"x:0\"."},
      {"a connection from an output that is not there",
       make("fetch: 'y:0' " + joined("c:7", "x:0")), Code::invalid_argument,
       "Requested tensor connection from unknown edge: \"x:0\" (actual number of outputs = 1)."},
      {"a connection to an unknown node", make("fetch: 'y:0' " + joined("c:0", "nope:0")),
       Code::not_found, "FeedInputs: unable to find feed output nope:0"},
      {"a connection to an output that is not there", make("fetch: 'y:0' " + joined("c:0", "x:5")),
       Code::invalid_argument, "FeedInputs: x:5 should have output index < 1"},
      {"a connection in a circle", make("fetch: 'y:0' " + joined("y:0", "x:0")),
       Code::invalid_argument,
       "Requested Tensor connection between nodes \"x\" and \"y\" would create a cycle."},
      {"a connection to what is fed", make("feed: 'x:0' fetch: 'y:0' " + joined("c:0", "x:0")),
       Code::invalid_argument, "Endpoint \"x:0\" fed more than once."},
      {"two connections to one tensor",
       make("fetch: 'y:0' " + joined("c:0", "x:0") + joined("c:0", "x:0")), Code::invalid_argument,
       "Endpoint \"x:0\" fed more than once."},
      {"a connection to what is fetched", make("fetch: 'x:0' " + joined("c:0", "x:0")),
       Code::invalid_argument, "x:0 is both fed and fetched."},
  };
  for (const Row& row : rows)
    check(row.name, client->call("MakeCallable", request("MakeCallable", row.text)).status(),
          row.code, row.message);
  const auto made = [&](const std::string& options) {
    return parsed<tensorflow::MakeCallableResponse>(
               client->call("MakeCallable", request("MakeCallable", make(options))))
        .handle();
  };
  CHECK(made("feed: 'x:0' fetch: 'y:0' fetch: 'c:0' fetch: 'y:0'") == 0);
  CHECK(made("fetch: 'y:0' " + joined("c:0", "x:0")) == 1);
  const std::string run = "session_handle: '@' handle: ";
  const std::string feed = " feed { dtype: DT_FLOAT tensor_shape {} float_val: 5 }";
  const Row runs[] = {
      {"a callable that was never made", run + "99", Code::invalid_argument,
       "No such callable handle: 99"},
      {"enough feeds", run + "0" + feed},
      {"too many", run + "0" + feed + feed},
      {"too few (TensorFlow's server ends)", run + "0", Code::invalid_argument,
       "the callable takes 1 feeds, and 0 came"},
      {"a feed that is none", run + "0 feed { dtype: DT_FLOAT tensor_content: 'a' }",
       Code::invalid_argument, "Invalid TensorProto for feed value 0"},
      {"a connected one", run + "1"},
  };
  for (const Row& row : runs)
    check(row.name, client->call("RunCallable", request("RunCallable", row.text)).status(),
          row.code, row.message);
  auto connected = parsed<tensorflow::RunCallableResponse>(
      client->call("RunCallable", request("RunCallable", run + "1")));
  REQUIRE(connected.fetch_size() == 1);
  CHECK(tensor_from_bytes(connected.fetch(0).SerializeAsString())->value<float>() == 4);
  auto thrice = parsed<tensorflow::RunCallableResponse>(
      client->call("RunCallable", request("RunCallable", run + "0" + feed)));
  REQUIRE(thrice.fetch_size() == 3); // TensorFlow leaves the third without a value
  CHECK(tensor_from_bytes(thrice.fetch(2).SerializeAsString())->value<float>() == 7);
  for (const char* handle : {"99", "0", "0"})
    CHECK(client->call("ReleaseCallable", request("ReleaseCallable", run + handle)).ok());
  check("a released one",
        client->call("RunCallable", request("RunCallable", run + "0" + feed)).status(),
        Code::invalid_argument, "Attempted to run callable after handle was released: 0");
}

TEST_CASE_FIXTURE(Server, "gateway answers: devices, resets and ends of sessions") {
  CHECK(client->call("ListDevices", request("ListDevices", "session_handle: '@'")).ok());
  check("devices of no session",
        client->call("ListDevices", request("ListDevices", "session_handle: 'zz'")).status(),
        Code::invalid_argument, "Session zz is not found. Possibly, this master has restarted.");
  check("an unknown session",
        client->call("CloseSession", request("CloseSession", "session_handle: 'zz'")).status(),
        Code::aborted, "Session zz is not found. Possibly, this master has restarted.");
  const std::string close = request("CloseSession", "session_handle: '@'");
  CHECK(client->call("CloseSession", close).ok());
  check("one that is closed", client->call("CloseSession", close).status(), Code::aborted,
        "Session @ is not found. Possibly, this master has restarted.", session);
  check("a step of it",
        client->call("RunStep", request("RunStep", "session_handle: '@' fetch: 'c:0'")).status(),
        Code::aborted, "Session @ is not found.", session);
  CHECK(client->call("Reset", request("Reset", "container: 'nope'")).ok());
  CHECK(client->call("Reset", request("Reset", "device_filters: '/job:nowhere'")).ok());
  check("a method that is none", client->call("Nope", "").status(), Code::unimplemented, "");
  RpcClient other("tensorflow.grpc.MasterService", gateway->port());
  check("a service that is none", other.call("ListDevices", "").status(), Code::unimplemented, "");
}

TEST_CASE_FIXTURE(
    Server, "gateway answers: a long error is whole in the body, and cut in the call's status") {
  const std::string name(20'000, 'n');
  const std::string text = "session_handle: '@' fetch: '" + name + ":0'";
  Status cut = client->call("RunStep", request("RunStep", text)).status();
  CHECK(cut.code() == Code::not_found);
  CHECK(cut.message().size() <= 3072);
  CHECK(cut.message().find("FetchOutputs node nnn") == 0);
  auto whole = parsed<tensorflow::RunStepResponse>(
      client->call("RunStep", request("RunStep", text + " store_errors_in_response_body: true")));
  CHECK(whole.status_error_message() == "FetchOutputs node " + name + ":0: not found");
}

} // namespace troupe::gateway_answers_test
