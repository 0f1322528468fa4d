// A training step in its steady state allocates nothing but its tensors, which it takes from the
// device's cache.
#include <doctest/doctest.h>

#include "actors/executor/step_run.hpp"
#include "actors/executor/testing/counted_new.hpp"
#include "core/base/strings.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "devices/memory/caching_allocator.hpp"
#include "graph/ir/text.hpp"
#include "graph/passes/optimize.hpp"
#include "kernels/arith/types.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::training_allocations_test {
namespace {

/// The ops of variables, as TensorFlow 1 makes them by default and with use_resource.
struct Kind {
  const char *variable, *read, *assign, *apply;
};
const Kind by_reference = {"VariableV2", "Identity", "Assign", "Apply"};
const Kind by_handle = {"VarHandleOp", "ReadVariableOp[dtype=DT_FLOAT]", "AssignVariableOp",
                        "ResourceApply"};

struct Optimizer {
  const char* name;
  std::vector<const char*> slots; ///< of each variable
  const char* update; ///< the inputs between the variable with its slots and the gradient
  bool has_powers;    ///< beta1 and beta2 to the power of the step's number are variables
};

const Optimizer sgd = {"GradientDescent", {}, "rate", false};
const Optimizer adam = {"Adam",
                        {"Adam", "Adam_1"},
                        "read_beta1_power, read_beta2_power, rate, beta1, beta2, tiny",
                        true};

struct Weights {
  const char* name;
  std::string dims;
  const char *read, *gradient;
};

struct Model {
  Shape images;
  std::vector<Weights> weights; ///< their names are too long for a string's own place
  const char* text;             ///< from the images x to the gradients
};

const Model mlp = {{128, 784},
                   {{"model/hidden/kernel", "784,96", "w1", "dw1"},
                    {"model/hidden/bias", "96", "b1", "db1"},
                    {"model/logits/kernel", "96,10", "w2", "dw2"},
                    {"model/logits/bias", "10", "b2", "db2"}},
                   R"(
    h0 = MatMul(x, w1)
    h1 = BiasAdd(h0, b1)
    h = Relu(h1)
    l0 = MatMul(h, w2)
    logits = BiasAdd(l0, b2)
    db2 = BiasAddGrad(dlogits)
    dw2 = MatMul[transpose_a=true](h, dlogits)
    dh = MatMul[transpose_b=true](dlogits, w2)
    dh1 = ReluGrad(dh, h)
    db1 = BiasAddGrad(dh1)
    dw1 = MatMul[transpose_a=true](x, dh1)
  )"};

const Model cnn = {{16, 8, 8, 3},
                   {{"model/first/kernel", "3,3,3,8", "w1", "dw1"},
                    {"model/first/bias", "8", "b1", "db1"},
                    {"model/second/kernel", "3,3,8,16", "w2", "dw2"},
                    {"model/second/bias", "16", "b2", "db2"},
                    {"model/logits/kernel", "256,10", "w3", "dw3"},
                    {"model/logits/bias", "10", "b3", "db3"}},
                   R"(
    c1 = Conv2D[strides=[1,1,1,1], padding="SAME"](x, w1)
    a1 = BiasAdd(c1, b1)
    r1 = Relu(a1)
    c2 = Conv2D[strides=[1,1,1,1], padding="SAME"](r1, w2)
    a2 = BiasAdd(c2, b2)
    r2 = Relu(a2)
    p2 = MaxPool[ksize=[1,2,2,1], strides=[1,2,2,1], padding="SAME"](r2)
    flat_shape = Const[dtype=DT_INT32, value=i32[2] -1 256]()
    flat = Reshape(p2, flat_shape)
    l0 = MatMul(flat, w3)
    logits = BiasAdd(l0, b3)
    db3 = BiasAddGrad(dlogits)
    dw3 = MatMul[transpose_a=true](flat, dlogits)
    dflat = MatMul[transpose_b=true](dlogits, w3)
    p2_shape = Shape(p2)
    dp2 = Reshape(dflat, p2_shape)
    dr2 = MaxPoolGrad[ksize=[1,2,2,1], strides=[1,2,2,1], padding="SAME"](r2, p2, dp2)
    da2 = ReluGrad(dr2, r2)
    db2 = BiasAddGrad(da2)
    shapes = ShapeN(r1, w2)
    dr1 = Conv2DBackpropInput[strides=[1,1,1,1], padding="SAME"](shapes, w2, da2)
    dw2 = Conv2DBackpropFilter[strides=[1,1,1,1], padding="SAME"](r1, shapes:1, da2)
    da1 = ReluGrad(dr1, r1)
    db1 = BiasAddGrad(da1)
    w1_shape = Const[dtype=DT_INT32, value=i32[4] 3 3 3 8]()
    dw1 = Conv2DBackpropFilter[strides=[1,1,1,1], padding="SAME"](x, w1_shape, da1)
  )"};

std::vector<std::string> with_slots(const Weights& w, const Optimizer& optimizer) {
  std::vector<std::string> out = {w.name};
  for (const char* slot : optimizer.slots)
    out.push_back(str_cat(w.name, "/", slot));
  return out;
}

std::string variable(const Kind& kind, const std::string& name, std::string_view dims) {
  return str_cat(name, " = ", kind.variable, "[dtype=DT_FLOAT, shape=[", dims, "]]()\n");
}

// The variables, and what gives them their first values.
std::string initial_text(const Model& model, const Kind& kind, const Optimizer& optimizer) {
  std::string out;
  auto initialized = [&](const std::string& name, std::string_view dims, std::string_view value) {
    out += variable(kind, name, dims);
    out += str_cat(name, "/value = Const[dtype=DT_FLOAT, value=f32[", dims, "] ", value, "]()\n",
                   name, "/Assign = ", kind.assign, "(", name, ", ", name, "/value)\n");
  };
  for (const Weights& w : model.weights)
    for (const std::string& name : with_slots(w, optimizer))
      initialized(name, w.dims, name == w.name ? "0.01" : "0");
  if (optimizer.has_powers) {
    initialized("optimizer/beta1_power", "", "0.9");
    initialized("optimizer/beta2_power", "", "0.99");
  }
  return out;
}

std::string step_text(const Model& model, const Kind& kind, const Optimizer& optimizer) {
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
  for (const Weights& w : model.weights) {
    const std::vector<std::string> names = with_slots(w, optimizer);
    for (const std::string& name : names)
      out += variable(kind, name, w.dims);
    out += str_cat(w.read, " = ", kind.read, "(", w.name, ")\n");
    out += str_cat(w.name, "/update = ", kind.apply, optimizer.name, "(", str_join(names, ", "),
                   ", ", optimizer.update, ", ", w.gradient, ")\n");
  }
  for (const char* beta : {"beta1", "beta2"}) {
    if (!optimizer.has_powers)
      break;
    const std::string name = str_cat("optimizer/", beta, "_power");
    out += variable(kind, name, "");
    out += str_cat("read_", beta, "_power = ", kind.read, "(", name, ")\n", name,
                   "/mul = Mul(read_", beta, "_power, ", beta, ")\n", name,
                   "/Assign = ", kind.assign, "(", name, ", ", name, "/mul)");
    for (const Weights& w : model.weights)
      out += str_cat(" ^", w.name, "/update");
    out += "\n";
  }
  return str_cat(out, model.text, R"(
    entropy = SparseSoftmaxCrossEntropyWithLogits(logits, labels)
    loss = Mean(entropy, axis)
    dlogits = Mul(entropy:1, share)
    r = _Retval[index=0](loss)
  )");
}

class Training {
public:
  Training(const Model& model, const Kind& kind, const Optimizer& optimizer, bool rewrites)
      : host_(1) {
    device_ = std::move(make_cpu_devices(host_, "/job:local/replica:0/task:0", 1)[0]);
    environment_.device = device_.get();
    environment_.cancellation = &cancellation_;
    environment_.node_states = &node_states_;
    environment_.step_resources = &step_resources_;
    run(compile(initial_text(model, kind, optimizer), false), {});
    step_ = compile(step_text(model, kind, optimizer), rewrites);
    x_ = Tensor::make(DType::float32, model.images);
    for (std::size_t i = 0; float& value : x_.mutable_data<float>())
      value = i++ % 7 == 0 ? 0.5f : -0.25f;
    labels_ = Tensor::make(DType::int64, {model.images[0]});
    for (std::int64_t i = 0; std::int64_t & label : labels_.mutable_data<std::int64_t>())
      label = i++ % 3;
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

  DeviceHost host_;
  std::unique_ptr<Device> device_;
  NodeStates node_states_;
  ResourceManager step_resources_;
  Cancellation cancellation_;
  StepEnvironment environment_;
  Program step_;
  Tensor x_, labels_;
};

void check_training(const Model& model, const Kind& kind, const Optimizer& optimizer) {
  for (bool rewrites : {false, true}) {
    CAPTURE(rewrites);
    Training training(model, kind, optimizer, rewrites);
    float first = training.step().loss;
    for (int i = 0; i < 40; ++i)
      training.step();
    std::uint64_t before = training.allocator().stats().system_allocations;
    float last = 0;
    for (int i = 0; i < 20; ++i) {
      auto [loss, allocations] = training.step();
      CHECK(allocations == 0);
      last = loss;
    }
    CHECK(training.allocator().stats().system_allocations == before);
    CHECK(last < first);
  }
}

TEST_CASE("training: a step of an MLP with SGD on reference variables allocates nothing but its "
          "tensors") {
  check_training(mlp, by_reference, sgd);
}

TEST_CASE("training: a step of an MLP with Adam on reference variables allocates nothing but its "
          "tensors") {
  check_training(mlp, by_reference, adam);
}

TEST_CASE("training: a step of an MLP with SGD on resource variables allocates nothing but its "
          "tensors") {
  check_training(mlp, by_handle, sgd);
}

TEST_CASE("training: a step of an MLP with Adam on resource variables allocates nothing but its "
          "tensors") {
  check_training(mlp, by_handle, adam);
}

TEST_CASE(
    "training: a step of a CNN, convolved by our own code, allocates nothing but its tensors") {
  bool before = arith::onednn_in_use();
  arith::use_onednn(false);
  check_training(cnn, by_reference, adam);
  check_training(cnn, by_handle, sgd);
  arith::use_onednn(before);
}

} // namespace
} // namespace troupe::training_allocations_test
