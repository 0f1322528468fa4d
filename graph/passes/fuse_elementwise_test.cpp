#include <algorithm>

#include "graph/passes/internal/test_text.hpp"
#include "graph/passes/optimize.hpp"

using namespace troupe;

namespace {

void trees_become(std::string_view before, std::string_view after) {
  check_fused("fuse_elementwise", before, after);
}

} // namespace

TEST_CASE("fuse_elementwise: a tree of ops becomes one under the name of its root") {
  trees_become(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Placeholder[dtype=DT_FLOAT]()
    a = Mul(x, y)
    b = Square(a)
    c = Add(b, x)
    fetch = _Retval[index=0](c))",
               R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Placeholder[dtype=DT_FLOAT]()
    c = _FusedElementwise[program=["Mul 0 1", "Square 2", "Add 3 0"]](x, y)
    fetch = _Retval[index=0](c))");
}

TEST_CASE("fuse_elementwise: a value that is read elsewhere stays a node of its own") {
  trees_become(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Neg(x)
    b = Square(a)
    c = Add(b, a)
    d = Neg(b)
    kept = Neg(d)
    fetch = AddN(c, kept))",
               R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Neg(x)
    b = Square(a)
    c = Add(b, a)
    d = Neg(b)
    kept = Neg(d)
    fetch = AddN(c, kept))");
}

TEST_CASE("fuse_elementwise: a value that the group reads twice is computed once") {
  trees_become(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Neg(x)
    b = Square(a)
    c = Add(b, a)
    fetch = _Retval[index=0](c))",
               R"(
    x = Placeholder[dtype=DT_FLOAT]()
    c = _FusedElementwise[program=["Neg 0", "Square 1", "Add 2 1"]](x)
    fetch = _Retval[index=0](c))");
}

TEST_CASE("fuse_elementwise: control edges, other devices, dtypes and layouts keep ops apart") {
  constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]()
    i = Placeholder[dtype=DT_INT32]()
    j = Neg(i)
    k = Neg(j)
    a = Neg(x)
    b = Square(a) ^i
    c = Neg(b) @"/device:CPU:1"
    d = BiasAdd[data_format="NCHW"](c, x) @"/device:CPU:1"
    e = MatMul(d, x)
    f = Neg(e)
    g = NoOp() ^f
    fetch = AddN(f, x) ^k)";
  trees_become(text, text);
}

TEST_CASE("fuse_elementwise: a long chain becomes nodes of bounded length, in linear work") {
  auto work_of = [](int length) {
    OpRegistry ops = fusing_test_ops();
    Graph graph(ops);
    auto x = graph.add("x", "Placeholder", {}, {{"dtype", DType::float32}});
    REQUIRE(x.ok());
    Endpoint last{(*x)->id, 0};
    for (int i = 0; i < length; ++i) {
      auto next = graph.add("n" + std::to_string(i), "Neg", {last});
      REQUIRE(next.ok());
      last = {(*next)->id, 0};
    }
    REQUIRE(graph.add("fetch", "_Retval", {last}, {{"index", std::int64_t{0}}}).ok());
    std::vector<PassTiming> timings;
    OptimizeOptions options;
    options.preserve = {"fetch", "x"};
    options.disabled = {"simplify"};
    REQUIRE(optimize(graph, options, &timings).ok());
    CHECK(graph.num_nodes() <= static_cast<std::size_t>(length / 16 + 3));
    std::int64_t work = 0;
    for (const PassTiming& timing : timings)
      work += timing.name == "fuse_elementwise" ? timing.work : 0;
    return work;
  };
  const std::int64_t small = work_of(400), large = work_of(1600);
  CHECK(large < 5 * small);
}

TEST_CASE("fuse_elementwise: the members are kept, line by line") {
  OpRegistry ops = fusing_test_ops();
  Graph graph = graph_of(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Placeholder[dtype=DT_FLOAT]()
    first = Sub(x, y)
    second = Mul(first, first)
    last = Relu(second)
    fetch = AddN(last, x))",
                         ops);
  REQUIRE(optimize(graph, {.preserve = {"fetch"}}).ok());
  const Node* fused = graph.find("last");
  REQUIRE(fused != nullptr);
  REQUIRE(fused->is_op("_FusedElementwise"));
  CHECK(fused->attrs.get_or<std::vector<std::string>>("_members", {}) ==
        std::vector<std::string>{"Sub first", "Mul second", "Relu last"});
}
