// LowerContext: what the rule of an op that calls functions sees of its node, and how it puts
// other nodes in the node's place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe::functions {

/// What the body of a called function became.
struct InlinedCall {
  std::vector<Endpoint> outputs;
  std::vector<NodeId> effects; ///< must have run, besides the nodes of the outputs
  bool is_noinline = false;    ///< traces show the call, by the function's name
};

/// Whose body a call inlines.
struct Callee {
  FunctionRef function;
  bool is_gradient = false; ///< its gradient: takes its arguments and one gradient for each result
  /// Its nodes may ask for devices of their own; otherwise they stand where the call does.
  bool is_multi_device = true;
  /// Its nodes that have effects run although nothing that is asked of it needs them.
  bool runs_unread = false;
};

/// New nodes stand on the node's device and are named "<node>/<part>/_<number>". What has no input
/// of its own runs when the node would. Failures of `op` are remembered; `call` and `finish` return
/// them.
class LowerContext {
public:
  virtual ~LowerContext() = default;

  virtual const Node& node() const = 0;
  virtual DType dtype(Endpoint e) const = 0;
  /// The value of an input that is a constant of the graph; otherwise a tensor without value.
  virtual Tensor constant_input(int i) const = 0;
  /// Of all nodes made from now on.
  virtual void set_device(std::string_view device) = 0;

  /// Adds a node that also runs after the nodes of `after`, and gives its output 0.
  virtual Endpoint op(std::string_view part, std::string_view type,
                      const std::vector<Endpoint>& inputs, AttrMap attrs = {},
                      const std::vector<NodeId>& after = {}) = 0;
  Endpoint constant(std::string_view part, Tensor value) {
    AttrMap attrs{{"dtype", value.dtype()}, {"value", TensorBox{value}}};
    return op(part, "Const", {}, std::move(attrs));
  }
  /// Closes a loop: input `slot` of `to` is `source` instead.
  virtual void set_input(NodeId to, int slot, Endpoint source) = 0;

  /// Which argument the function hands on unchanged as its result `i`; -1: none.
  virtual Result<int> argument_returned(const FunctionRef& function, int i) = 0;
  /// The function's body, inlined in the scope "<node>/<part>/_<number>", or "<node>" if `part` is
  /// empty. Body nodes without inputs run after `trigger`, if there is one. INVALID_ARGUMENT if the
  /// dtypes are not those of the function's signature, or its results not of `result_types` (null:
  /// any).
  virtual Result<InlinedCall> call(std::string_view part, const Callee& callee,
                                   const std::vector<Endpoint>& inputs,
                                   const std::vector<DType>* result_types, NodeId trigger = -1) = 0;

  /// The node hands on `outputs` from now on, after `effects`. Who reads an output may read it
  /// where it comes from, and so run nothing for the others, unless it would miss effects:
  /// `outputs_tell` says that it would not.
  virtual Status finish(const std::vector<Endpoint>& outputs,
                        const std::vector<NodeId>& effects = {}, bool outputs_tell = false) = 0;
};

using LowerRule = Status (*)(LowerContext&);
/// Null for ops that call no functions, and for functions themselves.
LowerRule find_rule(std::string_view op);
/// Of a node whose op is a function of the graph.
Status lower_function_op(LowerContext& c);

} // namespace troupe::functions
