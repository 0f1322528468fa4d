#include "graph/op/schema.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

// More tensors at one node than this is a mistake or an attack, not a graph.
constexpr std::int64_t max_tensors_of_node = 1'000'000;

std::string arg_text(const ArgDef& arg, std::string_view separator) {
  std::string type = !arg.type_list_attr.empty() ? arg.type_list_attr
                     : !arg.type_attr.empty()    ? arg.type_attr
                                                 : to_string(arg.type);
  if (!arg.number_attr.empty())
    type = str_cat(arg.number_attr, "*", type);
  if (arg.is_ref)
    type = str_cat("Ref(", type, ")");
  return str_cat(arg.name, separator, type);
}

std::string args_text(const std::vector<ArgDef>& args, std::string_view separator) {
  std::string out;
  for (const ArgDef& arg : args)
    str_append(out, out.empty() ? "" : ", ", arg_text(arg, separator));
  return out;
}

std::string allowed_text(const std::vector<AttrValue>& allowed, bool enum_names) {
  std::string out;
  for (const AttrValue& value : allowed) {
    auto* t = std::get_if<DType>(&value);
    str_append(out, out.empty() ? "" : ", ", t && !enum_names ? to_string(*t) : to_string(value));
  }
  return out;
}

std::int64_t list_length(const AttrValue& value) {
  return std::visit(
      []<class T>(const T& held) -> std::int64_t {
        if constexpr (requires { held.at(0); } && !std::is_same_v<T, std::string>)
          return static_cast<std::int64_t>(held.size());
        else
          return 0;
      },
      value);
}

AttrValue empty_list_of(AttrKind kind) {
  switch (kind) {
  case AttrKind::string:
    return std::vector<std::string>{};
  case AttrKind::integer:
    return std::vector<std::int64_t>{};
  case AttrKind::real:
    return std::vector<float>{};
  case AttrKind::boolean:
    return std::vector<bool>{};
  case AttrKind::type:
    return std::vector<DType>{};
  case AttrKind::shape:
    return std::vector<PartialShape>{};
  case AttrKind::tensor:
    return std::vector<TensorBox>{};
  case AttrKind::function:
    return std::vector<FunctionRef>{};
  }
  return EmptyList{};
}

template <class T>
Status check_is_allowed(const AttrDef& def, const T& value) {
  for (const AttrValue& allowed : def.allowed)
    if (auto* held = std::get_if<T>(&allowed); held && *held == value)
      return {};
  std::string shown;
  if constexpr (std::is_same_v<T, DType>)
    shown = to_string(value);
  else
    shown = str_quote(value);
  return invalid_argument(
      str_cat("Value for attr '", def.name, "' of ", shown,
              " is not in the list of allowed values: ", allowed_text(def.allowed, false)));
}

Status check_value(const AttrDef& def, const AttrValue& value) {
  if (auto* placeholder = std::get_if<AttrPlaceholder>(&value))
    return invalid_argument(
        str_cat("AttrValue had value with unexpected type 'placeholder' for attr '", def.name,
                "': '$", placeholder->name, "' means something in the body of a function only"));
  TROUPE_TRY(check_attr_type(value, def.type, def.name));
  if (def.has_minimum && !def.type.list) {
    if (auto* i = std::get_if<std::int64_t>(&value); i && *i < def.minimum)
      return invalid_argument(str_cat("Value for attr '", def.name, "' of ", *i,
                                      " must be at least minimum ", def.minimum));
  } else if (def.has_minimum && list_length(value) < def.minimum) {
    return invalid_argument(str_cat("Length for attr '", def.name, "' of ", list_length(value),
                                    " must be at least minimum ", def.minimum));
  }
  if (def.allowed.empty())
    return {};
  if (auto* t = std::get_if<DType>(&value))
    return check_is_allowed(def, *t);
  if (auto* s = std::get_if<std::string>(&value))
    return check_is_allowed(def, *s);
  if (auto* types = std::get_if<std::vector<DType>>(&value))
    for (DType t : *types)
      TROUPE_TRY(check_is_allowed(def, t));
  if (auto* strings = std::get_if<std::vector<std::string>>(&value))
    for (const std::string& s : *strings)
      TROUPE_TRY(check_is_allowed(def, s));
  return {};
}

// How many tensors belong to the arg.
Result<std::int64_t> count_of(const ArgDef& arg, const AttrMap& attrs) {
  auto problem = [&](std::string_view attr, const Status& why) {
    return invalid_argument(str_cat("'", arg.name, "' cannot be resolved: attr '", attr,
                                    "' is missing or of another type (", why.message(), ")"));
  };
  if (!arg.number_attr.empty()) {
    auto number = attrs.get<std::int64_t>(arg.number_attr);
    if (!number.ok())
      return problem(arg.number_attr, number.status());
    if (*number < 0)
      return invalid_argument(str_cat("Value for number_attr '", arg.number_attr, "' < 0"));
    return *number;
  }
  if (!arg.type_list_attr.empty()) {
    const AttrValue* value = attrs.find(arg.type_list_attr);
    if (value && std::holds_alternative<EmptyList>(*value))
      return std::int64_t{0};
    auto* list = value ? std::get_if<std::vector<DType>>(value) : nullptr;
    if (!list)
      return problem(arg.type_list_attr,
                     attrs.get<std::vector<DType>>(arg.type_list_attr).status());
    return static_cast<std::int64_t>(list->size());
  }
  return std::int64_t{1};
}

Status append_types(const std::vector<ArgDef>& args, const AttrMap& attrs,
                    std::vector<DType>& out) {
  for (const ArgDef& arg : args) {
    TROUPE_ASSIGN(std::int64_t count, count_of(arg, attrs));
    if (count > max_tensors_of_node - static_cast<std::int64_t>(out.size()))
      return invalid_argument(str_cat("'", arg.name, "' would have ", count,
                                      " tensors, and a node may have ", max_tensors_of_node));
    auto mark = [&](DType t) { return arg.is_ref ? make_ref(t) : t; };
    if (!arg.type_list_attr.empty()) {
      if (auto* list = std::get_if<std::vector<DType>>(attrs.find(arg.type_list_attr)))
        for (DType t : *list)
          out.push_back(mark(t));
      continue;
    }
    DType type = arg.type;
    if (!arg.type_attr.empty()) {
      TROUPE_ASSIGN(type, attrs.get<DType>(arg.type_attr));
    }
    out.insert(out.end(), static_cast<std::size_t>(count), mark(type));
  }
  return {};
}

} // namespace

const AttrDef* OpSchema::find_attr(std::string_view attr) const {
  for (const AttrDef& def : attrs)
    if (def.name == attr)
      return &def;
  return nullptr;
}

std::string OpSchema::signature() const {
  std::string out = str_cat(name, "(", args_text(inputs, ": "), ")");
  if (!outputs.empty())
    str_append(out, " -> ", args_text(outputs, ": "));
  for (const AttrDef& def : attrs) {
    str_append(out, "; ", def.name, ": ", def.type);
    if (!def.allowed.empty())
      str_append(out, " in {", allowed_text(def.allowed, false), "}");
    if (def.has_minimum)
      str_append(out, " >= ", def.minimum);
    if (def.default_value)
      str_append(out, " = ", to_string(*def.default_value));
  }
  return out;
}

std::string summarize_op(const OpSchema& schema) {
  std::string out = str_cat("Op<name=", schema.name, "; signature=", args_text(schema.inputs, ":"),
                            " -> ", args_text(schema.outputs, ":"));
  for (const AttrDef& def : schema.attrs) {
    str_append(out, "; attr=", def.name, ":", def.type);
    if (def.default_value)
      str_append(out, ",default=", to_string(*def.default_value));
    if (def.has_minimum)
      str_append(out, ",min=", def.minimum);
    if (!def.allowed.empty())
      str_append(out, ",allowed=[", allowed_text(def.allowed, true), "]");
  }
  if (schema.is_commutative)
    out += "; is_commutative=true";
  if (schema.is_aggregate)
    out += "; is_aggregate=true";
  if (schema.is_stateful)
    out += "; is_stateful=true";
  if (schema.allows_uninitialized_input)
    out += "; allows_uninitialized_input=true";
  return out + '>';
}

Result<NodeTypes> resolve_types(const OpSchema& schema, const AttrMap& attrs) {
  NodeTypes out;
  TROUPE_TRY(append_types(schema.inputs, attrs, out.inputs));
  TROUPE_TRY(append_types(schema.outputs, attrs, out.outputs));
  return out;
}

Result<std::vector<ArgRange>> arg_ranges(const std::vector<ArgDef>& args, const AttrMap& attrs) {
  std::vector<ArgRange> out;
  out.reserve(args.size());
  std::int64_t at = 0;
  for (const ArgDef& arg : args) {
    TROUPE_ASSIGN(std::int64_t count, count_of(arg, attrs));
    if (count > max_tensors_of_node - at)
      return invalid_argument(str_cat("'", arg.name, "' would have ", count,
                                      " tensors, and a node may have ", max_tensors_of_node));
    out.push_back({static_cast<int>(at), static_cast<int>(at + count)});
    at += count;
  }
  return out;
}

Status complete_and_check_attrs(const OpSchema& schema, AttrMap& attrs) {
  std::string missing;
  int num_missing = 0;
  std::size_t declared = 0;
  for (const AttrDef& def : schema.attrs) {
    const AttrValue* value = attrs.find(def.name);
    if (!value) {
      if (def.default_value) {
        attrs.set(def.name, *def.default_value);
        ++declared;
      } else {
        str_append(missing, num_missing++ ? ", '" : "'", def.name, "'");
      }
      continue;
    }
    ++declared;
    TROUPE_TRY(check_value(def, *value));
    if (std::holds_alternative<EmptyList>(*value))
      attrs.set(def.name, empty_list_of(def.type.kind));
  }
  if (declared < attrs.size())
    for (const auto& [name, value] : attrs)
      if (!name.starts_with('_') && !schema.find_attr(name))
        return invalid_argument(str_cat("NodeDef mentions attr '", name, "' not in ",
                                        summarize_op(schema),
                                        ". (Check whether your GraphDef-interpreting binary is up "
                                        "to date with your GraphDef-generating binary.)"));
  if (num_missing)
    return invalid_argument(str_cat("NodeDef missing attr", num_missing > 1 ? "s " : " ", missing,
                                    " from ", summarize_op(schema)));
  return {};
}

} // namespace troupe
