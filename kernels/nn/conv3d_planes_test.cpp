// Conv3D over planes of many pixels, which are convolved as images: it and its gradients equal a
// walk over every window.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/nn/internal/volume.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::conv3d_planes_test {
namespace {

using nn::Three;

struct Case {
  std::int64_t batch, channels, filters;
  Three in, window, stride = {1, 1, 1}, dilation = {1, 1, 1};
  bool same = true;
};

const std::vector<Case> cases = {
    {2, 3, 5, {4, 9, 8}, {3, 3, 3}},
    {1, 16, 8, {5, 12, 9}, {3, 2, 3}, {1, 1, 1}, {1, 1, 1}, false},
    {3, 1, 4, {6, 17, 18}, {2, 3, 3}, {2, 2, 2}},
    {1, 4, 6, {9, 12, 12}, {3, 3, 3}, {1, 1, 1}, {3, 2, 1}},
    {2, 2, 3, {7, 10, 11}, {3, 1, 2}, {3, 1, 1}, {2, 1, 1}, false},
    {1, 5, 2, {2, 8, 8}, {5, 3, 3}},            // planes of the filter that lie outside everywhere
    {1, 2, 2, {5, 8, 8}, {1, 1, 1}, {3, 1, 1}}, // planes that nothing reads
    {1, 3, 3, {1, 8, 9}, {1, 3, 3}},            // an image
};

template <class T>
Tensor waves(const Shape& shape, double step) {
  std::vector<T> out;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    out.push_back(static_cast<T>(std::sin(step * static_cast<double>(i))));
  return Tensor::of<T>(shape, out);
}

/// Calls body(x position, filter position, y position) for every product.
template <class Body>
void for_each_product(const nn::Volume& v, std::int64_t filters, Body body) {
  for (std::int64_t n = 0; n < v.batch; ++n)
    for (std::int64_t o = 0; o < v.out_positions(); ++o)
      for (std::int64_t w = 0; w < v.window_positions(); ++w) {
        const Three out = {o / (v.out[1] * v.out[2]), o / v.out[2] % v.out[1], o % v.out[2]};
        const Three tap = {w / (v.window[1] * v.window[2]), w / v.window[2] % v.window[1],
                           w % v.window[2]};
        Three at = {};
        bool inside = true;
        for (std::size_t i = 0; i < 3; ++i) {
          at[i] = out[i] * v.stride[i] - v.before[i] + tap[i] * v.dilation[i];
          inside = inside && at[i] >= 0 && at[i] < v.in[i];
        }
        if (!inside)
          continue;
        const std::int64_t x = ((n * v.in[0] + at[0]) * v.in[1] + at[1]) * v.in[2] + at[2];
        for (std::int64_t i = 0; i < v.channels; ++i)
          for (std::int64_t f = 0; f < filters; ++f)
            body(static_cast<std::size_t>(x * v.channels + i),
                 static_cast<std::size_t>((w * v.channels + i) * filters + f),
                 static_cast<std::size_t>((n * v.out_positions() + o) * filters + f));
      }
}

template <class T>
void check_near(const Tensor& got, const std::vector<double>& want) {
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-11;
  REQUIRE(got.num_elements() == static_cast<std::int64_t>(want.size()));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    wrong += !(std::abs(static_cast<double>(got.data<T>()[i]) - want[i]) <=
               tolerance * (1 + std::abs(want[i])));
  CHECK(wrong == 0);
}

std::string list(const Three& three) {
  return str_cat("[1,", three[0], ",", three[1], ",", three[2], ",1]");
}

template <class T>
void check(const Case& c) {
  const Shape in = {c.batch, c.in[0], c.in[1], c.in[2], c.channels};
  const Shape filter = {c.window[0], c.window[1], c.window[2], c.channels, c.filters};
  nn::VolumeAttrs attrs;
  attrs.stride = c.stride;
  attrs.dilation = c.dilation;
  attrs.padding.kind = c.same ? nn::Padding::same : nn::Padding::valid;
  const auto sizes = nn::volume_sizes(attrs, in, c.window);
  REQUIRE(sizes.ok());
  const nn::Volume& v = *sizes;
  REQUIRE(v.out[1] * v.out[2] >= 64);
  const Shape made = {c.batch, v.out[0], v.out[1], v.out[2], c.filters};
  const Tensor x = waves<T>(in, 0.7), w = waves<T>(filter, 0.3), dy = waves<T>(made, 1.3);

  std::vector<double> y(static_cast<std::size_t>(made.num_elements())),
      dx(static_cast<std::size_t>(in.num_elements())),
      dw(static_cast<std::size_t>(filter.num_elements()));
  for_each_product(v, c.filters, [&](std::size_t i, std::size_t k, std::size_t o) {
    const auto a = static_cast<double>(x.data<T>()[i]), b = static_cast<double>(w.data<T>()[k]),
               g = static_cast<double>(dy.data<T>()[o]);
    y[o] += a * b;
    dx[i] += g * b;
    dw[k] += g * a;
  });

  const char* type = sizeof(T) == 4 ? "DT_FLOAT" : "DT_DOUBLE";
  const std::string with =
      str_cat("[T=", type, ", strides=", list(c.stride), ", dilations=", list(c.dilation),
              ", padding=\"", c.same ? "SAME" : "VALID", "\"]");
  const auto constant = [](const Shape& shape) {
    std::string text = "[dtype=DT_INT32, value=i32[5]";
    for (int i = 0; i < 5; ++i)
      text += str_cat(" ", shape[i]);
    return text + "]()\n";
  };
  const std::string text = str_cat(
      "x = Placeholder[dtype=", type, "]()\nw = Placeholder[dtype=", type,
      "]()\ndy = Placeholder[dtype=", type, "]()\nin = Const", constant(in), "filter = Const",
      constant(filter), "y = Conv3D", with, "(x, w)\ndx = Conv3DBackpropInputV2", with,
      "(in, w, dy)\ndw = Conv3DBackpropFilterV2", with, "(x, filter, dy)\n");
  auto graph = parse_graph(text, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  testing::Interpreter interpreter;
  auto got = interpreter.run(*graph, {{"x", x}, {"w", w}, {"dy", dy}}, {"y", "dx", "dw"});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  check_near<T>((*got)[0], y);
  check_near<T>((*got)[1], dx);
  check_near<T>((*got)[2], dw);
}

} // namespace

TEST_CASE("Conv3D: large planes and their gradients equal a walk over every window") {
  for (const Case& c : cases) {
    CAPTURE(&c - cases.data());
    check<float>(c);
    check<double>(c);
  }
}

} // namespace troupe::conv3d_planes_test
