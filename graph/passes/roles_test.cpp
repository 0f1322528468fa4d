// Ops that no pass has heard of, known by their roles alone.
#include <algorithm>

#include "graph/passes/internal/test_text.hpp"
#include "graph/passes/prune.hpp"

using namespace troupe;

namespace {

OpRegistry invented_ops() {
  OpRegistry ops = rewriting_test_ops();
  auto unary = [&](const char* name, RoleSet roles) {
    ops.add(SchemaBuilder(name)
                .input("x: T")
                .output("y: T")
                .attr("T: type")
                .roles(roles)
                .shape_fn(shape_unchanged)
                .not_differentiable("it is an op for tests")
                .build());
  };
  unary("Plain", {});
  unary("Dice", Role::random);
  unary("Journal", Role::side_effect);
  unary("Await", Role::blocks);
  unary("Guard", Role::check);
  unary("Hand", Role::passes_on);
  ops.add(SchemaBuilder("Corners")
              .input("x: T")
              .output("y: int32")
              .attr("T: type")
              .roles(Role::metadata)
              .shape_fn([](ShapeContext& c) -> Status {
                TROUPE_TRY(c.set_output(0, Shape{}));
                if (c.input(0).has_rank())
                  c.set_output_value(0, Tensor::scalar(std::int32_t{1} << c.input(0).rank()));
                return {};
              })
              .not_differentiable("it is an op for tests")
              .build());
  ops.add(SchemaBuilder("Fork")
              .input("x: T; which: bool")
              .output("no: T; yes: T")
              .attr("T: type")
              .roles(Role::branch)
              .shape_fn(shape_unchanged)
              .not_differentiable("it is an op for tests")
              .build());
  ops.add(SchemaBuilder("Wish")
              .output("y: T")
              .attr("T: type")
              .roles(Role::placeholder)
              .shape_fn(shape_unknown)
              .not_differentiable("it is an op for tests")
              .build());
  return ops;
}

// Says that it can compute everything: what it is asked for, a pass took to be foldable.
class Eager final : public ConstantEvaluator {
public:
  bool can_evaluate(const Node&) const override { return true; }
  Result<std::vector<Tensor>> evaluate(const Node& node, std::span<const Tensor> in) override {
    asked.push_back(node.op_name());
    return std::vector<Tensor>(node.output_types.size(), in[0]);
  }
  std::vector<std::string> asked;
};

Graph optimized(const OpRegistry& ops, std::string_view text,
                ConstantEvaluator* evaluator = nullptr, std::vector<std::string> disabled = {}) {
  Graph graph = graph_of(text, ops);
  OptimizeOptions options;
  options.preserve = {"fetch"};
  options.evaluator = evaluator;
  options.disabled = std::move(disabled);
  options.verify = true;
  Status status = optimize(graph, options);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return graph;
}

} // namespace

TEST_CASE("roles: randomness, effects and waiting are neither folded nor merged") {
  const OpRegistry ops = invented_ops();
  for (const char* op : {"Dice", "Journal", "Await", "Plain"}) {
    Eager eager;
    Graph graph = optimized(ops,
                            str_cat(R"(
      c = Const[dtype=DT_FLOAT, value=f32[] 1]()
      a = )",
                                    op, "(c)\n b = ", op, "(c)\n fetch = AddN(a, b)"),
                            &eager);
    const bool is_plain = std::string_view(op) == "Plain";
    CHECK_MESSAGE((std::ranges::count(eager.asked, op) > 0) == is_plain, op);
    CHECK_MESSAGE((graph.find("a") != nullptr) == !is_plain, op);
    CHECK_MESSAGE((graph.find("b") != nullptr) == !is_plain, op);
  }
}

TEST_CASE("roles: of two equal nodes one stays, of two equal dice both") {
  const OpRegistry ops = invented_ops();
  for (const char* op : {"Plain", "Guard", "Dice"}) {
    Graph graph = optimized(ops, str_cat(R"(
      x = Placeholder[dtype=DT_FLOAT]()
      a = )",
                                         op, "(x)\n b = ", op, "(x)\n fetch = AddN(a, b)"));
    CHECK_MESSAGE((graph.find("b") != nullptr) == (std::string_view(op) == "Dice"), op);
  }
}

TEST_CASE("roles: what nobody reads goes, unless it has an effect") {
  const OpRegistry ops = invented_ops();
  constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]()
    thrown = Dice(x)
    idle = Plain(x)
    written = Journal(x)
    fetch = Neg(x))";
  Graph graph = optimized(ops, text);
  CHECK(!graph.find("thrown"));
  CHECK(!graph.find("idle"));
  CHECK(graph.find("written"));
}

TEST_CASE("roles: a check that others wait for runs, though nobody reads it") {
  const OpRegistry ops = invented_ops();
  for (const char* op : {"Guard", "Plain"}) {
    Graph graph = optimized(ops, str_cat(R"(
      x = Placeholder[dtype=DT_FLOAT]()
      seen = )",
                                         op, "(x)\n fetch = Neg(x) ^seen"));
    CHECK_MESSAGE((graph.find("seen") != nullptr) == (std::string_view(op) == "Guard"), op);
  }
}

TEST_CASE("roles: what passes its input on is bypassed") {
  const OpRegistry ops = invented_ops();
  Graph graph = optimized(ops, R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Hand(x)
    fetch = Neg(a))");
  CHECK(!graph.find("a"));
}

TEST_CASE("roles: a number that shapes alone decide becomes a constant") {
  const OpRegistry ops = invented_ops();
  Graph graph = optimized(ops, R"(
    x = Placeholder[dtype=DT_FLOAT, shape=[?,3]]()
    a = Corners(x)
    fetch = Neg(a))");
  const Node& source = *graph.node(graph.find("fetch")->inputs[0].node);
  REQUIRE(source.has_role(Role::constant));
  CHECK(source.attrs.get<Tensor>("value")->value<std::int32_t>() == 4);
}

TEST_CASE("roles: what dies alone with its branch is not waited for in its stead") {
  const OpRegistry ops = invented_ops();
  constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Fork(x, p)
    a = Identity(s:1)
    fetch = Const[dtype=DT_FLOAT, value=f32[] 1]() ^a)";
  Graph graph = optimized(ops, text);
  REQUIRE(graph.find("a")); // a control edge from the fork would not be dead
  CHECK(graph.find("fetch")->control_inputs == std::vector<NodeId>{graph.find("a")->id});
}

TEST_CASE("roles: a fed placeholder's control edges come from the fed value") {
  const OpRegistry ops = invented_ops();
  Graph graph = graph_of(R"(
    w = Wish[T=DT_FLOAT]()
    x = Placeholder[dtype=DT_FLOAT]()
    fetch = Neg(x) ^w)",
                         ops);
  auto types = prune(graph, {.feeds = {"w", "x"}, .fetches = {"fetch"}, .targets = {}});
  REQUIRE_MESSAGE(types.ok(), types.status().to_string());
  CHECK(!graph.find("w"));
  REQUIRE(graph.find("fetch")->control_inputs.size() == 1);
  CHECK(graph.node(graph.find("fetch")->control_inputs[0])->has_role(Role::argument));
}

TEST_CASE("roles: a set of roles says which it has") {
  constexpr RoleSet set{Role::merge, Role::flat};
  CHECK(set.has(Role::merge));
  CHECK(!set.has(Role::enter));
  CHECK(set.has_any({Role::enter, Role::flat}));
  CHECK(!set.has_any({Role::enter, Role::exit}));
  CHECK(RoleSet().empty());
  CHECK(to_string(set) == "merge, flat");
  CHECK(to_string(Role::takes_any_handle) == "takes_any_handle");
}
