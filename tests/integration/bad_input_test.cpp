// Bad graphs, feeds, fetches and steps through a real session, in this process and against a node
// over loopback: the right code, a sentence, and the session goes on.
#include <doctest/doctest.h>

#include "actors/node/node.hpp"
#include "api/session.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "tests/support/free_port.hpp"

namespace troupe::bad_input_test {

using troupe::testing::free_port;

namespace {

constexpr std::int64_t memory_limit = std::int64_t{64} << 20;

// A node with a bound on its memory, and a session on it; or a session of its own.
struct Target {
  std::string name;
  std::unique_ptr<ClusterNode> node;
  std::unique_ptr<Session> session;

  explicit Target(bool over_network) {
    name = "local";
    if (over_network) {
      NodeOptions options;
      options.job = "ps";
      Address address{"127.0.0.1", free_port()};
      REQUIRE(options.cluster.add("ps", 0, address).ok());
      options.compute_threads = 1;
      options.memory_limit = memory_limit;
      auto started = ClusterNode::start(options);
      REQUIRE_MESSAGE(started.ok(), started.status().to_string());
      node = *std::move(started);
      name = str_cat("caf://", address);
    }
    open();
  }

  void open() {
    auto opened = Session::open(name);
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    session = std::make_unique<Session>(*std::move(opened));
  }
  Status run(const Feeds& feeds, const std::vector<std::string>& fetches,
             std::int64_t timeout_ms = 30'000) {
    RunOptions options;
    options.timeout_ms = timeout_ms;
    return session->run(feeds, fetches, {}, options).status();
  }
};

void check(const Status& status, Code code, std::string_view piece) {
  CHECK_MESSAGE(status.code() == code, status.to_string());
  CHECK_MESSAGE(status.message().find(piece) != std::string::npos, status.to_string());
}

std::string node(std::string_view name, std::string_view op, std::string_view inputs = {},
                 std::string_view more = "attr { key: 'T' value { type: DT_FLOAT } }") {
  std::string out = str_cat("node { name: '", name, "' op: '", op, "' ");
  for (std::string_view rest = inputs; !rest.empty();) {
    auto end = rest.find(' ');
    str_append(out, "input: '", rest.substr(0, end), "' ");
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return str_cat(out, more, " }\n");
}

std::string placeholder(std::string_view name, std::string_view shape = {}) {
  return node(name, "Placeholder", {},
              str_cat("attr { key: 'dtype' value { type: DT_FLOAT } } ",
                      shape.empty()
                          ? std::string()
                          : str_cat("attr { key: 'shape' value { shape { ", shape, " } } }")));
}

std::string constant(std::string_view name, std::string_view dtype, std::string_view value) {
  return node(name, "Const", {},
              str_cat("attr { key: 'dtype' value { type: ", dtype,
                      " } } attr { key: 'value' value { tensor { dtype: ", dtype, " ", value,
                      " } } }"));
}

std::string nested_text(int depth) {
  std::string out = "node { name: 'x' op: 'NoOp' attr { key: '_f' value { ";
  for (int i = 0; i < depth; ++i)
    out += "func { name: 'g' attr { key: 'a' value { ";
  for (int i = 0; i < depth; ++i)
    out += "} } } ";
  return out + "} } }";
}

// One length-delimited field.
std::string field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  std::size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7)
    out += static_cast<char>(size | 0x80);
  return out + static_cast<char>(size) + bytes;
}

std::string nested_binary(int depth) {
  std::string value = "\x18\x01";
  for (int i = 0; i < depth; ++i)
    value = field(10, field(1, "g") + field(2, field(1, "a") + field(2, value)));
  return field(1, field(1, "x") + field(2, "NoOp") + field(5, field(1, "_f") + field(2, value)));
}

void check_graphs(Target& target) {
  auto refused = [&](const std::string& graph, Code code, std::string_view piece) {
    CAPTURE(graph.substr(0, 200));
    check(target.session->extend_graph_def(graph), code, piece);
  };
  refused(node("a", "Neg", "b") + node("b", "Neg", "a"), Code::invalid_argument,
          "depends on itself");
  refused(node("a", "Neg", "nobody"), Code::invalid_argument, "Unknown input node 'nobody'");
  refused(constant("a", "DT_INT32", "int_val: 1") + node("b", "Neg", "a"), Code::invalid_argument,
          "incompatible with expected float");
  refused(placeholder("a") + placeholder("a"), Code::invalid_argument, "'a' is not unique");
  refused(node("a", "Nonsense"), Code::not_found, "Nonsense");
  refused(node("a", "Neg", "", ""), Code::invalid_argument, "'T'");
  refused(node("a", "Neg", "", "attr { key: 'T' value { type: DT_STRING } }"),
          Code::invalid_argument, "T");
  refused(node("a", "_Send", "a"), Code::invalid_argument, "internal");
  refused(constant("a", "DT_FLOAT", "tensor_shape { dim { size: 2147483648 } } float_val: 1"),
          Code::resource_exhausted, "bytes");
  refused(constant("a", "DT_FLOAT",
                   "tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }"),
          Code::invalid_argument, "");
  refused(nested_text(200), Code::invalid_argument, "");
  refused(nested_binary(200), Code::invalid_argument, "nested");
  refused(field(1, field(1, "a") + field(2, "NoOp")).substr(0, 7), Code::invalid_argument,
          "cut off");
  refused(std::string(1000, '\xff'), Code::invalid_argument, "bytes");
  refused("node { name: 'a' op: ", Code::invalid_argument, "line 1");
}

void check_steps(Target& target) {
  std::string graph =
      placeholder("x") + placeholder("two", "dim { size: 2 }") + node("neg", "Neg", "x") +
      node("sum", "AddV2", "two two") + node("product", "MatMul", "x x") +
      constant("never", "DT_BOOL", "bool_val: false") + node("switch", "Switch", "x never") +
      node("dead", "Neg", "switch:1") +
      constant("dims", "DT_INT64", "tensor_shape { dim { size: 2 } } int64_val: 1048576") +
      node("huge", "Fill", "dims zero",
           "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'index_type' value "
           "{ type: DT_INT64 } }") +
      constant("zero", "DT_FLOAT", "float_val: 0");
  Status extended = target.session->extend_graph_def(graph);
  REQUIRE_MESSAGE(extended.ok(), extended.to_string());
  Tensor value = Tensor::vector<float>({1, 2, 3});
  check(target.run({{"x", Tensor::vector<std::int32_t>({1, 2})}}, {"neg"}), Code::invalid_argument,
        "x:0");
  check(target.run({{"two", value}}, {"sum"}), Code::invalid_argument,
        "shape [3] but has shape [2]");
  check(target.run({{"nobody", value}}, {"neg"}), Code::not_found, "nobody");
  check(target.run({{"x", value}}, {"nobody"}), Code::not_found, "nobody");
  check(target.run({{"x", value}}, {"neg:7"}), Code::invalid_argument, "neg:7");
  check(target.run({{"x", value}, {"x", value}}, {"neg"}), Code::invalid_argument,
        "Endpoint \"x:0\" fed more than once.");
  check(target.run({}, {"neg"}), Code::invalid_argument, "'x'");
  check(target.run({{"x", value}}, {"dead"}), Code::invalid_argument, "does not have value");

  Status failed = target.run({{"x", value}}, {"product"});
  CHECK(failed.code() == Code::invalid_argument);
  CHECK(failed.origin().node == "product");

  Status huge = target.run({}, {"huge"}); // 4 TiB
  check(huge, Code::resource_exhausted, "[1048576,1048576]");
  check(huge, Code::resource_exhausted, "4398046511104 bytes");
  CHECK(huge.origin().node == "huge");
  CHECK(huge.origin().device.find("CPU:0") != std::string::npos);

  auto good = target.session->run({{"x", value}}, {"neg"});
  REQUIRE_MESSAGE(good.ok(), good.status().to_string());
  CHECK(equal((*good)[0], Tensor::vector<float>({-1, -2, -3})));
}

// Counts in a loop that nothing ends.
const std::string endless = [] {
  std::string f = "attr { key: 'T' value { type: DT_INT32 } }";
  return constant("begin", "DT_INT32", "int_val: 0") +
         node("enter", "Enter", "begin", f + "attr { key: 'frame_name' value { s: 'forever' } }") +
         node("merge", "Merge", "enter next", f + "attr { key: 'N' value { i: 2 } }") +
         "node { name: 'always' op: 'Const' input: '^merge' attr { key: 'dtype' value { type: "
         "DT_BOOL } "
         "} attr { key: 'value' value { tensor { dtype: DT_BOOL bool_val: true } } } }\n" +
         node("goes_on", "LoopCond", "always", "") + node("turn", "Switch", "merge goes_on", f) +
         node("next", "NextIteration", "turn:1", f) + node("exit", "Exit", "turn:0", f);
}();

void check_endless(Target& target) {
  REQUIRE(target.session->extend_graph_def(endless).ok());
  check(target.run({}, {"exit"}, 100), Code::deadline_exceeded, "");
  // And without a deadline: its client cancels it, or closes the session.
  PendingRun unwanted = target.session->run_async({}, {"exit"});
  unwanted.cancel();
  check(unwanted.get().status(), Code::cancelled, "cancelled by its client");
  auto running = target.session->run_async({}, {"exit"});
  REQUIRE(target.session->close().ok());
  CHECK_FALSE(running.get().ok());
  target.open();
  REQUIRE(target.session->extend_graph_def(placeholder("x") + node("neg", "Neg", "x")).ok());
  CHECK(target.run({{"x", Tensor::scalar(1.0f)}}, {"neg"}).ok());
}

} // namespace

TEST_CASE("bad input: hostile graphs are refused, the session in this process goes on") {
  Target target(false);
  check_graphs(target);
  check_steps(target);
  check_endless(target);
}

TEST_CASE("bad input: hostile graphs are refused, the node goes on") {
  Target target(true);
  check_graphs(target);
  check_steps(target);
  check_endless(target);
}

TEST_CASE("bad input: a step beyond the node's memory names limit and remedy, others have theirs") {
  Target target(true);
  std::string graph =
      constant("dims", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 33554432") +
      constant("one", "DT_FLOAT", "float_val: 1") + node("big", "Fill", "dims one") +
      placeholder("x") + node("neg", "Neg", "x");
  REQUIRE(target.session->extend_graph_def(graph).ok());
  for (int i = 0; i < 3; ++i) {
    Status status = target.run({}, {"big"}); // 128 MiB of 64
    check(status, Code::resource_exhausted, "134217728 bytes");
    check(status, Code::resource_exhausted, "Raise memory-limit");
    CHECK(status.origin().node == "big");
    CHECK(target.run({{"x", Tensor::zeros(DType::float32, {1 << 20})}}, {"neg"}).ok());
  }
}

TEST_CASE("bad input: the text of strings counts against the node's memory too") {
  Target target(true);
  const std::string types = "attr { key: 'T' value { type: DT_STRING } }";
  // 16 Ki elements of 8 KiB are 128 MiB of 64, in 512 KiB of elements.
  std::string graph =
      constant("text", "DT_STRING", str_cat("string_val: '", std::string(8192, 'x'), "'")) +
      node("n", "Placeholder", {}, "attr { key: 'dtype' value { type: DT_INT32 } }") +
      node("many", "Fill", "n text", types) + node("back", "Shape", "many", types) +
      node("fed", "Placeholder", {}, "attr { key: 'dtype' value { type: DT_STRING } }") +
      node("again", "Identity", "fed", types) + node("fed_back", "Shape", "again", types);
  Status extended = target.session->extend_graph_def(graph);
  REQUIRE_MESSAGE(extended.ok(), extended.to_string());
  for (int i = 0; i < 3; ++i) {
    Status status = target.run({{"n", Tensor::vector<std::int32_t>({16384})}}, {"back"});
    check(status, Code::resource_exhausted, "134234112 bytes in a string tensor of shape [16384]");
    check(status, Code::resource_exhausted, "Raise memory-limit");
    CHECK(status.origin().node == "many");
    CHECK(status.origin().op == "Fill");
    CHECK(status.origin().device.find("CPU:0") != std::string::npos);
    status = target.run({{"n", Tensor::vector<std::int32_t>({4096})}}, {"back"}); // 32 MiB
    CHECK_MESSAGE(status.ok(), status.to_string());
  }
  CHECK(target.run({{"fed", Tensor::scalar(std::string(std::size_t{8} << 20, 'y'))}}, {"fed_back"})
            .ok());
}

TEST_CASE("bad input: a node shuts down in bounded time while a step never ends") {
  Target target(true);
  REQUIRE(target.session->extend_graph_def(endless).ok());
  auto running = target.session->run_async({}, {"exit"});
  target.node->shut_down("the test is done");
  CHECK(target.node->wait_for(std::chrono::seconds(60)));
  CHECK_FALSE(running.get().ok());
}

} // namespace troupe::bad_input_test
