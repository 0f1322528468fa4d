#include "graph/op/infer.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

Result<std::vector<PartialShape>> infer_shapes(const OpSchema& schema, const AttrMap& attrs,
                                               std::vector<PartialShape> inputs,
                                               std::vector<Tensor> input_values) {
  TROUPE_ASSIGN(NodeTypes types, resolve_types(schema, attrs));
  if (types.inputs.size() != inputs.size())
    return invalid_argument(str_cat("op ", schema.name, " takes ", types.inputs.size(),
                                    " inputs with these attrs, not ", inputs.size()));
  ShapeContext c(schema, attrs, std::move(inputs), std::move(input_values),
                 static_cast<int>(types.outputs.size()));
  if (schema.shape_fn)
    TROUPE_TRY(schema.shape_fn(c));
  return c.outputs();
}

void infer_attrs(const OpSchema& schema, std::span<const DType> input_types, AttrMap& attrs) {
  // The one attr that says how many tensors an argument has and is not given.
  auto length_attr = [](const ArgDef& arg) -> const std::string& {
    return arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
  };
  std::string_view open;
  std::int64_t known = 0;
  std::int64_t open_args = 0;
  auto length_of = [&](const ArgDef& arg) -> std::int64_t {
    if (length_attr(arg).empty())
      return 1;
    const AttrValue* value = attrs.find(length_attr(arg));
    if (!value)
      return -1;
    if (auto* number = std::get_if<std::int64_t>(value))
      return *number < 0 ? 0 : *number;
    if (auto* list = std::get_if<std::vector<DType>>(value))
      return static_cast<std::int64_t>(list->size());
    return 0;
  };
  const auto total = static_cast<std::int64_t>(input_types.size());
  for (const ArgDef& arg : schema.inputs) {
    std::int64_t length = length_of(arg);
    if (length > total)
      return;
    if (length >= 0) {
      known += length;
    } else if (open.empty() || open == length_attr(arg)) {
      open = length_attr(arg);
      ++open_args;
    } else {
      return;
    }
  }
  if (open_args && (known > total || (total - known) % open_args))
    return;
  std::int64_t each = open_args ? (total - known) / open_args : 0;
  std::int64_t at = 0;
  for (const ArgDef& arg : schema.inputs) {
    std::int64_t length = length_of(arg);
    if (length < 0) {
      length = each;
      if (!arg.number_attr.empty())
        attrs.set(arg.number_attr, length);
    }
    if (length > total - at)
      return;
    auto own = input_types.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(length));
    at += length;
    auto is_told = [](DType t) { return t != DType::invalid; };
    if (!arg.type_list_attr.empty() && !attrs.contains(arg.type_list_attr)) {
      if (!std::all_of(own.begin(), own.end(), is_told))
        continue;
      std::vector<DType> types;
      for (DType t : own)
        types.push_back(remove_ref(t));
      attrs.set(arg.type_list_attr, std::move(types));
    } else if (!arg.type_attr.empty() && !attrs.contains(arg.type_attr)) {
      if (auto told = std::find_if(own.begin(), own.end(), is_told); told != own.end())
        attrs.set(arg.type_attr, remove_ref(*told));
    }
  }
}

} // namespace troupe
