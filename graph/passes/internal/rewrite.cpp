#include "graph/passes/internal/rewrite.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/strings.hpp"

namespace troupe {

const PartialShape& ShapesOnDemand::of(Endpoint endpoint) {
  if (!shapes_) {
    auto inferred = infer_graph_shapes(graph_, {.ignore_errors = true});
    shapes_ = inferred.ok() ? *std::move(inferred) : GraphShapes{};
  }
  return shapes_->of(endpoint);
}

Tensor RuleView::constant(const Node& of, int i) const {
  const Node& from = *graph_.node(of.inputs[static_cast<std::size_t>(i)].node);
  if (!from.has_role(Role::constant) || !from.control_inputs.empty())
    return {};
  Tensor value = from.attrs.get_or<Tensor>("value", Tensor{});
  return value.dtype() == from.output_types[0] ? value : Tensor{};
}

std::optional<std::vector<std::int64_t>> RuleView::ints(const Node& of, int i) const {
  Tensor tensor = constant(of, i);
  std::vector<std::int64_t> out;
  if (tensor.dtype() == DType::int32)
    for (std::int32_t value : tensor.data<std::int32_t>())
      out.push_back(value);
  else if (tensor.dtype() == DType::int64)
    for (std::int64_t value : tensor.data<std::int64_t>())
      out.push_back(value);
  else
    return {};
  return out;
}

const Node* RuleView::source_if(int i, std::string_view op) const {
  const Node& from = source(i);
  bool usable = from.is_op(op) && input(i).slot == 0 && from.control_inputs.empty() &&
                from.device == node_.device && from.assigned_device == node_.assigned_device &&
                is_free(from, context_);
  return usable ? &from : nullptr;
}

Result<Endpoint> RuleView::add_ints(std::span<const std::int64_t> values, DType like) {
  Tensor tensor = Tensor::make(like, Shape{static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i)
    if (like == DType::int32)
      tensor.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    else
      tensor.mutable_data<std::int64_t>()[i] = values[i];
  TROUPE_ASSIGN(Node * added,
                graph_.add(graph_.unique_name(str_cat(node_.name, "/folded")), "Const", {},
                           {{"value", TensorBox{std::move(tensor)}}, {"dtype", like}}));
  added->device = node_.device;
  added->assigned_device = node_.assigned_device;
  return Endpoint{added->id, 0};
}

Result<Endpoint> RuleView::add_copy(std::vector<Endpoint> inputs) {
  TROUPE_ASSIGN(Node * added, graph_.add(graph_.unique_name(str_cat(node_.name, "/folded")),
                                         node_.op_name(), std::move(inputs), node_.attrs));
  added->device = node_.device;
  added->assigned_device = node_.assigned_device;
  return Endpoint{added->id, 0};
}

bool is_all(const Tensor& tensor, double number) {
  if (!tensor.has_value() || tensor.num_elements() == 0)
    return false;
  auto same = [&]<class T>(T) {
    T wanted = static_cast<T>(number);
    return std::ranges::all_of(tensor.data<T>(), [&](T x) {
      if constexpr (std::is_floating_point_v<T>)
        return x == wanted && std::signbit(x) == std::signbit(wanted);
      else
        return x == wanted;
    });
  };
  switch (tensor.dtype()) {
  case DType::float32:
    return same(float{});
  case DType::float64:
    return same(double{});
  case DType::int32:
    return same(std::int32_t{});
  case DType::int64:
    return same(std::int64_t{});
  case DType::bool_:
    return same(bool{});
  default:
    return false;
  }
}

bool keeps_shape(const Tensor& tensor) {
  return tensor.shape().rank() == 0;
}

} // namespace troupe
