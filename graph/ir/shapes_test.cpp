#include "graph/ir/shapes.hpp"

#include <doctest/doctest.h>

#include "graph/ir/test_ops.hpp"
#include "graph/ir/text.hpp"

using namespace troupe;

namespace {

struct Inferred {
  OpRegistry ops = test_ops();
  Graph g{ops};
  GraphShapes shapes;

  explicit Inferred(std::string_view text) {
    auto graph = parse_graph(text, ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    g = *std::move(graph);
    auto result = infer_graph_shapes(g);
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    shapes = *std::move(result);
  }
  std::string of(std::string_view name, int slot = 0) {
    return shapes.of({g.find(name)->id, slot}).to_string();
  }
};

} // namespace

TEST_CASE("shapes: they follow the edges, through constants too") {
  Inferred t(R"(
    x = Placeholder[dtype=DT_FLOAT, shape=[?,3]]()
    y = Placeholder[dtype=DT_FLOAT, shape=[3]]()
    sum = AddV2(x, y)
    to = Const[dtype=DT_INT32, value=i32[2] 3 -1]()
    same = Identity(to)
    z = Reshape(sum, same)
    u = Unpack[num=2](z)
  )");
  CHECK(t.of("sum") == "[?,3]");
  CHECK(t.of("z") == "[3,?]");
  CHECK(t.of("u", 1) == "?");
  CHECK(t.shapes.of({99, 0}) == PartialShape());
  CHECK(t.shapes.value_of({t.g.find("same")->id, 0}).has_value());
  CHECK_FALSE(t.shapes.value_of({t.g.find("sum")->id, 0}).has_value());
}

TEST_CASE("shapes: a loop variable keeps the dimensions that do not change") {
  constexpr std::string_view loop = R"(
    x = Placeholder[dtype=DT_FLOAT, shape=[4,3]]()
    enter = Enter[frame_name="f"](x)
    merge = Merge(enter, next)
    to = Const[dtype=DT_INT32, value=i32[2] TO]()
    body = Reshape(merge, to)
    next = NextIteration(body)
    exit = Exit(merge)
  )";
  auto with = [&](std::string_view to) {
    std::string text(loop);
    text.replace(text.find("TO]"), 2, to);
    return Inferred(text).of("exit");
  };
  CHECK(with("4 3") == "[4,3]");
  CHECK(with("7 3") == "[?,3]");
  CHECK(with("-1 -1") == "[?,?]");
}

TEST_CASE("shapes: a loop whose variable grows ends too") {
  Inferred t(R"(
    x = Placeholder[dtype=DT_FLOAT, shape=[1]]()
    enter = Enter[frame_name="f"](x)
    merge = Merge(enter, next)
    wide = Placeholder[dtype=DT_FLOAT, shape=[5,1]]()
    body = AddV2(merge, wide)
    next = NextIteration(body)
  )");
  CHECK(t.of("merge") == "?");
  CHECK(t.of("merge", 1) == "[]");
}

TEST_CASE("shapes: a merge without loop says what both branches agree on") {
  Inferred t(R"(
    x = Placeholder[dtype=DT_FLOAT, shape=[4,3]]()
    y = Placeholder[dtype=DT_FLOAT, shape=[5,3]]()
    merge = Merge(x, y)
  )");
  CHECK(t.of("merge") == "[?,3]");
}

TEST_CASE("shapes: an error names the node and its input shapes, or is ignored on demand") {
  OpRegistry ops = test_ops();
  auto g = parse_graph(R"(
    x = Placeholder[dtype=DT_FLOAT, shape=[2]]()
    y = Placeholder[dtype=DT_FLOAT, shape=[3]]()
    bad = AddV2(x, y)
  )",
                       ops);
  REQUIRE(g.ok());
  auto strict = infer_graph_shapes(*g);
  REQUIRE_FALSE(strict.ok());
  CHECK(strict.status().message().find("for '{{node bad}} = AddV2' with input shapes: [2], [3].") !=
        std::string::npos);
  auto lenient = infer_graph_shapes(*g, {.ignore_errors = true});
  REQUIRE(lenient.ok());
  CHECK_FALSE(lenient->of({g->find("bad")->id, 0}).has_rank());
}
