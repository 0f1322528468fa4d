// The name somebody probably meant in a config file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// "; did you mean 'lease'?" if a known name is near, otherwise "; known are …".
inline std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& known) {
  std::string hint = did_you_mean(name, {known.begin(), known.end()});
  return hint.empty() ? str_cat("; known are ", str_join(known, ", ")) : hint;
}

} // namespace troupe
