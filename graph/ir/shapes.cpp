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

Tensor integers(DType dtype, const Shape& shape, std::span<const std::int64_t> values) {
  Tensor out = Tensor::make(dtype, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::int32)
      out.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    else
      out.mutable_data<std::int64_t>()[i] = values[i];
  }
  return out;
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
    merge_ = graph.registry().find("Merge");
    ref_merge_ = graph.registry().find("RefMerge");
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
  bool is_merge(const Node& node) const { return node.op == merge_ || node.op == ref_merge_; }

  Status visit_all() {
    visited_.assign(out_.nodes_.size(), false);
    for (NodeId id : order_) {
      const Node& node = *graph_.node(id);
      if (is_merge(node))
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
      } else if (options_.ignore_errors) {
        result.outputs.assign(node.output_types.size(), {});
      } else {
        return explain(status, node);
      }
    } else {
      result.outputs.assign(node.output_types.size(), {});
    }
    result.values = values_of(node);
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

  // Constants, and numbers that shapes alone decide.
  std::vector<Tensor> values_of(const Node& node) const {
    if (node.is_op("Const")) {
      auto value = node.attrs.get<Tensor>("value");
      return value.ok() ? std::vector<Tensor>{*std::move(value)} : std::vector<Tensor>{};
    }
    if (node.inputs.empty())
      return {};
    if (node.is_op("Identity"))
      return {out_.value_of(node.inputs[0])};
    DType wanted = node.output_types.empty() ? DType::invalid : node.output_types[0];
    if (wanted != DType::int32 && wanted != DType::int64)
      return {};
    const PartialShape& shape = out_.of(node.inputs[0]);
    if (node.is_op("Rank") && shape.has_rank()) {
      std::int64_t rank = shape.rank();
      return {integers(wanted, {}, {&rank, 1})};
    }
    bool is_shape = node.is_op("Shape") || node.is_op("ShapeN");
    if (!is_shape && !node.is_op("Size"))
      return {};
    std::vector<Tensor> out;
    for (Endpoint input : node.inputs) {
      auto known = out_.of(input).to_shape();
      if (!known || (wanted == DType::int32 && !fits_int32(*known))) {
        out.emplace_back();
      } else if (is_shape) {
        out.push_back(integers(wanted, Shape{known->rank()}, known->dims()));
      } else {
        std::int64_t count = known->num_elements();
        out.push_back(integers(wanted, {}, {&count, 1}));
      }
    }
    return out;
  }

  static bool fits_int32(const Shape& shape) {
    constexpr std::int64_t most = 0x7fffffff;
    for (std::int64_t dim : shape.dims())
      if (dim > most)
        return false;
    return shape.num_elements() <= most;
  }

  const Graph& graph_;
  ShapeInferenceOptions options_;
  const OpSchema* merge_ = nullptr;
  const OpSchema* ref_merge_ = nullptr;
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
