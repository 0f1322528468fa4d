#include "graph/convert/graph_def.hpp"

#include <chrono>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/convert/internal/proto.hpp"
#include "graph/ir/functions.hpp"
#include "graph/ir/test_ops.hpp"
#include "graph/ir/text.hpp"
#include "graph/ir/verify.hpp"
#include "proto/graph.pb.h"

using namespace troupe;

namespace {

const OpRegistry& ops() {
  static const OpRegistry registry = test_ops();
  return registry;
}

Graph must_read(std::string_view bytes, const ImportOptions& options = {}) {
  auto graph = read_graph_bytes(bytes, ops(), options);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  Status status = verify(*graph);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return *std::move(graph);
}

Status failure(std::string_view text, const ImportOptions& options = {}) {
  auto graph = read_graph_bytes(text, ops(), options);
  REQUIRE_FALSE(graph.ok());
  return graph.status();
}

std::string message(std::string_view text) {
  Status status = failure(text);
  CHECK(status.code() == Code::invalid_argument);
  return status.message();
}

void has(const std::string& text, std::string_view part) {
  CHECK_MESSAGE(text.find(part) != std::string::npos, text);
}

std::string golden(std::string_view name) {
  std::ifstream file(str_cat(TROUPE_GOLDEN_DIR, "/graphs/", name));
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE_FALSE(text.str().empty());
  return text.str();
}

// "node { name: … op: … input: … }" with T = float.
std::string node(std::string_view name, std::string_view op,
                 std::initializer_list<std::string_view> inputs, std::string_view more = {}) {
  std::string out = str_cat("node { name: '", name, "' op: '", op, "' ");
  for (std::string_view input : inputs)
    str_append(out, "input: '", input, "' ");
  if (op != "NoOp" && more.find("'T'") == more.npos)
    out += "attr { key: 'T' value { type: DT_FLOAT } } ";
  return str_cat(out, more, " }\n");
}

} // namespace

TEST_CASE("graph bytes: a graph goes there and back, text and binary alike") {
  auto graph = parse_graph(R"(
    a = Const[dtype=DT_FLOAT, value=f32[2] 1 2]() @"/job:ps/task:0"
    s = Const[dtype=DT_STRING, value=str[] "x"]()
    b = Placeholder[dtype=DT_FLOAT, shape=[?,2]]()
    c = AddV2(a, b) ^s on "/job:ps/replica:0/task:0/device:CPU:0"
    e = IdentityN[_class=["loc:@a"], _list=[], _t={tensor i32[2] 7 8}, _f={func f[T=DT_INT32]}](c, s)
    v = Conv[padding="SAME", strides=[1, 1, 1, 1]](c)
  )",
                           ops());
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  graph->versions = {1882, 12, {7}};
  std::string bytes = export_graph(*graph);
  Graph back = must_read(bytes);
  graph->find("c")->assigned_device.clear(); // not part of a GraphDef
  CHECK(to_text(back) == to_text(*graph));
  CHECK(back.versions.producer == 1882);
  CHECK(back.versions.min_consumer == 12);
  CHECK(back.versions.bad_consumers == std::vector{7});
  CHECK(export_graph(back) == bytes);
  CHECK(to_text(must_read(export_graph_text(*graph))) == to_text(*graph));
}

TEST_CASE("graph bytes: assigned devices and defaults are exported as asked") {
  auto graph = parse_graph(R"(a = Source[T=DT_FLOAT]() @"/job:ps" on "/job:ps/task:0"
                              b = NoOp() @"/job:w")",
                           ops());
  REQUIRE(graph.ok());
  Graph plain = must_read(export_graph(*graph));
  CHECK(plain.find("a")->device == "/job:ps");
  Graph assigned = must_read(export_graph(*graph, {.assigned_devices = true}));
  CHECK(assigned.find("a")->device == "/job:ps/task:0");
  CHECK(assigned.find("b")->device == "/job:w");
  has(export_graph_text(*graph), "DT_FLOAT");
  CHECK(export_graph_text(*graph, {.strip_defaults = true}).find("DT_FLOAT") == std::string::npos);
}

TEST_CASE("graph bytes: an empty graph is a graph") {
  CHECK(must_read("").num_nodes() == 0);
  CHECK(must_read("# nothing but a remark\n").num_nodes() == 0);
}

TEST_CASE("graph bytes: the golden loop is read, defaults and annotations included") {
  Graph g = must_read(golden("count_to_limit.pbtxt"));
  CHECK(g.num_nodes() == 13);
  CHECK(g.versions.producer == 2129);
  CHECK(g.find("zero")->device == "/job:worker/task:0/device:CPU:0");
  CHECK(g.find("one")->control_inputs == std::vector{g.find("loop/Identity")->id});
  CHECK(*g.find("loop/Switch")->attrs.get<std::vector<std::string>>("_class") ==
        std::vector<std::string>{"loc:@loop/Merge"});
  CHECK(g.find("loop/Merge")->inputs[1].node == g.find("loop/NextIteration")->id);
  CHECK(to_text(must_read(export_graph(g))) == to_text(g));
}

TEST_CASE("graph bytes: the golden function library is kept as it is") {
  Graph g = must_read(golden("call_function.pbtxt"));
  REQUIRE(g.functions);
  const FunctionDefinition* f = g.functions->find("scale_and_add");
  REQUIRE(f);
  CHECK(f->signature.is_stateful);
  CHECK(f->signature.inputs[0].type_attr == "T");
  CHECK(g.functions->gradients().at("scale_and_add") == "scale_and_add_grad");
  CHECK(*g.find("call")->attrs.get<std::string>("executor_type") == "");
  auto call = *g.find("call")->attrs.get<FunctionRef>("f");
  CHECK(call.name == "scale_and_add");
  CHECK(*call.attrs->get<DType>("T") == DType::float32);
  Graph back = must_read(export_graph(g));
  CHECK(back.functions->find("scale_and_add")->bytes == f->bytes);
}

TEST_CASE("graph bytes: a node may call a function of the library by its name") {
  Graph g =
      must_read(golden("call_function.pbtxt") + node("direct", "scale_and_add", {"x"},
                                                     "attr { key: 'T' value { type: DT_FLOAT } }"));
  CHECK(g.find("direct")->output_types == std::vector{DType::float32});
  CHECK(must_read(export_graph(g)).num_nodes() == 3);
}

TEST_CASE("graph bytes: wrong graphs are refused in TensorFlow's words") {
  std::string a = node("a", "Source", {});
  CHECK(message(a + node("b", "Neg", {"zz"})) == "Node 'b': Unknown input node 'zz'");
  CHECK(message(a + node("b", "NoOp", {"^zz"})) == "Node 'b': Unknown input node '^zz'");
  CHECK(message(a + a) == "Node 'a' is not unique");
  CHECK(message(a + node("b", "Neg", {"a:1"})) ==
        "Node 'b': Connecting to invalid output 1 of source node a which has 1 outputs.");
  CHECK(message(a + node("b", "AddV2", {"a", "^a", "a"})) ==
        "All control inputs must follow all data inputs\n\t [[{{node b}}]]");
  has(message(a + node("b", "AddV2", {"a"})),
      "NodeDef expected inputs 'float, float' do not match 1 inputs specified; Op<name=AddV2");
  has(message(a + node("b", "Neg", {"a", "a"})), "do not match 2 inputs specified");
  CHECK(message(a + node("b", "Neg", {"a"}, "attr { key: 'T' value { type: DT_INT32 } }")) ==
        "Input 0 of node b was passed float from a:0 incompatible with expected int32.");
  has(message(a + node("b", "Neg", {"a:x"})), "Node 'b': Illegal op input name \"a:x\"");
  CHECK(message(node("a b", "NoOp", {})) == "Illegal op name 'a b'\n\t [[{{node a b}}]]");
  has(message(node("", "NoOp", {})), "Illegal op name ''");
  has(message(node("_a", "NoOp", {})), "Illegal op name '_a'");
  CHECK(must_read(node("9.a/b-c_d", "NoOp", {})).num_nodes() == 1);
  has(message(node("a", "_Send", {})), "op '_Send' is internal");
  has(message(a + node("b", "Neg", {"b"})), "depends on itself");
  has(message(a + node("b", "AddV2", {"a", "c"}) + node("c", "Neg", {"b"})), "depends on itself");
  has(message(node("a", "NoOp", {"^a"})), "cycle");
  has(message(node("a", "NoOp", {"^b"}) + node("b", "NoOp", {"^a"})), "depends on itself");
  has(message("node { name: 'a' op: 'Neg' input: 'a' }"),
      "NodeDef missing attr 'T' from Op<name=Neg");
  has(message(node("a", "NoOp", {}, "attr { key: 'T' value { i: 1 } }")),
      "NodeDef mentions attr 'T' not in Op<name=NoOp");
  has(message(node("a", "Source", {}, "attr { key: 'T' value { placeholder: 'T' } }")), "'T'");
  has(message(node("a", "Unpack", {"b"}, "attr { key: 'num' value { i: 100000000000 } }")),
      "100000000000 tensors");
  Status unknown = failure(node("a", "Nag", {}));
  CHECK(unknown.code() == Code::not_found);
  has(unknown.message(), "Op type not registered 'Nag'");
  has(unknown.message(), "{{node a}}");
  CHECK(unknown.message().find("lacks") == std::string::npos);
}

TEST_CASE("graph bytes: all ops that are missing are told at once") {
  Status missing = failure(node("a", "Nag", {}) + node("b", "NoOp", {}) + node("c", "Nog", {}) +
                           node("d", "Nag", {}));
  CHECK(missing.code() == Code::not_found);
  has(missing.message(), "Op type not registered 'Nag'");
  has(missing.message(),
      "the graph has 2 ops that this build lacks: Nag (2 nodes, such as 'a'), Nog ('c')");
}

TEST_CASE("graph bytes: references are checked along edges") {
  std::string variable =
      "node { name: 'v' op: 'Variable' attr { key: 'dtype' value { type: DT_FLOAT } } }\n";
  Graph g = must_read(variable + node("n", "Neg", {"v"}) + node("s", "Assign", {"v", "n"}));
  CHECK(g.find("s")->output_types == std::vector{make_ref(DType::float32)});
  CHECK(message(variable + node("n", "Neg", {"v"}) + node("s", "Assign", {"n", "n"})) ==
        "Input 0 of node s was passed float from n:0 incompatible with expected float_ref.");
}

TEST_CASE("graph bytes: versions are checked") {
  has(message("versions { producer: 1 min_consumer: 100000 }"),
      "GraphDef min consumer version 100000 above current version 2474");
  has(message("versions { bad_consumers: 2474 }"), "GraphDef disallows consumer version 2474");
  has(message("versions { producer: -1 }"), "producer version -1");
  CHECK(must_read("version: 21").versions.producer == 21);
}

TEST_CASE("graph bytes: internal ops and unknown attrs pass where that is allowed") {
  std::string send = node("a", "Source", {}) +
                     node("_send", "_Send", {"a"}, "attr { key: 'tensor_name' value { s: 'x' } }");
  CHECK(must_read(send, {.allow_internal_ops = true}).num_nodes() == 2);
  std::string newer = node("a", "NoOp", {}, "attr { key: 'debug_name' value { s: '' } }");
  has(message(newer), "NodeDef mentions attr 'debug_name'");
  CHECK(must_read(newer, {.ignore_unknown_attrs = true}).find("a")->attrs.empty());
}

TEST_CASE("graph bytes: shapes are checked where that is asked for") {
  auto shape = [](int n) {
    return str_cat("node { name: 'p", n,
                   "' op: 'Placeholder' attr { key: 'dtype' value { type: "
                   "DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: ",
                   n, " } } } } }\n");
  };
  std::string text = shape(2) + shape(3) + node("sum", "AddV2", {"p2", "p3"});
  CHECK(must_read(text).num_nodes() == 3);
  has(failure(text, {.check_shapes = true}).message(), "{{node sum}}");
}

TEST_CASE("graph bytes: few bytes cannot ask for much memory") {
  std::string big = node("a", "Source", {});
  for (int i = 0; i < 20; ++i)
    big += node(str_cat("u", i), "Unpack", {"a"}, "attr { key: 'num' value { i: 900000 } }");
  Status outputs = failure(big);
  CHECK(outputs.code() == Code::resource_exhausted);
  has(outputs.message(), "more than 10000000 outputs");

  std::string zeros;
  for (int i = 0; i < 3; ++i)
    str_append(zeros, "node { name: 'c", i,
               "' op: 'Const' attr { key: 'dtype' value { type: DT_INT8 } "
               "} attr { key: 'value' value { tensor { dtype: DT_INT8 tensor_shape { dim { size: "
               "600000 } } } } } }\n");
  CHECK(failure(zeros, {.limits = {.filled_bytes = 1 << 20}}).code() == Code::resource_exhausted);
  CHECK(must_read(zeros).num_nodes() == 3);
}

TEST_CASE("graph bytes: more nodes than the most are refused before one is read") {
  std::string bytes;
  for (int i = 0; i < 11; ++i)
    bytes += std::string("\x0a\x00", 2);
  Status status = failure(bytes, {.max_nodes = 10});
  CHECK(status.code() == Code::resource_exhausted);
  has(status.message(), "more than 10 nodes");
  CHECK(failure(bytes, {.max_nodes = 11}).code() == Code::invalid_argument); // they have no names
}

TEST_CASE("graph bytes: of nodes in a row each has the attrs that it says") {
  std::string text = node("s", "Source", {}) + node("t", "Source", {});
  text += "node { name: 'd' op: 'Source' attr { key: 'T' value { type: DT_DOUBLE } } }\n";
  text += "node { name: 'u' op: 'Unpack' input: 's' attr { key: 'T' value { type: DT_FLOAT } } "
          "attr { key: 'num' value { i: 1 } } }\n"
          "node { name: 'v' op: 'Unpack' input: 's' attr { key: 'T' value { type: DT_FLOAT } } "
          "attr { key: 'num' value { i: 2 } } }\n"
          "node { name: 'w' op: 'Unpack' input: 's' attr { key: 'T' value { type: DT_FLOAT } } "
          "attr { key: 'num' value { i: 2 } } attr { key: 'axis' value { i: 1 } } }\n"
          "node { name: 'x' op: 'Unpack' input: 's' attr { key: 'T' value { type: DT_FLOAT } } "
          "attr { key: 'num' value { i: 2 } } attr { key: '_a' value { i: 1 } } }\n";
  Graph graph = must_read(text);
  CHECK(graph.find("t")->attrs == graph.find("s")->attrs);
  CHECK(graph.find("t")->output_types == std::vector{DType::float32});
  CHECK(graph.find("d")->output_types == std::vector{DType::float64});
  CHECK(graph.find("u")->num_outputs() == 1);
  CHECK(graph.find("v")->num_outputs() == 2);
  CHECK(graph.find("v")->attrs.get_or<std::int64_t>("axis", -1) == 0);
  CHECK(graph.find("w")->attrs.get_or<std::int64_t>("axis", -1) == 1);
  CHECK(graph.find("x")->attrs.contains("_a"));
  CHECK_FALSE(graph.find("x")->attrs.get_or<std::int64_t>("axis", -1) == 1);
  has(message(node("a", "Source", {}) + node("a", "Source", {})), "'a' is not unique");
}

TEST_CASE("graph bytes: calls of one large signature cannot ask for much memory") {
  std::string text = str_cat("library { function { signature { name: 'f' attr { name: 'a' type: "
                             "'string' default_value { s: '",
                             std::string(100'000, 'x'), "' } } } } }\n");
  for (int i = 0; i < 1000; ++i)
    str_append(text, "node { name: 'n", i, "' op: 'f' }\n");
  CHECK(must_read(text).num_nodes() == 1000);
  CHECK(failure(text, {.limits = {.filled_bytes = 1 << 20}}).code() == Code::resource_exhausted);

  std::string many = "library { function { signature { name: 'f' ";
  for (int i = 0; i < 10'000; ++i)
    many += "input_arg { name: 'x' type: DT_FLOAT } ";
  has(message(many + "} } }\n node { name: 'n' op: 'f' }"), "do not match 0 inputs specified");

  std::string attrs = "node { name: 'n' op: 'NoOp' ";
  for (int i = 0; i < 50'000; ++i)
    str_append(attrs, "attr { key: '_", i, "' value { i: 1 } } ");
  CHECK(must_read(attrs + "}").find("n")->attrs.size() == 50'000);
}

TEST_CASE("graph bytes: damaged bytes and text say what they are not, and where") {
  std::string text = "node {\n  name: 'a'\n  opp: 'NoOp'\n}";
  has(message(text), "this is not the text of a tensorflow.GraphDef: line 3, column");
  has(message("node { name: 'a' "), "line 1, column");
  has(message("\x0a\x7f garbage"), "are not a binary tensorflow.GraphDef");
  has(message("hello"), "are not a binary tensorflow.GraphDef");
  auto graph = parse_graph("a = Source()\nb = Neg(a)", ops());
  std::string bytes = export_graph(*graph);
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    auto cut = read_graph_bytes(std::string_view(bytes).substr(0, length), ops());
    if (cut.ok()) // cut between two nodes
      CHECK(verify(*cut).ok());
    else
      CHECK(cut.status().code() == Code::invalid_argument);
  }
}

TEST_CASE("graph bytes: changed bytes never do worse than fail") {
  auto graph = parse_graph(R"(
    a = Const[dtype=DT_FLOAT, value=f32[3] 1 2 3]()
    e = IdentityN[_f={func f[T=DT_INT32]}](a, a)
    b = AddV2(e, e:1) ^a
  )",
                           ops());
  REQUIRE(graph.ok());
  std::string bytes = export_graph(*graph);
  ImportOptions options;
  options.limits.filled_bytes = 1 << 20;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int value : {0, 1, 0x0a, 0x7f, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(value);
      auto read = read_graph_bytes(changed, ops(), options);
      if (read.ok())
        CHECK(verify(*read).ok());
    }
}

TEST_CASE("graph bytes: deep nesting is refused in text and in binary") {
  auto nested = [](int depth) {
    tensorflow::GraphDef def;
    auto* node = def.add_node();
    node->set_name("a");
    node->set_op("NoOp");
    auto* value = &(*node->mutable_attr())["_x"];
    for (int i = 0; i < depth; ++i)
      value = &(*value->mutable_func()->mutable_attr())["f"];
    value->set_i(1);
    return def.SerializeAsString();
  };
  CHECK(must_read(nested(10)).num_nodes() == 1);
  has(message(nested(200)), "nested more than 100 deep");
  std::string text = "node { name: 'a' op: 'NoOp' attr { key: '_x' value {";
  for (int i = 0; i < 10'000; ++i)
    text += "func { attr { key: 'f' value {";
  has(message(text), "line 1, column");
}

TEST_CASE("graph bytes: a graph is extended by nodes that use its own, or is left as it was") {
  Graph g = must_read("versions { producer: 20 min_consumer: 5 }" + node("a", "Source", {}));
  std::string before = to_text(g);
  auto refused = [&](std::string_view text, std::string_view part) {
    Status status = extend_graph_bytes(g, text);
    CHECK(status.code() == Code::invalid_argument);
    has(status.message(), part);
    CHECK(to_text(g) == before);
    CHECK(g.find("a")->outs.empty());
    CHECK(g.functions == nullptr);
  };
  refused(node("b", "Neg", {"a"}) + node("a", "Source", {}),
          "GraphDef argument to Extend includes node 'a', which was created by a previous call");
  refused(node("b", "Neg", {"a"}) + node("c", "Neg", {"zz"}), "Unknown input node 'zz'");
  refused(golden("call_function.pbtxt") + node("c", "Neg", {"zz"}), "Unknown input node 'zz'");
  REQUIRE(extend_graph_bytes(g, "versions { producer: 10 min_consumer: 7 }" +
                                    node("b", "Neg", {"a", "^a"}))
              .ok());
  CHECK(verify(g).ok());
  CHECK(g.find("b")->inputs[0].node == g.find("a")->id);
  CHECK(g.versions.producer == 10);
  CHECK(g.versions.min_consumer == 7);
  REQUIRE(extend_graph_bytes(g, golden("call_function.pbtxt")).ok());
  REQUIRE(extend_graph_bytes(g, node("d", "scale_and_add", {"x"})).ok());
  REQUIRE(extend_graph_bytes(g, "library { function { signature { name: 'other' } } }").ok());
  CHECK(g.functions->functions().size() == 2);
  CHECK(verify(g).ok());
}

TEST_CASE("graph bytes: functions that contradict each other or an op are refused") {
  auto library = [](std::string_view a, std::string_view b) {
    return str_cat("library { function { signature { ", a, " } } function { signature { ", b,
                   " } } }");
  };
  CHECK(must_read(library("name: 'f'", "name: 'f'")).functions->functions().size() == 1);
  has(message(library("name: 'f'", "name: 'f' is_stateful: true")),
      "a different function with the same name");
  has(message("library { function { signature { name: 'Neg' } } }"),
      "an op with the same name already exists");
  has(message("library { function { signature { name: 'g' input_arg { name: 'x' } } } }"),
      "argument 'x' of 'g' does not say its dtype");
  has(message("library { function { signature { name: 'g' attr { name: 'T' type: 'typo' } } } }"),
      "'typo' is not the type of an attr");
  has(message("library { gradient { function_name: 'f' gradient_func: 'g' } gradient { "
              "function_name: 'f' gradient_func: 'h' } }"),
      "already has gradient function 'g'");
}

TEST_CASE("graph bytes: 100 000 nodes are imported and exported") {
  constexpr int n = 100'000;
  Graph g(ops());
  REQUIRE(g.add("n0", "Source").ok());
  for (int i = 1; i < n; ++i)
    REQUIRE(g.add(str_cat("n", i), "AddV2", {{i - 1, 0}, {0, 0}}, {}, {0}).ok());
  std::string bytes = export_graph(g);
  auto start = std::chrono::steady_clock::now();
  Graph back = must_read(bytes);
  auto end = std::chrono::steady_clock::now();
  MESSAGE(bytes.size(), " bytes imported and verified in ",
          std::chrono::duration<double>(end - start).count(), " s");
  CHECK(back.num_nodes() == n);
  CHECK(back.find("n0")->outs.size() == 2 * (n - 1) + 1);
  CHECK(export_graph(back) == bytes);
}

TEST_CASE("graph bytes: the ops of a registry are listed as an OpList") {
  tensorflow::OpList list;
  REQUIRE(parse_bytes(export_ops(ops()), list).ok());
  CHECK(static_cast<std::size_t>(list.op_size()) == ops().all().size());
  DecodeBudget budget;
  for (const tensorflow::OpDef& def : list.op()) {
    auto back = from_proto(def, budget);
    REQUIRE_MESSAGE(back.ok(), back.status().to_string());
    CHECK(summarize_op(*back) == summarize_op(*ops().find(def.name())));
  }
}
