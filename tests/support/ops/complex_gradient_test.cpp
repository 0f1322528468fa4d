// Gradients through complex numbers against central differences: d/d(real part) + i d/d(imaginary
// part) of a real loss.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>

#include "core/base/strings.hpp"
#include "graph/autodiff/gradients.hpp"
#include "graph/ir/text.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::testing {
namespace {

using Complex = std::complex<double>;

Tensor x_value() {
  return Tensor::of<Complex>({2, 2}, {{1, 2}, {-0.5, 0.25}, {0.75, -1.5}, {0.5, 0.5}});
}
Tensor w_value() {
  return Tensor::of<Complex>({2, 2}, {{0.5, -1}, {2, 0.25}, {0.25, 1}, {1, 1}});
}

Graph parse(std::string_view text) {
  auto graph = parse_graph(text, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  return *std::move(graph);
}

/// `y`: its op and inputs, or lines of which the last defines it.
std::string graph_of(std::string_view op, bool is_real) {
  const std::string y =
      op.find("y = ") == std::string_view::npos ? str_cat("y = ", op) : std::string(op);
  const std::string inputs = "x = Placeholder[dtype=DT_COMPLEX128]()\n"
                             "w = Placeholder[dtype=DT_COMPLEX128]()\n";
  if (is_real)
    return str_cat(inputs, y, "\nloss = L2Loss(y)");
  return str_cat(inputs, y, "\nre = Real[Tout=DT_DOUBLE](y)\nim = Imag[Tout=DT_DOUBLE](y)\n",
                 "a = L2Loss(re)\nb = L2Loss(im)\nloss = AddV2(a, b)");
}

double loss_of(const Graph& graph, const Tensor& x, const Tensor& w) {
  auto out = evaluate(graph, {{"x", x}, {"w", w}}, {"loss"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return (*out)[0].value<double>();
}

/// Holds the gradient by `name` to differences of the loss.
void check_one(const Graph& graph, const std::string& name, const Tensor& gradient) {
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < 4; ++i) {
    double slopes[2];
    for (int part : {0, 1}) {
      double losses[2];
      for (int side : {0, 1}) {
        Tensor x = x_value().deep_copy(), w = w_value().deep_copy();
        Complex& moved = (name == "x" ? x : w).mutable_data<Complex>()[i];
        const double by = side == 0 ? -step : step;
        moved += part == 0 ? Complex(by, 0) : Complex(0, by);
        losses[side] = loss_of(graph, x, w);
      }
      slopes[part] = (losses[1] - losses[0]) / (2 * step);
    }
    const Complex want(slopes[0], slopes[1]), got = gradient.data<Complex>()[i];
    CHECK_MESSAGE(std::abs(got - want) <= 1e-6 * (1 + std::abs(want)), "by ", name, "[", i,
                  "]: ", got.real(), " + ", got.imag(), "i, differences give ", want.real(), " + ",
                  want.imag(), "i");
  }
}

void check(std::string_view y, bool is_real = false) {
  CAPTURE(y);
  Graph graph = parse(graph_of(y, is_real));
  const Graph forward = parse(graph_of(y, is_real));
  const auto end = [&](const char* name) { return Endpoint{graph.find(name)->id, 0}; };
  const bool uses_w = y.find("w") != std::string_view::npos;
  std::vector<Endpoint> xs{end("x")};
  if (uses_w)
    xs.push_back(end("w"));
  auto gradients = add_gradients(graph, std::vector{end("loss")}, xs);
  REQUIRE_MESSAGE(gradients.ok(), gradients.status().to_string());
  const char* names[] = {"x", "w"};
  for (std::size_t i = 0; i < xs.size(); ++i) {
    REQUIRE((*gradients)[i]);
    const Endpoint at = *(*gradients)[i];
    auto value = evaluate(graph, {{"x", x_value()}, {"w", w_value()}},
                          {str_cat(graph.node(at.node)->name, ":", at.slot)});
    REQUIRE_MESSAGE(value.ok(), value.status().to_string());
    check_one(forward, names[i], (*value)[0]);
  }
}

} // namespace

TEST_CASE("gradients: of complex numbers, by differences of both parts") {
  for (const char* op : {"Square", "Sqrt", "Rsqrt", "Reciprocal", "Inv", "Exp", "Expm1", "Log",
                         "Log1p", "Tanh", "Sigmoid", "Sin", "Cos", "Neg", "Conj", "Identity"})
    check(str_cat(op, "(x)"));
  for (const char* op : {"Add", "AddV2", "Sub", "Mul", "RealDiv", "Div"})
    check(str_cat(op, "(x, w)"));
  for (const char* flags :
       {"", "[transpose_a=true]", "[transpose_b=true]", "[transpose_a=true, transpose_b=true]"})
    check(str_cat("MatMul", flags, "(x, w)"));
  for (const char* flags : {"", "[adj_x=true]", "[adj_y=true]", "[adj_x=true, adj_y=true]"})
    check(str_cat("BatchMatMulV2", flags, "(x, w)"));
  check("ComplexAbs[Tout=DT_DOUBLE](x)", true);
  check("Angle[Tout=DT_DOUBLE](x)", true);
  check("p = Real[Tout=DT_DOUBLE](x)\nq = Imag[Tout=DT_DOUBLE](w)\n"
        "y = Complex[Tout=DT_COMPLEX128](p, q)");
}

TEST_CASE("gradients: rules that are none for complex numbers are refused") {
  for (const char* y : {"Pow(x, w)", "SquaredDifference(x, w)", "MulNoNan(x, w)"}) {
    Graph graph = parse(graph_of(y, false));
    const auto end = [&](const char* name) { return Endpoint{graph.find(name)->id, 0}; };
    auto refused = add_gradients(graph, std::vector{end("loss")}, std::vector{end("x")});
    CHECK(refused.status().code() == Code::unimplemented);
  }
}

} // namespace troupe::testing
