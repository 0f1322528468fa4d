// Random products and convolutions with random ops after them give the same whether a pass has made
// one node of them or not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "api/ops.hpp"
#include "api/session.hpp"
#include "core/base/strings.hpp"
#include "kernels/arith/types.hpp"

namespace troupe::fused_kernels_test {

namespace {

using Random = std::mt19937;

int below(Random& random, int limit) {
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

Tensor random_tensor(Random& random, const Shape& shape) {
  Tensor out = Tensor::make(DType::float32, shape);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& x : out.mutable_data<float>())
    x = number(random);
  return out;
}

/// A graph under construction, and values for its placeholders.
struct Built {
  Scope root = Scope::root();
  Feeds feeds;

  Output feed(Random& random, const Shape& shape) {
    const std::string name = str_cat("x", feeds.size());
    feeds.emplace_back(name, random_tensor(random, shape));
    return ops::placeholder(root.named(name), DType::float32);
  }

  Output add(std::string_view op, const std::vector<Output>& inputs, AttrMap attrs = {}) const {
    return root.add(op, inputs, std::move(attrs)).output(0);
  }
};

Output add_one_op(Built& graph, Random& random, Output y, std::int64_t m, std::int64_t n) {
  constexpr const char* unary[] = {"Relu", "Tanh", "Sigmoid", "Neg", "Relu6"};
  constexpr const char* binary[] = {"AddV2", "Sub", "Mul", "Maximum"};
  const Shape operands[] = {Shape{n}, Shape{m, n}, Shape{m, 1}, Shape{}};
  switch (below(random, 5)) {
  case 0:
    return graph.add(unary[below(random, 5)], {y});
  case 1:
    return graph.add("BiasAdd", {y, graph.feed(random, Shape{n})});
  case 2:
    return graph.add("ReluGrad", {y, graph.feed(random, Shape{m, n})});
  default:
    Output other = graph.feed(random, operands[below(random, 4)]);
    const bool first = below(random, 2) == 0;
    return graph.add(binary[below(random, 4)],
                     first ? std::vector{y, other} : std::vector{other, y});
  }
}

/// Two products, one of the other's result, each with some ops after it.
Built random_graph(Random& random) {
  Built graph;
  std::int64_t m = 1 + below(random, 300), k = 1 + below(random, 200);
  Output x = graph.feed(random, {m, k});
  for (int product = 0; product < 2; ++product) {
    const std::int64_t n = 1 + below(random, 400);
    const bool transposed = below(random, 2) == 0;
    Output w = graph.feed(random, transposed ? Shape{n, k} : Shape{k, n});
    x = graph.add("MatMul", {x, w}, {{"transpose_b", transposed}});
    for (int i = below(random, 5); i >= 0; --i)
      x = add_one_op(graph, random, x, m, n);
    k = n;
  }
  ops::identity(graph.root.named("result"), x);
  return graph;
}

Tensor result_of(const Built& graph, const SessionOptions& options) {
  auto session = Session::open("local", options);
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  REQUIRE(session->extend(graph.root).ok());
  auto out = session->run(graph.feeds, {"result:0"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return (*out)[0];
}

/// A convolution with a bias or a normalisation, a sum and Relu after it; each may be missing.
Built random_convolution(Random& random) {
  Built graph;
  const std::int64_t images = 1 + below(random, 3), rows = 5 + below(random, 20),
                     columns = 5 + below(random, 20), in = 1 + below(random, 40),
                     out = 1 + below(random, 70), window = 1 + 2 * below(random, 3),
                     stride = 1 + below(random, 2);
  Output x = graph.feed(random, {images, rows, columns, in});
  Output filter = graph.feed(random, {window, window, in, out});
  const bool same = below(random, 2) == 0;
  Output y = graph.add("Conv2D", {x, filter},
                       {{"strides", std::vector<std::int64_t>{1, stride, stride, 1}},
                        {"padding", std::string(same ? "SAME" : "VALID")}});
  auto size = [&](std::int64_t of) { return ((same ? of - 1 : of - window) + stride) / stride; };
  auto vector = [&] { return graph.feed(random, Shape{out}); };
  if (below(random, 2) == 0) {
    y = graph.add("BiasAdd", {y, vector()});
  } else {
    Output scale = vector(), offset = vector(), mean = vector();
    Output variance = graph.add("Square", {vector()});
    y = graph.add("FusedBatchNormV3", {y, scale, offset, mean, variance},
                  {{"is_training", false}, {"epsilon", 0.25F}});
  }
  if (below(random, 2) == 0)
    y = graph.add("AddV2", {graph.feed(random, {images, size(rows), size(columns), out}), y});
  if (below(random, 2) == 0)
    y = graph.add("Relu", {y});
  ops::identity(graph.root.named("result"), y);
  return graph;
}

/// How many elements of the graph's result differ without these passes.
int differences(const Built& graph, std::vector<std::string> passes) {
  SessionOptions apart;
  apart.disabled_passes = std::move(passes);
  const Tensor fused = result_of(graph, {}), nodes = result_of(graph, apart);
  REQUIRE(fused.shape() == nodes.shape());
  int wrong = 0;
  for (std::size_t i = 0; i < nodes.data<float>().size(); ++i) {
    const float want = nodes.data<float>()[i], got = fused.data<float>()[i];
    wrong +=
        !(std::abs(got - want) <= 1e-4F * (1 + std::abs(want))); // sums of hundreds of products
  }
  return wrong;
}

} // namespace

TEST_CASE("winograd: a session that switches it off has plain sums, others keep it") {
  Random random(7);
  Built graph;
  Output x = graph.feed(random, {2, 16, 16, 32}), filter = graph.feed(random, {3, 3, 32, 48});
  Output y = graph.add(
      "Conv2D", {x, filter},
      {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}}, {"padding", std::string("SAME")}});
  ops::identity(graph.root.named("result"), ops::relu(graph.root, y));
  SessionOptions without;
  without.disabled_passes = {"use_winograd"};
  auto equal = [](const Tensor& a, const Tensor& b) {
    return std::ranges::equal(a.data<float>(), b.data<float>());
  };
  const Tensor with = result_of(graph, {}), plain = result_of(graph, without);
  arith::use_winograd(false);
  const Tensor off_for_all = result_of(graph, {});
  arith::use_winograd(true);
  CHECK(equal(plain, off_for_all));
  CHECK(equal(with, plain) == (arith::isa() == arith::Isa::base));
}

TEST_CASE("fused products: random graphs give what their nodes give one by one") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    CHECK(differences(random_graph(random), {"fuse_matmul", "fuse_elementwise"}) == 0);
  }
}

TEST_CASE("fused convolutions: random ones give what their nodes give one by one") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    CHECK(differences(random_convolution(random), {"fuse_convolution"}) == 0);
  }
}

} // namespace troupe::fused_kernels_test
