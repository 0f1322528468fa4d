// Random graphs of scalars, with the numbers that break careless identities, mean the same before
// and after every pass.
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "graph/passes/internal/test_text.hpp"
#include "graph/passes/optimize.hpp"

using namespace troupe;

namespace {

float result_of(std::string_view op, std::span<const float> in) {
  if (op == "Neg")
    return -in[0];
  if (op == "Square")
    return in[0] * in[0];
  if (op == "Add")
    return in[0] + in[1];
  if (op == "Sub")
    return in[0] - in[1];
  if (op == "Mul" || op == "MatMul") // of numbers as matrices
    return in[0] * in[1];
  if (op == "RealDiv")
    return in[0] / in[1];
  if (op == "AddN") {
    float sum = in[0];
    for (float x : in.subspan(1))
      sum += x;
    return sum;
  }
  return in[0]; // Identity, StopGradient
}

class Scalars final : public ConstantEvaluator {
public:
  bool can_evaluate(const Node& node) const override {
    return node.op_name() != "Square" && !node.op_name().starts_with("_Fused");
  }
  Result<std::vector<Tensor>> evaluate(const Node& node, std::span<const Tensor> inputs) override {
    std::vector<float> in;
    for (const Tensor& tensor : inputs)
      in.push_back(tensor.value<float>());
    return std::vector<Tensor>{Tensor::scalar(result_of(node.op_name(), in))};
  }
};

using Random = std::mt19937;

int below(Random& random, int limit) {
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

float odd_number(Random& random) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float numbers[] = {0.0F, -0.0F, 1.0F, -1.0F, 3.5F, inf, std::nanf("")};
  return numbers[below(random, 7)];
}

void add(Graph& graph, const std::string& name, std::string_view op, std::vector<Endpoint> in,
         AttrMap attrs, std::vector<NodeId> controls) {
  auto node = graph.add(name, op, std::move(in), std::move(attrs), std::move(controls));
  REQUIRE_MESSAGE(node.ok(), node.status().to_string());
}

Graph random_graph(const OpRegistry& ops, Random& random, int size) {
  constexpr const char* names[] = {"Identity", "Neg", "Square",  "StopGradient", "Add",
                                   "Sub",      "Mul", "RealDiv", "MatMul",       "AddN"};
  Graph graph(ops);
  for (int i = 0; i < size; ++i) {
    std::string name = str_cat("n", i);
    std::vector<NodeId> controls;
    if (i > 0 && below(random, 6) == 0)
      controls.push_back(below(random, i));
    if (i < 3) {
      add(graph, name, "Placeholder", {}, {{"dtype", DType::float32}}, {});
    } else if (below(random, 4) == 0) {
      add(graph, name, "Const", {},
          {{"dtype", DType::float32}, {"value", TensorBox{Tensor::scalar(odd_number(random))}}},
          controls);
    } else {
      int op = below(random, 10);
      int arity = op < 4 ? 1 : op < 9 ? 2 : 1 + below(random, 4);
      std::vector<Endpoint> in;
      for (int k = 0; k < arity; ++k)
        in.push_back({std::max(0, i - 1 - below(random, 12)), 0});
      add(graph, name, names[op], std::move(in), {}, controls);
    }
  }
  return graph;
}

float value_of(const Graph& graph, NodeId id, std::map<NodeId, float>& known) {
  if (auto found = known.find(id); found != known.end())
    return found->second;
  const Node& node = *graph.node(id);
  if (node.is_op("Const"))
    return known[id] = node.attrs.get<Tensor>("value")->value<float>();
  std::vector<float> in;
  for (Endpoint e : node.inputs)
    in.push_back(value_of(graph, e.node, known));
  if (node.is_op("_FusedMatMul")) {
    in[1] *= in[0];
    in.erase(in.begin());
  } else if (!node.is_op("_FusedElementwise"))
    return known[id] = result_of(node.op_name(), in);
  const auto lines = node.attrs.get_or<std::vector<std::string>>("program", {});
  for (const std::string& line : lines) {
    const auto words = str_split(line, ' ');
    std::vector<float> operands;
    for (std::size_t i = 1; i < words.size(); ++i)
      operands.push_back(in[static_cast<std::size_t>(*parse_int(words[i]))]);
    in.push_back(result_of(words[0], operands));
  }
  return known[id] = in.back();
}

// Placeholders that something waits for, by data or control.
void waits_for(const Graph& graph, NodeId id, std::vector<bool>& seen) {
  if (seen[static_cast<std::size_t>(id)])
    return;
  seen[static_cast<std::size_t>(id)] = true;
  for (Endpoint e : graph.node(id)->inputs)
    waits_for(graph, e.node, seen);
  for (NodeId from : graph.node(id)->control_inputs)
    waits_for(graph, from, seen);
}

} // namespace

TEST_CASE("optimize: random graphs mean the same afterwards, bit by bit") {
  OpRegistry ops = fusing_test_ops();
  Scalars scalars;
  std::int64_t saved = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Graph graph = random_graph(ops, random, 60);
    OptimizeOptions options;
    options.evaluator = &scalars;
    options.verify = true;
    for (NodeId id = 0; id < 60; ++id)
      if (id < 3 || id == 59 || below(random, 12) == 0)
        options.preserve.push_back(graph.node(id)->name);
    std::map<NodeId, float> before;
    for (NodeId id = 0; id < 3; ++id)
      before[id] = odd_number(random);
    std::map<NodeId, float> after = before;

    Graph whole = graph.clone();
    Status status = optimize(graph, options);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    saved += 60 - static_cast<std::int64_t>(graph.num_nodes());
    for (const std::string& name : options.preserve) {
      CAPTURE(name);
      const Node* node = graph.find(name);
      REQUIRE(node);
      CHECK(node->op == whole.find(name)->op);
      float old_value = value_of(whole, whole.find(name)->id, before);
      float new_value = value_of(graph, node->id, after);
      bool same =
          std::bit_cast<std::uint32_t>(old_value) == std::bit_cast<std::uint32_t>(new_value);
      CHECK((same || (std::isnan(old_value) && std::isnan(new_value))));

      std::vector<bool> old_waits(60, false);
      std::vector<bool> new_waits(static_cast<std::size_t>(graph.capacity()), false);
      waits_for(whole, whole.find(name)->id, old_waits);
      waits_for(graph, node->id, new_waits);
      for (std::size_t fed = 0; fed < 3; ++fed)
        CHECK(old_waits[fed] == new_waits[fed]);
    }
  }
  CHECK(saved > 1000);
}
