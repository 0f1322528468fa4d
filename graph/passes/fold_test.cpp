// Constants and shapes that are known beforehand.
#include "graph/passes/optimize.hpp"

#include <algorithm>
#include <functional>

#include "graph/passes/testing/rewriting.hpp"

using namespace troupe;

TEST_CASE("fold_constants: a cone of constants becomes one, its inner values leave nothing") {
  Arithmetic arithmetic;
  becomes(R"(
    a = Const[dtype=DT_FLOAT, value=f32[2] 1 2]() @"/job:ps"
    b = Neg(a) @"/job:ps"
    c = Add(a, b) @"/job:worker"
    d = Neg(b) @"/job:worker"
    fed = Placeholder[dtype=DT_FLOAT]()
    fetch = AddN(c, d, fed))",
          R"(
    c/folded = Const[dtype=DT_FLOAT, value=f32[2] 0 0]() @"/job:worker"
    d/folded = Const[dtype=DT_FLOAT, value=f32[2] 1 2]() @"/job:worker"
    fed = Placeholder[dtype=DT_FLOAT]()
    fetch = AddN(c/folded, d/folded, fed))",
          {}, &arithmetic);
  CHECK(arithmetic.calls == 3);
}

TEST_CASE("fold_constants: never folds stateful, fed or fetched nodes, placeholders or failures") {
  Arithmetic arithmetic;
  constexpr auto text = R"(
    a = Const[dtype=DT_INT32, value=i32[1] 2]()
    f = Const[dtype=DT_FLOAT, value=f32[1] 2]()
    random = RandomUniform[dtype=DT_FLOAT](a)
    refused = Neg(a)
    unknown = Square(f)
    fed = Neg(f)
    fetch = AddN(fed, random, unknown)
    keep = _Retval[index=0](refused))";
  becomes(text, text, {}, &arithmetic);
}

TEST_CASE("fold_constants: the constant waits for what its cone waited for") {
  Arithmetic arithmetic;
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(p, p)
    pivot = Identity(s:1)
    a = Const[dtype=DT_FLOAT, value=f32[] 3]() ^pivot
    b = Neg(a) ^fed
    after = NoOp() ^b
    last = _Retval[index=0](p) ^after
    fetch = Add(b, fed))",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(p, p)
    pivot = Identity(s:1)
    b/folded = Const[dtype=DT_FLOAT, value=f32[] -3]() ^fed ^pivot
    after = NoOp() ^fed ^pivot
    last = _Retval[index=0](p) ^after
    fetch = Add(b/folded, fed))",
          {"fold_constants", "remove_dead_nodes"}, &arithmetic);
}

TEST_CASE("fold_constants: a value above the limit is left to the step") {
  OpRegistry ops = rewriting_test_ops();
  Arithmetic arithmetic;
  constexpr auto text = R"(
    a = Const[dtype=DT_FLOAT, value=f32[4] 1]()
    b = Neg(a)
    fetch = Square(b))";
  OptimizeOptions options{.preserve = {"fetch"}, .evaluator = &arithmetic};
  options.max_constant_bytes = 15;
  check_text(rewritten(ops, text, options), text);
  options.max_constant_bytes = 16;
  CHECK(rewritten(ops, text, options).find("b/folded"));
}

TEST_CASE("fold_constants: what will be too large is not even computed") {
  OpRegistry ops = rewriting_test_ops();
  Arithmetic arithmetic;
  constexpr auto text = R"(
    a = Const[dtype=DT_FLOAT, value=f32[4] 1]()
    b = Neg(a)
    fetch = Square(b))";
  OptimizeOptions options{.preserve = {"fetch"}, .evaluator = &arithmetic};
  options.max_constant_bytes = 15;
  check_text(rewritten(ops, text, options), text);
  CHECK(arithmetic.calls == 0);
}

TEST_CASE("fold_constants: what goes in is bounded too, and what all folded values take together") {
  OpRegistry ops = rewriting_test_ops();
  Arithmetic arithmetic;
  constexpr auto text = R"(
    a = Const[dtype=DT_FLOAT, value=f32[4] 1]()
    b = Neg(a)
    c = Add(a, a)
    fetch = Mul(b, c))";
  OptimizeOptions options{.preserve = {"fetch"}, .evaluator = &arithmetic};
  options.max_constant_bytes = 31; // Add takes 32 bytes in, and gives 16
  Graph graph = rewritten(ops, text, options);
  CHECK(graph.find("b/folded"));
  CHECK(graph.find("c"));
  options.max_constant_bytes = 32;
  options.max_folded_bytes = 16; // for one of the two
  graph = rewritten(ops, text, options);
  CHECK((graph.find("b") != nullptr) != (graph.find("c") != nullptr));
  options.max_folded_bytes = 32;
  graph = rewritten(ops, text, options);
  CHECK_FALSE(graph.find("b"));
  CHECK_FALSE(graph.find("c"));
}

TEST_CASE("fold_constants: a constant of another dtype than it says is left to the step") {
  Arithmetic arithmetic;
  constexpr auto text = R"(
    a = Const[dtype=DT_FLOAT, value=i32[1] 2]()
    one = Const[dtype=DT_FLOAT, value=i32[] 1]()
    b = Neg(a)
    c = Mul(b, one)
    fetch = Square(c))";
  becomes(text, text, {}, &arithmetic);
  CHECK(arithmetic.calls == 0);
}

TEST_CASE("fold_shapes: shapes known beforehand are constants, the tensor may be unknown") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(R"(
    fed = Placeholder[dtype=DT_FLOAT, shape=[2,3]]()
    any = Placeholder[dtype=DT_FLOAT, shape=[?,3]]()
    x = Neg(fed)
    size = Size(x)
    rank = Rank(any)
    unknown = Size(any)
    fetch = AddN(size, rank, unknown))",
                         ops);
  REQUIRE(optimize(graph, {.preserve = {"fetch", "fed"}}).ok());
  check_text(graph, R"(
    fed = Placeholder[dtype=DT_FLOAT, shape=[2,3]]()
    any = Placeholder[dtype=DT_FLOAT, shape=[?,3]]()
    size/folded = Const[dtype=DT_INT32, value=i32[] 6]()
    rank/folded = Const[dtype=DT_INT32, value=i32[] 2]()
    unknown = Size(any)
    fetch = AddN(size/folded, rank/folded, unknown))");
}

TEST_CASE("fold_shapes: what a reference names may have no value, which reading it tells") {
  constexpr auto text = R"(
    v = VariableV2[dtype=DT_FLOAT, shape=[2,3]]()
    rank = Rank(v)
    fetch = Neg(rank))";
  becomes(text, text);
  becomes(R"(
    v = VariableV2[dtype=DT_FLOAT, shape=[2,3]]()
    value = Identity(v)
    same = Identity(value)
    rank = Rank(same)
    fetch = Neg(rank))",
          R"(
    v = VariableV2[dtype=DT_FLOAT, shape=[2,3]]()
    value = Identity(v)
    rank/folded = Const[dtype=DT_INT32, value=i32[] 2]() ^value
    fetch = Neg(rank/folded))");
}

TEST_CASE("fold_shapes: beside conditionals the constant dies with the tensor it tells of") {
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT, shape=[2,3]]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(fed, p)
    dying = Size(s:1)
    x = Neg(s:1)
    size = Size(x)
    fetch = Merge[T=DT_INT32, N=2](size, dying))",
          R"(
    fed = Placeholder[dtype=DT_FLOAT, shape=[2,3]]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(fed, p)
    dying = Size(s:1)
    x = Neg(s:1)
    size/folded = Const[dtype=DT_INT32, value=i32[] 6]() ^x
    fetch = Merge[T=DT_INT32, N=2](size/folded, dying))");
}

TEST_CASE("fold_shapes: what a received value, which may be dead, tells of may be dead too") {
  constexpr auto before = R"(
    r = _Recv[tensor_type=DT_FLOAT, tensor_name="e", send_device="a", recv_device="b", send_device_incarnation=1]()
    p = Placeholder[dtype=DT_FLOAT, shape=[3]]()
    x = Neg(p) ^r
    fetch = Size(x)
    size = Size(x)
    out = _Retval[index=0](size))";
  constexpr auto after = R"(
    r = _Recv[tensor_type=DT_FLOAT, tensor_name="e", send_device="a", recv_device="b", send_device_incarnation=1]()
    p = Placeholder[dtype=DT_FLOAT, shape=[3]]()
    x = Neg(p) ^r
    fetch = Size(x)
    size/folded = Const[dtype=DT_INT32, value=i32[] 3]() ^x
    out = _Retval[index=0](size/folded))";
  becomes(before, after, {"fold_shapes", "remove_dead_nodes"});
}
