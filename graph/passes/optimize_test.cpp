#include "graph/passes/optimize.hpp"

#include <algorithm>
#include <functional>

#include "graph/passes/testing/rewriting.hpp"

using namespace troupe;

TEST_CASE("optimize: every pass has its own name and they run in order") {
  std::vector<std::string_view> names;
  for (const Pass& pass : all_passes())
    names.push_back(pass.name);
  CHECK(names.size() >= 6);
  CHECK(std::ranges::find(names, "fold_constants") != names.end());
  CHECK(std::ranges::is_sorted(all_passes(), {}, &Pass::order));
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST_CASE("optimize: an unknown pass cannot be switched off") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph(ops);
  Status status = optimize(graph, {.disabled = {"fold"}});
  CHECK(status.code() == Code::invalid_argument);
  CHECK(status.message().find("no optimisation pass 'fold'") != std::string::npos);
  CHECK(status.message().find("fold_constants") != std::string::npos);
}

TEST_CASE("optimize: a pass that is switched off neither runs nor is timed") {
  OpRegistry ops = rewriting_test_ops();
  std::vector<PassTiming> timings;
  OptimizeOptions options{.disabled = {"simplify"}, .preserve = {"fetch"}};
  Graph graph = rewritten(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Identity(x)
    fetch = Neg(a))",
                          options, &timings);
  CHECK(graph.find("a"));
  CHECK(!timings.empty());
  CHECK(std::ranges::find(timings, "simplify", &PassTiming::name) == timings.end());
}

TEST_CASE("optimize: stops where nobody waits for the graph any more") {
  OpRegistry ops = rewriting_test_ops();
  Arithmetic arithmetic;
  constexpr auto text = R"(
    a = Const[dtype=DT_FLOAT, value=f32[4] 1]()
    b = Neg(a)
    c = Neg(b)
    fetch = Square(c))";
  OptimizeOptions options{.preserve = {"fetch"}, .evaluator = &arithmetic};
  options.should_stop = [&] { return arithmetic.calls == 1; }; // in the midst of a pass
  Graph graph = graph_of(text, ops);
  Status status = optimize(graph, options);
  CHECK(status.code() == Code::cancelled);
  CHECK(arithmetic.calls == 1);
}

TEST_CASE("merge_equal_nodes: constants that are texts are told apart without comparing all") {
  OpRegistry ops = rewriting_test_ops();
  Graph graph(ops);
  constexpr int count = 2000;
  for (int i = 0; i < count; ++i) {
    auto node = graph.add(
        str_cat("c", i), "Const", {},
        {{"dtype", DType::string}, {"value", TensorBox{Tensor::scalar(str_cat("text ", i))}}});
    REQUIRE(node.ok());
    (*node)->assigned_device = "/job:a/replica:0/task:0/device:CPU:0";
    REQUIRE(graph.add(str_cat("i", i), "Identity", {{(*node)->id, 0}}).ok());
  }
  OptimizeOptions options{.max_rounds = 1};
  for (int i = 0; i < count; ++i)
    options.preserve.push_back(str_cat("i", i));
  std::vector<PassTiming> timings;
  REQUIRE(optimize(graph, options, &timings).ok());
  for (const PassTiming& timing : timings)
    CHECK(timing.work < 10 * count);
}

TEST_CASE("merge_equal_nodes: equal nodes become one, commuted ones too, to the end of the graph") {
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    a = Const[dtype=DT_FLOAT, value=f32[] 3]()
    b = Const[dtype=DT_FLOAT, value=f32[] 3]()
    c = Const[dtype=DT_FLOAT, value=f32[] 4]()
    x = Mul(fed, a)
    y = Mul(b, fed)
    u = Sub(fed, x)
    v = Sub(fed, y)
    fetch = AddN(u, v, c))",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    a = Const[dtype=DT_FLOAT, value=f32[] 3]()
    c = Const[dtype=DT_FLOAT, value=f32[] 4]()
    x = Mul(fed, a)
    u = Sub(fed, x)
    fetch = AddN(u, u, c))");
}

TEST_CASE("merge_equal_nodes: equal constants stay apart until they have a device") {
  constexpr auto unplaced = R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    a = Const[dtype=DT_FLOAT, value=f32[] 3]()
    b = Const[dtype=DT_FLOAT, value=f32[] 3]()
    fetch = AddN(fed, a, b))";
  becomes(unplaced, unplaced);
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    a = Const[dtype=DT_FLOAT, value=f32[] 3]() on "/job:a/replica:0/task:0/device:CPU:0"
    b = Const[dtype=DT_FLOAT, value=f32[] 3]() on "/job:a/replica:0/task:0/device:CPU:0"
    fetch = AddN(fed, a, b))",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    a = Const[dtype=DT_FLOAT, value=f32[] 3]() on "/job:a/replica:0/task:0/device:CPU:0"
    fetch = AddN(fed, a, a))");
}

TEST_CASE("merge_equal_nodes: state, devices, control inputs and attrs keep nodes apart") {
  constexpr auto text = R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    other = Placeholder[dtype=DT_FLOAT]()
    n = Const[dtype=DT_INT32, value=i32[1] 3]()
    r1 = RandomUniform[dtype=DT_FLOAT](n)
    r2 = RandomUniform[dtype=DT_FLOAT](n)
    v1 = VariableV2[dtype=DT_FLOAT]()
    v2 = VariableV2[dtype=DT_FLOAT]()
    d1 = Neg(fed) @"/device:CPU:0"
    d2 = Neg(fed) @"/device:CPU:1"
    c1 = Square(fed) ^other
    c2 = Square(fed)
    m1 = MatMul(fed, other)
    m2 = MatMul[transpose_a=true](fed, other)
    s1 = Sub(fed, other)
    s2 = Sub(other, fed)
    fetch = AddN(r1, r2, v1, v2, d1, d2, c1, c2, m1, m2, s1, s2))";
  becomes(text, text);
}

TEST_CASE("simplify: what is the same bit by bit is bypassed") {
  auto same_as_fed = [](std::string_view lines, std::string_view shape = "") {
    CAPTURE(lines);
    std::string fed = str_cat("fed = Placeholder[dtype=DT_FLOAT", shape, "]()\n");
    becomes(str_cat(fed, lines, "\nfetch = Square(x)"), str_cat(fed, "fetch = Square(fed)"));
  };
  constexpr auto of_rank_3 = ", shape=[?,?,?]";
  same_as_fed("x = Identity(fed)");
  same_as_fed("x = StopGradient(fed)");
  same_as_fed("a = Neg(fed)\nx = Neg(a)");
  same_as_fed("one = Const[dtype=DT_FLOAT, value=f32[] 1]()\nx = Mul(fed, one)");
  same_as_fed("one = Const[dtype=DT_FLOAT, value=f32[] 1]()\nx = Mul(one, fed)");
  same_as_fed("one = Const[dtype=DT_FLOAT, value=f32[] 1]()\nx = RealDiv(fed, one)");
  same_as_fed("zero = Const[dtype=DT_FLOAT, value=f32[] 0]()\nx = Sub(fed, zero)");
  same_as_fed("zero = Const[dtype=DT_FLOAT, value=f32[] -0]()\nx = Add(fed, zero)");
  same_as_fed("x = Cast[SrcT=DT_FLOAT, DstT=DT_FLOAT](fed)");
  same_as_fed("x = AddN(fed)");
  same_as_fed("none = Const[dtype=DT_INT32, value=i32[0]]()\nx = Sum(fed, none)");
  same_as_fed("p = Const[dtype=DT_INT32, value=i32[3] 0 1 2]()\nx = Transpose(fed, p)", of_rank_3);
  same_as_fed("p = Const[dtype=DT_INT32, value=i32[3] 1 2 0]()\na = Transpose(fed, p)\n"
              "q = Const[dtype=DT_INT32, value=i32[3] 2 0 1]()\nx = Transpose(a, q)",
              of_rank_3);
}

TEST_CASE("simplify: what is not the same for each float, shape or order stays") {
  auto stays = [](std::string_view lines) {
    CAPTURE(lines);
    std::string text =
        str_cat("fed = Placeholder[dtype=DT_FLOAT]()\n", lines, "\nfetch = Square(x)");
    becomes(text, text);
  };
  stays("c = Const[dtype=DT_FLOAT, value=f32[] 0]()\nx = Add(fed, c)"); // -0.0 + 0.0 is 0.0
  stays("c = Const[dtype=DT_FLOAT, value=f32[] 0]()\nx = Mul(fed, c)"); // NaN
  stays("c = Const[dtype=DT_FLOAT, value=f32[] 1]()\nx = FloorDiv(fed, c)");
  stays("c = Const[dtype=DT_FLOAT, value=f32[2] 1]()\nx = Mul(fed, c)"); // may broadcast
  stays("c = Const[dtype=DT_FLOAT, value=f32[] 1]()\nx = RealDiv(c, fed)");
  stays("x = Cast[SrcT=DT_FLOAT, DstT=DT_DOUBLE](fed)");
  stays("other = Placeholder[dtype=DT_FLOAT]()\nx = Identity(fed) ^other");
  stays("x = Identity(fed) @\"/device:CPU:1\"");
  stays("p = Const[dtype=DT_INT32, value=i32[3] 1 2 0]()\nx = Transpose(fed, p)");
  // What may fail is done, so that it does.
  stays("p = Const[dtype=DT_INT32, value=i32[3] 0 1 2]()\nx = Transpose(fed, p)");
  stays("p = Const[dtype=DT_INT32, value=i32[3] 1 2 0]()\na = Transpose(fed, p)\n"
        "q = Const[dtype=DT_INT32, value=i32[3] 2 0 1]()\nx = Transpose(a, q)");
  stays("p = Const[dtype=DT_INT32, value=i32[1,3] 0 1 2]()\nx = Transpose(fed, p)");
  for (const char* inner : {"i32[1] 3", "i32[2] -1 4", "i32[2] 0 2", "i32[2] -1 -1"})
    stays(str_cat("s = Const[dtype=DT_INT32, value=", inner,
                  "]()\na = Reshape(fed, s)\n"
                  "t = Const[dtype=DT_INT32, value=i32[1] 3]()\nx = Reshape(a, t)"));
  stays("v = VariableV2[dtype=DT_FLOAT]()\nx = Identity(v)"); // reads the variable now
}

TEST_CASE("simplify: inner reshapes and transposes disappear") {
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    s = Const[dtype=DT_INT32, value=i32[1] -1]()
    t = Placeholder[dtype=DT_INT32]()
    a = Reshape(fed, s)
    fetch = Square(b)
    b = Reshape(a, t))",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    t = Placeholder[dtype=DT_INT32]()
    b/folded = Reshape(fed, t)
    fetch = Square(b/folded))");
  for (const char* s : {"i32[2] -1 784", "i32[3] 7 -1 56", "i32[1] -1"})
    becomes(str_cat("fed = Placeholder[dtype=DT_FLOAT, shape=[?,28,28]]()\n"
                    "s = Const[dtype=DT_INT32, value=",
                    s,
                    "]()\nt = Placeholder[dtype=DT_INT32]()\na = Reshape(fed, s)\n"
                    "b = Reshape(a, t)\nfetch = Square(b)"),
            "fed = Placeholder[dtype=DT_FLOAT, shape=[?,28,28]]()\n"
            "t = Placeholder[dtype=DT_INT32]()\nb/folded = Reshape(fed, t)\n"
            "fetch = Square(b/folded)");
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    p = Const[dtype=DT_INT32, value=i32[3] 1 2 0]()
    a = Transpose(fed, p)
    b = Transpose(a, p)
    fetch = Square(b))",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    b/folded = Const[dtype=DT_INT32, value=i32[3] 2 0 1]()
    b/folded_1 = Transpose(fed, b/folded)
    fetch = Square(b/folded_1))");
}

TEST_CASE("simplify: who waited for a bypassed node waits for its input, unless that is a Switch") {
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    x = Identity(fed)
    after = NoOp() ^x
    keep = _Retval[index=0](fed) ^after)",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    after = NoOp() ^fed
    keep = _Retval[index=0](fed) ^after)",
          {"simplify", "remove_dead_nodes"});
  constexpr auto pivot = R"(
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(p, p)
    x = Identity(s:1)
    c = Const[dtype=DT_BOOL, value=bool[] true]() ^x
    fetch = Merge[T=DT_BOOL, N=2](c, s:0))";
  becomes(pivot, pivot);
}

TEST_CASE("simplify: who waited for a bypassed receive's reader does not outlive a dead value") {
  constexpr auto text = R"(
    r = _Recv[tensor_type=DT_FLOAT, tensor_name="e", send_device="a", recv_device="b", send_device_incarnation=1]()
    alive = Identity(r)
    fetch = NoOp() ^alive)";
  becomes(text, text);
}

TEST_CASE("optimize: TensorFlow's switches stand for passes, what we lack for none") {
  auto off = [](std::vector<std::string> disabled, std::vector<std::string> only) {
    auto names = passes_to_disable(disabled, only);
    REQUIRE_MESSAGE(names.ok(), names.status().to_string());
    std::ranges::sort(*names);
    return str_join(*names, " ");
  };
  std::vector<std::string> all;
  for (const Pass& pass : all_passes())
    all.emplace_back(pass.name);
  std::ranges::sort(all);
  CHECK(off({}, {}).empty());
  CHECK(off({"constant_folding"}, {}) == "fold_constants");
  CHECK(off({"arithmetic_optimization"}, {}) == "fuse_log_softmax merge_equal_nodes simplify");
  CHECK(off({"common_subgraph_elimination", "merge_equal_nodes"}, {}) == "merge_equal_nodes");
  CHECK(off({"layout_optimizer", "loop_optimization"}, {}).empty());
  CHECK(off({"meta_optimizer"}, {}) == str_join(all, " "));
  std::erase(all, "fold_constants");
  CHECK(off({}, {"constfold"}) == str_join(all, " "));
  CHECK(off({}, {"bogus"}) == off({"meta_optimizer"}, {})); // as TensorFlow, which knows none
  CHECK(off({}, {"constfold", "bogus"}) == off({}, {"constfold"}));
  std::vector<std::string> unknown{"constant_foldin"};
  Status status = passes_to_disable(unknown, {}).status();
  CHECK(status.code() == Code::invalid_argument);
  CHECK(status.message().find("'constant_foldin'") != std::string::npos);
  CHECK(status.message().find("fold_constants") != std::string::npos);
}

TEST_CASE("drop_control_edges: those beside a data edge or from a constant say nothing") {
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    c = Const[dtype=DT_FLOAT, value=f32[] 3]()
    a = Add(fed, c) ^fed ^c
    fetch = Square(fed) ^a)",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    c = Const[dtype=DT_FLOAT, value=f32[] 3]()
    a = Add(fed, c)
    fetch = Square(fed) ^a)",
          {"drop_control_edges"});
}

TEST_CASE("drop_unread_values: gradients that are only waited for are not computed") {
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    unread = MatMul[transpose_b=true](fed, w)
    also = Neg(unread) ^w
    read = MatMul[transpose_a=true](w, fed)
    all = NoOp() ^also ^read
    fetch = Identity(read) ^all)",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    read = MatMul[transpose_a=true](w, fed)
    fetch = Identity(read) ^read ^w ^fed)",
          {"drop_unread_values"});
}

TEST_CASE("drop_unread_values: checks, state, and what may be dead stay") {
  const char* kept = R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(fed, p)
    dies = Neg(s:1)
    r = RandomUniform[T=DT_INT32, dtype=DT_FLOAT](n)
    n = Const[dtype=DT_INT32, value=i32[0]]()
    fetch = Square(fed) ^dies ^r)";
  becomes(kept, kept, {"drop_unread_values"});
}

TEST_CASE("remove_dead_nodes: a dead loop goes as a whole, state stays") {
  becomes(R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    e = Enter[frame_name="f"](fed)
    m = Merge[T=DT_FLOAT, N=2](e, n)
    l = LoopCond(le)
    le = Enter[frame_name="f"](p)
    s = Switch(m, l)
    n = NextIteration(s:1)
    x = Exit(s:0)
    v = VariableV2[dtype=DT_FLOAT]()
    fetch = Square(fed))",
          R"(
    fed = Placeholder[dtype=DT_FLOAT]()
    v = VariableV2[dtype=DT_FLOAT]()
    fetch = Square(fed))");
}

TEST_CASE("optimize: the work grows like the graph") {
  OpRegistry ops = rewriting_test_ops();
  auto work_of = [&](int length) {
    Graph graph(ops);
    auto add = [&](std::string name, std::string_view op, std::vector<Endpoint> in, AttrMap attrs) {
      auto node = graph.add(name, op, std::move(in), std::move(attrs));
      REQUIRE(node.ok());
      return Endpoint{(*node)->id, 0};
    };
    Endpoint x = add("fed", "Placeholder", {}, {{"dtype", DType::float32}});
    Endpoint one = add("one", "Const", {},
                       {{"dtype", DType::float32}, {"value", TensorBox{Tensor::scalar(1.0F)}}});
    for (int i = 0; i < length; ++i) {
      Endpoint a = add(str_cat("a", i), "Square", {x}, {});
      Endpoint b = add(str_cat("b", i), "Square", {x}, {});
      Endpoint c = add(str_cat("c", i), "Mul", {a, one}, {});
      x = add(str_cat("x", i), "Add", {b, c}, {});
    }
    add("fetch", "Neg", {x}, {});
    std::vector<PassTiming> timings;
    REQUIRE(optimize(graph, {.preserve = {"fetch", "fed"}}, &timings).ok());
    CHECK(graph.num_nodes() == static_cast<std::size_t>(2 * length + 2));
    std::int64_t work = 0;
    for (const PassTiming& timing : timings)
      work += timing.work;
    return work;
  };
  std::int64_t small = work_of(200), large = work_of(800);
  CHECK(large > 3 * small);
  CHECK(large < 5 * small);
}
