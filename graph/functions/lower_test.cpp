#include "graph/functions/lower.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/test_ops.hpp"
#include "graph/ir/text.hpp"
#include "graph/ir/verify.hpp"

using namespace troupe;

namespace {

// Besides the ops of other tests of graphs: what calls functions, and what lowering makes.
OpRegistry calling_ops() {
  OpRegistry ops = test_ops();
  auto add = [&](SchemaBuilder& builder) {
    ops.add(with_test_roles(builder.not_differentiable("it is an op for tests").build()));
  };
  add(SchemaBuilder("_Arg").output("output: T").attr("T: type; index: int >= 0"));
  add(SchemaBuilder("_Refusal")
          .output("output: Tout")
          .attr("Tout: list(type) >= 0; code: int; message: string"));
  add(SchemaBuilder("_Results")
          .input("input: T")
          .output("output: T")
          .attr("T: list(type) >= 1; direct: list(int) = []"));
  add(SchemaBuilder("_SwitchN")
          .input("data: T; output_index: int32")
          .output("outputs: num_outs * T")
          .attr("num_outs: int >= 1; T: type"));
  add(SchemaBuilder("Unstage").output("value: float").stateful());
  add(SchemaBuilder("ToBool").input("input: T").output("output: bool").attr("T: type"));
  add(SchemaBuilder("If")
          .input("cond: Tcond; input: Tin")
          .output("output: Tout")
          .attr("Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0")
          .attr("then_branch: func; else_branch: func; output_shapes: list(shape) = []"));
  add(SchemaBuilder("Case")
          .input("branch_index: int32; input: Tin")
          .output("output: Tout")
          .attr("Tin: list(type) >= 0; Tout: list(type) >= 0; branches: list(func) >= 1"));
  add(SchemaBuilder("While")
          .input("input: T")
          .output("output: T")
          .attr("T: list(type) >= 0; cond: func; body: func; parallel_iterations: int = 10"));
  return ops;
}

const std::string library = R"(
library {
  function {
    signature {
      name: "twice"
      input_arg { name: "x" type_attr: "T" }
      output_arg { name: "y" type_attr: "T" }
      attr { name: "T" type: "type" }
    }
    node_def { name: "sum" op: "Add" input: "x" input: "x:0" attr { key: "T" value { placeholder: "T" } } }
    ret { key: "y" value: "sum:z:0" }
  }
  function {
    signature {
      name: "four_times"
      input_arg { name: "x" type: DT_FLOAT }
      output_arg { name: "y" type: DT_FLOAT }
      control_output: "effect"
    }
    node_def { name: "one" op: "twice" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "two" op: "twice" input: "one:y:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "seen" op: "Source" device: "/device:CPU:1" attr { key: "_class" value { list { s: "loc:@two" } } } }
    ret { key: "y" value: "two:y:0" }
    control_ret { key: "effect" value: "seen" }
  }
  function {
    signature {
      name: "negative"
      input_arg { name: "x" type: DT_FLOAT }
      output_arg { name: "y" type: DT_FLOAT }
    }
    node_def { name: "minus" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "y" value: "minus:y:0" }
  }
  function {
    signature {
      name: "endless"
      input_arg { name: "x" type: DT_FLOAT }
      output_arg { name: "y" type: DT_FLOAT }
    }
    node_def { name: "again" op: "endless" input: "x" }
    ret { key: "y" value: "again:y:0" }
  }
  function {
    signature {
      name: "below"
      input_arg { name: "i" type: DT_FLOAT }
      input_arg { name: "limit" type: DT_FLOAT }
      output_arg { name: "b" type: DT_BOOL }
    }
    node_def { name: "less" op: "Less" input: "i" input: "limit" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "b" value: "less:z:0" }
  }
  function {
    signature {
      name: "step"
      input_arg { name: "i" type: DT_FLOAT }
      input_arg { name: "limit" type: DT_FLOAT }
      output_arg { name: "next" type: DT_FLOAT }
      output_arg { name: "same" type: DT_FLOAT }
    }
    node_def { name: "one" op: "Source" }
    node_def { name: "add" op: "Add" input: "i" input: "one:y:0" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "next" value: "add:z:0" }
    ret { key: "same" value: "limit" }
  }
  function {
    signature {
      name: "jump"
      input_arg { name: "i" type: DT_FLOAT }
      input_arg { name: "limit" type: DT_FLOAT }
      output_arg { name: "next" type: DT_FLOAT }
      output_arg { name: "same" type: DT_FLOAT }
    }
    ret { key: "next" value: "limit" }
    ret { key: "same" value: "limit" }
  }
  function {
    signature {
      name: "loop_of_jumps"
      input_arg { name: "i" type: DT_FLOAT }
      input_arg { name: "limit" type: DT_FLOAT }
      output_arg { name: "next" type: DT_FLOAT }
      output_arg { name: "same" type: DT_FLOAT }
    }
    node_def { name: "inner" op: "While" input: "i" input: "limit"
               attr { key: "T" value { list { type: DT_FLOAT type: DT_FLOAT } } }
               attr { key: "cond" value { func { name: "below" } } }
               attr { key: "body" value { func { name: "jump" } } } }
    ret { key: "next" value: "inner:output:0" }
    ret { key: "same" value: "limit" }
  }
  function {
    signature {
      name: "jump_back"
      input_arg { name: "i" type: DT_FLOAT }
      input_arg { name: "limit" type: DT_FLOAT }
      output_arg { name: "next" type: DT_FLOAT }
      output_arg { name: "same" type: DT_FLOAT }
    }
    node_def { name: "minus" op: "Neg" input: "limit" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "seen" op: "Source" input: "^limit" }
    node_def { name: "sum" op: "Add" input: "minus:y:0" input: "seen:y:0" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "next" value: "sum:z:0" }
    ret { key: "same" value: "limit" }
  }
}
)";

const std::string x = R"(node { name: "x" op: "Source" } )";

Result<Graph> lowered(const OpRegistry& ops, std::string_view nodes, std::string_view functions,
                      const LowerOptions& options = {}) {
  TROUPE_ASSIGN(Graph graph, read_graph_bytes(str_cat(nodes, functions), ops));
  TROUPE_TRY(lower_functions(graph, options));
  return graph;
}

std::string text_of(const OpRegistry& ops, std::string_view nodes, bool calls_itself = false) {
  auto graph = lowered(ops, nodes, library);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  Status sound = verify(*graph);
  CHECK_MESSAGE(sound.ok(), sound.to_string());
  CHECK(has_function_calls(*graph) == calls_itself);
  return to_text(*graph);
}

Status failure(const OpRegistry& ops, std::string_view nodes, std::string_view functions = library,
               const LowerOptions& options = {}) {
  auto graph = lowered(ops, nodes, functions, options);
  if (!graph.ok())
    return graph.status();
  const Node* refusal = graph->find("c");
  REQUIRE(refusal);
  REQUIRE(refusal->op_name() == "_Refusal");
  Status sound = verify(*graph);
  CHECK_MESSAGE(sound.ok(), sound.to_string());
  return Status(static_cast<Code>(refusal->attrs.get_or("code", std::int64_t{0})),
                refusal->attrs.get_or<std::string>("message", ""));
}

void check_has(const std::string& text, std::string_view part) {
  CHECK_MESSAGE(text.find(part) != std::string::npos, text, " lacks ", std::string(part));
}

} // namespace

TEST_CASE("lower: a call by name becomes the body, and keeps its name") {
  OpRegistry ops = calling_ops();
  CHECK(
      text_of(
          ops,
          x + R"(node { name: "f" op: "twice" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
                            node { name: "y" op: "Neg" input: "f" attr { key: "T" value { type: DT_FLOAT } } })") ==
      "x = Source()\n"
      "f = _Results[direct=[0]](f/sum)\n"
      "y = Neg(f)\n"
      "f/sum = Add(x, x)\n");
}

TEST_CASE("lower: of functions that compute the same, a call gets the one for its device type") {
  OpRegistry ops = calling_ops();
  auto function = [](const std::string& name, const char* type, const std::string& attrs) {
    return str_cat("function { signature { name: '", name, "' input_arg { name: 'x' type: ", type,
                   " } output_arg { name: 'y' type: ", type, " } } node_def { name: 'of_", name,
                   "' op: 'Neg' input: 'x' attr { key: 'T' value { type: ", type,
                   " } } } ret { key: 'y' value: 'of_", name, ":y:0' } ", attrs, " }");
  };
  auto attr = [](const char* name, const char* value) {
    return str_cat("attr { key: '", name, "' value { s: '", value, "' } }");
  };
  auto written_for = [&](const char* kind, const char* device) {
    return str_cat(attr("api_implements", kind), attr("api_preferred_device", device));
  };
  const std::string plain = function("plain", "DT_FLOAT", attr("api_implements", "k"));
  const std::string other = function("other", "DT_FLOAT", written_for("k", "CPU"));
  // Which body stands where node f calls `plain`.
  auto called = [&](const std::string& functions, const char* device = "") {
    auto graph =
        lowered(ops, str_cat(x, "node { name: 'f' op: 'plain' input: 'x' device: '", device, "' }"),
                str_cat("library { ", functions, " }"));
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    return std::string(graph->find("f/of_plain")   ? "plain"
                       : graph->find("f/of_other") ? "other"
                                                   : "none");
  };
  CHECK(called(plain + other) == "other");
  CHECK(called(plain + other, "/device:CPU:0") == "other");
  CHECK(called(plain + other, "/device:GPU:0") == "plain");
  CHECK(called(plain + function("other", "DT_FLOAT", written_for("l", "CPU"))) == "plain");
  CHECK(called(plain + function("other", "DT_DOUBLE", written_for("k", "CPU"))) == "plain");
  const std::string half = written_for("k", "CPU") + attr("backward_function_name", "b");
  CHECK(called(plain + function("other", "DT_FLOAT", half)) == "plain");
  CHECK(called(function("plain", "DT_FLOAT", written_for("k", "CPU")) + other) == "plain");
}

TEST_CASE("lower: effects that no result needs run where TensorFlow runs a whole body") {
  OpRegistry ops = calling_ops();
  // `last` runs after `first`; `dead` is within a conditional, of which nothing but `end` is left.
  const std::string functions = R"(library { function {
    signature {
      name: "takes"
      input_arg { name: "x" type: DT_FLOAT }
      input_arg { name: "p" type: DT_BOOL }
      output_arg { name: "y" type: DT_FLOAT }
    }
    node_def { name: "first" op: "Unstage" input: "^x" }
    node_def { name: "last" op: "Unstage" input: "^first" }
    node_def { name: "none" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "fork" op: "Switch" input: "x" input: "p" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "left" op: "Identity" input: "fork:output_false:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "dead" op: "Unstage" input: "^left" }
    node_def { name: "end" op: "Merge" input: "left:output:0" input: "fork:output_true:0"
               attr { key: "T" value { type: DT_FLOAT } } attr { key: "N" value { i: 2 } } }
    ret { key: "y" value: "x" }
  } })";
  const std::string nodes =
      x + R"(node { name: "p" op: "Source" attr { key: "T" value { type: DT_BOOL } } } )";
  // What the call waits for besides its results.
  auto effects = [&](std::string_view call) {
    auto graph = lowered(ops, str_cat(nodes, call), functions);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    std::vector<std::string> out;
    for (NodeId id : graph->find("f")->control_inputs)
      out.push_back(graph->node(id)->name);
    std::ranges::sort(out);
    return str_join(out, " ");
  };
  CHECK(effects(R"(node { name: "f" op: "takes" input: "x" input: "p" })") == "f/end f/last");
  CHECK(effects(R"(node { name: "f" op: "takes" input: "x" input: "p"
                          attr { key: "_lower_as_multi_device_function" value { b: true } } })") ==
        "");
  CHECK(effects(R"(node { name: "f" op: "StatefulPartitionedCall" input: "x" input: "p"
                          attr { key: "Tin" value { list { type: DT_FLOAT type: DT_BOOL } } }
                          attr { key: "Tout" value { list { type: DT_FLOAT } } }
                          attr { key: "f" value { func { name: "takes" } } } })") == "");
  const std::string conditional = R"(node { name: "f" op: "If" input: "p" input: "x" input: "p"
                          attr { key: "Tcond" value { type: DT_BOOL } }
                          attr { key: "Tin" value { list { type: DT_FLOAT type: DT_BOOL } } }
                          attr { key: "Tout" value { list { type: DT_FLOAT } } }
                          attr { key: "then_branch" value { func { name: "takes" } } }
                          attr { key: "else_branch" value { func { name: "takes" } } } )";
  CHECK(effects(conditional + "}").starts_with("f/branch_executed"));
  CHECK(effects(conditional + R"(attr { key: "_lower_using_switch_merge" value { b: true } } })") ==
        "");
}

TEST_CASE("lower: the call of a function that is not to be inlined is seen by its name") {
  OpRegistry ops = calling_ops();
  auto lowered_call = [&](std::string_view attr) {
    auto graph = lowered(ops, x + "node { name: 'f' op: 'same' input: 'x' }",
                         str_cat("library { function { signature { name: 'same' input_arg { name: "
                                 "'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } } ",
                                 "node_def { name: 'n' op: 'Neg' input: 'x' attr { key: 'T' value "
                                 "{ type: DT_FLOAT } } } ret { key: 'y' value: 'n:y:0' } ",
                                 attr, " } }"));
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    return to_text(*graph);
  };
  CHECK(lowered_call("").find("_shown_as") == std::string::npos);
  CHECK(lowered_call("attr { key: '_noinline' value { b: true } }") ==
        "x = Source()\nf = _Results[_shown_as=\"same\"](f/n)\nf/n = Neg(x)\n");
}

TEST_CASE("lower: nested calls, control outputs, devices and colocation") {
  OpRegistry ops = calling_ops();
  CHECK(text_of(ops, x + R"(node { name: "w" op: "Source" }
                            node { name: "f" op: "StatefulPartitionedCall" device: "/job:ps/task:1"
                                   input: "x" input: "^w"
                                   attr { key: "Tin" value { list { type: DT_FLOAT } } }
                                   attr { key: "Tout" value { list { type: DT_FLOAT } } }
                                   attr { key: "f" value { func { name: "four_times" } } } })") ==
        "x = Source()\n"
        "w = Source()\n"
        "f = _Results(f/two) @\"/job:ps/task:1\" ^w ^f/seen\n"
        "f/input_control_node/_0 = NoOp() @\"/job:ps/task:1\" ^w\n"
        "f/one = _Results[direct=[0]](f/one/sum) @\"/job:ps/task:1\" ^f/input_control_node/_0\n"
        "f/two = _Results[direct=[0]](f/two/sum) @\"/job:ps/task:1\"\n"
        "f/seen = Source[_class=[\"loc:@f/two\"]]() @\"/job:ps/task:1/device:CPU:1\" "
        "^f/input_control_node/_0\n"
        "f/one/input_control_node/_1 = NoOp() @\"/job:ps/task:1\" ^f/input_control_node/_0\n"
        "f/one/sum = Add(x, x) @\"/job:ps/task:1\" ^f/one/input_control_node/_1\n"
        "f/two/sum = Add(f/one, f/one) @\"/job:ps/task:1\"\n");
}

TEST_CASE("lower: what TensorFlow lowers itself needs a bool for its truth") {
  OpRegistry ops = calling_ops();
  const auto conditional = [](std::string_view lowered) {
    return str_cat(
        x, R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
                         node { name: "c" op: "If" input: "p" input: "x"
                                attr { key: "Tcond" value { type: DT_INT32 } }
                                attr { key: "Tin" value { list { type: DT_FLOAT } } }
                                attr { key: "Tout" value { list { type: DT_FLOAT } } }
                                attr { key: "_lower_using_switch_merge" value { b: )",
        lowered, R"( } }
                                attr { key: "then_branch" value { func { name: "four_times" } } }
                                attr { key: "else_branch" value { func { name: "negative" } } } })");
  };
  check_has(text_of(ops, conditional("false")), "ToBool(p)");
  check_has(std::string(failure(ops, conditional("true")).message()),
            "Input 'pred' passed int32 expected bool while building NodeDef 'c/Switch'");
}

TEST_CASE("lower: a conditional becomes Switch and Merge") {
  OpRegistry ops = calling_ops();
  CHECK(
      text_of(
          ops,
          x + R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } }
                            node { name: "c" op: "If" input: "p" input: "x"
                                   attr { key: "Tcond" value { type: DT_BOOL } }
                                   attr { key: "Tin" value { list { type: DT_FLOAT } } }
                                   attr { key: "Tout" value { list { type: DT_FLOAT } } }
                                   attr { key: "then_branch" value { func { name: "four_times" } } }
                                   attr { key: "else_branch" value { func { name: "negative" } } } })") ==
      "x = Source()\n"
      "p = Placeholder[dtype=DT_BOOL]()\n"
      "c = _Results(c/merge/_5) ^c/branch_executed/_6\n"
      "c/switch_pred/_0 = Switch(p, p)\n"
      "c/pivot_f/_1 = Identity(c/switch_pred/_0)\n"
      "c/pivot_t/_2 = Identity(c/switch_pred/_0:1)\n"
      "c/switch/_3 = Switch(x, p)\n"
      "c/then/_0/one = _Results[direct=[0]](c/then/_0/one/sum)\n"
      "c/then/_0/two = _Results[direct=[0]](c/then/_0/two/sum)\n"
      "c/then/_0/seen = Source[_class=[\"loc:@c/then/_0/two\"]]() @\"/device:CPU:1\" "
      "^c/pivot_t/_2\n"
      "c/then/_0/one/sum = Add(c/switch/_3:1, c/switch/_3:1)\n"
      "c/then/_0/two/sum = Add(c/then/_0/one, c/then/_0/one)\n"
      "c/done/_4 = Identity(c/pivot_t/_2) ^c/then/_0/seen\n"
      "c/else/_1/minus = Neg(c/switch/_3)\n"
      "c/merge/_5 = Merge[N=2, T=DT_FLOAT](c/then/_0/two, c/else/_1/minus)\n"
      "c/branch_executed/_6 = Merge[N=2, T=DT_BOOL](c/done/_4, c/pivot_f/_1)\n");
}

TEST_CASE(
    "lower: what is stateful waits for all inputs of its call, also for those that nothing reads") {
  OpRegistry ops = calling_ops();
  const std::string counts = R"(library { function {
    signature {
      name: "counts"
      input_arg { name: "after" type: DT_FLOAT }
      input_arg { name: "also" type: DT_FLOAT }
      input_arg { name: "there" type: DT_FLOAT }
      output_arg { name: "y" type: DT_FLOAT }
    }
    node_def { name: "v" op: "Variable" attr { key: "dtype" value { type: DT_FLOAT } } }
    node_def { name: "plain" op: "Source" }
    ret { key: "y" value: "plain:y:0" }
  } })";
  const std::string nodes =
      x + R"(node { name: "n" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
             node { name: "m" op: "Neg" input: "n" attr { key: "T" value { type: DT_FLOAT } } })";
  auto two = lowered(
      ops, nodes + R"(node { name: "f" op: "counts" input: "n" input: "m" input: "x" })", counts);
  REQUIRE_MESSAGE(two.ok(), two.status().to_string());
  const std::string text = to_text(*two);
  check_has(text, "f/input = Identity(n)\n");
  check_has(text, "f/input_1 = Identity(m)\n"); // none for x, which has no inputs
  check_has(text, "f/inputs = NoOp() ^f/input ^f/input_1\n");
  check_has(text, "f/v = Variable[dtype=DT_FLOAT]() ^f/inputs\n");
  check_has(text, "f/plain = Source()\n");
  auto one = lowered(
      ops, nodes + R"(node { name: "f" op: "counts" input: "x" input: "m" input: "m" })", counts);
  REQUIRE_MESSAGE(one.ok(), one.status().to_string());
  check_has(to_text(*one), "f/v = Variable[dtype=DT_FLOAT]() ^f/input\n");
  auto late = lowered(ops, nodes + R"(node { name: "u" op: "Unstage" }
             node { name: "f" op: "counts" input: "x" input: "u" input: "x" })",
                      counts);
  REQUIRE_MESSAGE(late.ok(), late.status().to_string());
  check_has(to_text(*late),
            "f/input = Identity(u)\n"); // comes when it comes, though it reads nothing
}

TEST_CASE("lower: a case picks one of its branches") {
  OpRegistry ops = calling_ops();
  CHECK(
      text_of(
          ops,
          x + R"(node { name: "i" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
                            node { name: "c" op: "Case" input: "i" input: "x"
                                   attr { key: "Tin" value { list { type: DT_FLOAT } } }
                                   attr { key: "Tout" value { list { type: DT_FLOAT } } }
                                   attr { key: "branches" value { list { func { name: "negative" }
                                          func { name: "twice" attr { key: "T" value { type: DT_FLOAT } } } } } } })") ==
      "x = Source()\n"
      "i = Placeholder[dtype=DT_INT32]()\n"
      "c = _Results[direct=[0]](c/merge/_4)\n"
      "c/switch_case_index/_0 = _SwitchN[num_outs=2](i, i)\n"
      "c/switch/_1 = _SwitchN[num_outs=2](x, i)\n"
      "c/pivot/_2 = Identity(c/switch_case_index/_0)\n"
      "c/pivot/_3 = Identity(c/switch_case_index/_0:1)\n"
      "c/branch0/_0/minus = Neg(c/switch/_1)\n"
      "c/branch1/_1/sum = Add(c/switch/_1:1, c/switch/_1:1)\n"
      "c/merge/_4 = Merge[N=2, T=DT_FLOAT](c/branch0/_0/minus, c/branch1/_1/sum)\n");
}

TEST_CASE("lower: a loop goes round, and brings what does not change in once") {
  OpRegistry ops = calling_ops();
  CHECK(text_of(ops, x + R"(node { name: "n" op: "Source" }
                            node { name: "w" op: "While" input: "x" input: "n"
                                   attr { key: "T" value { list { type: DT_FLOAT type: DT_FLOAT } } }
                                   attr { key: "cond" value { func { name: "below" } } }
                                   attr { key: "body" value { func { name: "step" } } } })") ==
        "x = Source()\n"
        "n = Source()\n"
        "w = _Results[direct=[0]](w/exit/_7, n) ^w/exit/_7\n"
        "w/enter/_0 = Enter[frame_name=\"w\"](x)\n"
        "w/merge/_1 = Merge[N=2, T=DT_FLOAT](w/enter/_0, w/next/_6)\n"
        "w/enter/_2 = Enter[frame_name=\"w\", is_constant=true](n)\n"
        "w/cond/_0/less = Less(w/merge/_1, w/enter/_2)\n"
        "w/loop_cond/_3 = LoopCond(w/cond/_0/less)\n"
        "w/switch/_4 = Switch(w/merge/_1, w/loop_cond/_3)\n"
        "w/body_pivot/_5 = Identity(w/switch/_4:1)\n"
        "w/body/_1/one = Source() ^w/body_pivot/_5\n"
        "w/body/_1/add = Add(w/switch/_4:1, w/body/_1/one)\n"
        "w/next/_6 = NextIteration(w/body/_1/add)\n"
        "w/exit/_7 = Exit(w/switch/_4)\n");
}

TEST_CASE("lower: what a loop brings in once begins no round, and is read in none that has ended") {
  OpRegistry ops = calling_ops();
  auto loop = [&](std::string_view body) {
    std::string text = str_cat(x, R"(node { name: "n" op: "Source" }
        node { name: "w" op: "While" input: "x" input: "n"
               attr { key: "T" value { list { type: DT_FLOAT type: DT_FLOAT } } }
               attr { key: "cond" value { func { name: "below" } } }
               attr { key: "body" value { func { name: ")");
    return text_of(ops, str_cat(text, body, "\" } } } }"));
  };
  std::string handed_on = loop("jump");
  check_has(handed_on, "w/held/_6 = Identity(w/enter/_2) ^w/body_pivot/_5\n");
  check_has(handed_on, "NextIteration(w/held/_6)");
  std::string inside =
      loop("loop_of_jumps"); // what the loops around bring in is not the inner one's
  check_has(inside, "w/body/_1/inner/held/_12 = Identity(w/body/_1/inner/enter/_8) "
                    "^w/body/_1/inner/body_pivot/_11\n");
  std::string read = loop("jump_back");
  check_has(read, "w/body/_1/minus = Neg(w/enter/_2) ^w/body_pivot/_5\n");
  check_has(read, "w/body/_1/limit = Identity(w/enter/_2) ^w/body_pivot/_5\n");
  check_has(read, "w/body/_1/seen = Source() ^w/body/_1/limit\n");
}

TEST_CASE("lower: a call inside a conditional of version 1 runs where its inputs are alive") {
  OpRegistry ops = calling_ops();
  std::string text = text_of(
      ops, x + R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } }
                          node { name: "s" op: "Switch" input: "x" input: "p" attr { key: "T" value { type: DT_FLOAT } } }
                          node { name: "f" op: "four_times" input: "s:1" })");
  check_has(text, "f/input_control_node/_0 = Identity(s:1)");
  check_has(text, "f/seen = Source[_class=[\"loc:@f/two\"]]() ^f/input_control_node/_0");
}

TEST_CASE("lower: names, and nodes that were there, stay when the graph is extended") {
  OpRegistry ops = calling_ops();
  const std::string first =
      x +
      R"(node { name: "f" op: "four_times" input: "x" } node { name: "g" op: "negative" input: "f" })";
  std::string before = text_of(ops, first);
  std::string after = text_of(ops, first + R"(node { name: "h" op: "negative" input: "g" })");
  CHECK(before.find("h/minus") == std::string::npos);
  check_has(after, "h/minus = Neg(g)");
  for (std::string_view line : str_split(before, '\n'))
    check_has(after, line);
}

TEST_CASE("lower: a call of a function within itself stays a call") {
  OpRegistry ops = calling_ops();
  CHECK(text_of(ops, x + R"(node { name: "c" op: "endless" input: "x" })", true) ==
        "x = Source()\n"
        "c = _Results[direct=[0]](c/again)\n"
        "c/again = _Results(c/again/call/_0) ^c/again/call/_0\n"
        "c/again/call/_0 = StatefulPartitionedCall[Tout=[DT_FLOAT], f=endless](x)\n");
}

TEST_CASE("lower: calls that do not fit") {
  OpRegistry ops = calling_ops();
  auto call = [](std::string_view f, std::string_view in, std::string_view out) {
    return str_cat(
        x,
        "node { name: 'c' op: 'StatefulPartitionedCall' input: 'x' attr { key: 'Tin' value { "
        "list { type: ",
        in, " } } } attr { key: 'Tout' value { list { ", out,
        " } } } attr { key: 'f' value { func { name: '", f, "' } } } }");
  };
  struct Row {
    std::string nodes, message;
    Code code = Code::invalid_argument;
  };
  for (const Row& row : {
           Row{call("nobody", "DT_FLOAT", "type: DT_FLOAT"), "Function nobody is not defined.",
               Code::not_found},
           Row{call("below", "DT_FLOAT", "type: DT_BOOL"),
               "Expects 2 arguments, but 1 is provided to function below"},
           Row{call("negative", "DT_FLOAT", "type: DT_INT32"),
               "Output 0 of function negative is float, but int32 was expected"},
           Row{call("negative", "DT_FLOAT", ""),
               "Function negative has 1 outputs, but 0 were expected"},
           Row{call("twice", "DT_FLOAT", "type: DT_FLOAT"),
               "Function 'twice': NodeDef missing attr 'T'"},
       }) {
    Status status = failure(ops, row.nodes);
    CHECK(status.code() == row.code);
    check_has(std::string(status.message()), row.message);
    check_has(std::string(status.message()), "[[{{node c");
  }
  Status status =
      failure(ops, R"(node { name: "i" op: "Source" attr { key: "T" value { type: DT_INT32 } } }
                                  node { name: "c" op: "StatefulPartitionedCall" input: "i"
                                         attr { key: "Tin" value { list { type: DT_INT32 } } }
                                         attr { key: "Tout" value { list { type: DT_FLOAT } } }
                                         attr { key: "f" value { func { name: "negative" } } } })");
  check_has(std::string(status.message()),
            "Expects arg[0] to be float but int32 is provided to function negative, by i:0");
}

TEST_CASE("lower: definitions that make no sense") {
  OpRegistry ops = calling_ops();
  auto with_body = [&](std::string_view body) {
    return failure(ops, x + R"(node { name: "c" op: "f" input: "x" })",
                   str_cat("library { function { signature { name: 'f' input_arg { name: 'x' type: "
                           "DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } } ",
                           body, " } }"))
        .message();
  };
  const std::string neg = "attr { key: 'T' value { type: DT_FLOAT } }";
  check_has(std::string(with_body("")), "Function 'f': Return y missing.");
  check_has(std::string(with_body("ret { key: 'y' value: 'n:y:0' }")),
            "Return y -> n:y:0 is not found.");
  check_has(std::string(with_body("node_def { name: 'n' op: 'Neg' input: 'z' " + neg + " }")),
            "input z is not found; NodeDef: {{node n}}");
  check_has(std::string(with_body("node_def { name: 'n' op: 'Neg' " + neg + " }")),
            "expected 1 inputs and 0 were specified");
  check_has(
      std::string(with_body("node_def { name: 'n' op: 'Neg' input: 'x' input: 'x' " + neg + " }")),
      "Input x is one too many");
  check_has(std::string(with_body("node_def { name: 'n' op: 'Nobody' }")),
            "Op type not registered 'Nobody'");
  check_has(std::string(with_body("node_def { name: 'n' op: '_Arg' }")), "op '_Arg' is internal");
  check_has(std::string(with_body("node_def { name: 'n' op: 'Neg' input: 'n:y:0' " + neg +
                                  " } ret { key: 'y' value: 'n:y:0' }")),
            "not a DAG");
  check_has(std::string(with_body("node_def { name: 'n' op: 'Neg' input: 'x' attr { key: 'T' value "
                                  "{ placeholder: 'T' } } }")),
            "Failed to bind all placeholders");
  check_has(std::string(with_body("node_def { name: 'n' op: 'Source' attr { key: 'T' value { type: "
                                  "DT_INT32 } } } ret { key: 'y' value: 'n:y:0' }")),
            "Invalid ret types: result 0 is int32");
}

TEST_CASE("lower: functions that double at each level end at the limit of nodes") {
  OpRegistry ops = calling_ops();
  std::string functions = "library { ";
  for (int i = 0; i < 40; ++i)
    str_append(
        functions, "function { signature { name: 'f", i,
        "' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } } ",
        "node_def { name: 'a' op: 'f", i + 1, "' input: 'x' } node_def { name: 'b' op: 'f", i + 1,
        "' input: 'a:y:0' } ret { key: 'y' value: 'b:y:0' } } ");
  str_append(functions,
             "function { signature { name: 'f40' input_arg { name: 'x' type: DT_FLOAT } "
             "output_arg { name: 'y' type: DT_FLOAT } } ret { key: 'y' value: 'x' } } }");
  const std::string nodes = x + "node { name: 'c' op: 'f0' input: 'x' }";
  Status status = failure(ops, nodes, functions, {.max_nodes = 10'000});
  CHECK(status.code() == Code::resource_exhausted);
  check_has(std::string(status.message()), "more than 10000 nodes");
  status = failure(ops, nodes, functions, {.max_depth = 20});
  CHECK(status.code() == Code::resource_exhausted);
  check_has(std::string(status.message()), "within more than 20 other calls");
  status = failure(ops, nodes, functions, {.max_bytes = 10'000});
  CHECK(status.code() == Code::resource_exhausted);
}
