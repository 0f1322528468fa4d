#include "tests/support/ops/interpreter.hpp"

#include <map>

#include "core/base/strings.hpp"

namespace troupe::testing {
namespace {

Result<Endpoint> find_endpoint(const Graph& graph, std::string_view text) {
  TROUPE_ASSIGN(TensorName name, parse_tensor_name(text));
  const Node* node = graph.find(name.node);
  if (!node)
    return not_found(str_cat("the graph has no node '", name.node, "'"));
  if (name.slot >= node->num_outputs())
    return not_found(str_cat("node '", name.node, "' has no output ", name.slot));
  return Endpoint{node->id, name.slot};
}

/// One run over one graph.
struct Walk {
  const Graph& graph;
  const KernelRegistry& kernels;
  const StepEnvironment& step;
  std::map<Endpoint, Tensor> fed;
  std::vector<bool> needed = std::vector<bool>(static_cast<std::size_t>(graph.capacity()));
  std::vector<std::vector<Entry>> outputs =
      std::vector<std::vector<Entry>>(static_cast<std::size_t>(graph.capacity()));
  std::vector<bool> dead = std::vector<bool>(static_cast<std::size_t>(graph.capacity()));

  bool is_fed(const Node& node) const {
    for (int i = 0; i < node.num_outputs(); ++i)
      if (!fed.contains({node.id, i}))
        return false;
    return node.num_outputs() > 0;
  }

  void need(NodeId start) {
    std::vector<NodeId> stack{start};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (needed[static_cast<std::size_t>(id)])
        continue;
      needed[static_cast<std::size_t>(id)] = true;
      const Node& node = *graph.node(id);
      if (is_fed(node))
        continue;
      for (Endpoint input : node.inputs)
        if (!fed.contains(input))
          stack.push_back(input.node);
      stack.insert(stack.end(), node.control_inputs.begin(), node.control_inputs.end());
    }
  }

  Entry value_of(Endpoint e) const {
    if (auto it = fed.find(e); it != fed.end())
      return {it->second, nullptr};
    return outputs[static_cast<std::size_t>(e.node)][static_cast<std::size_t>(e.slot)];
  }

  bool is_dead(const Node& node, const std::vector<Entry>& inputs) const {
    int live = 0;
    for (const Entry& input : inputs)
      live += input.has_value() ? 1 : 0;
    if (node.is_op("ControlTrigger"))
      return false;
    if (node.is_op("Merge") || node.is_op("RefMerge"))
      return live == 0;
    for (NodeId control : node.control_inputs)
      if (dead[static_cast<std::size_t>(control)])
        return true;
    return live < node.num_inputs();
  }

  Status run(const Node& node) {
    const auto id = static_cast<std::size_t>(node.id);
    outputs[id].resize(static_cast<std::size_t>(node.num_outputs()));
    if (is_fed(node))
      return {};
    if (node.is_op("NextIteration") || node.is_op("RefNextIteration"))
      return unimplemented("the interpreter runs no loops");
    std::vector<Entry> inputs;
    std::vector<std::string> names;
    for (Endpoint input : node.inputs) {
      inputs.push_back(value_of(input));
      names.push_back(graph.node(input.node)->name);
    }
    dead[id] = is_dead(node, inputs);
    if (dead[id])
      return {};
    TROUPE_ASSIGN(KernelNode bound,
                  bind_kernel(kernels, node.name, *node.op, node.attrs, *step.device));
    TROUPE_ASSIGN(outputs[id], run_kernel(bound, step, std::move(inputs), names));
    return {};
  }
};

} // namespace

Result<std::vector<Tensor>> interpret(const Graph& graph, const KernelRegistry& kernels,
                                      const StepEnvironment& step, const Feeds& feeds,
                                      const std::vector<std::string>& fetches) {
  Walk walk{.graph = graph, .kernels = kernels, .step = step, .fed = {}};
  for (const auto& [name, value] : feeds) {
    TROUPE_ASSIGN(Endpoint endpoint, find_endpoint(graph, name));
    walk.fed[endpoint] = value;
  }
  std::vector<Endpoint> wanted;
  for (const std::string& name : fetches) {
    TROUPE_ASSIGN(Endpoint endpoint, find_endpoint(graph, name));
    wanted.push_back(endpoint);
    if (!walk.fed.contains(endpoint))
      walk.need(endpoint.node);
  }
  TROUPE_ASSIGN(auto order, graph.topological_order());
  for (NodeId id : order)
    if (walk.needed[static_cast<std::size_t>(id)])
      if (Status status = walk.run(*graph.node(id)); !status.ok())
        return status.with_context(
            str_cat("node '", graph.node(id)->name, "' (", graph.node(id)->op_name(), ")"));
  std::vector<Tensor> out;
  for (Endpoint endpoint : wanted) {
    if (endpoint.slot < 0)
      continue;
    Entry entry = walk.value_of(endpoint);
    out.push_back(entry.ref ? entry.ref->snapshot() : std::move(entry.tensor));
  }
  return out;
}

Result<std::vector<Tensor>> Interpreter::run(const Graph& graph, const Feeds& feeds,
                                             const std::vector<std::string>& fetches) {
  return interpret(graph, kernels_, device_.step(), feeds, fetches);
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, const Feeds& feeds,
                                     const std::vector<std::string>& fetches) {
  return Interpreter().run(graph, feeds, fetches);
}

} // namespace troupe::testing
