// Scope: builds a graph, with name scopes, device blocks and control dependencies. Op functions are
// in ops.hpp, generated from the op library.
//
//   Scope root = Scope::root();
//   Scope ps = root.on("/job:ps/task:0");
//   Output x = ops::placeholder(root.named("x"), DType::float32, {.shape = PartialShape{-1, 2}});
//   GraphVariable w = variable(ps, "w", DType::float32, {2, 1}, Tensor::of<float>({2, 1}, {3, 5}));
//   Output y = ops::mat_mul(root.sub("layer1"), x, w.read());
//   TROUPE_TRY(root.status());
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "graph/ir/graph.hpp"

namespace troupe {

class Scope;

/// One output of a node of some scope's graph; empty after an error of the scope.
class Output {
public:
  Output() = default;
  Output(std::shared_ptr<Graph> graph, Endpoint endpoint)
      : graph_(std::move(graph)), endpoint_(endpoint) {}
  bool is_valid() const { return graph_ != nullptr; }
  Endpoint endpoint() const { return endpoint_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; } ///< null if not valid
  /// "scope/name:0", for feeds and fetches.
  std::string name() const;
  /// The node's name, for targets.
  std::string node_name() const;
  /// References as their base; invalid if there is none.
  DType dtype() const;

private:
  std::shared_ptr<Graph> graph_;
  Endpoint endpoint_;
};

/// What an op function takes: an output, or a value that becomes a Const. A C++ number has its C++
/// type's dtype.
class Input {
public:
  Input(Output output) : value_(std::move(output)) {}
  Input(Tensor tensor) : value_(std::move(tensor)) {}
  template <class T>
  requires std::is_arithmetic_v<T> Input(T value) : value_(Tensor::scalar<T>(value)) {}
  Input(const char* text) : value_(Tensor::scalar<std::string>(text)) {}
  /// Null for an output.
  const Tensor* tensor() const { return std::get_if<Tensor>(&value_); }
  /// The output, or a new Const of `scope`.
  Output resolve(const Scope& scope) const;

private:
  std::variant<Output, Tensor> value_;
};

/// Several inputs of an op: {a, b}, or outputs that another op gave.
class InputList {
public:
  InputList(std::initializer_list<Input> inputs) : inputs_(inputs) {}
  InputList(std::vector<Input> inputs) : inputs_(std::move(inputs)) {}
  InputList(const std::vector<Output>& outputs) : inputs_(outputs.begin(), outputs.end()) {}
  const std::vector<Input>& inputs() const { return inputs_; }

private:
  std::vector<Input> inputs_;
};

/// A node.
class Operation {
public:
  Operation() = default;
  Operation(std::shared_ptr<Graph> graph, NodeId node) : graph_(std::move(graph)), node_(node) {}
  bool is_valid() const { return graph_ != nullptr; }
  NodeId id() const { return node_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; } ///< null if not valid
  std::string name() const;
  Output output(int slot) const { return graph_ ? Output(graph_, {node_, slot}) : Output(); }
  int num_outputs() const;

private:
  std::shared_ptr<Graph> graph_;
  NodeId node_ = -1;
};

/// A cheap handle: copies build the same graph, and only what belongs to that graph can be joined.
/// The first error sticks; op functions then give invalid outputs, and `status` tells. One thread.
class Scope {
public:
  static Scope root();
  Scope(const Scope&) = default; // and no move: what was moved from would be a scope of nothing
  Scope& operator=(const Scope&) = default;

  Scope sub(std::string_view name) const;   ///< names below begin with "name/"
  Scope on(std::string_view device) const;  ///< requested device, possibly partial
  Scope named(std::string_view name) const; ///< the name of the next op made with this scope
  Scope after(const std::vector<Operation>& operations)
      const; ///< control dependencies of every op made with this scope
  Scope after(const Output& output) const;
  /// On the device of `output`'s node, whatever that will be; this scope's own no longer counts.
  Scope colocated_with(const Output& output) const;

  Status status() const;
  void fail(const Status& status) const; ///< keeps the first

  /// Adds a node of any op. Dtype attrs and list lengths that the inputs determine are filled in.
  /// Invalid after an error.
  Operation add(std::string_view op, const std::vector<Output>& inputs, AttrMap attrs = {}) const;
  Operation add(std::string_view op, const std::vector<Input>& inputs, AttrMap attrs = {}) const;
  /// A Const.
  Output constant(Tensor value) const;
  /// Where the values among an op's inputs become Consts: below the name that the op will have, and
  /// after nothing.
  Scope for_constants() const;

  const std::shared_ptr<Graph>& graph() const { return state_->graph; }
  /// Bytes of the GraphDef; none and an error of the scope beyond 2 GiB.
  std::string graph_def() const;
  /// Only the nodes with ids from `first` on; what an extended graph is extended with next.
  /// RESOURCE_EXHAUSTED beyond 2 GiB.
  Result<std::string> graph_def_from(NodeId first) const;
  /// Nodes of an existing GraphDef join this graph; their names stay. INVALID_ARGUMENT and others.
  Status import(std::string_view graph_def) const;
  /// INVALID_ARGUMENT if there is no such tensor.
  Result<Output> find(std::string_view tensor_name) const;

private:
  Scope() = default;
  /// False, and an error, for what is of another graph.
  bool owns(const std::shared_ptr<Graph>& graph, std::string_view what) const;
  struct State {
    std::shared_ptr<Graph> graph;
    Status status;
  };
  std::shared_ptr<State> state_;
  std::string prefix_, device_, next_name_, colocate_;
  std::vector<NodeId> control_;
};

/// d sum(ys) / d xs; an invalid Output where no y depends on x. `grad_ys`, if given, has for each y
/// the gradient that arrives there; an invalid one means ones. On an error the scope fails.
std::vector<Output> gradients(const Scope& scope, const std::vector<Output>& ys,
                              const std::vector<Output>& xs,
                              const std::vector<Output>& grad_ys = {});

} // namespace troupe
