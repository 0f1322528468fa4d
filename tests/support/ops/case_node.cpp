#include "tests/support/ops/internal/case_node.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "graph/op/infer.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::testing {
namespace {

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word))
    return false;
  text.remove_prefix(word.size());
  return true;
}

std::string resource_of(std::size_t i) {
  return str_cat("input_", i);
}

DType edge_type(const CaseInput& input) {
  switch (input.kind) {
  case CaseInput::Kind::variable:
    return make_ref(input.dtype);
  case CaseInput::Kind::resource:
    return DType::resource;
  default:
    return input.dtype;
  }
}

} // namespace

Result<CaseInput> parse_case_input(std::string_view text) {
  CaseInput out;
  if (take_word(text, "var "))
    out.kind = CaseInput::Kind::variable;
  else if (take_word(text, "res "))
    out.kind = CaseInput::Kind::resource;
  else if (take_word(text, "dead "))
    out.kind = CaseInput::Kind::dead;
  const bool has_value = out.kind != CaseInput::Kind::dead && !text.starts_with("uninit ");
  if (has_value) {
    TROUPE_ASSIGN(out.value, parse_literal(text));
    out.dtype = out.value.dtype();
    return out;
  }
  if (take_word(text, "uninit ") && out.kind == CaseInput::Kind::value)
    out.kind = CaseInput::Kind::variable;
  auto dtype = parse_dtype(text);
  if (!dtype)
    return invalid_argument(str_cat("'", text, "' is no dtype"));
  out.dtype = *dtype;
  return out;
}

Result<CaseNode> make_case_node(const OpSchema& schema, const std::vector<CaseInput>& inputs,
                                const std::vector<std::pair<std::string, AttrValue>>& attrs) {
  CaseNode out{.schema = &schema, .attrs = {}, .types = {}};
  for (const auto& [name, value] : attrs)
    out.attrs.set(name, value);
  std::vector<DType> types;
  for (const CaseInput& input : inputs)
    types.push_back(edge_type(input));
  infer_attrs(schema, types, out.attrs);
  TROUPE_TRY(complete_and_check_attrs(schema, out.attrs));
  TROUPE_ASSIGN(out.types, resolve_types(schema, out.attrs));
  if (out.types.inputs.size() != inputs.size())
    return invalid_argument(str_cat("op ", schema.name, " takes ", out.types.inputs.size(),
                                    " inputs with these attrs, not ", inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (remove_ref(types[i]) != remove_ref(out.types.inputs[i]) ||
        (is_ref(out.types.inputs[i]) && !is_ref(types[i])))
      return invalid_argument(str_cat("input ", i, " has dtype ", to_string(types[i]),
                                      ", expected ", to_string(out.types.inputs[i])));
  return out;
}

Result<std::vector<PartialShape>> infer_case_shapes(const CaseNode& node,
                                                    const std::vector<CaseInput>& inputs,
                                                    bool with_shapes, bool with_values) {
  std::vector<PartialShape> shapes(inputs.size());
  std::vector<Tensor> values(inputs.size());
  for (std::size_t i = 0; with_shapes && i < inputs.size(); ++i) {
    if (inputs[i].kind == CaseInput::Kind::resource)
      shapes[i] = PartialShape(std::vector<std::int64_t>{});
    else if (inputs[i].value.has_value())
      shapes[i] = PartialShape(inputs[i].value.shape());
    if (with_values && inputs[i].kind == CaseInput::Kind::value)
      values[i] = inputs[i].value;
  }
  return infer_shapes(*node.schema, node.attrs, std::move(shapes), std::move(values));
}

std::vector<Entry> make_entries(const std::vector<CaseInput>& inputs, TestDevice& device) {
  ResourceManager& resources = device.device().resources();
  resources.clear();
  std::vector<Entry> out(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const CaseInput& input = inputs[i];
    Tensor value = input.value.has_value() ? input.value.deep_copy() : Tensor();
    auto variable = [&] {
      auto made = std::make_shared<Variable>(input.dtype);
      if (value.has_value())
        made->assign(std::move(value));
      return made;
    };
    switch (input.kind) {
    case CaseInput::Kind::value:
      out[i].tensor = std::move(value);
      break;
    case CaseInput::Kind::variable:
      out[i].ref = variable();
      break;
    case CaseInput::Kind::resource: {
      if (value.has_value()) {
        auto made = resources.lookup_or_create<Variable>(
            "", resource_of(i), [&] { return Result<std::shared_ptr<Variable>>(variable()); });
        TROUPE_CHECK(made.ok(), "the name is free");
      }
      out[i].tensor = Tensor::scalar(
          make_handle<Variable>(device.device(), resources.default_container(), resource_of(i)));
      break;
    }
    case CaseInput::Kind::dead:
      break;
    }
  }
  return out;
}

std::shared_ptr<Variable> variable_of(const std::vector<CaseInput>& inputs,
                                      const std::vector<Entry>& entries, int i,
                                      TestDevice& device) {
  const auto at = static_cast<std::size_t>(i);
  if (inputs[at].kind == CaseInput::Kind::variable)
    return entries[at].ref;
  auto found = device.device().resources().lookup<Variable>("", resource_of(at));
  return found.ok() ? *found : nullptr;
}

} // namespace troupe::testing
