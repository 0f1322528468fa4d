// The table that an op fills.
#pragma once

#include <memory>

#include "devices/resource/lookup_table.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::lookup {

/// The one whose handle is input 0. INVALID_ARGUMENT "Table localhost t is not initializable" for one
/// that is not filled at once.
inline Result<std::shared_ptr<LookupTable>> initializable_table(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle handle, detail::given_handle(c, 0));
  TROUPE_ASSIGN(auto table, c.resources().lookup<LookupTable>(handle.container, handle.name));
  TROUPE_TRY(table->check_initializable(handle.container));
  return table;
}

} // namespace troupe::lookup
