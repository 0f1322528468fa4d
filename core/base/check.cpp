#include "core/base/check.hpp"

#include <cstdlib>

#include "core/base/line_writer.hpp"
#include "core/base/strings.hpp"

namespace troupe::detail {

void check_failed(const char* file, int line, const char* condition, std::string_view why) {
  standard_error().write(str_cat(file, ":", line, ": check failed: ", condition, " (", why, ")\n"));
  standard_error().flush(std::chrono::seconds(1)); // an unread pipe does not keep us from ending
  std::abort();
}

} // namespace troupe::detail
