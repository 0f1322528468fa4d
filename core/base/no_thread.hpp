// What is said when the system refuses a thread.
#pragma once

#include <string_view>
#include <system_error>

#include "core/base/status.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// RESOURCE_EXHAUSTED with the limits that may be the cause.
inline Status no_thread(const std::system_error& refused, std::string_view what_for) {
  return resource_exhausted(
      str_cat("the system refuses a thread ", what_for, " (", refused.code().message(),
              "): raise the limit of processes (ulimit -u, or that of the container), or that of "
              "address space (ulimit -v)"));
}

} // namespace troupe
