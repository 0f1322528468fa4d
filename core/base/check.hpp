// TROUPE_CHECK: for our own bugs only, never for input, files or peers. Prints and aborts, in
// release too.
#pragma once

#include <string_view>

namespace troupe::detail {
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view why);
}

#define TROUPE_CHECK(condition, why)                                                               \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::troupe::detail::check_failed(__FILE__, __LINE__, #condition, why);                         \
  } while (false)
