// The kernel registry: which of an op's kernels serves a node.
#include "kernels/framework/kernel.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/no_kernel.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {
namespace {

bool allows(const TypeConstraint& constraint, DType type) {
  return std::ranges::find(constraint.dtypes, type) != constraint.dtypes.end();
}

bool has_label(const KernelDef& def, const AttrMap& attrs) {
  const AttrValue* value = attrs.find("_kernel");
  const auto* text = value ? std::get_if<std::string>(value) : nullptr;
  const std::string_view wanted = text ? std::string_view(*text) : std::string_view();
  const auto& labels = def.options.labels;
  return labels.empty() ? wanted.empty() : std::ranges::find(labels, wanted) != labels.end();
}

/// An absent attr, or one of another kind, never fits: the schema has been checked before.
bool fits(const KernelDef& def, const AttrMap& attrs) {
  return has_label(def, attrs) &&
         std::ranges::all_of(def.options.types, [&](const TypeConstraint& constraint) {
           const AttrValue* value = attrs.find(constraint.attr);
           if (!value)
             return false;
           if (const auto* type = std::get_if<DType>(value))
             return allows(constraint, *type);
           if (const auto* list = std::get_if<std::vector<DType>>(value))
             return std::ranges::all_of(*list,
                                        [&](DType type) { return allows(constraint, type); });
           return std::holds_alternative<EmptyList>(*value);
         });
}

} // namespace

void KernelRegistry::add(KernelDef def) {
  TROUPE_CHECK((def.compute != nullptr) != (def.compute_async != nullptr),
               "a kernel has one function: compute or compute_async");
  by_op_[def.op].push_back(std::make_unique<KernelDef>(std::move(def)));
}

Result<const KernelDef*> KernelRegistry::find(std::string_view op, const AttrMap& attrs,
                                              std::string_view device_type,
                                              std::string_view node_name) const {
  for (const KernelDef* def : of(op))
    if (def->device_type == device_type && fits(*def, attrs))
      return def;
  return not_found(str_cat("No OpKernel was registered to support Op '", op, "'",
                           node_name.empty() ? "" : str_cat(" used by {{node ", node_name, "}}"),
                           " with these attrs: [", list_attrs(attrs), "] on device type ",
                           device_type, ". Registered kernels:", list_kernels(*this, op)));
}

std::vector<std::string> KernelRegistry::device_types(std::string_view op,
                                                      const AttrMap& attrs) const {
  std::vector<std::string> out;
  for (const KernelDef* def : of(op))
    if (fits(*def, attrs) && std::ranges::find(out, def->device_type) == out.end())
      out.push_back(def->device_type);
  std::ranges::stable_sort(
      out, [](const std::string& a, const std::string& b) { return a != "CPU" && b == "CPU"; });
  return out;
}

std::vector<const KernelDef*> KernelRegistry::of(std::string_view op) const {
  std::vector<const KernelDef*> out;
  auto it = by_op_.find(std::string(op));
  if (it != by_op_.end())
    for (const auto& def : it->second)
      out.push_back(def.get());
  return out;
}

} // namespace troupe
