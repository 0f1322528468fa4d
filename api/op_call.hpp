// OpCall: what the generated op functions are made of.
#pragma once

#include <string_view>
#include <vector>

#include "api/scope.hpp"

namespace troupe {

/// Collects a node's inputs and attrs, then adds it: once, at the first question for a result.
class OpCall {
public:
  OpCall(const Scope& scope, std::string_view op);
  void in(const Input& input);
  void in(const InputList& inputs);
  template <class T>
  void attr(std::string_view name, const T& value) {
    attrs_.set(name, AttrValue(value));
  }
  /// One without value is left to the op's default.
  void attr(std::string_view name, const Tensor& value);

  Operation finish();
  /// The declared output `index`, which is one tensor; invalid after an error of the scope.
  Output one(int index);
  /// The declared output `index`, which is a list; empty after an error of the scope.
  std::vector<Output> list(int index);

private:
  const Scope& scope_;
  std::string_view op_;
  std::vector<Output> inputs_;
  AttrMap attrs_;
  bool added_ = false;
  Operation operation_;
};

} // namespace troupe
