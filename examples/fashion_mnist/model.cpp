#include "examples/fashion_mnist/model.hpp"

#include <cmath>

#include "api/ops.hpp"
#include "core/base/strings.hpp"
#include "examples/fashion_mnist/dataset.hpp"

namespace troupe::fashion_mnist {

namespace {

// Mean and deviation of the training set's pixels.
constexpr float pixel_mean = 72.94f;
constexpr float pixel_deviation = 90.02f;

// Adds layers one after another and remembers their variables.
class Layers {
public:
  Layers(const Scope& root, const Devices& devices)
      : compute_(devices.compute.empty() ? root : root.on(devices.compute)), root_(root),
        devices_(devices) {}

  Output dense(const std::string& name, const Output& x, std::int64_t from, std::int64_t to) {
    Output w = weights(name + "/weights", {from, to}, from);
    Output b = zeros(name + "/bias", {to});
    Scope s = compute_.sub(name);
    return ops::bias_add(s, ops::mat_mul(s, x, w), b);
  }

  // 3 × 3, as many rows and columns as before, then half of them.
  Output convolution(const std::string& name, const Output& x, std::int64_t from, std::int64_t to) {
    Output w = weights(name + "/weights", {3, 3, from, to}, 9 * from);
    Output b = zeros(name + "/bias", {to});
    Scope s = compute_.sub(name);
    Output y = ops::conv2d(s, x, w, {1, 1, 1, 1}, "SAME");
    y = ops::relu(s, ops::bias_add(s, y, b));
    return ops::max_pool(s, y, {1, 2, 2, 1}, {1, 2, 2, 1}, "SAME");
  }

  Output relu(const Output& x) { return ops::relu(compute_, x); }
  const Scope& compute() const { return compute_; }
  const std::vector<GraphVariable>& variables() const { return variables_; }

private:
  Scope next_home() const {
    if (devices_.variables.empty())
      return root_;
    return root_.on(devices_.variables[variables_.size() % devices_.variables.size()]);
  }

  // Truncated normal numbers that keep the size of what flows through (He et al. 2015).
  Output weights(const std::string& name, const Shape& shape, std::int64_t fan_in) {
    Scope home = next_home();
    Scope initial = home.sub(name).sub("random");
    float deviation = std::sqrt(2.0f / static_cast<float>(fan_in));
    Output draw = ops::truncated_normal(
        initial, Tensor::vector<std::int64_t>(shape.dims()), DType::float32,
        {.seed = 87654321, .seed2 = static_cast<std::int64_t>(variables_.size()) + 1});
    return add(home, name, shape, ops::mul(initial, draw, deviation));
  }

  Output zeros(const std::string& name, const Shape& shape) {
    return add(next_home(), name, shape, Tensor::zeros(DType::float32, shape));
  }

  Output add(const Scope& home, const std::string& name, const Shape& shape, const Input& initial) {
    variables_.push_back(variable(home, name, DType::float32, shape, initial));
    return variables_.back().read();
  }

  Scope compute_, root_;
  const Devices& devices_;
  std::vector<GraphVariable> variables_;
};

Output mlp(Layers& layers, const Output& pixels) {
  Output x = layers.relu(layers.dense("hidden1", pixels, picture_side * picture_side, 256));
  x = layers.relu(layers.dense("hidden2", x, 256, 128));
  return layers.dense("scores", x, 128, classes);
}

Output cnn(Layers& layers, const Output& pixels) {
  auto shape = [](std::initializer_list<std::int32_t> dims) {
    return Tensor::vector<std::int32_t>(dims);
  };
  Output x = ops::reshape(layers.compute(), pixels, shape({-1, picture_side, picture_side, 1}));
  x = layers.convolution("conv1", x, 1, 16);
  x = layers.convolution("conv2", x, 16, 32);
  x = ops::reshape(layers.compute(), x, shape({-1, 7 * 7 * 32}));
  x = layers.relu(layers.dense("hidden", x, 7 * 7 * 32, 64));
  return layers.dense("scores", x, 64, classes);
}

} // namespace

Result<Model> build_model(const Scope& root, const std::string& name, const Devices& devices) {
  if (name != "mlp" && name != "cnn")
    return invalid_argument(str_cat("there is no model '", name, "'; there are mlp and cnn"));
  Layers layers(root, devices);
  const Scope& s = layers.compute();
  Model model;
  model.images = ops::placeholder(s.named("images"), DType::uint8,
                                  {.shape = {-1, picture_side * picture_side}});
  model.labels = ops::placeholder(s.named("labels"), DType::int64, {.shape = {-1}});
  model.rate = ops::placeholder(s.named("rate"), DType::float32, {.shape = Shape{}});
  Output pixels = ops::cast(s, model.images, DType::float32);
  pixels = ops::mul(s, ops::sub(s, pixels, pixel_mean), 1 / pixel_deviation);
  Output scores = name == "mlp" ? mlp(layers, pixels) : cnn(layers, pixels);

  Tensor axis = Tensor::vector<std::int32_t>({0});
  Output each = ops::sparse_softmax_cross_entropy_with_logits(s, scores, model.labels).loss;
  model.loss = ops::mean(s.named("loss"), each, axis);
  Output hit = ops::equal(s, ops::arg_max(s, scores, std::int32_t{1}), model.labels);
  model.correct = ops::sum(s.named("correct"), ops::cast(s, hit, DType::float32), axis);

  Minimized minimized = minimize_adam(s, model.loss, layers.variables(), model.rate);
  model.train = minimized.step;
  std::vector<GraphVariable> all = layers.variables();
  all.insert(all.end(), minimized.slots.begin(), minimized.slots.end());
  model.initialize = initialize_all(s, all);
  for (const GraphVariable& v : all)
    model.is_initialized.push_back(
        ops::var_is_initialized_op(root.colocated_with(v.handle()), v.handle()));
  TROUPE_TRY(root.status());
  return model;
}

} // namespace troupe::fashion_mnist
