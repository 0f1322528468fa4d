#include "actors/family/ask.hpp"

#include <exception>

#include "core/base/strings.hpp"

namespace troupe {

caf::error exception_to_error(std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return to_error(internal(str_cat("an actor ended with an exception: ", e.what())));
  } catch (...) {
    return to_error(internal("an actor ended with an unknown exception"));
  }
}

} // namespace troupe
