// JSON, read whole: as much of it as a description of a cluster needs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

struct JsonValue {
  enum class Kind { null, boolean, number, text, list, map };
  Kind kind = Kind::null;
  std::string text; ///< of a text; of a number as it stands there; "true" or "false"
  std::vector<JsonValue> list;
  std::vector<std::pair<std::string, JsonValue>> map; ///< in order; keys are unique

  /// Null if this is no map or has no such key.
  const JsonValue* find(std::string_view key) const;
};

/// INVALID_ARGUMENT naming the position of what is wrong. At most 1 MiB, nested 16 deep.
Result<JsonValue> parse_json(std::string_view json);

} // namespace troupe
