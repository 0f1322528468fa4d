// Every CPU kernel with every dtype that it is registered for, on small generic inputs: none ends
// the process, and each computes something. What is claimed is thus what is there.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "graph/op/infer.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/claims.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/internal/case_node.hpp"
#include "tests/support/ops/internal/dtype_hints.hpp"
#include "tests/support/ops/internal/ops_in_graphs.hpp"

namespace troupe::testing {
namespace {

std::vector<DType> all_dtypes() {
  return {
#define TROUPE_DTYPE(name, number, size, literal, type) DType::name,
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  };
}

/// Ones of a dtype that has numbers, else whatever zeros are.
Tensor ones(DType dtype, const Shape& shape) {
  Tensor out = Tensor::zeros(dtype, shape);
  const auto cast = arith::cast(DType::float32, dtype);
  if (!cast.ok())
    return out;
  const std::vector<float> from(static_cast<std::size_t>(shape.num_elements()), 1.0f);
  (*cast)(from.data(), out.mutable_raw(), 0, shape.num_elements());
  return out;
}

/// Dtype attributes of a kernel and what it is registered for; where it does not say, what the
/// signature allows.
std::vector<std::pair<std::string, std::vector<DType>>> choices_of(const OpSchema& schema,
                                                                   const KernelDef& kernel) {
  std::vector<std::pair<std::string, std::vector<DType>>> out;
  for (const AttrDef& def : schema.attrs) {
    if (def.type.kind != AttrKind::type || def.type.list)
      continue;
    std::vector<DType> dtypes;
    for (const TypeConstraint& constraint : kernel.options.types)
      if (constraint.attr == def.name)
        dtypes = claimed_dtypes(schema, constraint);
    if (dtypes.empty())
      for (const AttrValue& value : def.allowed)
        if (const auto* dtype = std::get_if<DType>(&value))
          dtypes.push_back(*dtype);
    out.emplace_back(def.name, dtypes.empty() ? all_dtypes() : dtypes);
  }
  return out;
}

using Attrs = std::vector<std::pair<std::string, AttrValue>>;

/// Calls use(attrs) for every combination of the dtypes.
template <class Use>
void for_each_choice(const std::vector<std::pair<std::string, std::vector<DType>>>& choices,
                     Attrs& attrs, std::size_t at, Use use) {
  if (at == choices.size())
    return use(attrs);
  for (DType dtype : choices[at].second) {
    attrs.emplace_back(choices[at].first, AttrValue(dtype));
    for_each_choice(choices, attrs, at + 1, use);
    attrs.pop_back();
  }
}

/// Lengths of lists and lists of dtypes, where the signature has no default.
Attrs lists_of(const OpSchema& schema, const Hint& hint) {
  Attrs out = hint.attrs;
  for (const AttrDef& def : schema.attrs) {
    const bool given = std::ranges::any_of(out, [&](auto& attr) { return attr.first == def.name; });
    if (given || def.default_value)
      continue;
    if (def.type.kind == AttrKind::integer && !def.type.list)
      out.emplace_back(def.name, std::int64_t{2});
    else if (def.type.kind == AttrKind::type && def.type.list)
      out.emplace_back(def.name, std::vector<DType>{DType::float32, DType::string});
    else if (def.type.kind == AttrKind::shape && !def.type.list)
      out.emplace_back(def.name, PartialShape{2});
    else if (def.type.kind == AttrKind::string && !def.type.list)
      out.emplace_back(def.name, std::string("x"));
  }
  return out;
}

/// Shapes to try for `count` inputs: the first ones of one shape, the others of another.
std::vector<std::vector<Shape>> patterns(std::size_t count) {
  const Shape kinds[] = {Shape{2, 2}, Shape{}, Shape{2}, Shape{1, 2, 2, 2}, Shape{1}};
  std::vector<std::vector<Shape>> out;
  for (const Shape& first : kinds)
    for (const Shape& rest : kinds)
      for (std::size_t k = count > 0 ? 1 : 0; k <= count; ++k) {
        if (k == count && &first != &rest)
          continue;
        std::vector<Shape> shapes(k, first);
        shapes.resize(count, rest);
        out.push_back(std::move(shapes));
      }
  return out;
}

/// The node's inputs with `shapes[i]`, or as the hint says.
Result<std::vector<CaseInput>> make_inputs(const OpSchema& schema, const AttrMap& attrs,
                                           const NodeTypes& types, const Hint& hint,
                                           const std::vector<Shape>& shapes) {
  std::vector<CaseInput> out(types.inputs.size());
  TROUPE_ASSIGN(const auto ranges, arg_ranges(schema.inputs, attrs));
  for (std::size_t a = 0; a < ranges.size(); ++a)
    for (int at = ranges[a].begin; at < ranges[a].end; ++at) {
      const auto i = static_cast<std::size_t>(at);
      CaseInput& input = out[i];
      input.dtype = remove_ref(types.inputs[i]);
      if (is_ref(types.inputs[i])) {
        input.kind = CaseInput::Kind::variable;
      } else if (schema.inputs[a].type_attr.empty() && input.dtype == DType::resource) {
        input.kind = CaseInput::Kind::resource;
        input.dtype = attrs.get_or("dtype", attrs.get_or("T", DType::float32));
      }
      const std::string text = i < hint.inputs.size() ? hint.inputs[i] : "?";
      if (text != "?") {
        TROUPE_ASSIGN(input.value, parse_literal(text));
        if (input.value.dtype() != input.dtype) {
          const auto cast = arith::cast(input.value.dtype(), input.dtype);
          Tensor same = ones(input.dtype, input.value.shape());
          if (cast.ok())
            (*cast)(input.value.raw(), same.mutable_raw(), 0, same.num_elements());
          input.value = std::move(same);
        }
      } else {
        input.value = ones(input.dtype, shapes[i]);
      }
    }
  return out;
}

/// What became of one op and one choice of dtypes.
struct Outcome {
  bool computed = false;
  std::set<std::string> refusals =
      {}; ///< "CODE: message" of codes that say more than "not these inputs"
  std::string last = {};
};

Outcome try_all(const OpSchema& schema, const Attrs& given, const Hint& hint) {
  Outcome out;
  AttrMap attrs;
  for (const auto& [name, value] : given)
    attrs.set(name, value);
  auto types = Result<NodeTypes>(NodeTypes{});
  if (Status status = complete_and_check_attrs(schema, attrs); !status.ok()) {
    out.last = status.to_string();
    return out;
  }
  types = resolve_types(schema, attrs);
  REQUIRE(types.ok());
  TestDevice device;
  auto node = bind_kernel(op_library().kernels, "node", schema, attrs, device.device());
  if (!node.ok()) {
    out.last = node.status().to_string();
    return out;
  }
  for (const auto& shapes : patterns(types->inputs.size())) {
    auto inputs = make_inputs(schema, attrs, *types, hint, shapes);
    REQUIRE_MESSAGE(inputs.ok(), inputs.status().to_string());
    const std::vector<std::string> names(inputs->size(), "v");
    auto run = run_kernel(*node, device.step(), make_entries(*inputs, device), names);
    if (run.ok()) {
      out.computed = true;
      continue;
    }
    out.last = run.status().to_string();
    const Code code = run.status().code();
    if (code != Code::invalid_argument && code != Code::failed_precondition &&
        code != Code::out_of_range)
      out.refusals.insert(out.last);
  }
  return out;
}

} // namespace

TEST_CASE("op library: every kernel computes with every dtype that it is registered for") {
  const auto in_graphs = ops_in_graphs(TROUPE_KERNELS_DIR);
  for (const OpSchema* schema : op_library().ops.all()) {
    if (left_out().contains(schema->name) || in_graphs.contains(schema->name))
      continue;
    const auto found = hints().find(schema->name);
    const bool rows = schema->name.find("SparseApply") != std::string::npos;
    const Hint hint = found != hints().end() ? found->second
                      : rows                 ? hint_of_rows(*schema)
                                             : Hint{};
    for (const KernelDef* kernel : op_library().kernels.of(schema->name)) {
      if (kernel->device_type != "CPU")
        continue;
      const bool refuses = may_refuse().contains(schema->name);
      Attrs attrs = lists_of(*schema, hint);
      for_each_choice(choices_of(*schema, *kernel), attrs, 0, [&](const Attrs& chosen) {
        std::string what = schema->name;
        for (const auto& [name, value] : chosen)
          str_append(what, " ", name, "=", to_string(value));
        const Outcome outcome = try_all(*schema, chosen, hint);
        CHECK_MESSAGE((outcome.computed || refuses), what, " computes nothing: ", outcome.last);
        for (const std::string& refusal : outcome.refusals)
          CHECK_MESSAGE(refuses, what, " answers ", refusal);
      });
    }
  }
}

} // namespace troupe::testing
