// Variables across steps: names, containers, snapshots, gradients.
#include <doctest/doctest.h>

#include "graph/autodiff/gradients.hpp"
#include "graph/ir/text.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("TemporaryVariable DestroyTemporaryVariable RefSelect",
                     "GetSessionHandle GetSessionHandleV2 GetSessionTensor DeleteSessionTensor");

namespace troupe {
namespace {

using testing::Interpreter;

Graph parse(std::string_view text) {
  auto graph = parse_graph(text, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  return *std::move(graph);
}

float fetch(Interpreter& interpreter, const Graph& graph, const std::string& name) {
  auto out = interpreter.run(graph, {}, {name});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return (*out)[0].value<float>();
}

} // namespace

TEST_CASE("variables: a reference variable keeps its value between steps") {
  Graph g = parse(R"(
    v = VariableV2[dtype=DT_FLOAT, shape=[]]()
    one = Const[dtype=DT_FLOAT, value=f32[] 1]()
    init = Assign(v, one)
    more = AssignAdd(v, one)
    read = Identity(v))");
  Interpreter interpreter;
  CHECK(interpreter.run(g, {}, {"read"}).status().message() ==
        "node 'read' (Identity): Attempting to use uninitialized value v");
  CHECK(fetch(interpreter, g, "init") == 1);
  CHECK(fetch(interpreter, g, "more") == 2);
  CHECK(fetch(interpreter, g, "more") == 3);
  CHECK(fetch(interpreter, g, "read") == 3);
}

TEST_CASE("variables: a first value has the shape that the variable's node declares") {
  Graph g = parse(R"(
    v = VariableV2[dtype=DT_FLOAT, shape=[2]]()
    unknown = VariableV2[dtype=DT_FLOAT, shape=[-1]]()
    two = Const[dtype=DT_FLOAT, value=f32[2] 1 2]()
    old = Variable[dtype=DT_FLOAT, shape=[]]()
    some = Placeholder[dtype=DT_FLOAT]()
    scalar = Assign(old, some)
    right = Assign(v, two)
    wrong = Assign(v, some)
    any = Assign[validate_shape=false](v, some)
    first = Assign(unknown, some))");
  Interpreter interpreter;
  const Tensor three = Tensor::of<float>({3}, {1, 2, 3});
  const std::string refused = "node 'wrong' (Assign): Assign requires shapes of both tensors to "
                              "match. lhs shape= [2] rhs shape= [3]";
  CHECK(interpreter.run(g, {{"some", three}}, {"wrong"}).status().message() == refused);
  CHECK(interpreter.run(g, {}, {"right"}).ok());
  CHECK(interpreter.run(g, {{"some", three}}, {"wrong"}).status().message() == refused);
  CHECK(interpreter.run(g, {{"some", three}}, {"any"}).ok());
  CHECK(interpreter.run(g, {{"some", three}}, {"wrong"}).ok());
  CHECK(interpreter.run(g, {{"some", three}}, {"first"}).ok());
  CHECK(
      interpreter.run(g, {{"some", three}}, {"scalar"}).status().message() ==
      "node 'scalar' (Assign): Assign requires shapes of both tensors to match. lhs shape= [] rhs "
      "shape= [3]");
  CHECK(interpreter.run(g, {{"some", Tensor::scalar(1.0F)}}, {"scalar"}).ok());
}

TEST_CASE("variables: an assigned constant is not changed by later updates") {
  Graph g = parse(R"(
    v = VariableV2[dtype=DT_FLOAT, shape=[]]()
    one = Const[dtype=DT_FLOAT, value=f32[] 1]()
    init = Assign(v, one)
    more = AssignAdd(v, one) ^init
    again = Identity(one) ^more)");
  Interpreter interpreter;
  CHECK(fetch(interpreter, g, "again") == 1);
  CHECK(fetch(interpreter, g, "more") == 2);
}

TEST_CASE("variables: shared_name and container decide which variable a node names") {
  Graph g = parse(R"(
    a = VariableV2[dtype=DT_FLOAT, shape=[], shared_name="s"]()
    b = VariableV2[dtype=DT_FLOAT, shape=[], shared_name="s"]()
    c = VariableV2[dtype=DT_FLOAT, shape=[], shared_name="s", container="other"]()
    s = VariableV2[dtype=DT_FLOAT, shape=[]]()
    two = Const[dtype=DT_FLOAT, value=f32[] 2]()
    init = Assign(a, two)
    in_b = Identity(b)
    in_s = Identity(s)
    in_c = IsVariableInitialized(c)
    hidden = VariableV2[dtype=DT_FLOAT, shape=[], shared_name="_x"]()
    wrong = VariableV2[dtype=DT_INT32, shape=[], shared_name="s"]())");
  Interpreter interpreter;
  CHECK(fetch(interpreter, g, "init") == 2);
  CHECK(fetch(interpreter, g, "in_b") == 2);
  CHECK(fetch(interpreter, g, "in_s") == 2);
  auto in_c = interpreter.run(g, {}, {"in_c"});
  REQUIRE(in_c.ok());
  CHECK((*in_c)[0].value<bool>() == false);
  CHECK(interpreter.run(g, {}, {"hidden"}).status().message() ==
        "node 'hidden' (VariableV2): shared_name cannot start with '_': _x");
  CHECK(interpreter.run(g, {}, {"wrong"})
            .status()
            .message()
            .find("Trying to get variable 's' with wrong dtype. Expected float got int32") !=
        std::string::npos);
}

TEST_CASE(
    "variables: one that nodes refer to and one behind a handle are two, if they have one name") {
  Graph g = parse(R"(
    v = VariableV2[dtype=DT_FLOAT, shape=[], shared_name="same"]()
    h = VarHandleOp[dtype=DT_INT32, shape=[], shared_name="same"]()
    two = Const[dtype=DT_FLOAT, value=f32[] 2]()
    three = Const[dtype=DT_INT32, value=i32[] 3]()
    init = Assign(v, two)
    is_there = VarIsInitializedOp(h)
    init_h = AssignVariableOp(h, three)
    in_v = Identity(v)
    in_h = ReadVariableOp[dtype=DT_INT32](h))");
  Interpreter interpreter;
  CHECK(fetch(interpreter, g, "init") == 2);
  auto is_there = interpreter.run(g, {}, {"is_there"});
  REQUIRE(is_there.ok());
  CHECK((*is_there)[0].value<bool>() == false);
  REQUIRE(interpreter.run(g, {}, {"^init_h"}).ok());
  CHECK(fetch(interpreter, g, "in_v") == 2);
  auto in_h = interpreter.run(g, {}, {"in_h"});
  REQUIRE(in_h.ok());
  CHECK((*in_h)[0].value<std::int32_t>() == 3);
}

TEST_CASE("variables: a resource variable is made by its first assignment and can be destroyed") {
  Graph g = parse(R"(
    h = VarHandleOp[dtype=DT_FLOAT, shape=[]]()
    one = Const[dtype=DT_FLOAT, value=f32[] 1]()
    init = AssignVariableOp(h, one)
    more = AssignAddVariableOp(h, one)
    read = ReadVariableOp[dtype=DT_FLOAT](h)
    before = ReadVariableOp[dtype=DT_FLOAT](h)
    after = AssignAddVariableOp(h, one) ^before
    kept = Identity(before) ^after
    destroy = DestroyResourceOp(h)
    other = VarHandleOp[dtype=DT_FLOAT, shape=[]]()
    init_other = AssignVariableOp(other, one))");
  Interpreter interpreter;
  auto unread = interpreter.run(g, {}, {"read"}).status();
  CHECK(unread.code() == Code::failed_precondition);
  CHECK(
      unread.message().find("Could not find variable h. This could mean that the variable has been "
                            "deleted.") != std::string::npos);
  const auto more = [&] { return interpreter.run(g, {}, {"^more"}).status(); };
  CHECK(more().code() == Code::not_found);
  CHECK(more().message().ends_with(
      "Container localhost does not exist. (Could not find resource: localhost/h)"));
  REQUIRE(interpreter.run(g, {}, {"^init_other"}).ok());
  CHECK(more().message().ends_with("Resource localhost/h/N10tensorflow3VarE does not exist."));
  REQUIRE(interpreter.run(g, {}, {"^init"}).ok());
  REQUIRE(interpreter.run(g, {}, {"^more"}).ok());
  CHECK(fetch(interpreter, g, "read") == 2);
  CHECK(fetch(interpreter, g, "kept") == 2);
  CHECK(fetch(interpreter, g, "read") == 3);
  REQUIRE(interpreter.run(g, {}, {"^destroy"}).ok());
  CHECK(interpreter.run(g, {}, {"read"}).status().code() == Code::failed_precondition);
}

TEST_CASE("variables: the gradient of a handle is that of its reads") {
  Graph g = parse(R"(
    h = VarHandleOp[dtype=DT_FLOAT, shape=[]]()
    three = Const[dtype=DT_FLOAT, value=f32[] 3]()
    init = AssignVariableOp(h, three)
    a = ReadVariableOp[dtype=DT_FLOAT](h) ^init
    b = ReadVariableOp[dtype=DT_FLOAT](h) ^init
    y = Mul(a, b))");
  const Endpoint ys[] = {{g.find("y")->id, 0}}, xs[] = {{g.find("h")->id, 0}};
  auto gradients = add_gradients(g, ys, xs);
  REQUIRE_MESSAGE(gradients.ok(), gradients.status().to_string());
  REQUIRE((*gradients)[0].has_value());
  Interpreter interpreter;
  CHECK(fetch(interpreter, g, g.node((*gradients)[0]->node)->name) == 6);
}

TEST_CASE("variables: a temporary variable lives for a part of one step") {
  Graph g = parse(R"(
    v = TemporaryVariable[dtype=DT_FLOAT, shape=[2], var_name="t"]()
    two = Const[dtype=DT_FLOAT, value=f32[2] 2 3]()
    set = Assign(v, two)
    more = AssignAdd(set, two)
    last = DestroyTemporaryVariable[var_name="t"](more)
    again = TemporaryVariable[dtype=DT_FLOAT, shape=[2], var_name="t"]() ^v
    both = Assign(again, two) ^set
    open = TemporaryVariable[dtype=DT_FLOAT, shape=[?]]())");
  Interpreter interpreter;
  for (int i = 0; i < 2; ++i) {
    auto out = interpreter.run(g, {}, {"last"});
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    CHECK((*out)[0].to_string() == "f32[2] 4 6");
  }
  CHECK(interpreter.run(g, {}, {"both"}).status().code() == Code::already_exists);
  CHECK(interpreter.run(g, {}, {"open"}).status().code() == Code::invalid_argument);
}

TEST_CASE("variables: RefSelect hands on one of several references") {
  Graph g = parse(R"(
    a = VariableV2[dtype=DT_FLOAT, shape=[]]()
    b = VariableV2[dtype=DT_FLOAT, shape=[]]()
    one = Const[dtype=DT_FLOAT, value=f32[] 1]()
    set = Assign(a, one)
    which = Placeholder[dtype=DT_INT32]()
    chosen = RefSelect(which, set, b)
    more = AssignAdd(chosen, one)
    read = Identity(b))");
  Interpreter interpreter;
  const auto run = [&](std::int32_t which) {
    return interpreter.run(g, {{"which", Tensor::scalar(which)}}, {"more"});
  };
  REQUIRE(run(0).ok());
  CHECK((*run(0))[0].value<float>() == 2);
  CHECK_FALSE(run(1).ok());
  CHECK(run(2).status().message().find("Index must be in the range [0, 2) but got 2") !=
        std::string::npos);
}

TEST_CASE("session tensors: a value stays under its handle until it is deleted") {
  Graph g = parse(R"(
    x = Const[dtype=DT_FLOAT, value=f32[2] 1 2]()
    handle = GetSessionHandle(x)
    resource = GetSessionHandleV2(x)
    given = Placeholder[dtype=DT_STRING]()
    value = GetSessionTensor[dtype=DT_FLOAT](given)
    wrong = GetSessionTensor[dtype=DT_INT32](given)
    delete = DeleteSessionTensor(given))");
  Interpreter interpreter;
  auto kept = interpreter.run(g, {}, {"handle"});
  REQUIRE_MESSAGE(kept.ok(), kept.status().to_string());
  const Tensor handle = (*kept)[0];
  const auto run = [&](const std::string& fetch) {
    return interpreter.run(g, {{"given", handle}}, {fetch});
  };
  auto value = run("value");
  REQUIRE_MESSAGE(value.ok(), value.status().to_string());
  CHECK((*value)[0].to_string() == "f32[2] 1 2");
  CHECK(run("wrong").status().message().find(
            "Output 0 of type float does not match declared output type int32 "
            "for node {{node wrong}}") != std::string::npos);
  CHECK(run("^delete").ok());
  auto resource = interpreter.run(g, {}, {"resource"});
  REQUIRE_MESSAGE(resource.ok(), resource.status().to_string());
  const auto& named = (*resource)[0].value<ResourceHandle>();
  CHECK(named.container == "TensorHandle");
  auto same = interpreter.run(g, {{"given", Tensor::scalar(named.name)}}, {"value"});
  REQUIRE_MESSAGE(same.ok(), same.status().to_string());
  CHECK((*same)[0].to_string() == "f32[2] 1 2");
  CHECK(run("value").status().message().find("is not in the session store.") != std::string::npos);
  CHECK(run("^delete").status().message().find("Failed to delete a tensor with handle") !=
        std::string::npos);
}

} // namespace troupe
