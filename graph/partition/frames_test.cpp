#include "graph/partition/frames.hpp"

#include "graph/passes/internal/test_text.hpp"

using namespace troupe;

namespace {

// for i in 0..n: for j in 0..n, with the inner loop's result discarded
constexpr auto nested = R"(
  zero = Const[dtype=DT_INT32, value=i32[] 0]()
  e = Enter[frame_name="outer", parallel_iterations=4](zero)
  m = Merge[T=DT_INT32, N=2](e, n)
  l = Less(m, m)
  c = LoopCond(l)
  s = Switch(m, c)
  x = Exit(s:0)
  e2 = Enter[frame_name="inner"](s:1)
  m2 = Merge[T=DT_INT32, N=2](e2, n2)
  l2 = Less(m2, m2)
  c2 = LoopCond(l2)
  s2 = Switch(m2, c2)
  n2 = NextIteration(s2:1)
  x2 = Exit(s2:0)
  n = NextIteration(x2)
  out = Neg(x)
)";

} // namespace

TEST_CASE("frames: an Enter belongs to the loop it opens, an Exit to the one it leaves") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(nested, ops);
  auto frames = find_frames(graph);
  REQUIRE_MESSAGE(frames.ok(), frames.status().to_string());
  REQUIRE(frames->frames.size() == 3);
  auto of = [&](std::string_view name) { return frames->of_node(*graph.find(name)); };
  CHECK(of("zero") == 0);
  CHECK(of("e") == 1);
  CHECK(of("m") == 1);
  CHECK(of("x") == 1);
  CHECK(of("out") == 0);
  CHECK(of("e2") == 2);
  CHECK(of("n2") == 2);
  CHECK(of("x2") == 2);
  CHECK(of("n") == 1);
  CHECK(frames->of_inputs(*graph.find("e2")) == 1);
  CHECK(frames->of_outputs(*graph.find("x2")) == 1);
  const Frame& inner = frames->frames[2];
  CHECK(inner.name == "inner");
  CHECK(inner.parent == 1);
  CHECK(inner.depth == 2);
  CHECK(inner.parallel_iterations == 10);
  CHECK(inner.loop_cond == graph.find("c2")->id);
  CHECK(frames->frames[1].parallel_iterations == 4);
}

TEST_CASE("frames: inputs from two frames are refused, and so is an Exit from nowhere") {
  OpRegistry ops = rewriting_test_ops();
  auto refuses = [&](std::string_view text, std::string_view part) {
    auto frames = find_frames(graph_of(text, ops));
    REQUIRE(!frames.ok());
    CHECK(frames.status().code() == Code::invalid_argument);
    CHECK_MESSAGE(frames.status().message().find(part) != std::string::npos,
                  frames.status().message());
  };
  refuses(R"(
    a = Placeholder[dtype=DT_FLOAT]()
    e = Enter[frame_name="f"](a)
    b = Add(e, a))",
          "{{node b}} has inputs from different frames. The input {{node e}} is in frame 'f'. The "
          "input "
          "{{node a}} is in frame ''.");
  refuses(R"(
    a = Placeholder[dtype=DT_FLOAT]()
    e = Enter[frame_name="f"](a)
    b = Neg(a) ^e)",
          "{{node b}} has inputs from different frames.");
  refuses("a = Placeholder[dtype=DT_FLOAT]()\nx = Exit(a)", "The node 'x' (Exit) leaves a loop");
}

TEST_CASE("frames: a graph without loops is all root") {
  OpRegistry ops = rewriting_test_ops();
  auto frames = find_frames(graph_of("a = NoOp()\nb = NoOp() ^a", ops));
  REQUIRE(frames.ok());
  CHECK(!frames->has_loops());
  CHECK(frames->of == std::vector<int>{0, 0});
}
