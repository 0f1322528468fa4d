// Images with channels first: each op gives what it gives with channels last, transposed.
#include <cmath>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::channels_first_test {
namespace {

Tensor waves(const Shape& shape, double step) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    out.push_back(static_cast<float>(std::sin(step * static_cast<double>(i))));
  return Tensor::of<float>(shape, out);
}

// What an op over images or volumes reads, with channels first, and the axes' orders.
struct Shapes {
  Shape x, w, made;
  std::string to_last, to_first, sizes, sizes_l, filter_sizes;
};

const Shapes conv = {{2, 3, 7, 6}, {2, 3, 3, 5}, {2, 5, 4, 5}, "4] 0 2 3 1",
                     "4] 0 3 1 2", "4] 2 3 7 6", "4] 2 7 6 3", "4] 2 3 3 5"};
const Shapes depthwise = {{2, 3, 7, 6}, {2, 3, 3, 2}, {2, 6, 9, 5}, "4] 0 2 3 1",
                          "4] 0 3 1 2", "4] 2 3 7 6", "4] 2 7 6 3", "4] 2 3 3 2"};
const Shapes pool = {{2, 3, 7, 6}, {1},          {2, 3, 3, 6}, "4] 0 2 3 1",
                     "4] 0 3 1 2", "4] 2 3 7 6", "4] 2 7 6 3", "1] 1"};
const Shapes conv_volume = {{2, 3, 4, 5, 6}, {2, 1, 3, 3, 5}, {2, 5, 3, 3, 4}, "5] 0 2 3 4 1",
                            "5] 0 4 1 2 3",  "5] 2 3 4 5 6",  "5] 2 4 5 6 3",  "5] 2 1 3 3 5"};
const Shapes pool_volume = {
    {2, 3, 4, 5, 6}, {1},   {2, 3, 2, 5, 3}, "5] 0 2 3 4 1", "5] 0 4 1 2 3", "5] 2 3 4 5 6",
    "5] 2 4 5 6 3",  "1] 1"};

// `ops` makes first; names ending in _l are what is read and made with channels last.
void check_same(const Shapes& s, std::string_view ops) {
  const std::string text =
      str_cat("to_last = Const[dtype=DT_INT32, value=i32[", s.to_last, "]()\n",
              "to_first = Const[dtype=DT_INT32, value=i32[", s.to_first, "]()\n",
              "sizes = Const[dtype=DT_INT32, value=i32[", s.sizes, "]()\n",
              "sizes_l = Const[dtype=DT_INT32, value=i32[", s.sizes_l, "]()\n",
              "filter_sizes = Const[dtype=DT_INT32, value=i32[", s.filter_sizes, "]()\n", R"(
      x = Placeholder[dtype=DT_FLOAT]()
      dy = Placeholder[dtype=DT_FLOAT]()
      y = Placeholder[dtype=DT_FLOAT]()
      w = Placeholder[dtype=DT_FLOAT]()
      x_l = Transpose[T=DT_FLOAT, Tperm=DT_INT32](x, to_last)
      dy_l = Transpose[T=DT_FLOAT, Tperm=DT_INT32](dy, to_last)
      y_l = Transpose[T=DT_FLOAT, Tperm=DT_INT32](y, to_last)
)",
              ops);
  CAPTURE(text);
  auto graph = parse_graph(text, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  testing::Interpreter interpreter;
  auto run = [&](const char* fetch) {
    auto got = interpreter.run(*graph,
                               {{"x", waves(s.x, 0.7)},
                                {"dy", waves(s.made, 1.3)},
                                {"y", waves(s.made, 0.9)},
                                {"w", waves(s.w, 0.3)}},
                               {fetch});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    return got->front();
  };
  const Tensor first = run("first"), last = run("last");
  REQUIRE(first.shape() == last.shape());
  for (std::int64_t i = 0; i < first.num_elements(); ++i)
    CHECK(first.data<float>()[static_cast<std::size_t>(i)] ==
          last.data<float>()[static_cast<std::size_t>(i)]);
}

// 7 rows, 3 more of padding, windows that reach over 3: 4 by twos. 6 columns, 1 more, windows of 3:
// 5.
constexpr auto first = "strides=[1,1,2,1], dilations=[1,1,2,1], padding=\"EXPLICIT\", "
                       "explicit_paddings=[0,0,0,0,1,2,0,1], data_format=\"NCHW\"";
constexpr auto last = "strides=[1,2,1,1], dilations=[1,2,1,1], padding=\"EXPLICIT\", "
                      "explicit_paddings=[0,0,1,2,0,1,0,0]";
constexpr auto pool_first =
    "ksize=[1,1,3,1], strides=[1,1,2,1], padding=\"VALID\", data_format=\"NCHW\"";
constexpr auto pool_last = "ksize=[1,3,1,1], strides=[1,2,1,1], padding=\"VALID\"";
// 4 planes, windows of 2: 3. 5 rows, by twos, padded to 3. 6 columns, windows of 3: 4.
constexpr auto volume_first = "strides=[1,1,1,2,1], padding=\"VALID\", data_format=\"NCDHW\"";
constexpr auto volume_last = "strides=[1,1,2,1,1], padding=\"VALID\"";
constexpr auto volume_pool_first = "ksize=[1,1,2,1,3], strides=[1,1,2,1,2], padding=\"SAME\", "
                                   "data_format=\"NCDHW\"";
constexpr auto volume_pool_last = "ksize=[1,2,1,3,1], strides=[1,2,1,2,1], padding=\"SAME\"";
constexpr auto depthwise_first = "strides=[1,1,1,1], padding=\"EXPLICIT\", "
                                 "explicit_paddings=[0,0,0,0,1,2,0,1], data_format=\"NCHW\"";
constexpr auto depthwise_last = "strides=[1,1,1,1], padding=\"EXPLICIT\", "
                                "explicit_paddings=[0,0,1,2,0,1,0,0]";
constexpr auto back = "last = Transpose[T=DT_FLOAT, Tperm=DT_INT32](out_l, to_first)\n";

// An op, its gradient by its input and that by its filter.
void check_convolution(const Shapes& s, std::string_view op, std::string_view version,
                       std::string_view with_first, std::string_view with_last) {
  check_same(s, str_cat("first = ", op, "[", with_first, "](x, w)\nout_l = ", op, "[", with_last,
                        "](x_l, w)\n", back));
  check_same(s, str_cat("first = ", op, "BackpropInput", version, "[", with_first,
                        "](sizes, w, dy)\nout_l = ", op, "BackpropInput", version, "[", with_last,
                        "](sizes_l, w, dy_l)\n", back));
  check_same(s, str_cat("first = ", op, "BackpropFilter", version, "[", with_first,
                        "](x, filter_sizes, dy)\nlast = ", op, "BackpropFilter", version, "[",
                        with_last, "](x_l, filter_sizes, dy_l)\n"));
}

void check_pools(const Shapes& s, std::string_view volume, std::string_view with_first,
                 std::string_view with_last) {
  for (std::string_view op : {"MaxPool", "AvgPool"})
    check_same(s, str_cat("first = ", op, volume, "[", with_first, "](x)\nout_l = ", op, volume,
                          "[", with_last, "](x_l)\n", back));
  check_same(s,
             str_cat("first = MaxPool", volume, "Grad[", with_first, "](x, y, dy)\nout_l = MaxPool",
                     volume, "Grad[", with_last, "](x_l, y_l, dy_l)\n", back));
  check_same(s, str_cat("first = AvgPool", volume, "Grad[", with_first,
                        "](sizes, dy)\nout_l = AvgPool", volume, "Grad[", with_last,
                        "](sizes_l, dy_l)\n", back));
}

} // namespace

TEST_CASE("channels first: a convolution and its gradients are those with channels last") {
  check_convolution(conv, "Conv2D", "", first, last);
  check_convolution(depthwise, "DepthwiseConv2dNative", "", depthwise_first, depthwise_last);
  check_convolution(conv_volume, "Conv3D", "V2", volume_first, volume_last);
}

TEST_CASE("channels first: pools and their gradients are those with channels last") {
  check_pools(pool, "", pool_first, pool_last);
  check_pools(pool_volume, "3D", volume_pool_first, volume_pool_last);
}

} // namespace troupe::channels_first_test
