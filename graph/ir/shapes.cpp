#include "graph/ir/shapes.hpp"

#include "core/base/strings.hpp"
#include "graph/op/shape_context.hpp"

namespace troupe {

namespace {

// What holds whichever of the two it is.
PartialShape common(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank())
    return {};
  std::vector<std::int64_t> dims = a.dims();
  for (int i = 0; i < a.rank(); ++i)
    if (a.dim(i) != b.dim(i))
      dims[static_cast<std::size_t>(i)] = -1;
  return PartialShape(std::move(dims));
}

} // namespace

const PartialShape& GraphShapes::of(Endpoint endpoint) const {
  static const PartialShape unknown;
  auto id = static_cast<std::size_t>(endpoint.node);
  auto slot = static_cast<std::size_t>(endpoint.slot);
  if (endpoint.node < 0 || id >= nodes_.size() || slot >= nodes_[id].outputs.size())
    return unknown;
  return nodes_[id].outputs[slot];
}

const Tensor& GraphShapes::value_of(Endpoint endpoint) const {
  static const Tensor none{};
  auto id = static_cast<std::size_t>(endpoint.node);
  auto slot = static_cast<std::size_t>(endpoint.slot);
  if (endpoint.node < 0 || id >= nodes_.size() || slot >= nodes_[id].values.size())
    return none;
  return nodes_[id].values[slot];
}

// One inference: a visit of all nodes, again while a loop's Merge learns that it said too much.
class ShapeInference {
public:
  ShapeInference(const Graph& graph, ShapeInferenceOptions options)
      : graph_(graph), options_(options) {
    out_.nodes_.resize(static_cast<std::size_t>(graph.capacity()));
  }

  Result<GraphShapes> run() {
    TROUPE_ASSIGN(order_, graph_.topological_order());
    // Optimistic: what comes back around a loop is believed to be like what entered it.
    constexpr int max_rounds = 8;
    for (int round = 0; round < max_rounds; ++round) {
      changed_ = false;
      if (Status status = visit_all(); !status.ok()) {
        if (!has_loops_)
          return status;
        break;
      }
      if (!changed_ || !has_loops_)
        return std::move(out_);
    }
    // What was believed is not so: say nothing about loop variables.
    loops_unknown_ = true;
    for (auto& node : out_.nodes_)
      node = {};
    TROUPE_TRY(visit_all());
    return std::move(out_);
  }

private:
  Status visit_all() {
    visited_.assign(out_.nodes_.size(), false);
    for (NodeId id : order_) {
      const Node& node = *graph_.node(id);
      if (node.has_role(Role::merge))
        visit_merge(node);
      else
        TROUPE_TRY(visit(node));
      visited_[static_cast<std::size_t>(id)] = true;
    }
    return {};
  }

  void visit_merge(const Node& node) {
    auto& shapes = out_.nodes_[static_cast<std::size_t>(node.id)].outputs;
    bool first_time = shapes.empty();
    shapes.resize(node.output_types.size());
    std::optional<PartialShape> merged;
    for (Endpoint input : node.inputs) {
      bool is_back_edge = input.node < 0 || !visited_[static_cast<std::size_t>(input.node)];
      has_loops_ = has_loops_ || is_back_edge;
      if (is_back_edge && loops_unknown_)
        merged = PartialShape();
      else if (is_back_edge && first_time)
        continue;
      else
        merged = merged ? common(*merged, out_.of(input)) : out_.of(input);
    }
    if (is_loop_head(node) && first_time)
      changed_ = true; // to be checked against what comes back
    PartialShape now = merged.value_or(PartialShape());
    if (!first_time && is_loop_head(node)) {
      now = common(now, shapes[0]); // only ever less, so that it ends
      changed_ = changed_ || now != shapes[0];
    }
    shapes[0] = std::move(now);
    for (std::size_t i = 1; i < shapes.size(); ++i)
      shapes[i] = Shape{};
  }

  bool is_loop_head(const Node& node) const {
    for (Endpoint input : node.inputs)
      if (input.node >= 0 && !visited_[static_cast<std::size_t>(input.node)])
        return true;
    return false;
  }

  Status visit(const Node& node) {
    auto& result = out_.nodes_[static_cast<std::size_t>(node.id)];
    std::vector<PartialShape> shapes;
    std::vector<Tensor> values;
    for (Endpoint input : node.inputs) {
      shapes.push_back(out_.of(input));
      values.push_back(out_.value_of(input));
    }
    if (node.op->shape_fn) {
      ShapeContext c(*node.op, node.attrs, std::move(shapes), std::move(values),
                     node.num_outputs());
      Status status = node.op->shape_fn(c);
      if (status.ok()) {
        result.outputs = c.outputs();
        result.values = values_of(node, c.output_values());
        return {};
      } else if (options_.ignore_errors) {
        result.outputs.assign(node.output_types.size(), {});
      } else {
        return explain(status, node);
      }
    } else {
      result.outputs.assign(node.output_types.size(), {});
    }
    result.values = values_of(node, {});
    return {};
  }

  Status explain(const Status& status, const Node& node) const {
    std::string inputs;
    for (Endpoint input : node.inputs)
      str_append(inputs, inputs.empty() ? "" : ", ", out_.of(input));
    return Status(status.code(),
                  str_cat(status.message(), " for '{{node ", node.name, "}} = ", node.op_name(),
                          "' with input shapes: ", inputs.empty() ? "none" : inputs, "."));
  }

  // What is known of a node's outputs without running it: constants, what passes on a known value,
  // and numbers that shapes alone decide.
  std::vector<Tensor> values_of(const Node& node, std::vector<Tensor> said) const {
    if (node.has_role(Role::constant)) {
      auto value = node.attrs.get<Tensor>("value");
      return value.ok() ? std::vector<Tensor>{*std::move(value)} : std::vector<Tensor>{};
    }
    if (node.has_role(Role::passes_on) && !node.inputs.empty())
      return {out_.value_of(node.inputs[0])};
    if (!node.has_role(Role::metadata))
      return {};
    for (std::size_t i = 0; i < said.size(); ++i)
      if (said[i].has_value() && said[i].dtype() != node.output_types[i])
        said[i] = {};
    return said;
  }

  const Graph& graph_;
  ShapeInferenceOptions options_;
  std::vector<NodeId> order_;
  std::vector<bool> visited_;
  GraphShapes out_;
  bool has_loops_ = false;
  bool changed_ = false;
  bool loops_unknown_ = false;
};

Result<GraphShapes> infer_graph_shapes(const Graph& graph, ShapeInferenceOptions options) {
  return ShapeInference(graph, options).run();
}

} // namespace troupe
