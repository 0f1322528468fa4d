#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "graph/ir/text.hpp"
#include "graph/op/infer.hpp"

namespace troupe {

namespace {

std::string value_text(const AttrValue& value, std::int64_t max_elements);

std::string tensor_text(const TensorBox& box, std::int64_t max_elements) {
  return str_cat("{tensor ", to_literal(box.tensor, max_elements), "}");
}

std::string function_text(const FunctionRef& f, std::int64_t max_elements) {
  std::string out = str_cat("{func ", f.name);
  if (f.attrs && !f.attrs->empty()) {
    std::string_view separator = "[";
    for (const auto& [name, value] : *f.attrs) {
      str_append(out, separator, name, "=", value_text(value, max_elements));
      separator = ", ";
    }
    out += ']';
  }
  return out + '}';
}

template <class T, class F>
std::string list_text(const std::vector<T>& list, F&& one) {
  std::string out = "[";
  for (const T& item : list)
    str_append(out, out.size() > 1 ? ", " : "", one(item));
  return out + ']';
}

// As to_string(AttrValue), but with whole tensors.
std::string value_text(const AttrValue& value, std::int64_t max_elements) {
  auto tensor = [&](const TensorBox& box) { return tensor_text(box, max_elements); };
  auto function = [&](const FunctionRef& f) { return function_text(f, max_elements); };
  if (auto* box = std::get_if<TensorBox>(&value))
    return tensor(*box);
  if (auto* f = std::get_if<FunctionRef>(&value))
    return function(*f);
  if (auto* boxes = std::get_if<std::vector<TensorBox>>(&value))
    return list_text(*boxes, tensor);
  if (auto* functions = std::get_if<std::vector<FunctionRef>>(&value))
    return list_text(*functions, function);
  return to_string(value);
}

// Where the op says that the attr is a tensor, a shape or a function, the braces say nothing more.
std::string bare(std::string text) {
  for (std::string_view word : {"{tensor ", "{shape ", "{func "})
    if (text.starts_with(word))
      return text.substr(word.size(), text.size() - word.size() - 1);
  return text;
}

std::string attrs_text(const Node& node, std::int64_t max_elements) {
  // What reading the line without an attr would give it.
  AttrMap implied;
  std::vector<DType> given(node.input_types);
  if (!node.has_role(Role::merge)) // loops must begin somewhere
    infer_attrs(*node.op, given, implied);
  std::string out;
  for (const auto& [name, value] : node.attrs) {
    const AttrDef* def = node.op->find_attr(name);
    const AttrValue* other = implied.find(name);
    if (!other && def && def->default_value)
      other = &*def->default_value;
    if (other && *other == value)
      continue;
    std::string text = value_text(value, max_elements);
    str_append(out, out.empty() ? "[" : ", ", name, "=", def ? bare(std::move(text)) : text);
  }
  return out.empty() ? out : out + ']';
}

} // namespace

std::string to_text(const Graph& graph, const Node& node, std::int64_t max_elements) {
  std::string out = str_cat(node.name, " = ", node.op_name(), attrs_text(node, max_elements), "(");
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Endpoint input = node.inputs[i];
    const Node* src = input.node < 0 ? nullptr : graph.node(input.node);
    str_append(out, i ? ", " : "", src ? std::string_view(src->name) : "?");
    if (input.slot > 0)
      str_append(out, ":", input.slot);
  }
  out += ')';
  if (!node.device.empty())
    str_append(out, " @", str_quote(node.device));
  for (NodeId src : node.control_inputs)
    str_append(out, " ^", graph.node(src)->name);
  if (!node.assigned_device.empty())
    str_append(out, " on ", str_quote(node.assigned_device));
  return out;
}

std::string to_text(const Graph& graph, std::int64_t max_elements) {
  std::string out;
  for (const Node* node : graph.nodes())
    str_append(out, to_text(graph, *node, max_elements), "\n");
  return out;
}

} // namespace troupe
