// Graphs on GPUs, which are those of the driver's double: training, two boards, and what goes wrong
// on one. With TROUPE_TEST_GPU=real in the environment training is on the machine's.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "actors/family/services.hpp"
#include "actors/node/node.hpp"
#include "api/ops.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/cuda/cuda_double.hpp"
#include "tests/support/cuda/double_devices.hpp"

namespace troupe::gpu_test {

using troupe::testing::CudaDouble;

namespace {

constexpr cuda::Outcome illegal_address = 700;

bool is_real() {
  const char* wanted = std::getenv("TROUPE_TEST_GPU");
  return wanted && std::string_view(wanted) == "real";
}

/// A node with a CPU and GPUs of the double, and a session on it.
struct Rig {
  CudaDouble driver;
  std::shared_ptr<ClusterNode> node;
  std::unique_ptr<Session> session;
  bool is_broken = false; ///< its GPU has failed, so nothing has an order any more

  explicit Rig(CudaDouble::Options options = {}) : driver(options) {
    NodeOptions node_options;
    if (!is_real())
      node_options.device_factories = &testing::double_device_factories();
    node_options.device_count["GPU"] = options.gpus;
    node_options.compute_threads = 2;
    auto started = ClusterNode::start(node_options);
    REQUIRE_MESSAGE(started.ok(), started.status().to_string());
    node = *std::move(started);
    auto opened = Session::open(node);
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    session = std::make_unique<Session>(*std::move(opened));
  }
  ~Rig() {
    session = nullptr;
    node = nullptr;
    driver.settle();
    if (is_broken)
      return;
    CHECK(str_join(driver.problems(), "; ") == "");
    CHECK(driver.bytes_in_use() == 0);
  }
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

struct Model {
  Output loss;
  Operation train, initialize;
};

class Builder {
public:
  explicit Builder(const Scope& scope) : s_(scope) {}
  Output weights(const std::string& name, const Shape& shape) {
    variables_.push_back(variable(s_, name, DType::float32, shape,
                                  numbers(shape, static_cast<int>(variables_.size()))));
    return variables_.back().read();
  }
  Output dense(const std::string& name, const Output& x, std::int64_t from, std::int64_t to) {
    return ops::bias_add(s_, ops::mat_mul(s_, x, weights(name + "_w", {from, to})),
                         weights(name + "_b", {to}));
  }
  Model trained(const Output& scores, const std::string& optimizer) {
    Output labels = s_.constant(Tensor::vector<std::int64_t>({0, 1, 2, 3}));
    Output each = ops::sparse_softmax_cross_entropy_with_logits(s_, scores, labels).loss;
    Model model;
    model.loss = ops::mean(s_, each, Tensor::vector<std::int32_t>({0}));
    const Minimized minimized =
        optimizer == "adam"       ? minimize_adam(s_, model.loss, variables_, 0.05f)
        : optimizer == "momentum" ? minimize_momentum(s_, model.loss, variables_, 0.05f)
                                  : minimize_sgd(s_, model.loss, variables_, 0.05f);
    model.train = minimized.step;
    std::vector<GraphVariable> all = variables_;
    all.insert(all.end(), minimized.slots.begin(), minimized.slots.end());
    model.initialize = initialize_all(s_, all);
    return model;
  }

private:
  Scope s_;
  std::vector<GraphVariable> variables_;
};

Model mlp(const Scope& s, const std::string& optimizer) {
  Builder builder(s);
  Output x = s.constant(numbers({4, 16}, 77));
  Output hidden = ops::tanh(s, builder.dense("one", x, 16, 12));
  return builder.trained(builder.dense("two", ops::relu(s, hidden), 12, 5), optimizer);
}

Model cnn(const Scope& s, const std::string& optimizer) {
  Builder builder(s);
  Output x = s.constant(numbers({4, 8, 8, 2}, 78));
  Output y = ops::conv2d(s, x, builder.weights("filter", {3, 3, 2, 3}), {1, 1, 1, 1}, "SAME");
  y = ops::fused_batch_norm_v3(s, y, builder.weights("scale", {3}), builder.weights("offset", {3}),
                               Tensor::make(DType::float32, {0}), Tensor::make(DType::float32, {0}))
          .y;
  y = ops::max_pool(s, ops::relu(s, y), {1, 2, 2, 1}, {1, 2, 2, 1}, "SAME");
  y = ops::reshape(s, y, Tensor::vector<std::int32_t>({-1, 4 * 4 * 3}));
  return builder.trained(builder.dense("scores", y, 48, 5), optimizer);
}

// One layer of attention over embedded words, with dropout, as a Transformer's: four rows of six
// words.
Model attention(const Scope& s, const std::string& optimizer) {
  constexpr std::int64_t rows = 4, words = 6, width = 8, heads = 2;
  const auto ints = [](std::initializer_list<std::int32_t> values) {
    return Tensor::vector<std::int32_t>(values);
  };
  Builder builder(s);
  Tensor ids = Tensor::make(DType::int32, {rows, words});
  for (std::size_t i = 0; i < rows * words; ++i)
    ids.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7 % 10);
  Output table = builder.weights("table", {10, width});
  Output x = ops::gather_v2(s, table, ids, std::int32_t{0});
  const auto split = [&](const std::string& name) {
    Output y = builder.dense(name, ops::reshape(s, x, ints({-1, width})), width, width);
    y = ops::reshape(s, y, ints({rows, words, heads, width / heads}));
    return ops::transpose(s, y, ints({0, 2, 1, 3}));
  };
  Output scores = ops::batch_mat_mul_v2(s, split("query"), split("key"), {.adj_y = true});
  Output weights = ops::softmax(s, ops::mul(s, scores, 0.5f));
  Output drawn = ops::random_uniform(s, ints({rows, heads, words, words}), DType::float32,
                                     {.seed = 5, .seed2 = 6});
  Output kept = ops::cast(s, ops::greater_equal(s, drawn, 0.1f), DType::float32);
  weights = ops::mul(s, ops::mul(s, weights, 1 / 0.9f), kept);
  Output y =
      ops::transpose(s, ops::batch_mat_mul_v2(s, weights, split("value")), ints({0, 2, 1, 3}));
  y = ops::add_v2(s, x, ops::reshape(s, y, ints({rows, words, width})));
  Output mean = ops::mean(s, y, ints({-1}), {.keep_dims = true});
  Output variance =
      ops::mean(s, ops::squared_difference(s, y, mean), ints({-1}), {.keep_dims = true});
  y = ops::mul(s, ops::sub(s, y, mean), ops::rsqrt(s, ops::add_v2(s, variance, 1e-5f)));
  y = ops::add_v2(s, ops::mul(s, y, builder.weights("scale", {width})),
                  builder.weights("offset", {width}));
  // x / 2 * (1 + erf(x / sqrt(2)))
  y = ops::mul(s, ops::mul(s, y, 0.5f),
               ops::add_v2(s, ops::erf(s, ops::mul(s, y, 0.70710678f)), 1.0f));
  y = ops::reshape(s, y, ints({rows, words * width}));
  return builder.trained(builder.dense("scores", y, words * width, 5), optimizer);
}

std::vector<float> losses(Rig& rig, const Scope& root, const Model& model, int steps) {
  REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
  const Status extended = rig.session->extend(root);
  REQUIRE_MESSAGE(extended.ok(), extended.to_string());
  const Status initialised = rig.session->run({}, {}, {model.initialize.name()}).status();
  REQUIRE_MESSAGE(initialised.ok(), initialised.to_string());
  std::vector<float> out;
  for (int step = 0; step < steps; ++step) {
    auto got = rig.session->run({}, {model.loss.name()}, {model.train.name()});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    out.push_back((*got)[0].value<float>());
  }
  return out;
}

using MakeModel = Model (*)(const Scope&, const std::string&);

/// The kernel runs on the GPU alone; `fails` is a call that is told to.
void compare_with_cpu(MakeModel make, const std::string& optimizer, const char* kernel,
                      const char* fails = nullptr) {
  CAPTURE(optimizer);
  constexpr int steps = 8;
  std::vector<float> on[2];
  for (int gpu = 0; gpu < 2; ++gpu) {
    Rig rig;
    if (fails)
      rig.driver.fail_call(fails, 1);
    Scope root = Scope::root();
    Scope scope = root.on(gpu ? "/device:GPU:0" : "/device:CPU:0");
    on[gpu] = losses(rig, root, make(scope, optimizer), steps);
    CHECK((rig.driver.launches(kernel) > 0) == (gpu == 1 && !is_real()));
    CHECK((rig.driver.launches("cublasGemm") > 0) == (gpu == 1 && !is_real()));
  }
  CHECK(on[0].back() < on[0].front());
  for (int step = 0; step < steps; ++step)
    CHECK(std::abs(on[0][static_cast<std::size_t>(step)] - on[1][static_cast<std::size_t>(step)]) <
          1e-4F);
}

struct Convolution {
  const char* name;
  Shape x, filter;
  std::int64_t stride_h = 1, stride_w = 1;
  std::string padding = "SAME";
  std::vector<std::int64_t> explicit_paddings = {}, dilations = {1, 1, 1, 1};
  DType dtype = DType::float32;
};

const std::vector<Convolution>& convolutions() {
  static const std::vector<Convolution> all = {
      {"padding on both sides", {2, 6, 7, 3}, {3, 3, 3, 4}},
      {"an even filter, so padding at the end", {1, 5, 4, 2}, {2, 2, 2, 3}},
      {"stride 2 of an even image, so padding at the end", {2, 8, 8, 3}, {3, 3, 3, 4}, 2, 2},
      {"dilation", {1, 7, 6, 2}, {3, 2, 2, 3}, 1, 1, "SAME", {}, {1, 2, 2, 1}},
      {"strides larger than the filter", {1, 9, 8, 2}, {2, 1, 2, 2}, 3, 4, "VALID"},
      {"padding of each side",
       {1, 4, 5, 2},
       {3, 2, 2, 2},
       1,
       2,
       "EXPLICIT",
       {0, 0, 2, 0, 0, 1, 0, 0}},
      {"rows that no window reaches, below padding",
       {2, 5, 4, 2},
       {2, 2, 2, 2},
       4,
       1,
       "EXPLICIT",
       {0, 0, 3, 0, 1, 0, 0, 0}},
      {"nothing but padding",
       {1, 1, 3, 2},
       {2, 2, 2, 2},
       4,
       1,
       "EXPLICIT",
       {0, 0, 3, 0, 0, 0, 0, 0}},
      {"one channel out", {2, 5, 5, 2}, {3, 3, 2, 1}},
      {"a filter of one number", {1, 6, 6, 1}, {1, 1, 1, 3}, 2, 2},
      {"two groups", {1, 5, 5, 4}, {3, 3, 2, 6}},
      {"half", {1, 8, 8, 3}, {3, 3, 3, 4}, 2, 2, "SAME", {}, {1, 1, 1, 1}, DType::float16},
      {"double", {1, 8, 7, 3}, {3, 3, 3, 4}, 2, 1, "SAME", {}, {1, 1, 1, 1}, DType::float64},
  };
  return all;
}

/// Of each convolution the result, and for it as gradient those by the images and by the filter.
std::vector<Tensor> convolve_all(Rig& rig, const char* device) {
  Scope root = Scope::root();
  Scope s = root.on(device);
  Output one = ops::placeholder(root.named("one"), DType::float32); // so that nothing is constant
  const auto sizes = [](const Shape& shape) {
    const std::vector<std::int32_t> dims(shape.dims().begin(), shape.dims().end());
    return Tensor::vector<std::int32_t>(dims);
  };
  std::vector<std::string> fetches;
  for (const Convolution& c : convolutions()) {
    const auto values = [&](const Shape& shape, int seed) {
      return ops::cast(s, ops::mul(s, s.constant(numbers(shape, seed)), one), c.dtype);
    };
    Output x = values(c.x, 1), filter = values(c.filter, 2);
    const std::vector<std::int64_t> strides = {1, c.stride_h, c.stride_w, 1};
    Output y = ops::conv2d(s, x, filter, strides, c.padding,
                           {.explicit_paddings = c.explicit_paddings, .dilations = c.dilations});
    Output dx = ops::conv2d_backprop_input(
        s, sizes(c.x), filter, y, strides, c.padding,
        {.explicit_paddings = c.explicit_paddings, .dilations = c.dilations});
    Output dfilter = ops::conv2d_backprop_filter(
        s, x, sizes(c.filter), y, strides, c.padding,
        {.explicit_paddings = c.explicit_paddings, .dilations = c.dilations});
    for (const Output& out : {y, dx, dfilter})
      fetches.push_back(ops::cast(s, out, DType::float32).name());
  }
  const Status extended = rig.session->extend(root);
  REQUIRE_MESSAGE(extended.ok(), extended.to_string());
  auto got = rig.session->run({{"one", Tensor::scalar(1.0F)}}, fetches);
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  return *std::move(got);
}

} // namespace

TEST_CASE("gpu: a dense net trains there as on the CPU, with each optimizer") {
  compare_with_cpu(mlp, "sgd", "gradient_descent_f32");
  compare_with_cpu(mlp, "momentum", "momentum_f32");
  compare_with_cpu(mlp, "adam", "adam_f32");
}

TEST_CASE("gpu: a convolutional net with batch normalisation trains there as on the CPU") {
  compare_with_cpu(cnn, "momentum", "cudnnConvolutionForward");
}

TEST_CASE("gpu: a convolutional net trains there as on the CPU without cuDNN") {
  compare_with_cpu(cnn, "momentum", "take_patches_f32", "libcudnn");
}

TEST_CASE("gpu: convolutions and their gradients are those of the CPU, with cuDNN and without") {
  std::vector<Tensor> expected;
  {
    Rig rig;
    expected = convolve_all(rig, "/device:CPU:0");
  }
  const std::vector<std::vector<const char*>> failing = {
      {},
      {"libcudnn"},
      {"cudnnGetConvolutionForwardAlgorithm_v7", "cudnnGetConvolutionBackwardDataAlgorithm_v7",
       "cudnnGetConvolutionBackwardFilterAlgorithm_v7"},
      {"cudnnConvolutionForward", "cudnnConvolutionBackwardData",
       "cudnnConvolutionBackwardFilter"}};
  // Only a double refuses what it is told to, and counts.
  for (std::size_t way = 0; way < (is_real() ? 1 : failing.size()); ++way) {
    CAPTURE(way);
    Rig rig;
    for (const char* call : failing[way])
      rig.driver.fail_call(call, 3000);
    const std::vector<Tensor> got = convolve_all(rig, "/device:GPU:0");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Convolution& c = convolutions()[i / 3];
      CAPTURE(c.name);
      CAPTURE(i % 3);
      const float tolerance = c.dtype == DType::float16 ? 0.05F : 1e-4F;
      REQUIRE(got[i].shape() == expected[i].shape());
      for (std::size_t k = 0; k < got[i].data<float>().size(); ++k)
        CHECK(std::abs(got[i].data<float>()[k] - expected[i].data<float>()[k]) < tolerance);
    }
    if (is_real())
      continue;
    // All but one go by cuDNN, one of them in two groups; each refusal is of one, or of both
    // groups. The first run of each tries Winograd's algorithm twice, and may choose it.
    const int all = static_cast<int>(convolutions().size());
    const int most = way == 1 ? 0 : 3 * all, least = way == 1 ? 0 : 2 * (all - 2);
    for (const char* algorithm :
         {"cudnnConvolutionForward, algorithm 6", "cudnnConvolutionBackwardData, algorithm 4",
          "cudnnConvolutionBackwardFilter, algorithm 5"}) {
      CAPTURE(algorithm);
      CHECK(rig.driver.launches(algorithm) >= least);
      CHECK(rig.driver.launches(algorithm) <= most);
    }
    CHECK((rig.driver.launches("take_patches_f32") == 2) == (way == 0));
  }
}

TEST_CASE("gpu: a layer of attention with dropout trains there as on the CPU, by the same random "
          "numbers") {
  compare_with_cpu(attention, "adam", "random_f32");
}

TEST_CASE(
    "gpu: a loop there counts on the host, and keeps its values in a TensorArray on the board") {
  constexpr std::string_view text = R"(
    n = Const[dtype=DT_INT32, value=i32[] 4]()
    zero = Const[dtype=DT_INT32, value=i32[] 0]()
    one = Const[dtype=DT_INT32, value=i32[] 1]()
    x = Const[dtype=DT_FLOAT, value=f32[3] 1 1.5 2]()
    ta = TensorArrayV3[dtype=DT_FLOAT](n)
    n_in = Enter[frame_name="w", is_constant=true](n)
    one_in = Enter[frame_name="w", is_constant=true](one)
    ta_in = Enter[frame_name="w", is_constant=true](ta:0)
    i_in = Enter[frame_name="w"](zero)
    x_in = Enter[frame_name="w"](x)
    f_in = Enter[frame_name="w"](ta:1)
    i = Merge(i_in, i_next)
    y = Merge(x_in, y_next)
    f = Merge(f_in, f_next)
    less = Less(i:0, n_in)
    cond = LoopCond(less)
    i_now = Switch(i:0, cond)
    y_now = Switch(y:0, cond)
    f_now = Switch(f:0, cond)
    i_more = AddV2(i_now:1, one_in)
    square = Square(y_now:1)
    write = TensorArrayWriteV3(ta_in, i_now:1, square, f_now:1)
    i_next = NextIteration(i_more)
    y_next = NextIteration(square)
    f_next = NextIteration(write)
    last = Exit(y_now:0)
    flow = Exit(f_now:0)
    indices = Range(zero, n, one)
    all = TensorArrayGatherV3[dtype=DT_FLOAT](ta:0, indices, flow)
  )";
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Rig rig({.seed = seed});
    auto graph = parse_graph(text, op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    for (Node* node : graph->nodes())
      node->device = "/device:GPU:0";
    const Status extended = rig.session->extend_graph_def(*write_graph_bytes(*graph));
    REQUIRE_MESSAGE(extended.ok(), extended.to_string());
    auto got = rig.session->run({}, {"last:0", "all:0"});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    CHECK(rig.driver.launches("unary_f32") == 4);
    for (std::size_t k = 0; k < 3; ++k) {
      float value = 1 + 0.5F * static_cast<float>(k);
      for (std::size_t step = 0; step < 4; ++step) {
        value *= value;
        CHECK((*got)[1].data<float>()[3 * step + k] == value);
      }
      CHECK((*got)[0].data<float>()[k] == value);
    }
  }
}

TEST_CASE("gpu: values pass between two boards and the CPU, in whatever order streams run") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Rig rig({.gpus = 2, .seed = seed});
    Scope root = Scope::root();
    Scope first = root.on("/device:GPU:0"), second = root.on("/device:GPU:1"),
          cpu = root.on("/device:CPU:0");
    Output x = ops::placeholder(root.named("x"), DType::float32);
    Output y = ops::square(first, x);
    Output z = ops::add(second, y, ops::neg(cpu, y));
    Output w = ops::mul(first, ops::add(second, z, y), y);
    REQUIRE(rig.session->extend(root).ok());
    const Tensor value = numbers({300}, 5);
    auto got = rig.session->run({{"x", value}}, {w.name(), z.name()});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    for (std::size_t i = 0; i < 300; ++i) {
      const float square = value.data<float>()[i] * value.data<float>()[i];
      CHECK((*got)[0].data<float>()[i] == square * square);
      CHECK((*got)[1].data<float>()[i] == 0);
    }
  }
}

TEST_CASE("gpu: a long reduction is cut among blocks, and joined to the same sum") {
  Rig rig;
  constexpr std::int64_t n = 20000;
  Scope root = Scope::root();
  Scope s = root.on("/device:GPU:0");
  Output x = ops::placeholder(root.named("x"), DType::float32);
  const auto summed = [&](const Shape& shape, std::int32_t axis) {
    std::vector<std::int32_t> dims(shape.dims().begin(), shape.dims().end());
    return ops::sum(s, ops::reshape(s, x, Tensor::vector<std::int32_t>(dims)), axis);
  };
  Output rows = summed({2, n}, 1), columns = summed({n, 2}, 0);
  REQUIRE(rig.session->extend(root).ok());
  Tensor value = Tensor::make(DType::float32, {2 * n});
  double first = 0, second = 0, even = 0, odd = 0;
  for (std::int64_t i = 0; i < 2 * n; ++i) {
    const auto whole = static_cast<float>(i % 100);
    value.mutable_data<float>()[static_cast<std::size_t>(i)] = whole;
    (i < n ? first : second) += whole;
    (i % 2 == 0 ? even : odd) += whole;
  }
  auto got = rig.session->run({{"x", value}}, {rows.name(), columns.name()});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  CHECK(rig.driver.launches("reduce_rows_f32") == 1);
  CHECK(rig.driver.launches("reduce_columns_f32") == 1);
  CHECK(rig.driver.launches("reduce_parts_f32") == 2);
  CHECK(static_cast<double>((*got)[0].data<float>()[0]) == first);
  CHECK(static_cast<double>((*got)[0].data<float>()[1]) == second);
  CHECK(static_cast<double>((*got)[1].data<float>()[0]) == even);
  CHECK(static_cast<double>((*got)[1].data<float>()[1]) == odd);
}

TEST_CASE("gpu: a variable that a fetch still copies is not changed under it") {
  Rig rig({.seed = 3});
  Scope root = Scope::root();
  Scope s = root.on("/device:GPU:0");
  GraphVariable v = variable(s, "v", DType::float32, {1000}, Tensor::zeros(DType::float32, {1000}));
  Operation add = ops::assign_add_variable_op(
      s, v.handle(), ops::fill(s, Tensor::vector<std::int32_t>({1000}), 1.0f));
  REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
  REQUIRE(rig.session->extend(root).ok());
  REQUIRE(rig.session->run({}, {}, {v.initializer().name()}).status().ok());
  for (int step = 0; step < 20; ++step) {
    auto got = rig.session->run({}, {v.read().name()}, {add.name()});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    const float first = (*got)[0].data<float>()[0];
    CHECK((first == static_cast<float>(step) || first == static_cast<float>(step + 1)));
    for (float value : (*got)[0].data<float>())
      CHECK(value == first);
  }
}

TEST_CASE("gpu: a traced step says when each kernel ran on the board") {
  Rig rig;
  Scope root = Scope::root();
  Scope s = root.on("/device:GPU:0");
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output product = ops::mat_mul(s.named("product"), x, x);
  Output y = ops::exp(s.named("power"), product);
  REQUIRE(rig.session->extend(root).ok());
  RunMetadata metadata;
  const Feeds feeds = {{"x", numbers({64, 64}, 1)}};
  REQUIRE(
      rig.session->run(feeds, {y.name()}, {}, {.trace_level = TraceLevel::full}, &metadata).ok());
  const DeviceStats* stream = nullptr;
  for (const DeviceStats& device : metadata.step_stats.devices)
    if (device.device.ends_with("GPU:0/stream:all"))
      stream = &device;
  REQUIRE(stream != nullptr);
  std::vector<std::string> ran;
  std::int64_t last = 0;
  for (const NodeStats& node : stream->nodes) {
    ran.push_back(str_cat(node.node, " ", node.op));
    CHECK(node.start_us >= last);
    CHECK(node.end_us >= node.start_us);
    last = node.end_us;
  }
  CHECK(str_join(ran, ", ") == "product MatMul, power Exp");
}

TEST_CASE("gpu: a kernel that fails ends the device with the node's name, and the CPU goes on") {
  Rig rig;
  rig.is_broken = true;
  Scope root = Scope::root();
  Scope s = root.on("/device:GPU:0");
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output bad = ops::exp(s.named("bad"), x);
  Output fine = ops::neg(root.on("/device:CPU:0"), x);
  REQUIRE(rig.session->extend(root).ok());
  rig.driver.fail_kernel("unary_f32", illegal_address);
  auto failed = rig.session->run({{"x", numbers({10}, 1)}}, {bad.name()});
  CHECK(failed.status().code() == Code::internal);
  CHECK(failed.status().message().find("an illegal memory access was encountered") !=
        std::string::npos);
  CHECK(failed.status().message().find("it comes from 'bad' (Exp)") != std::string::npos);
  auto again = rig.session->run({{"x", numbers({10}, 1)}}, {bad.name()});
  CHECK(again.status().message().find("of no use any more until this process is started again") !=
        std::string::npos);
  CHECK(rig.session->run({{"x", numbers({10}, 1)}}, {fine.name()}).ok());
}

TEST_CASE("gpu: an error of work that nothing is fetched of is the step's") {
  Rig rig;
  rig.is_broken = true;
  Scope root = Scope::root();
  Scope s = root.on("/device:GPU:0");
  GraphVariable v = variable(s, "v", DType::float32, {4}, Tensor::zeros(DType::float32, {4}));
  Operation add = ops::assign_add_variable_op(s.named("add"), v.handle(), numbers({4}, 3));
  REQUIRE(rig.session->extend(root).ok());
  REQUIRE(rig.session->run({}, {}, {v.initializer().name()}).status().ok());
  rig.driver.fail_kernel("binary_f32", illegal_address);
  const Status failed = rig.session->run({}, {}, {add.name()}).status();
  CHECK(failed.message().find("'add' (AssignAddVariableOp)") != std::string::npos);
}

TEST_CASE("gpu: a step without room fails with the remedy, and the next one that has runs") {
  Rig rig({.memory = 1 << 20});
  Scope root = Scope::root();
  Scope s = root.on("/device:GPU:0");
  Output size = ops::placeholder(root.named("size"), DType::int32);
  Output big = ops::sum(s, ops::fill(s, size, 1.0f), Tensor::vector<std::int32_t>({0}));
  REQUIRE(rig.session->extend(root).ok());
  auto feed = [](std::int32_t n) { return Tensor::vector<std::int32_t>({n}); };
  auto refused = rig.session->run({{"size", feed(1 << 20)}}, {big.name()});
  CHECK(refused.status().code() == Code::resource_exhausted);
  CHECK(refused.status().message().find("bytes that troupe may take of the GPU's memory") !=
        std::string::npos);
  auto fits = rig.session->run({{"size", feed(1 << 10)}}, {big.name()});
  REQUIRE_MESSAGE(fits.ok(), fits.status().to_string());
  CHECK((*fits)[0].value<float>() == 1024);
}

TEST_CASE(
    "gpu: an op without a kernel there is refused, or goes to the CPU where placement is soft") {
  Rig rig;
  Scope root = Scope::root();
  Scope s = root.on("/device:GPU:0");
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output y = ops::erfinv(s, ops::relu(s, x));
  const Status refused = rig.session->extend(root);
  CHECK(refused.code() == Code::invalid_argument);
  CHECK(refused.message().find("no supported kernel for GPU devices") != std::string::npos);
}

} // namespace troupe::gpu_test
