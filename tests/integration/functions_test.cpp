// Graphs with functions, run through a session: loops, conditionals, their effects, and what may be
// fed and fetched of them.
#include <doctest/doctest.h>

#include <limits>

#include "api/session.hpp"
#include "core/base/strings.hpp"

namespace troupe::functions_test {

namespace {

std::string function(std::string_view name, std::string_view in, std::string_view out,
                     std::string_view body) {
  std::string signature = str_cat("name: '", name, "' ");
  for (std::string_view arg : str_split(in, ' '))
    if (auto colon = arg.find(':'); colon != std::string_view::npos)
      str_append(signature, "input_arg { name: '", arg.substr(0, colon), "' type: DT_",
                 arg.substr(colon + 1), " } ");
  for (std::string_view arg : str_split(out, ' '))
    if (auto colon = arg.find(':'); colon != std::string_view::npos)
      str_append(signature, "output_arg { name: '", arg.substr(0, colon), "' type: DT_",
                 arg.substr(colon + 1), " } ");
    else if (!arg.empty())
      str_append(signature, "control_output: '", arg, "' ");
  return str_cat("function { signature { ", signature, "} ", body, " }\n");
}

std::string type(std::string_view attr, std::string_view dtype) {
  return str_cat("attr { key: '", attr, "' value { type: DT_", dtype, " } } ");
}
std::string types(std::string_view attr, std::string_view dtypes) {
  return str_cat("attr { key: '", attr, "' value { list { ", dtypes, " } } } ");
}
std::string calls(std::string_view attr, std::string_view name) {
  return str_cat("attr { key: '", attr, "' value { func { name: '", name, "' } } } ");
}
std::string number(std::string_view op, std::string_view name, float value) {
  return str_cat(
      op, " { name: '", name, "' op: 'Const' ", type("dtype", "FLOAT"),
      "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: ", value,
      " } } } }\n");
}

const std::string inputs = str_cat(
    "node { name: 'x' op: 'Placeholder' ", type("dtype", "FLOAT"), "}\n",
    "node { name: 'n' op: 'Placeholder' ", type("dtype", "FLOAT"), "}\n",
    "node { name: 'p' op: 'Placeholder' ", type("dtype", "BOOL"), "}\n",
    "node { name: 'v' op: 'VarHandleOp' ", type("dtype", "FLOAT"),
    "attr { key: 'shape' value { shape { } } } }\n", number("node", "zero", 0),
    "node { name: 'init' op: 'AssignVariableOp' input: 'v' input: 'zero' ", type("dtype", "FLOAT"),
    "}\n", "node { name: 'count' op: 'ReadVariableOp' input: 'v' ", type("dtype", "FLOAT"), "}\n");

// below: i < n.  grow: i + 1, and counts in the variable.
const std::string loop = str_cat(
    "library { ",
    function("below", "i:FLOAT n:FLOAT v:RESOURCE", "b:BOOL",
             str_cat("node_def { name: 'less' op: 'Less' input: 'i' input: 'n' ",
                     type("T", "FLOAT"), "} ret { key: 'b' value: 'less:z:0' }")),
    function("grow", "i:FLOAT n:FLOAT v:RESOURCE", "i2:FLOAT n2:FLOAT v2:RESOURCE counted",
             str_cat(number("node_def", "one", 1), "node_def { name: 'add' op: 'AddV2' input: 'i' ",
                     "input: 'one:output:0' ", type("T", "FLOAT"), "} ",
                     "node_def { name: 'count' op: 'AssignAddVariableOp' input: 'v' ",
                     "input: 'one:output:0' ", type("dtype", "FLOAT"), "} ",
                     "ret { key: 'i2' value: 'add:z:0' } ret { key: 'n2' value: 'n' } ",
                     "ret { key: 'v2' value: 'v' } control_ret { key: 'counted' value: 'count' }")),
    "}\n", "node { name: 'w' op: 'While' input: 'x' input: 'n' input: 'v' ",
    types("T", "type: DT_FLOAT type: DT_FLOAT type: DT_RESOURCE"), calls("cond", "below"),
    calls("body", "grow"), "}\n", "node { name: 'after' op: 'Neg' input: 'w' ", type("T", "FLOAT"),
    "}\n");

// yes: counts, -x.  no: x.
const std::string conditional =
    str_cat("library { " +
                function("yes", "x:FLOAT v:RESOURCE", "y:FLOAT counted",
                         str_cat(number("node_def", "ten", 10),
                                 "node_def { name: 'count' op: 'AssignAddVariableOp' input: 'v' ",
                                 "input: 'ten:output:0' ", type("dtype", "FLOAT"), "} ",
                                 "node_def { name: 'minus' op: 'Neg' input: 'x' ",
                                 type("T", "FLOAT"), "} ", "ret { key: 'y' value: 'minus:y:0' } ",
                                 "control_ret { key: 'counted' value: 'count' }")),
            function("no", "x:FLOAT v:RESOURCE", "y:FLOAT", "ret { key: 'y' value: 'x' }"), "}\n",
            "node { name: 'c' op: 'If' input: 'p' input: 'x' input: 'v' ", type("Tcond", "BOOL"),
            types("Tin", "type: DT_FLOAT type: DT_RESOURCE"), types("Tout", "type: DT_FLOAT"),
            calls("then_branch", "yes"), calls("else_branch", "no"), "}\n");

Session open(const std::string& graph) {
  auto session = Session::open("local");
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  Status status = session->extend_graph_def(graph);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return *std::move(session);
}

Tensor f(float x) {
  return Tensor::scalar(x);
}

float value(Session& session, const Feeds& feeds, const std::string& fetch) {
  auto out = session.run(feeds, {fetch});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return (*out)[0].value<float>();
}

} // namespace

TEST_CASE("functions: a loop runs, counts, and is fetched and fed by its name") {
  Session session = open(inputs + loop);
  REQUIRE(session.run({}, {}, {"init"}).ok());
  CHECK(value(session, {{"x", f(0)}, {"n", f(5)}}, "w:0") == 5);
  CHECK(value(session, {}, "count") == 5);
  CHECK(value(session, {{"x", f(7)}, {"n", f(5)}}, "w:0") == 7);
  CHECK(value(session, {}, "count") == 5);
  CHECK(value(session, {{"x", f(3)}, {"n", f(5)}}, "w:1") == 5);
  CHECK(value(session, {{"x", f(3)}, {"n", f(5)}}, "after") == -5);
  CHECK(value(session, {}, "count") == 9);
  REQUIRE(session.run({{"x", f(0)}, {"n", f(2)}}, {}, {"w"}).ok());
  CHECK(value(session, {}, "count") == 11);
  CHECK(value(session, {{"w:0", f(4)}}, "after") == -4);
  CHECK(value(session, {}, "count") == 11);
}

TEST_CASE("functions: only the branch that is taken has effects") {
  Session session = open(inputs + conditional);
  REQUIRE(session.run({}, {}, {"init"}).ok());
  CHECK(value(session, {{"x", f(2)}, {"p", Tensor::scalar(false)}}, "c:0") == 2);
  CHECK(value(session, {}, "count") == 0);
  CHECK(value(session, {{"x", f(2)}, {"p", Tensor::scalar(true)}}, "c:0") == -2);
  CHECK(value(session, {}, "count") == 10);
}

TEST_CASE("functions: an extension brings functions, and calls those that were there") {
  Session session = open(inputs + loop);
  REQUIRE(session.run({}, {}, {"init"}).ok());
  CHECK(value(session, {{"x", f(0)}, {"n", f(1)}}, "w:0") == 1);
  Status status = session.extend_graph_def(
      conditional + str_cat("node { name: 'again' op: 'grow' input: 'w' input: 'n' input: 'v' }"));
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  CHECK(value(session, {{"x", f(0)}, {"n", f(3)}}, "again:0") == 4);
  CHECK(value(session, {}, "count") == 5);
}

TEST_CASE("functions: an error in a body names its node") {
  Session session = open(inputs + loop);
  auto out = session.run({{"x", f(0)}, {"n", f(1)}}, {"w:0"});
  CHECK(out.status().code() == Code::not_found);
  CHECK_MESSAGE(out.status().to_string().find("w/body/_1/count") != std::string::npos,
                out.status().to_string());
}

TEST_CASE("functions: rounds end whose conditional reads only what is the same in every round") {
  const std::string graph = str_cat(
      inputs, "library { ",
      function("ten", "x:FLOAT", "y:FLOAT",
               str_cat(number("node_def", "c", 10), "ret { key: 'y' value: 'c:output:0' }")),
      function("twice", "x:FLOAT", "y:FLOAT",
               str_cat("node_def { name: 'sum' op: 'AddV2' input: 'x' input: 'x' ",
                       type("T", "FLOAT"), "} ret { key: 'y' value: 'sum:z:0' }")),
      function("below", "i:FLOAT x:FLOAT p:BOOL", "b:BOOL",
               str_cat(number("node_def", "three", 3),
                       "node_def { name: 'less' op: 'Less' input: 'i' input: 'three:output:0' ",
                       type("T", "FLOAT"), "} ret { key: 'b' value: 'less:z:0' }")),
      function("turn", "i:FLOAT x:FLOAT p:BOOL", "i2:FLOAT x2:FLOAT p2:BOOL",
               str_cat(number("node_def", "one", 1),
                       "node_def { name: 'add' op: 'AddV2' input: 'i' input: 'one:output:0' ",
                       type("T", "FLOAT"), "} node_def { name: 'c' op: 'StatelessIf' input: 'p' ",
                       "input: 'x' ", type("Tcond", "BOOL"), types("Tin", "type: DT_FLOAT"),
                       types("Tout", "type: DT_FLOAT"), calls("then_branch", "twice"),
                       calls("else_branch", "ten"), "} ret { key: 'i2' value: 'add:z:0' } ",
                       "ret { key: 'x2' value: 'c:output:0' } ret { key: 'p2' value: 'p' }")),
      "}\n", "node { name: 'w' op: 'StatelessWhile' input: 'zero' input: 'x' input: 'p' ",
      types("T", "type: DT_FLOAT type: DT_FLOAT type: DT_BOOL"), calls("cond", "below"),
      calls("body", "turn"), "}\n");
  Session session = open(graph);
  CHECK(value(session, {{"x", f(1)}, {"p", Tensor::scalar(true)}}, "w:1") == 8);
  CHECK(value(session, {{"x", f(1)}, {"p", Tensor::scalar(false)}}, "w:1") == 10);
}

TEST_CASE("functions: who reads one result runs nothing for the others") {
  const std::string graph = str_cat(
      inputs, "library { ",
      function("two", "x:FLOAT", "y:FLOAT z:FLOAT",
               str_cat("node_def { name: 'minus' op: 'Neg' input: 'x' ", type("T", "FLOAT"),
                       "} node_def { name: 'check' op: 'CheckNumerics' input: 'x' ",
                       type("T", "FLOAT"), "attr { key: 'message' value { s: 'checked' } } } ",
                       "ret { key: 'y' value: 'minus:y:0' } ",
                       "ret { key: 'z' value: 'check:output:0' }")),
      "}\n", "node { name: 'c' op: 'two' input: 'x' }\n",
      "node { name: 'first' op: 'Neg' input: 'c' ", type("T", "FLOAT"), "}\n",
      "node { name: 'second' op: 'Neg' input: 'c:1' ", type("T", "FLOAT"), "}\n");
  Session session = open(graph);
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(value(session, {{"x", f(infinity)}}, "first") == infinity);
  CHECK_FALSE(session.run({{"x", f(infinity)}}, {"second"}).ok());
  CHECK_FALSE(session.run({{"x", f(infinity)}}, {"c:0"}).ok()); // the call as a whole
  CHECK(value(session, {{"c:0", f(2)}}, "first") == -2);
}

TEST_CASE("functions: what cannot be lowered fails the run, not the extension") {
  Session session = open(inputs + "library { " +
                         function("wrong", "x:FLOAT", "y:FLOAT",
                                  "node_def { name: 'a' op: 'nobody' input: 'x' } "
                                  "ret { key: 'y' value: 'a:y:0' }") +
                         "} " + "node { name: 'r' op: 'wrong' input: 'x' }" +
                         "node { name: 'other' op: 'Neg' input: 'x' " + type("T", "FLOAT") + "}");
  CHECK(value(session, {{"x", f(1)}}, "other") == -1); // needs nothing of it
  auto out = session.run({{"x", f(0)}}, {"r:0"});
  CHECK(out.status().code() == Code::not_found);
  CHECK_MESSAGE(out.status().message().find("Op type not registered 'nobody'") != std::string::npos,
                out.status().to_string());
}

namespace {

// down: x > 0 ? 1 + down(x - 1) : x, by way of a conditional, and counts its calls in the variable.
const std::string recursion = str_cat(
    "library { ",
    function(
        "down", "x:FLOAT v:RESOURCE", "y:FLOAT counted",
        str_cat(number("node_def", "zero", 0), number("node_def", "one", 1),
                "node_def { name: 'count' op: 'AssignAddVariableOp' input: 'v' input: "
                "'one:output:0' ",
                type("dtype", "FLOAT"),
                "} node_def { name: 'more' op: 'Greater' input: 'x' input: 'zero:output:0' ",
                type("T", "FLOAT"),
                "} node_def { name: 'either' op: 'If' input: 'more:z:0' input: 'x' input: 'v' ",
                type("Tcond", "BOOL"), types("Tin", "type: DT_FLOAT type: DT_RESOURCE"),
                types("Tout", "type: DT_FLOAT"), calls("then_branch", "further"),
                calls("else_branch", "end"),
                "} ret { key: 'y' value: 'either:output:0' } control_ret { key: 'counted' "
                "value: 'count' }")),
    function(
        "further", "x:FLOAT v:RESOURCE", "y:FLOAT below",
        str_cat(number("node_def", "one", 1),
                "node_def { name: 'less' op: 'Sub' input: 'x' input: 'one:output:0' ",
                type("T", "FLOAT"),
                "} node_def { name: 'call' op: 'down' input: 'less:z:0' input: 'v' } node_def { "
                "name: 'sum' op: 'AddV2' input: 'call:y:0' input: 'one:output:0' ",
                type("T", "FLOAT"),
                "} ret { key: 'y' value: 'sum:z:0' } control_ret { key: 'below' value: 'call' "
                "}")),
    function("end", "x:FLOAT v:RESOURCE", "y:FLOAT", "ret { key: 'y' value: 'x' }"), "} ",
    "node { name: 'r' op: 'down' input: 'x' input: 'v' }");

} // namespace

TEST_CASE("functions: one that calls itself runs as deep as it goes, up to a bound") {
  Session session = open(inputs + recursion);
  REQUIRE(session.run({}, {}, {"init"}).ok());
  CHECK(value(session, {{"x", f(0)}}, "r:0") == 0);
  CHECK(value(session, {}, "count") == 1);
  CHECK(value(session, {{"x", f(7)}}, "r:0") == 7);
  CHECK(value(session, {}, "count") == 9);
  CHECK(value(session, {{"x", f(900)}}, "r:0") == 900);
  auto out = session.run({{"x", f(1e9)}}, {"r:0"});
  CHECK(out.status().code() == Code::resource_exhausted);
  CHECK_MESSAGE(out.status().message().find(
                    "Function 'down' is called within 1000 calls that have not ended") !=
                    std::string::npos,
                out.status().to_string());
  CHECK(value(session, {{"x", f(3)}}, "r:0") == 3);
}

TEST_CASE("functions: one is called on the device that is fed, where other resources are") {
  const std::string held = "op: 'VarHandleOp' " + type("dtype", "FLOAT") +
                           "attr { key: 'shape' value { shape { } } } "
                           "attr { key: 'shared_name' value { s: 'held' } } ";
  const std::string there = "device: '/device:CPU:1' ";
  const std::string graph =
      "library { " +
      function("is_there", "x:FLOAT", "b:BOOL",
               "node_def { name: 'h' " + held +
                   "} node_def { name: 'is' op: 'VarIsInitializedOp' input: 'h:resource:0' } "
                   "ret { key: 'b' value: 'is:is_initialized:0' }") +
      "}\n" + number("node", "one", 1) + "node { name: 'target' op: 'Placeholder' " +
      type("dtype", "STRING") + "} node { name: 'there' " + there + held +
      "} node { name: 'set' op: 'AssignVariableOp' input: 'there' input: 'one' " + there +
      type("dtype", "FLOAT") + "} node { name: 'r' op: 'RemoteCall' input: 'target' input: 'one' " +
      types("Tin", "type: DT_FLOAT") + types("Tout", "type: DT_BOOL") + calls("f", "is_there") +
      "}";
  SessionOptions options;
  options.device_count["CPU"] = 2;
  auto opened = Session::open("local", options);
  REQUIRE(opened.ok());
  Session session = *std::move(opened);
  Status status = session.extend_graph_def(graph);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  REQUIRE(session.run({}, {}, {"set"}).ok());
  const auto on = [&](const std::string& target) {
    return session.run({{"target", Tensor::scalar(target)}}, {"r:0"});
  };
  const auto is_on = [&](const std::string& target) {
    auto out = on(target);
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    return (*out)[0].value<bool>();
  };
  CHECK(is_on("/device:CPU:1"));
  CHECK_FALSE(is_on("/job:localhost/replica:0/task:0/device:CPU:0"));
  CHECK(is_on("/cpu:1"));
  CHECK(on("/device:CPU:7").status().code() == Code::invalid_argument);
  CHECK(on("/job:ps/task:3/device:CPU:0").status().code() == Code::unimplemented);
  CHECK(on("no device").status().code() == Code::invalid_argument);
}

} // namespace troupe::functions_test
