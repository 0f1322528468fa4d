// A training step in its steady state takes its tensors from the device's cache, and allocates
// little else: a key for each variable that it looks up, lists of axes, and what ties the operands
// of a fused elementwise program together.
#include <doctest/doctest.h>

#include "actors/executor/step_run.hpp"
#include "actors/executor/testing/counted_new.hpp"
#include "core/base/strings.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "devices/memory/caching_allocator.hpp"
#include "graph/ir/text.hpp"
#include "graph/passes/optimize.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {
namespace {

constexpr std::int64_t batch = 128, inputs = 784, hidden = 96, classes = 10;

struct Optimizer {
  const char* name;
  std::vector<const char*> slots; ///< of each variable
  const char* update;  ///< the inputs between the variable with its slots and the gradient
  std::size_t lookups; ///< of variables in a step: by reads and by updates
};

const Optimizer sgd = {"ResourceApplyGradientDescent", {}, "rate", 4 + 4};
const Optimizer adam = {
    "ResourceApplyAdam", {"m", "v"}, "beta1, beta2, rate, beta1, beta2, tiny", 4 + 12};

struct Weights {
  const char* name;
  std::string dims;
  const char* gradient;
};

const std::vector<Weights>& weights() {
  static const std::vector<Weights> all = {{"w1", str_cat(inputs, ",", hidden), "dw1"},
                                           {"b1", str_cat(hidden), "db1"},
                                           {"w2", str_cat(hidden, ",", classes), "dw2"},
                                           {"b2", str_cat(classes), "db2"}};
  return all;
}

// The variables, and what gives them their first values.
std::string initial_text(const Optimizer& optimizer) {
  std::string out;
  auto variable = [&](const std::string& name, const std::string& dims, const char* value) {
    out += str_cat(name, " = VarHandleOp[dtype=DT_FLOAT, shape=[", dims, "], shared_name=\"", name,
                   "\"]()\n", name, "_0 = Const[dtype=DT_FLOAT, value=f32[", dims, "] ", value,
                   "]()\nset_", name, " = AssignVariableOp(", name, ", ", name, "_0)\n");
  };
  for (const Weights& w : weights()) {
    variable(w.name, w.dims, "0.01");
    for (const char* slot : optimizer.slots)
      variable(str_cat(w.name, slot), w.dims, "0");
  }
  return out;
}

std::string step_text(const Optimizer& optimizer) {
  std::string out = R"(
    x = _Arg[T=DT_FLOAT, index=0]()
    labels = _Arg[T=DT_INT64, index=1]()
    rate = Const[dtype=DT_FLOAT, value=f32[] 0.05]()
    beta1 = Const[dtype=DT_FLOAT, value=f32[] 0.9]()
    beta2 = Const[dtype=DT_FLOAT, value=f32[] 0.99]()
    tiny = Const[dtype=DT_FLOAT, value=f32[] 1e-7]()
    axis = Const[dtype=DT_INT32, value=i32[1] 0]()
    share = Const[dtype=DT_FLOAT, value=f32[] 0.0078125]()
  )";
  for (const Weights& w : weights()) {
    std::vector<std::string> names = {w.name};
    for (const char* slot : optimizer.slots)
      names.push_back(str_cat(w.name, slot));
    for (const std::string& name : names)
      out += str_cat(name, " = VarHandleOp[dtype=DT_FLOAT, shape=[", w.dims, "], shared_name=\"",
                     name, "\"]()\n");
    out += str_cat("read_", w.name, " = ReadVariableOp[dtype=DT_FLOAT](", w.name, ")\n");
    out += str_cat("train_", w.name, " = ", optimizer.name, "(", str_join(names, ", "), ", ",
                   optimizer.update, ", ", w.gradient, ")\n");
  }
  return out + R"(
    h0 = MatMul(x, read_w1)
    h1 = BiasAdd(h0, read_b1)
    h = Relu(h1)
    l0 = MatMul(h, read_w2)
    logits = BiasAdd(l0, read_b2)
    entropy = SparseSoftmaxCrossEntropyWithLogits(logits, labels)
    loss = Mean(entropy, axis)
    dlogits = Mul(entropy:1, share)
    db2 = BiasAddGrad(dlogits)
    dw2 = MatMul[transpose_a=true](h, dlogits)
    dh = MatMul[transpose_b=true](dlogits, read_w2)
    dh1 = ReluGrad(dh, h)
    db1 = BiasAddGrad(dh1)
    dw1 = MatMul[transpose_a=true](x, dh1)
    r = _Retval[index=0](loss)
  )";
}

class Training {
public:
  explicit Training(const Optimizer& optimizer, bool rewrites) : host_(1) {
    device_ = std::move(host_.make_devices("/job:local/replica:0/task:0", 1)[0]);
    environment_.device = device_.get();
    environment_.cancellation = &cancellation_;
    environment_.node_states = &node_states_;
    environment_.step_resources = &step_resources_;
    run(compile(initial_text(optimizer), false), {});
    step_ = compile(step_text(optimizer), rewrites);
    x_ = Tensor::make(DType::float32, {batch, inputs});
    labels_ = Tensor::make(DType::int64, {batch});
    for (std::int64_t i = 0; i < batch; ++i) {
      auto row = static_cast<std::size_t>(i * inputs);
      for (std::size_t j = 0; j < static_cast<std::size_t>(inputs); ++j)
        x_.mutable_data<float>()[row + j] = (row + j) % 7 == 0 ? 0.5f : -0.25f;
      labels_.mutable_data<std::int64_t>()[static_cast<std::size_t>(i)] = i % 3;
    }
  }

  struct Outcome {
    float loss = 0;
    std::size_t allocations = 0;
  };
  Outcome step() { return run(step_, {x_, labels_}); }
  CachingAllocator& allocator() { return dynamic_cast<CachingAllocator&>(device_->allocator()); }

private:
  using Program = std::shared_ptr<const Executable>;

  Program compile(const std::string& text, bool rewrites) {
    auto graph = parse_graph(text, op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    if (rewrites) {
      OptimizeOptions options;
      for (const Node* node : graph->nodes())
        if (node->outs.empty() || node->is_op("_Arg"))
          options.preserve.push_back(node->name);
      REQUIRE(optimize(*graph, options).ok());
    }
    auto executable = Executable::compile(*graph, *device_, op_library().kernels);
    REQUIRE_MESSAGE(executable.ok(), executable.status().to_string());
    return *std::move(executable);
  }

  Outcome run(const Program& program, std::vector<Tensor> args) {
    Outcome out;
    StepRun::Progress progress{};
    Status status;
    Tensor loss;
    out.allocations = testing::allocations_of([&] {
      StepRun run(program, environment_, StepHooks{[](void*, Completion) {}, nullptr, false},
                  std::move(args));
      progress = run.run();
      status = run.status();
      if (!run.retvals().empty())
        loss = std::move(run.retvals()[0]);
    });
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    REQUIRE(progress == StepRun::Progress::finished);
    if (loss.has_value())
      out.loss = loss.value<float>();
    return out;
  }

  CpuHost host_;
  std::unique_ptr<Device> device_;
  NodeStates node_states_;
  ResourceManager step_resources_;
  Cancellation cancellation_;
  StepEnvironment environment_;
  Program step_;
  Tensor x_, labels_;
};

constexpr std::size_t of_axes = 2, of_a_fused_program = 19;

void check_training(const Optimizer& optimizer) {
  for (bool rewrites : {false, true}) {
    CAPTURE(optimizer.name);
    CAPTURE(rewrites);
    Training training(optimizer, rewrites);
    float first = training.step().loss;
    for (int i = 0; i < 40; ++i)
      training.step();
    std::uint64_t before = training.allocator().stats().system_allocations;
    float last = 0;
    for (int i = 0; i < 20; ++i) {
      auto [loss, allocations] = training.step();
      CHECK(allocations <= optimizer.lookups + of_axes + (rewrites ? of_a_fused_program : 0));
      last = loss;
    }
    CHECK(training.allocator().stats().system_allocations == before);
    CHECK(last < first);
  }
}

TEST_CASE("training: a step of an MLP with SGD takes its tensors from the cache, and allocates no "
          "more than is known") {
  check_training(sgd);
}

TEST_CASE("training: a step of an MLP with Adam takes its tensors from the cache, and allocates no "
          "more than is known") {
  check_training(adam);
}

} // namespace
} // namespace troupe
