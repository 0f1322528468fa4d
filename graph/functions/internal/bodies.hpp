// Bodies: the functions of a graph, each read once for each set of attributes.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "graph/convert/function_body.hpp"

namespace troupe::functions {

class Bodies {
public:
  /// The graph outlives it. `max_bytes` is for all definitions read.
  Bodies(const Graph& graph, Allocator* memory, std::size_t max_bytes)
      : graph_(graph), budget_({.memory = memory}), bytes_left_(max_bytes) {}

  /// The function's body, or that of its gradient; always the same object for the same function.
  Result<const FunctionBody*> find(const FunctionRef& function, bool is_gradient);

private:
  struct Instance {
    bool is_gradient = false;
    AttrMap attrs;
    FunctionBody body;
  };
  Result<FunctionBody> make(const FunctionRef& function, AttrMap attrs);
  Result<FunctionBody> make_gradient(const FunctionRef& function, AttrMap attrs);
  Result<FunctionBody> body_of_op(const FunctionRef& function, AttrMap attrs);

  const Graph& graph_;
  DecodeBudget budget_;
  std::size_t bytes_left_;
  std::map<std::string, std::deque<Instance>, std::less<>> instances_;
};

} // namespace troupe::functions
