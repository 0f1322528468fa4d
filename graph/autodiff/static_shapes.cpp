#include "graph/autodiff/internal/static_shapes.hpp"

#include "graph/op/shape_context.hpp"

namespace troupe::autodiff {

StaticShapes::StaticShapes(const Graph& graph) : graph_(graph) {
  if (auto order = graph.topological_order(); order.ok())
    for (NodeId id : *order)
      infer(*graph.node(id));
}

void StaticShapes::infer(const Node& node) {
  auto index = static_cast<std::size_t>(node.id);
  if (index >= shapes_.size())
    shapes_.resize(static_cast<std::size_t>(graph_.capacity()));
  auto& known = shapes_[index];
  known.assign(static_cast<std::size_t>(node.num_outputs()), PartialShape{});
  if (!node.op->shape_fn)
    return;
  std::vector<PartialShape> inputs;
  std::vector<Tensor> values;
  inputs.reserve(node.inputs.size());
  values.reserve(node.inputs.size());
  for (Endpoint e : node.inputs) {
    inputs.push_back(of(e));
    values.push_back(value(e));
  }
  ShapeContext context(*node.op, node.attrs, std::move(inputs), std::move(values),
                       node.num_outputs());
  if (node.op->shape_fn(context).ok())
    known = context.outputs();
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
  const Node* node = e.node < 0 ? nullptr : graph_.node(e.node);
  if (!node)
    return {};
  if (node->is_op("Const"))
    return node->attrs.get_or<Tensor>("value", Tensor{});
  if (node->is_op("Shape") && node->output_types[0] == DType::int32)
    if (auto shape = of(node->inputs[0]).to_shape()) {
      Tensor out = Tensor::make(DType::int32, Shape{shape->rank()});
      for (int i = 0; i < shape->rank(); ++i)
        out.mutable_data<std::int32_t>()[static_cast<std::size_t>(i)] =
            static_cast<std::int32_t>(shape->dim(i));
      return out;
    }
  return {};
}

} // namespace troupe::autodiff
