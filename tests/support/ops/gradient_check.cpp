#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/strings.hpp"
#include "graph/autodiff/gradients.hpp"
#include "tests/support/ops/compare.hpp"
#include "tests/support/ops/internal/case_node.hpp"
#include "tests/support/ops/internal/gradient_check.hpp"
#include "tests/support/ops/interpreter.hpp"

namespace troupe::testing {
namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;

/// Step of the differences and what they may be off by, relative to the largest derivative.
struct Precision {
  double step, relative, absolute;
};
constexpr Precision in_double{1e-5, 1e-5, 1e-7};
constexpr Precision in_float{1e-2, 2e-2, 2e-3};

/// Fixed numbers in [-1, -0.25] and [0.25, 1].
Tensor weights_like(const Tensor& y, unsigned seed) {
  std::vector<double> out(static_cast<std::size_t>(y.num_elements()));
  std::uint64_t state = seed + 1;
  for (double& w : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double unit = static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
    w = (unit < 0.5 ? -0.25 - 1.5 * unit : -0.5 + 1.5 * unit);
  }
  return from_doubles(y.dtype(), y.shape(), out);
}

struct Check {
  CaseNode node;
  std::vector<CaseInput> inputs;
  std::vector<int> xs, ys; // indices of inputs and outputs
  std::vector<Tensor> weights;
  Precision precision = in_float;
  std::unique_ptr<TestDevice> device = std::make_unique<TestDevice>();

  Result<std::vector<Tensor>> forward(const KernelNode& bound) {
    std::vector<std::string> names(inputs.size(), "x");
    TROUPE_ASSIGN(auto out,
                  run_kernel(bound, device->step(), make_entries(inputs, *device), names));
    std::vector<Tensor> values;
    for (int y : ys)
      values.push_back(out[static_cast<std::size_t>(y)].tensor);
    return values;
  }

  /// sum(w * y)
  Result<double> objective(const KernelNode& bound) {
    TROUPE_ASSIGN(auto values, forward(bound));
    double out = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      TROUPE_ASSIGN(auto y, to_doubles(values[i]));
      TROUPE_ASSIGN(auto w, to_doubles(weights[i]));
      if (y.size() != w.size())
        return internal("moving an input changed the output's shape");
      for (std::size_t k = 0; k < y.size(); ++k)
        out += w[k] * y[k];
    }
    return out;
  }

  /// The gradients by graph, evaluated; one for each x, none where no gradient flows.
  Result<std::vector<Tensor>> by_graph(bool shapes_known) {
    Graph graph(op_library().ops);
    std::vector<Endpoint> ends;
    Feeds feeds;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& value = inputs[i].value;
      const std::string name = str_cat("x", i);
      const bool moves = is_floating(value.dtype());
      AttrMap attrs{{"dtype", value.dtype()}};
      if (!moves)
        attrs.set("value", TensorBox{value});
      else
        attrs.set("shape", shapes_known ? PartialShape(value.shape()) : PartialShape());
      TROUPE_ASSIGN(Node * input,
                    graph.add(name, moves ? "Placeholder" : "Const", {}, std::move(attrs)));
      if (moves)
        feeds.emplace_back(name, value);
      ends.push_back({input->id, 0});
    }
    // By the schema itself, which need not be the registered one.
    TROUPE_ASSIGN(Node * y, graph.add_unconnected("y", *node.schema, node.attrs));
    for (std::size_t i = 0; i < ends.size(); ++i)
      graph.set_input(y->id, static_cast<int>(i), ends[i]);
    std::vector<Endpoint> from, to;
    std::vector<std::optional<Endpoint>> seeds;
    for (std::size_t i = 0; i < ys.size(); ++i) {
      TROUPE_ASSIGN(Node * w, graph.add(str_cat("w", i), "Placeholder", {},
                                        {{"dtype", weights[i].dtype()},
                                         {"shape", shapes_known ? PartialShape(weights[i].shape())
                                                                : PartialShape()}}));
      feeds.emplace_back(w->name, weights[i]);
      from.push_back({y->id, ys[i]});
      seeds.push_back(Endpoint{w->id, 0});
    }
    for (int x : xs)
      to.push_back(ends[static_cast<std::size_t>(x)]);
    TROUPE_ASSIGN(auto gradients, add_gradients(graph, from, to, seeds));
    std::vector<std::string> fetches;
    for (const auto& gradient : gradients)
      if (gradient)
        fetches.push_back(str_cat(graph.node(gradient->node)->name, ":", gradient->slot));
    TROUPE_ASSIGN(auto values, Interpreter().run(graph, feeds, fetches));
    std::vector<Tensor> out;
    std::size_t next = 0;
    for (const auto& gradient : gradients)
      out.push_back(gradient ? values[next++] : Tensor());
    return out;
  }

  /// Derivatives with respect to elements of input x: pairs of index and value.
  Result<std::vector<std::pair<std::size_t, double>>> by_differences(const KernelNode& bound,
                                                                     int x) {
    CaseInput& input = inputs[static_cast<std::size_t>(x)];
    const Tensor start = input.value;
    TROUPE_ASSIGN(auto values, to_doubles(start));
    const std::size_t stride = values.size() / 48 + 1;
    std::vector<std::pair<std::size_t, double>> out;
    for (std::size_t i = 0; i < values.size(); i += stride) {
      const double at = values[i];
      const double step = precision.step * std::max(1.0, std::abs(at));
      double side[2] = {}, place[2] = {};
      for (int k = 0; k < 2; ++k) {
        values[i] = k == 0 ? at - step : at + step;
        input.value = from_doubles(start.dtype(), start.shape(), values);
        TROUPE_ASSIGN(auto stored, to_doubles(input.value));
        place[k] = stored[i];
        auto result = objective(bound);
        input.value = start;
        if (!result.ok())
          return result.status();
        side[k] = *result;
      }
      values[i] = at;
      out.emplace_back(i, (side[1] - side[0]) / (place[1] - place[0]));
    }
    return out;
  }

  std::optional<std::string> compare(const std::vector<Tensor>& gradients, std::size_t which,
                                     const std::vector<std::pair<std::size_t, double>>& expected) {
    const int x = xs[which];
    const Tensor& value = inputs[static_cast<std::size_t>(x)].value;
    const Tensor& gradient = gradients[which];
    if (gradient.has_value() &&
        (gradient.shape() != value.shape() || gradient.dtype() != value.dtype()))
      return str_cat("the gradient of input ", x, " is ", gradient.to_string(),
                     ", the input's shape is ", value.shape(), " and its dtype ",
                     to_string(value.dtype()));
    double largest = 0;
    for (const auto& [i, derivative] : expected)
      largest = std::max(largest, std::abs(derivative));
    auto computed = gradient.has_value()
                        ? to_doubles(gradient)
                        : std::vector<double>(static_cast<std::size_t>(value.num_elements()));
    if (!computed.ok())
      return computed.status().to_string();
    for (const auto& [i, derivative] : expected)
      if (!(std::abs((*computed)[i] - derivative) <=
            precision.absolute + precision.relative * largest))
        return str_cat("d/d input ", x, "[", i, "] is ", (*computed)[i],
                       gradient.has_value() ? "" : " (no gradient flows)",
                       ", by differences it is ", derivative);
    return std::nullopt;
  }
};

/// The row with every floating number as `dtype`; nothing if the op has no kernel for it.
Result<Check> make_check(const OpSchema& schema, std::vector<CaseInput> inputs, Attrs attrs,
                         DType dtype) {
  auto changed = [&](DType t) { return is_floating(t) ? dtype : t; };
  for (CaseInput& input : inputs)
    if (is_floating(input.dtype)) {
      TROUPE_ASSIGN(auto values, to_doubles(input.value));
      input.dtype = dtype;
      input.value = from_doubles(dtype, input.value.shape(), values);
    }
  for (auto& [name, value] : attrs) {
    if (auto* type = std::get_if<DType>(&value))
      *type = changed(*type);
    else if (auto* types = std::get_if<std::vector<DType>>(&value))
      for (DType& type : *types)
        type = changed(type);
  }
  TROUPE_ASSIGN(CaseNode node, make_case_node(schema, inputs, attrs));
  TROUPE_TRY(op_library().kernels.find(schema.name, node.attrs, "CPU").status());
  return Check{.node = std::move(node),
               .inputs = std::move(inputs),
               .xs = {},
               .ys = {},
               .weights = {},
               .precision = dtype == DType::float64 ? in_double : in_float};
}

Result<std::optional<std::string>> run_check(Check& check, const std::vector<int>& wanted) {
  for (std::size_t i = 0; i < check.inputs.size(); ++i)
    if (wanted.empty() ? is_floating(check.inputs[i].dtype)
                       : std::ranges::find(wanted, static_cast<int>(i)) != wanted.end())
      check.xs.push_back(static_cast<int>(i));
  TROUPE_ASSIGN(auto ranges, arg_ranges(check.node.schema->outputs, check.node.attrs));
  for (int i = ranges[0].begin; i < ranges[0].end; ++i)
    if (is_floating(check.node.types.outputs[static_cast<std::size_t>(i)]))
      check.ys.push_back(i);
  if (check.xs.empty() || check.ys.empty())
    return std::optional<std::string>();
  TROUPE_ASSIGN(KernelNode bound, bind_kernel(op_library().kernels, "y", *check.node.schema,
                                              check.node.attrs, check.device->device()));
  TROUPE_ASSIGN(auto outputs, check.forward(bound));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    check.weights.push_back(weights_like(outputs[i], static_cast<unsigned>(i)));
  std::vector<std::vector<std::pair<std::size_t, double>>> expected;
  for (int x : check.xs) {
    TROUPE_ASSIGN(auto derivatives, check.by_differences(bound, x));
    expected.push_back(std::move(derivatives));
  }
  for (bool shapes_known : {true, false}) {
    TROUPE_ASSIGN(auto gradients, check.by_graph(shapes_known));
    for (std::size_t i = 0; i < check.xs.size(); ++i)
      if (auto wrong = check.compare(gradients, i, expected[i]))
        return std::optional(str_cat(shapes_known ? "shapes known: " : "shapes unknown: ", *wrong));
  }
  return std::optional<std::string>();
}

} // namespace

std::optional<std::string> check_gradient(const OpSchema& schema,
                                          const std::vector<CaseInput>& inputs, const Attrs& attrs,
                                          std::vector<int> wanted) {
  auto check = make_check(schema, inputs, attrs, DType::float64);
  if (!check.ok())
    check = make_check(schema, inputs, attrs, DType::float32);
  if (!check.ok())
    return check.status().to_string();
  auto result = run_check(*check, wanted);
  return result.ok() ? *result : std::optional(result.status().to_string());
}

} // namespace troupe::testing
