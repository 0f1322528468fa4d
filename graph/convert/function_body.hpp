// The body of a function as a graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/convert/limits.hpp"
#include "graph/ir/functions.hpp"
#include "graph/ir/graph.hpp"

namespace troupe {

/// A function made for certain attributes. The graph has one `_Arg` for each argument.
struct FunctionBody {
  Graph graph;
  std::vector<NodeId> args = {};
  std::vector<Endpoint> results = {};
  std::vector<NodeId> effects = {}; ///< its control outputs
  std::vector<NodeId> unread = {};  ///< see unread_effects
  bool is_noinline = false;         ///< its attribute "_noinline": calls are seen in traces
  std::size_t attr_bytes = 0;       ///< of names and texts that every copy of the body has again
};

/// The nodes that change something outside, check something or end a conditional or a loop, and
/// that neither a result nor a control output needs: where TensorFlow gives a whole body to one
/// executor, it runs them too. None of them is within a conditional, where it might be dead.
std::vector<NodeId> unread_effects(const FunctionBody& body);

/// Reads a definition, with `attrs` for the placeholders of its nodes ("$T"); attributes that the
/// signature gives a default may be left out. `library` resolves calls in the body and holds the
/// definition. NOT_FOUND and INVALID_ARGUMENT naming function and node.
Result<FunctionBody> instantiate_function(const FunctionDefinition& function, AttrMap attrs,
                                          const OpRegistry& registry,
                                          std::shared_ptr<const FunctionLibrary> library,
                                          DecodeBudget& budget);

/// What a function says of itself where several compute the same; see functions::Implementations.
struct FunctionImplementation {
  std::string kind;   ///< "api_implements"
  std::string device; ///< "api_preferred_device": a device type
};
/// Nothing for a function that names neither, or is half of a function with a gradient.
std::optional<FunctionImplementation> implementation_of(const FunctionDefinition& function);

} // namespace troupe
