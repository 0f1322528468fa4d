#include "core/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::detail {

void check_failed(const char* file, int line, const char* condition, std::string_view why) {
  std::fprintf(stderr, "%s:%d: check failed: %s (%.*s)\n", file, line, condition,
               static_cast<int>(why.size()), why.data());
  std::abort();
}

} // namespace troupe::detail
