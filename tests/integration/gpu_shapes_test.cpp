// What kernels of GPUs do with shapes that a case table is too short for: packs of elements, tiles,
// sums in parts, rows longer than a block. Each graph runs on a CPU and on a GPU, which is that of
// the driver's double, or with TROUPE_TEST_GPU=real in the environment the machine's.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "actors/node/node.hpp"
#include "api/session.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/cuda/cuda_double.hpp"
#include "tests/support/cuda/double_devices.hpp"

namespace troupe::gpu_shapes_test {

namespace {

bool is_real() {
  const char* wanted = std::getenv("TROUPE_TEST_GPU");
  return wanted && std::string_view(wanted) == "real";
}

/// Node `y` of an op on inputs x0, x1 … of these shapes.
struct Case {
  std::string op; ///< with its attributes
  std::vector<Shape> inputs;
  std::vector<std::vector<std::int32_t>> constants =
      {}; ///< vectors after these; one number: a scalar
  int outputs = 1;
  int positive = -1; ///< the input that is fed numbers above zero; -1: none
};

/// Numbers between -1 and 1 that look random.
Tensor numbers(const Shape& shape, int seed) {
  Tensor out = Tensor::make(DType::float32, shape);
  std::uint32_t state = 12345U + static_cast<std::uint32_t>(seed) * 7919U;
  for (float& value : out.mutable_data<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return out;
}

std::string text_of(const Case& c, bool in_half) {
  std::string out, inputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    str_append(out, "x", i, " = Placeholder[dtype=DT_FLOAT]()\n");
    if (in_half)
      str_append(out, "h", i, " = Cast[DstT=DT_HALF](x", i, ")\n");
    str_append(inputs, i > 0 ? ", " : "", in_half ? "h" : "x", i);
  }
  for (std::size_t i = 0; i < c.constants.size(); ++i) {
    const auto& values = c.constants[i];
    str_append(out, "c", i, " = Const[dtype=DT_INT32, value=i32[",
               values.size() == 1 ? std::string() : str_cat(values.size()), "]");
    for (std::int32_t value : values)
      str_append(out, " ", value);
    str_append(out, "]()\n");
    str_append(inputs, inputs.empty() ? "" : ", ", "c", i);
  }
  str_append(out, "y = ", c.op, "(", inputs, ")\n");
  for (int k = 0; in_half && k < c.outputs; ++k)
    str_append(out, "z", k, " = Cast[DstT=DT_FLOAT](y:", k, ")\n");
  return out;
}

class Rig {
public:
  Rig() {
    NodeOptions options;
    if (!is_real())
      options.device_factories = &testing::double_device_factories();
    options.device_count["GPU"] = 1;
    options.compute_threads = 2;
    auto started = ClusterNode::start(options);
    REQUIRE_MESSAGE(started.ok(), started.status().to_string());
    node_ = *std::move(started);
  }
  ~Rig() {
    node_ = nullptr;
    driver_.settle();
    CHECK(str_join(driver_.problems(), "; ") == "");
    CHECK(driver_.bytes_in_use() == 0);
  }

  std::vector<Tensor> run(const Case& c, bool in_half, const char* device) {
    auto opened = Session::open(node_);
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    auto graph = parse_graph(text_of(c, in_half), op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    for (Node* node : graph->nodes())
      node->device = device;
    const Status extended = opened->extend_graph_def(*write_graph_bytes(*graph));
    REQUIRE_MESSAGE(extended.ok(), extended.to_string());
    Feeds feeds;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      Tensor fed = numbers(c.inputs[i], static_cast<int>(i) + 1);
      for (float& value : fed.mutable_data<float>())
        value = static_cast<int>(i) == c.positive ? std::abs(value) + 0.1F : value;
      feeds.emplace_back(str_cat("x", i), std::move(fed));
    }
    std::vector<std::string> fetches;
    for (int k = 0; k < c.outputs; ++k)
      fetches.push_back(in_half ? str_cat("z", k) : str_cat("y:", k));
    auto got = opened->run(feeds, fetches);
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    return *std::move(got);
  }

private:
  testing::CudaDouble driver_;
  std::shared_ptr<ClusterNode> node_;
};

/// How far values are apart, in units of the largest.
double apart(const Tensor& one, const Tensor& other) {
  REQUIRE(one.shape() == other.shape());
  double largest = 0, furthest = 0;
  for (std::size_t i = 0; i < one.data<float>().size(); ++i) {
    const auto a = static_cast<double>(one.data<float>()[i]),
               b = static_cast<double>(other.data<float>()[i]);
    if (std::isnan(a) && std::isnan(b))
      continue;
    if (std::isnan(a) || std::isnan(b))
      return INFINITY;
    largest = std::max(largest, std::abs(b));
    furthest = std::max(furthest, a == b ? 0 : std::abs(a - b));
  }
  return largest > 0 ? furthest / largest : furthest;
}

void compare(const std::vector<Case>& cases, bool also_half = true, double tolerance = 5e-6) {
  Rig rig;
  for (const Case& c : cases)
    for (bool in_half : {false, true}) {
      if (in_half && !also_half)
        continue;
      CAPTURE(text_of(c, in_half));
      CAPTURE(c.inputs.empty() ? Shape() : c.inputs[0]);
      const auto on_cpu = rig.run(c, in_half, "/device:CPU:0"),
                 on_gpu = rig.run(c, in_half, "/device:GPU:0");
      for (std::size_t k = 0; k < on_cpu.size(); ++k) {
        CAPTURE(k);
        CHECK(apart(on_gpu[k], on_cpu[k]) < (in_half ? 2e-3 : tolerance));
      }
    }
}

} // namespace

TEST_CASE("gpu shapes: operands that broadcast in runs, and those that do not") {
  compare({{"AddV2", {{37, 64}, {64}}},
           {"Mul", {{64}, {37, 64}}},
           {"Sub", {{5, 7, 16}, {5, 1, 16}}},
           {"AddV2", {{16, 1}, {16, 48}}},
           {"AddV2", {{33, 1}, {1, 31}}},
           {"Maximum", {{1000}, {}}},
           {"AddV2", {{3, 1, 5, 1}, {1, 4, 1, 6}}},
           {"AddV2", {{1027}, {1027}}},
           {"SquaredDifference", {{4, 9, 24}, {4, 1, 24}}},
           {"Tanh", {{1029}}},
           {"ReluGrad", {{1031}, {1031}}},
           {"AddN[N=3]", {{515}, {515}, {515}}},
           {"AddN[N=18]", std::vector<Shape>(18, Shape{64})}});
}

TEST_CASE("gpu shapes: reductions by warps, by blocks, by columns and in parts") {
  using Axes = std::vector<std::int32_t>;
  std::vector<Case> cases;
  for (const char* op : {"Sum", "Mean", "Max", "Min"})
    for (const auto& [shape, axes] : std::vector<std::pair<Shape, Axes>>{{{7, 65}, {1}},
                                                                         {{7, 1030}, {1}},
                                                                         {{3, 9001}, {1}},
                                                                         {{1030, 7}, {0}},
                                                                         {{300, 70}, {0}},
                                                                         {{3000, 2}, {0}},
                                                                         {{70000}, {0}},
                                                                         {{5, 40, 6, 24}, {0, 2}},
                                                                         {{5, 40, 6, 24}, {1, 3}},
                                                                         {{12, 3, 50}, {0, 2}}})
      cases.push_back({str_cat(op, "[keep_dims=false]"), {shape}, {axes}});
  compare(cases);
}

TEST_CASE("gpu shapes: transpositions by tiles, by runs and by elements") {
  std::vector<Case> cases = {
      {"Transpose", {{70, 45}}, {{1, 0}}},       {"Transpose", {{8, 32}}, {{1, 0}}},
      {"Transpose", {{65, 3}}, {{1, 0}}},        {"Transpose", {{3, 70, 45}}, {{0, 2, 1}}},
      {"Transpose", {{3, 70, 45}}, {{1, 0, 2}}}, {"Transpose", {{3, 70, 48}}, {{1, 0, 2}}}};
  for (const auto& order : std::vector<std::vector<std::int32_t>>{
           {0, 2, 1, 3}, {0, 3, 1, 2}, {3, 2, 1, 0}, {0, 2, 3, 1}, {2, 0, 3, 1}})
    cases.push_back({"Transpose", {{3, 17, 20, 33}}, {order}});
  cases.push_back({"Slice", {{40, 48}}, {{3, 8}, {20, 32}}});
  cases.push_back({"Slice", {{40, 48}}, {{3, 5}, {20, 32}}});
  compare(cases);
}

TEST_CASE("gpu shapes: gathered rows, in packs and alone") {
  compare({{"GatherV2[Tindices=DT_INT32, Taxis=DT_INT32, batch_dims=0]",
            {{50, 64}},
            {{4, 0, 49, 7}, {0}}},
           {"GatherV2[Tindices=DT_INT32, Taxis=DT_INT32, batch_dims=0]",
            {{50, 7}},
            {{4, 0, 49, 7}, {0}}},
           {"GatherV2[Tindices=DT_INT32, Taxis=DT_INT32, batch_dims=0]",
            {{6, 50, 8}},
            {{4, 0, 49, 7}, {1}}}});
}

TEST_CASE("gpu shapes: softmax of rows that threads keep, and of longer ones") {
  compare({{"Softmax", {{9, 64}}},
           {"Softmax", {{5, 1000}}},
           {"Softmax", {{7, 33}}},
           {"Softmax", {{3, 9000}}},
           {"LogSoftmax", {{5, 1000}}},
           {"LogSoftmax", {{3, 8192}}}});
}

TEST_CASE(
    "gpu shapes: batch normalisation of few and many channels, beside each other and in planes") {
  std::vector<Case> cases;
  for (const char* format : {"NHWC", "NCHW"})
    for (const auto& [channels, height, width] : std::vector<std::array<std::int64_t, 3>>{
             {64, 9, 9}, {6, 20, 20}, {130, 4, 5}, {8, 40, 30}}) {
      const Shape x =
          format[1] == 'H' ? Shape{3, height, width, channels} : Shape{3, channels, height, width};
      const Shape each{channels};
      const std::string attrs =
          str_cat("[U=DT_FLOAT, is_training=true, epsilon=0.001, data_format=\"", format, "\"]");
      cases.push_back(
          {.op = "FusedBatchNormV3" + attrs, .inputs = {x, each, each, {0}, {0}}, .outputs = 3});
      cases.push_back({.op = "FusedBatchNormGradV3" + attrs,
                       .inputs = {x, x, each, each, each, each},
                       .outputs = 3,
                       .positive = 4});
    }
  compare(cases, false, 2e-5); // a channel's mean is small beside the elements that it is made of
}

TEST_CASE("gpu shapes: pools whose windows overlap") {
  const std::string sizes = "ksize=[1,3,3,1], strides=[1,2,2,1], padding=\"SAME\"]";
  compare({{str_cat("MaxPool[", sizes), {{2, 17, 18, 8}}},
           {str_cat("AvgPool[", sizes), {{2, 17, 18, 8}}},
           {str_cat("MaxPoolGrad[", sizes), {{2, 17, 18, 8}, {2, 9, 9, 8}, {2, 9, 9, 8}}}},
          false);
}

} // namespace troupe::gpu_shapes_test
