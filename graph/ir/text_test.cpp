#include "graph/ir/text.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/test_ops.hpp"
#include "graph/ir/verify.hpp"

using namespace troupe;

namespace {

Graph must_parse(std::string_view text, const OpRegistry& ops) {
  auto graph = parse_graph(text, ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  Status status = verify(*graph);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return *std::move(graph);
}

std::string error_of(std::string_view text) {
  OpRegistry ops = test_ops();
  auto graph = parse_graph(text, ops);
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.status().code() == Code::invalid_argument);
  return graph.status().message();
}

} // namespace

TEST_CASE("text: a graph is read and written back the same") {
  OpRegistry ops = test_ops();
  constexpr std::string_view text =
      R"(a = Const[dtype=DT_FLOAT, value=f32[2] 1 2]()
b = Placeholder[dtype=DT_FLOAT, shape=[?,2]]() @"/job:ps/task:0"
d = NoOp()
c = AddV2(a, b) ^d on "/job:ps/replica:0/task:0/device:CPU:0"
u = Unpack[num=3](c)
e = IdentityN(u:2, u:1)
f = Call[Tout=[DT_INT32], _note="x\n", f=g[T=DT_FLOAT]](e:1)
)";
  CHECK(to_text(must_parse(text, ops)) == text);
}

TEST_CASE("text: comments, blanks and forward references are fine, dtypes follow the inputs") {
  OpRegistry ops = test_ops();
  Graph g = must_parse(R"(
    # the sum comes first
    sum = AddN ( x , y:0 , x )   # trailing
    x = Neg(y)

    y = Source [ T = int32 ] ()
  )",
                       ops);
  CHECK(g.find("sum")->output_types == std::vector{DType::int32});
  CHECK(*g.find("sum")->attrs.get<std::int64_t>("N") == 3);
  CHECK(g.find("sum")->id == 0);
}

TEST_CASE("text: a loop is read, and its types are found by going round") {
  OpRegistry ops = test_ops();
  constexpr std::string_view text = R"(x = Source()
enter = Enter[frame_name="f"](x)
merge = Merge[N=2, T=DT_FLOAT](enter, next)
less = Less(merge, merge)
cond = LoopCond(less)
switch = Switch(merge, cond)
body = Neg(switch:1)
next = NextIteration(body)
exit = Exit(switch)
)";
  CHECK(to_text(must_parse(text, ops)) == text);
  Graph implied = must_parse(R"(
    merge = Merge(enter, next)
    next = NextIteration(body)
    body = Neg(merge)
    enter = Enter[frame_name="f"](x)
    x = Source[T=DT_INT64]()
  )",
                             ops);
  CHECK(implied.find("next")->output_types == std::vector{DType::int64});
}

TEST_CASE("text: every kind of value is read without the op's help") {
  OpRegistry ops = test_ops();
  constexpr std::string_view text =
      R"(a = NoOp[_b=true, _e=[], _f=0.5, _fl=[1.0, 2.5], _fn={func f[a=1, b={shape [2]}]}, _h=$T, )"
      R"(_i=-3, _l=[1, 2], _lb=[true, false], _ls=["a", "b"], _s="q\"", _sh={shape [2,?]}, )"
      R"(_shs=[{shape ?}, {shape []}], _t=DT_STRING, _tl=[DT_FLOAT, DT_INT32]]()
)";
  CHECK(to_text(must_parse(text, ops)) == text);
}

TEST_CASE("text: errors name line and column") {
  CHECK(error_of("a = Source()\nb = Neg(a\n") == "line 2, column 10: expected ')'");
  CHECK(error_of("a Source()") == "line 1, column 3: expected '='");
  CHECK(error_of("a = Sourze()").starts_with("line 1, column 5: Op type not registered 'Sourze'"));
  CHECK(error_of("a = Source[T=DT_WRONG]()") == "line 1, column 14: 'DT_WRONG' is not a value");
  CHECK(error_of("a = Source[Q=1]()").starts_with("line 1, column 12: op Source has no attr 'Q'"));
  CHECK(error_of("a = Source[T=1]()").find("when 'type' expected") != std::string::npos);
  CHECK(error_of("a = NoOp[_x=\"abc]()").find("a string that does not end") != std::string::npos);
  CHECK(error_of("a = NoOp[_x=1, _x=2]()").find("given twice") != std::string::npos);
  CHECK(error_of("a = NoOp() junk").find("column 12: expected the end of the line") !=
        std::string::npos);
  CHECK(error_of("a = Neg(b)").starts_with("line 1, column 1: node 'a': NodeDef missing attr 'T'"));
  CHECK(error_of("a = Source()\nb = Neg(a, c)").find("line 2, column 1: node 'b' has 2 inputs") !=
        std::string::npos);
  CHECK(error_of("a = Source()\nb = Neg[T=DT_FLOAT](c)") ==
        "line 2, column 21: there is no node 'c'");
  CHECK(error_of("a = Source()\nb = Neg(a) ^zz") == "line 2, column 13: there is no node 'zz'");
  CHECK(
      error_of("a = Source()\nb = Neg[T=DT_FLOAT](a:1)").find("node 'a' (Source) has 1 outputs") !=
      std::string::npos);
  CHECK(error_of("a = Source()\nb = Neg[T=DT_INT32](a)")
            .find("Input 0 of node b was passed float from a:0 incompatible") != std::string::npos);
  CHECK(error_of("a = Source()\na = Source()") == "line 2, column 1: there is already a node 'a'");
  CHECK(error_of("a = Neg[T=DT_FLOAT](b)\nb = Neg(a)").find("depends on itself") !=
        std::string::npos);
}

TEST_CASE("text: deep nesting is refused, not followed") {
  std::string text = "a = NoOp[_x=";
  for (int i = 0; i < 100'000; ++i)
    text += "{func f[a=";
  CHECK(error_of(text).find("nested too deeply") != std::string::npos);
}

TEST_CASE("text: lines can be added to a graph; a wrong line leaves it as it was") {
  OpRegistry ops = test_ops();
  Graph g = must_parse("a = Source()", ops);
  REQUIRE(parse_into("b = Neg(a)\nc = Neg(b) ^a", g).ok());
  CHECK(verify(g).ok());
  CHECK(g.num_nodes() == 3);
  CHECK_FALSE(parse_into("d = Neg(a)\ne = Neg(zz)", g).ok());
  CHECK_FALSE(parse_into("a = NoOp()", g).ok());
  CHECK(g.num_nodes() == 3);
  CHECK(verify(g).ok());
}

TEST_CASE("text: a node may have many inputs that stand below it") {
  OpRegistry ops = test_ops();
  constexpr int count = 50'000;
  std::string sum = "sum = AddN(", inputs;
  for (int i = 0; i < count; ++i) {
    str_append(sum, i ? ", " : "", "x", i);
    str_append(inputs, "x", i, " = Neg(y", i, ")\ny", i, " = Placeholder[dtype=DT_INT32]()\n");
  }
  auto graph = parse_graph(str_cat(sum, ")\n", inputs), ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  CHECK(graph->find("sum")->num_inputs() == count);
  CHECK(graph->find("sum")->output_types[0] == DType::int32);
}

TEST_CASE("text: a graph of 100 000 nodes is read and written") {
  OpRegistry ops = test_ops();
  std::string text = "n0 = Source()\n";
  for (int i = 1; i < 100'000; ++i)
    str_append(text, "n", i, " = Add(n", i - 1, ", n0)\n");
  str_append(text, "sum = AddN(n0");
  for (int i = 1; i < 100'000; ++i)
    str_append(text, ", n", i);
  text += ")\n";
  CHECK(to_text(must_parse(text, ops)) == text);
}
