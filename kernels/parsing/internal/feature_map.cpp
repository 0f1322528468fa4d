#include "kernels/parsing/internal/feature_map.hpp"
#include "core/base/strings.hpp"

namespace troupe::parsing {

Status FeatureNames::add(std::string_view name) {
  if (!places_.emplace(name, static_cast<int>(places_.size())).second)
    return invalid_argument(str_cat("Two features have the key '", name,
                                    "'; each feature is parsed once, so remove one of them"));
  return {};
}

void FirstError::add(std::int64_t example, Status status) {
  std::scoped_lock guard(lock_);
  if (example >= example_.load(std::memory_order_relaxed))
    return;
  example_.store(example, std::memory_order_relaxed);
  status_ = std::move(status);
}

std::string excerpt(std::string_view message) {
  constexpr std::size_t most = 200;
  const std::string quoted = str_quote(message.substr(0, most));
  return quoted.substr(1, quoted.size() - 2) + (message.size() > most ? "..." : "");
}

} // namespace troupe::parsing
