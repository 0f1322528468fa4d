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

// `ops` makes y; names ending in _l are what is read and made with channels last.
void check_same(std::string_view ops) {
  const std::string text = str_cat(R"(
      to_last = Const[dtype=DT_INT32, value=i32[4] 0 2 3 1]()
      to_first = Const[dtype=DT_INT32, value=i32[4] 0 3 1 2]()
      x = Placeholder[dtype=DT_FLOAT]()
      dy = Placeholder[dtype=DT_FLOAT]()
      y = Placeholder[dtype=DT_FLOAT]()
      w = Placeholder[dtype=DT_FLOAT]()
      sizes = Const[dtype=DT_INT32, value=i32[4] 2 3 7 6]()
      sizes_l = Const[dtype=DT_INT32, value=i32[4] 2 7 6 3]()
      filter_sizes = Const[dtype=DT_INT32, value=i32[4] 2 3 3 5]()
      x_l = Transpose[T=DT_FLOAT, Tperm=DT_INT32](x, to_last)
      dy_l = Transpose[T=DT_FLOAT, Tperm=DT_INT32](dy, to_last)
      y_l = Transpose[T=DT_FLOAT, Tperm=DT_INT32](y, to_last)
)",
                                   ops);
  auto graph = parse_graph(text, op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  testing::Interpreter interpreter;
  auto run = [&](const char* fetch, const Shape& dy, const Shape& y) {
    auto got = interpreter.run(*graph,
                               {{"x", waves({2, 3, 7, 6}, 0.7)},
                                {"dy", waves(dy, 1.3)},
                                {"y", waves(y, 0.9)},
                                {"w", waves({2, 3, 3, 5}, 0.3)}},
                               {fetch});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    return got->front();
  };
  const bool is_pool = text.find("Pool") != std::string::npos;
  const Shape made = is_pool ? Shape{2, 3, 3, 6} : Shape{2, 5, 4, 5};
  const Tensor first = run("first", made, made), last = run("last", made, made);
  REQUIRE(first.shape() == last.shape());
  for (std::int64_t i = 0; i < first.num_elements(); ++i)
    CHECK(first.data<float>()[static_cast<std::size_t>(i)] ==
          last.data<float>()[static_cast<std::size_t>(i)]);
}

// 7 rows, 3 more of padding, windows that reach over 3: 4 by twos. 6 columns, 1 more, windows of 3: 5.
constexpr auto first = "strides=[1,1,2,1], dilations=[1,1,2,1], padding=\"EXPLICIT\", "
                       "explicit_paddings=[0,0,0,0,1,2,0,1], data_format=\"NCHW\"";
constexpr auto last = "strides=[1,2,1,1], dilations=[1,2,1,1], padding=\"EXPLICIT\", "
                      "explicit_paddings=[0,0,1,2,0,1,0,0]";
constexpr auto pool_first =
    "ksize=[1,1,3,1], strides=[1,1,2,1], padding=\"VALID\", data_format=\"NCHW\"";
constexpr auto pool_last = "ksize=[1,3,1,1], strides=[1,2,1,1], padding=\"VALID\"";
constexpr auto back = "last = Transpose[T=DT_FLOAT, Tperm=DT_INT32](out_l, to_first)\n";

} // namespace

TEST_CASE("channels first: a convolution and its gradients are those with channels last") {
  check_same(
      str_cat("first = Conv2D[", first, "](x, w)\nout_l = Conv2D[", last, "](x_l, w)\n", back));
  check_same(str_cat("first = Conv2DBackpropInput[", first,
                     "](sizes, w, dy)\nout_l = Conv2DBackpropInput[", last, "](sizes_l, w, dy_l)\n",
                     back));
  check_same(str_cat("first = Conv2DBackpropFilter[", first,
                     "](x, filter_sizes, dy)\nlast = Conv2DBackpropFilter[", last,
                     "](x_l, filter_sizes, dy_l)\n"));
}

TEST_CASE("channels first: pools and their gradients are those with channels last") {
  for (const char* op : {"MaxPool", "AvgPool"})
    check_same(str_cat("first = ", op, "[", pool_first, "](x)\nout_l = ", op, "[", pool_last,
                       "](x_l)\n", back));
  check_same(str_cat("first = MaxPoolGrad[", pool_first, "](x, y, dy)\nout_l = MaxPoolGrad[",
                     pool_last, "](x_l, y_l, dy_l)\n", back));
  check_same(str_cat("first = AvgPoolGrad[", pool_first, "](sizes, dy)\nout_l = AvgPoolGrad[",
                     pool_last, "](sizes_l, dy_l)\n", back));
}

} // namespace troupe::channels_first_test
