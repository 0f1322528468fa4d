// FunctionLibrary: the functions that a graph brings along.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "graph/op/schema.hpp"

namespace troupe {

/// A function's signature, as the schema of a node that calls it by name, and its definition as the
/// bytes of a tensorflow.FunctionDef. Only graph/convert and what inlines read the bytes.
struct FunctionDefinition {
  OpSchema signature;
  std::string bytes;
  /// What its body names that may be a function, each once: ops that are not of the registry, and
  /// functions in attributes.
  std::vector<std::string> mentions = {};
};

/// Functions by name, and which function computes another's gradient. Definitions are shared and
/// never change, so copies of a library are cheap, and a schema's address stays valid while any
/// library that holds it lives.
class FunctionLibrary {
public:
  /// Null if unknown.
  const FunctionDefinition* find(std::string_view name) const {
    auto at = functions_.find(name);
    return at == functions_.end() ? nullptr : at->second.get();
  }
  /// The same function twice is fine; INVALID_ARGUMENT for another one of the same name.
  Status add(FunctionDefinition function);
  Status add(std::shared_ptr<const FunctionDefinition> function);
  bool erase(std::string_view name);
  /// INVALID_ARGUMENT if the function already has another gradient.
  Status set_gradient(std::string_view function, std::string_view gradient);
  /// Adds all of another's functions and gradients. On an error nothing was added.
  Status merge(const FunctionLibrary& other);

  const std::map<std::string, std::shared_ptr<const FunctionDefinition>, std::less<>>&
  functions() const {
    return functions_;
  }
  const std::map<std::string, std::string, std::less<>>& gradients() const { return gradients_; }
  bool empty() const { return functions_.empty() && gradients_.empty(); }

private:
  std::map<std::string, std::shared_ptr<const FunctionDefinition>, std::less<>> functions_;
  std::map<std::string, std::string, std::less<>> gradients_;
};

} // namespace troupe
