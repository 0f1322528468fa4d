#include "kernels/framework/no_kernel.hpp"

#include "core/base/strings.hpp"

namespace troupe {

namespace {

/// "device='CPU'; label='host'; T in [DT_FLOAT, DT_DOUBLE]"
std::string describe(const KernelDef& def, std::string_view label) {
  std::string out = str_cat("device='", def.device_type, "'");
  if (!label.empty())
    str_append(out, "; label='", label, "'");
  for (const auto& constraint : def.options.types) {
    std::vector<std::string> names;
    for (DType type : constraint.dtypes)
      names.push_back(to_string(AttrValue(type)));
    str_append(out, "; ", constraint.attr, " in [", str_join(names, ", "), "]");
  }
  return out;
}

} // namespace

std::string list_attrs(const AttrMap& attrs) {
  std::vector<std::string> out;
  for (const auto& [name, value] : attrs)
    out.push_back(str_cat(name, "=", to_string(value)));
  return str_join(out, ", ");
}

std::string list_kernels(const KernelRegistry& kernels, std::string_view op) {
  std::string out;
  for (const KernelDef* def : kernels.of(op)) {
    if (def->options.labels.empty())
      str_append(out, "\n  ", describe(*def, ""));
    for (const std::string& label : def->options.labels)
      str_append(out, "\n  ", describe(*def, label));
  }
  return out.empty() ? "\n  <no registered kernels>" : out;
}

Status no_kernel(const KernelRegistry& kernels, std::string_view op, const AttrMap& attrs,
                 std::string_view node, const std::vector<std::string>& device_types) {
  return invalid_argument(str_cat(
      "No OpKernel was registered to support Op '", op, "' used by {{node ", node,
      "}} with these attrs: [", list_attrs(attrs), "]\nRegistered devices: [",
      str_join(device_types, ", "), "]\nRegistered kernels:", list_kernels(kernels, op), "\n"));
}

} // namespace troupe
