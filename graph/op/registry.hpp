// OpRegistry: every op schema of the process, by name. Filled once at start, frozen, then read by
// any thread.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/op/schema.hpp"

namespace troupe {

class OpRegistry {
public:
  /// Takes a schema; a second one of the same name, or one with neither gradient nor a reason why
  /// not, is our own bug and aborts. The returned schema's address is stable.
  const OpSchema& add(OpSchema schema);
  /// Null if unknown.
  const OpSchema* find(std::string_view name) const;
  /// NOT_FOUND: "Op type not registered 'Foo' …", with a name that differs in case alone.
  Result<const OpSchema*> lookup(std::string_view name) const;
  /// All, by name.
  std::vector<const OpSchema*> all() const;

private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::unique_ptr<const OpSchema>, Hash, std::equal_to<>> schemas_;
};

} // namespace troupe
