#include "graph/autodiff/internal/static_shapes.hpp"

#include <algorithm>
#include <cstdint>

#include "graph/op/infer.hpp"

namespace troupe::autodiff {

StaticShapes::StaticShapes(const Graph& graph) : graph_(graph) {
  if (auto known = infer_graph_shapes(graph, {.ignore_errors = true}); known.ok())
    start_ = *std::move(known);
  shapes_.resize(static_cast<std::size_t>(graph.capacity()));
  for (const Node* node : graph.nodes())
    for (int slot = 0; slot < node->num_outputs(); ++slot)
      shapes_[static_cast<std::size_t>(node->id)].push_back(start_.of({node->id, slot}));
}

void StaticShapes::infer(const Node& node) {
  shapes_.resize(static_cast<std::size_t>(graph_.capacity()));
  std::vector<PartialShape> inputs;
  std::vector<Tensor> values;
  for (Endpoint e : node.inputs) {
    inputs.push_back(of(e));
    values.push_back(value(e));
  }
  auto known = infer_shapes(*node.op, node.attrs, std::move(inputs), std::move(values));
  auto& mine = shapes_[static_cast<std::size_t>(node.id)];
  if (known.ok())
    mine = *std::move(known);
  mine.resize(static_cast<std::size_t>(node.num_outputs()));
}

PartialShape StaticShapes::of(Endpoint e) const {
  auto index = static_cast<std::size_t>(e.node);
  auto slot = static_cast<std::size_t>(e.slot);
  if (e.node < 0 || index >= shapes_.size() || slot >= shapes_[index].size())
    return {};
  return shapes_[index][slot];
}

void StaticShapes::refine(Endpoint e, const PartialShape& known) {
  auto index = static_cast<std::size_t>(e.node);
  auto slot = static_cast<std::size_t>(e.slot);
  if (index >= shapes_.size() || slot >= shapes_[index].size())
    return;
  if (auto merged = shapes_[index][slot].merge(known))
    shapes_[index][slot] = *merged;
}

Tensor StaticShapes::value(Endpoint e) const {
  if (const Tensor& known = start_.value_of(e); known.has_value())
    return known;
  const Node* node = e.node < 0 ? nullptr : graph_.node(e.node);
  if (!node)
    return {};
  if (node->has_role(Role::constant))
    return node->attrs.get_or<Tensor>("value", Tensor{});
  if (!node->has_role(Role::metadata) || !node->op->shape_fn)
    return {};
  std::vector<PartialShape> inputs;
  for (Endpoint input : node->inputs)
    inputs.push_back(of(input));
  ShapeContext c(*node->op, node->attrs, std::move(inputs), {}, node->num_outputs());
  const auto slot = static_cast<std::size_t>(e.slot);
  if (node->op->shape_fn(c).ok() && slot < c.output_values().size())
    return c.output_values()[slot];
  return {};
}

} // namespace troupe::autodiff
