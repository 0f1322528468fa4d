#include "graph/autodiff/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "graph/ir/verify.hpp"
#include "graph/op/grad_context.hpp"
#include "graph/op/shape_context.hpp"
#include "graph/op/test_roles.hpp"

using namespace troupe;

namespace {

// Scalars only; enough ops for every way in which a gradient can travel.
OpRegistry ops_with_gradients() {
  OpRegistry ops;
  auto plain = [&](SchemaBuilder& b, const char* why = "it is an op for tests") {
    ops.add(with_test_roles(b.not_differentiable(why).build()));
  };
  auto unary = [&](const char* name, GradientFn gradient) {
    SchemaBuilder b(name);
    b.input("x: T").output("y: T").attr("T: type").shape_fn(shape_unchanged);
    b.roles(test_roles(name));
    gradient ? ops.add(b.gradient(gradient).build())
             : ops.add(b.not_differentiable("nobody wrote it down").build());
  };
  auto binary = [&](const char* name, GradientFn gradient) {
    ops.add(SchemaBuilder(name)
                .input("x: T; y: T")
                .output("z: T")
                .attr("T: type")
                .shape_fn(shape_broadcast_binary)
                .gradient(gradient)
                .build());
  };
  plain(SchemaBuilder("Const")
            .output("y: dtype")
            .attr("value: tensor; dtype: type")
            .shape_fn([](ShapeContext& c) -> Status {
              TROUPE_ASSIGN(Tensor value, c.attr<Tensor>("value"));
              return c.set_output(0, value.shape());
            }));
  plain(SchemaBuilder("Placeholder")
            .output("output: dtype")
            .attr("dtype: type = DT_FLOAT; shape: shape = {}")
            .shape_fn([](ShapeContext& c) -> Status {
              TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
              return c.set_output(0, shape);
            }));
  unary("Identity", [](GradContext& g) { return g.set_input_grad(0, g.output_grad(0)); });
  unary("Neg", [](GradContext& g) { return g.set_input_grad(0, g.neg(g.output_grad(0))); });
  unary("Square", [](GradContext& g) {
    Value two = g.scalar_like(g.input(0), 2);
    return g.set_input_grad(0, g.mul(g.output_grad(0), g.mul(two, g.input(0))));
  });
  unary("ZerosLike", nullptr);
  unary("StopGradient", nullptr);
  unary("Mystery", nullptr);
  unary("Enter", nullptr);
  unary("Exit", nullptr);
  unary("NextIteration", nullptr);
  unary("Broken", [](GradContext& g) {
    return g.set_input_grad(0, g.mul(g.op("Missing", {g.input(0)}), g.output_grad(0)));
  });
  for (const char* name : {"Add", "AddV2"})
    binary(name, [](GradContext& g) {
      TROUPE_TRY(g.set_input_grad(0, g.output_grad(0)));
      return g.set_input_grad(1, g.output_grad(0));
    });
  binary("Mul", [](GradContext& g) {
    TROUPE_TRY(g.set_input_grad(0, g.mul(g.output_grad(0), g.input(1))));
    return g.set_input_grad(1, g.mul(g.output_grad(0), g.input(0)));
  });
  ops.add(SchemaBuilder("Cast")
              .input("x: SrcT")
              .output("y: DstT")
              .attr("SrcT: type; DstT: type")
              .shape_fn(shape_unchanged)
              .gradient([](GradContext& g) { return g.set_input_grad(0, Value{}); })
              .build());
  plain(SchemaBuilder("AddN")
            .input("in: N * T")
            .output("sum: T")
            .attr("N: int >= 1; T: type")
            .shape_fn(shape_merge_inputs));
  plain(SchemaBuilder("Equal").input("x: T; y: T").output("z: bool").attr("T: type"));
  plain(SchemaBuilder("Shape")
            .input("x: T")
            .output("y: int32")
            .attr("T: type")
            .shape_fn(shape_of_dims));
  plain(SchemaBuilder("Fill").input("dims: int32; value: T").output("y: T").attr("T: type"));
  plain(SchemaBuilder("Refuses").input("x: T").output("y: T").attr("T: type").gradient(
      [](GradContext&) { return invalid_argument("nothing passes back"); }));
  plain(SchemaBuilder("Switch")
            .input("data: T; pred: bool")
            .output("f: T; t: T")
            .attr("T: type")
            .shape_fn(shape_unchanged));
  plain(SchemaBuilder("Merge")
            .input("in: N * T")
            .output("y: T; index: int32")
            .attr("T: type; N: int >= 1"));
  plain(SchemaBuilder("VariableV2")
            .output("ref: Ref(dtype)")
            .attr("dtype: type = DT_FLOAT")
            .stateful());
  plain(
      SchemaBuilder("VarHandleOp").output("h: resource").attr("dtype: type = DT_FLOAT").stateful());
  ops.add(SchemaBuilder("ReadVariableOp")
              .input("h: resource")
              .output("value: dtype")
              .attr("dtype: type = DT_FLOAT")
              .stateful()
              .gradient([](GradContext& g) { return g.set_input_grad(0, g.output_grad(0)); })
              .build());
  return ops;
}

// Runs a graph of scalars; NaN marks what is dead.
class Interpreter {
public:
  Interpreter(const Graph& graph, std::map<std::string, double> fed)
      : graph_(graph), fed_(std::move(fed)) {}

  double operator()(Endpoint e) {
    if (auto known = values_.find(e); known != values_.end())
      return known->second;
    return values_[e] = compute(*graph_.node(e.node), e.slot);
  }

private:
  double in(const Node& n, int i) { return (*this)(n.inputs[static_cast<std::size_t>(i)]); }

  double compute(const Node& n, int slot) {
    const std::string& op = n.op_name();
    if (auto fed = fed_.find(n.name); fed != fed_.end())
      return fed->second;
    if (op == "Const") {
      Tensor value = *n.attrs.get<Tensor>("value");
      return value.dtype() == DType::int32 ? value.value<std::int32_t>() : value.value<float>();
    }
    if (op == "Identity" || op == "StopGradient" || op == "ReadVariableOp")
      return in(n, 0);
    if (op == "Fill")
      return in(n, 1);
    if (op == "Neg")
      return -in(n, 0);
    if (op == "Square")
      return in(n, 0) * in(n, 0);
    if (op == "ZerosLike")
      return in(n, 0) * 0;
    if (op == "Mul")
      return in(n, 0) * in(n, 1);
    if (op == "Equal")
      return in(n, 0) == in(n, 1);
    if (op == "Switch")
      return in(n, 1) == slot ? in(n, 0) : std::nan("");
    if (op == "Merge")
      for (int i = 0; i < n.num_inputs(); ++i)
        if (double value = in(n, i); !std::isnan(value))
          return slot == 0 ? value : i;
    if (op == "Add" || op == "AddV2" || op == "AddN") {
      double sum = 0;
      for (int i = 0; i < n.num_inputs(); ++i)
        sum += in(n, i);
      return sum;
    }
    return std::nan("");
  }

  const Graph& graph_;
  std::map<std::string, double> fed_;
  std::map<Endpoint, double> values_;
};

struct Case {
  OpRegistry ops = ops_with_gradients();
  Graph graph{ops};

  explicit Case(std::string_view text) {
    auto parsed = parse_graph(text, ops);
    REQUIRE_MESSAGE(parsed.ok(), parsed.status().to_string());
    graph = *std::move(parsed);
  }
  Endpoint at(std::string_view name) {
    auto parsed = parse_tensor_name(name);
    return {graph.find(parsed->node)->id, parsed->slot};
  }
  std::vector<Endpoint> ends(std::initializer_list<const char*> names) {
    std::vector<Endpoint> out;
    for (const char* name : names)
      out.push_back(at(name));
    return out;
  }
  std::vector<std::optional<Endpoint>> gradients(std::initializer_list<const char*> ys,
                                                 std::initializer_list<const char*> xs,
                                                 GradientOptions options = {}) {
    auto result = add_gradients(graph, ends(ys), ends(xs), {}, options);
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    Status sound = verify(graph);
    CHECK_MESSAGE(sound.ok(), sound.to_string());
    return *result;
  }
  double run(std::optional<Endpoint> e, std::map<std::string, double> fed) {
    REQUIRE(e.has_value());
    return Interpreter(graph, std::move(fed))(*e);
  }
  std::string error(std::initializer_list<const char*> ys, std::initializer_list<const char*> xs,
                    Code code) {
    auto result = add_gradients(graph, ends(ys), ends(xs));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == code);
    return result.status().message();
  }
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace

TEST_CASE("gradients: products and powers, where several paths meet they add up") {
  Case t(R"(
    x = Placeholder()
    y = Placeholder()
    xy = Mul(x, y)
    xx = Square(x)
    z = Add(xy, xx))"); // dz/dx = y + 2x, dz/dy = x
  auto g = t.gradients({"z"}, {"x", "y"});
  CHECK(t.run(g[0], {{"x", 3}, {"y", 5}}) == 11);
  CHECK(t.run(g[1], {{"x", 3}, {"y", 5}}) == 3);
  CHECK(t.graph.find("gradients/AddN"));
}

TEST_CASE("gradients: several ys are summed, an x may lie in the middle or be a y") {
  Case t(R"(
    x = Placeholder()
    m = Square(x)
    y1 = Neg(m)
    y2 = Mul(m, x))");
  auto g = t.gradients({"y1", "y2", "m"}, {"m", "x", "y1"});
  CHECK(t.run(g[0], {{"x", 3}}) == 3);      // -1 + x + 1
  CHECK(t.run(g[1], {{"x", 3}}) == 18 + 9); // (-1 + x + 1) * 2x + x^2
  CHECK(t.run(g[2], {{"x", 3}}) == 1);
}

TEST_CASE("gradients: given ones start from grad_ys, none stands for ones") {
  Case t(R"(
    x = Placeholder()
    seed = Placeholder()
    y1 = Square(x)
    y2 = Neg(x))");
  std::vector<std::optional<Endpoint>> grad_ys = {t.at("seed"), std::nullopt};
  auto g = add_gradients(t.graph, t.ends({"y1", "y2"}), t.ends({"x"}), grad_ys);
  REQUIRE_MESSAGE(g.ok(), g.status().to_string());
  CHECK(t.run((*g)[0], {{"x", 3}, {"seed", 10}}) == 59);
  grad_ys.pop_back();
  auto short_list = add_gradients(t.graph, t.ends({"y1", "y2"}), t.ends({"x"}), grad_ys);
  CHECK(short_list.status().code() == Code::invalid_argument);
}

TEST_CASE("gradients: nothing flows where y does not depend on x, nor through integers or stops") {
  Case t(R"(
    x = Placeholder()
    other = Placeholder()
    i = Cast[DstT=DT_INT32](x)
    back = Cast[DstT=DT_FLOAT](i)
    stopped = StopGradient(x)
    zero = ZerosLike(x)
    a = Add(back, stopped)
    b = Add(zero, other)
    z = Add(a, b))");
  auto g = t.gradients({"z"}, {"x", "other"});
  CHECK(!g[0].has_value());
  CHECK(g[1].has_value());
  std::size_t before = t.graph.num_nodes();
  auto none = t.gradients({"other", "i"}, {"x"});
  CHECK(!none[0].has_value());
  CHECK(t.graph.num_nodes() == before);
}

TEST_CASE("gradients: stop_at makes outputs constants, their own gradient is partial") {
  Case t(R"(
    a = Placeholder()
    b = Square(a)
    y = Add(a, b))");
  GradientOptions options;
  options.stop_at = t.ends({"a", "b"});
  auto g = t.gradients({"y"}, {"a", "b"}, options);
  CHECK(t.run(g[0], {{"a", 7}}) == 1);
  CHECK(t.run(g[1], {{"a", 7}}) == 1);
}

TEST_CASE("gradients: of a variable's reference or handle is that of all its reads") {
  Case t(R"(
    v = VariableV2()
    r1 = Identity(v)
    r2 = Identity(v)
    h = VarHandleOp()
    s1 = ReadVariableOp(h)
    s2 = ReadVariableOp(h)
    a = Mul(r1, s1)
    b = Mul(r2, s2)
    c = Mul(v, s2)
    ab = Add(a, b)
    y = Add(ab, c))");
  auto g = t.gradients({"y"}, {"v", "h", "s1"});
  std::map<std::string, double> values = {{"v", 3}, {"h", 5}};
  CHECK(t.run(g[0], values) == 15);
  CHECK(t.run(g[1], values) == 9);
  CHECK(t.run(g[2], values) == 3);
  CHECK(t.graph.node(g[0]->node)->output_types[0] == DType::float32);
}

TEST_CASE("gradients: new nodes stand in their scope, on the forward node's device, beside it") {
  Case t(R"(
    x = Placeholder() @"/job:ps"
    layer/y = Square(x) @"/job:worker"
    z = Neg[_class=["loc:@x"]](layer/y))");
  t.gradients({"z"}, {"x"});
  const Node* node = t.graph.find("gradients/layer/y_grad/Mul");
  REQUIRE(node);
  CHECK(node->device == "/job:worker");
  CHECK(*node->attrs.get<std::vector<std::string>>("_class") ==
        std::vector<std::string>{"loc:@layer/y"});
  const Node* neg = t.graph.find("gradients/z_grad/Neg");
  REQUIRE(neg);
  CHECK(*neg->attrs.get<std::vector<std::string>>("_class") == std::vector<std::string>{"loc:@x"});
  t.gradients({"z"}, {"x"}, {.scope = "gradients", .colocate = false});
  const Node* second = t.graph.find("gradients_1/z_grad/Neg");
  REQUIRE(second);
  CHECK(!second->attrs.contains("_class"));
}

TEST_CASE("gradients: a tensor of unknown shape starts from a Fill of its shape") {
  Case t(R"(
    x = Placeholder[shape=[?,3]]()
    y = Neg(x))");
  t.gradients({"y"}, {"x"});
  CHECK(t.graph.find("gradients/Fill"));
  CHECK(t.graph.find("gradients/Shape"));
}

TEST_CASE("gradients: an op without rule on the way is an error with its reason, elsewhere none") {
  Case t(R"(
    x = Placeholder()
    w = Placeholder()
    m = Mystery(x)
    y = Mul(m, w))");
  CHECK(t.error({"y"}, {"x"}, Code::invalid_argument) ==
        "No gradient defined for operation 'm' (op type: Mystery): nobody wrote it down");
  CHECK(t.gradients({"y"}, {"w"})[0].has_value());
}

TEST_CASE("gradients: a rule that refuses says why, and for which node") {
  Case t("x = Placeholder()\ny = Refuses(x)");
  CHECK(t.error({"y"}, {"x"}, Code::invalid_argument) ==
        "the gradient of node 'y' (Refuses): nothing passes back");
}

TEST_CASE("gradients: a rule that does not conjugate complex numbers is refused") {
  Case t("x = Placeholder[dtype=DT_COMPLEX64]()\ny = Square[T=DT_COMPLEX64](x)\n"
         "g = Placeholder[dtype=DT_COMPLEX64]()");
  auto refused =
      add_gradients(t.graph, std::vector<Endpoint>{t.at("y")}, std::vector<Endpoint>{t.at("x")},
                    std::vector<std::optional<Endpoint>>{t.at("g")});
  CHECK(refused.status().code() == Code::unimplemented);
  CHECK(contains(refused.status().message(), "node 'y' (op type: Square)"));

  Case linear("x = Placeholder[dtype=DT_COMPLEX64]()\ny = Neg[T=DT_COMPLEX64](x)\n"
              "g = Placeholder[dtype=DT_COMPLEX64]()");
  CHECK(add_gradients(linear.graph, std::vector<Endpoint>{linear.at("y")},
                      std::vector<Endpoint>{linear.at("x")},
                      std::vector<std::optional<Endpoint>>{linear.at("g")})
            .ok());
}

TEST_CASE("gradients: a rule's failure names its node") {
  Case t("x = Placeholder()\ny = Broken(x)");
  std::string message = t.error({"y"}, {"x"}, Code::not_found);
  CHECK(contains(message, "the gradient of node 'y' (Broken)"));
  CHECK(contains(message, "Missing"));
}

TEST_CASE("gradients: endpoints that do not exist are refused") {
  Case t("x = Placeholder()\ny = Neg(x)");
  std::vector<Endpoint> bad_slot = {{0, 3}}, bad_node = {{99, 0}}, y = {{1, 0}};
  auto slot = add_gradients(t.graph, y, bad_slot);
  CHECK(slot.status().code() == Code::invalid_argument);
  CHECK(contains(slot.status().message(), "xs[0] is output 3 of node 'x', which has 1"));
  auto node = add_gradients(t.graph, bad_node, y);
  CHECK(contains(node.status().message(), "ys[0] names no node"));
}

TEST_CASE("gradients: conditionals, whichever branch is taken") {
  // y = p ? x * x : -w, with x also read outside
  Case t(R"(
    p = Placeholder[dtype=DT_BOOL]()
    x = Placeholder()
    w = Placeholder()
    sx = Switch(x, p)
    sw = Switch(w, p)
    on = Square(sx:1)
    off = Neg(sw:0)
    m = Merge[T=DT_FLOAT, N=2](off, on)
    y = Mul(m, x))");
  auto g = t.gradients({"y"}, {"x", "w"});
  std::map<std::string, double> taken = {{"p", 1}, {"x", 3}, {"w", 5}};
  CHECK(t.run(g[0], taken) == 27); // d x^3
  CHECK(t.run(g[1], taken) == 0);
  std::map<std::string, double> other = {{"p", 0}, {"x", 3}, {"w", 5}};
  CHECK(t.run(g[0], other) == -5);
  CHECK(t.run(g[1], other) == -3);
}

TEST_CASE("gradients: loops are refused in a sentence") {
  Case t(R"(
    x = Placeholder()
    p = Placeholder[dtype=DT_BOOL]()
    e = Enter(x)
    ep = Enter(p)
    m = Merge[T=DT_FLOAT, N=2](e, n)
    s = Switch(m, ep)
    n = NextIteration(s:1)
    y = Exit(s:0))");
  CHECK(contains(t.error({"y"}, {"x"}, Code::unimplemented),
                 "Gradients through while loops are not supported: node 'y' (op type: Exit)"));
}

TEST_CASE("gradients: a long chain costs as many nodes as it has") {
  Case t("x = Placeholder()");
  Endpoint end = t.at("x");
  for (int i = 0; i < 20000; ++i) {
    auto node = t.graph.add(str_cat("n", i), "Neg", {end});
    REQUIRE(node.ok());
    end = {(*node)->id, 0};
  }
  std::vector<Endpoint> ys = {end}, xs = t.ends({"x"});
  REQUIRE(add_gradients(t.graph, ys, xs).ok());
  CHECK(t.graph.num_nodes() == 40002);
}
