// The table that an op uses, of the dtypes that the op has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/strings.hpp"
#include "devices/resource/lookup_table.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::lookup {

/// INVALID_ARGUMENT "Signature mismatch, have: resource, int64, int64->int64 expected: resource,
/// string, int64->int64" unless the node's dtypes behind the handle are these.
inline Status check_signature(const KernelContext& c, std::vector<DType> inputs,
                              const std::vector<DType>& outputs) {
  const NodeTypes& types = c.io().types;
  inputs.insert(inputs.begin(), types.inputs[0]);
  if (types.inputs == inputs && types.outputs == outputs)
    return {};
  const auto listed = [](const std::vector<DType>& all) {
    std::vector<std::string> names;
    for (DType type : all)
      names.push_back(to_string(type));
    return str_join(names, ", ");
  };
  return invalid_argument(str_cat("Signature mismatch, have: ", listed(types.inputs), "->",
                                  listed(types.outputs), " expected: ", listed(inputs), "->",
                                  listed(outputs)));
}

/// The one whose handle is input 0. INVALID_ARGUMENT "Table localhost t is not initializable" for
/// one that is not filled at once.
inline Result<std::shared_ptr<LookupTable>> initializable_table(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle handle, detail::given_handle(c, 0));
  TROUPE_ASSIGN(auto table, c.resources().lookup<LookupTable>(handle.container, handle.name));
  TROUPE_TRY(table->check_initializable(handle.container));
  return table;
}

} // namespace troupe::lookup
