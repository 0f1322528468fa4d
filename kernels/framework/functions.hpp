// Functions as kernels see them: bodies, compiled for the kernel's device, that run as often as
// they are called. The executor implements them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "graph/op/attr_value.hpp"

namespace troupe {

class Cancellation;
class KernelContext;
class NodeStates;

using Tensors = std::vector<Tensor>;
using FunctionDone = std::function<void(Result<Tensors>)>;

/// Calls within calls that may be under way; each holds the memory of a step of its body.
inline constexpr int max_call_depth = 1000;

struct FunctionCall {
  Tensors args;
  /// Of whoever calls; outlives the call. Null: nobody cancels it.
  Cancellation* cancellation = nullptr;
  /// Of the body's nodes, such as their random generators, from one call to the next. Null: those
  /// that all such calls of the function share.
  std::shared_ptr<NodeStates> states = nullptr;
  std::uint64_t step_id = 0; ///< of the caller
  int depth = 1;             ///< 1: the caller's graph is no function's body
};

/// Any number of calls at the same time, on any threads.
class Function {
public:
  virtual ~Function() = default;
  virtual const std::string& name() const = 0;
  virtual const std::vector<DType>& arg_types() const = 0;
  virtual const std::vector<DType>& result_types() const = 0;
  /// An op of its body whose nodes have a state, or an effect, that outlives a call; empty: none.
  virtual const std::string& stateful_op() const = 0;
  /// Begins on the caller's thread. `done` is called once, before this returns or later, on the
  /// caller's thread or one that may compute. A call that waits holds no thread. Errors:
  /// INVALID_ARGUMENT for arguments of other dtypes; RESOURCE_EXHAUSTED beyond max_call_depth;
  /// CANCELLED once the function's session or node has ended; what its kernels return, with the
  /// name of the function in front.
  virtual void call(FunctionCall call, FunctionDone done) const = 0;
  /// What calls that have not ended wait for or compute, for people; empty: nothing for long. Any
  /// thread.
  virtual std::string activity() const = 0;
};

/// A node of a graph that a kernel writes. Its inputs are first outputs of other such nodes, by
/// name.
struct WrittenNode {
  std::string name, op;
  AttrMap attrs;
  std::vector<std::string> inputs;
};

/// The functions that the nodes of one graph on one device may call. Lives as long as anybody has
/// it, a dataset for example; its device may be gone before.
class Functions : public std::enable_shared_from_this<Functions> {
public:
  virtual ~Functions() = default;
  /// The function, lowered, optimised and compiled when first asked for. The pointer keeps all
  /// functions of the graph. NOT_FOUND for a name that the graph does not bring; what is wrong with
  /// the body, with the function's name. Any thread.
  virtual Result<std::shared_ptr<const Function>> find(const FunctionRef& function) = 0;
  /// The same functions on another device of the task, by its name; what the name leaves out is as
  /// of our own device. UNIMPLEMENTED for a device of another task, INVALID_ARGUMENT for none.
  virtual Result<std::shared_ptr<Functions>> on(std::string_view device) = 0;
  /// The ops that take an argument of the function as it is, in its body or in those of the
  /// functions that its nodes run, by name. Errors as `find`.
  virtual Result<std::vector<std::string>> takers_of_arguments(const FunctionRef& function) = 0;
  /// A serialised GraphDef of nodes, each after its inputs, with the functions that they name.
  /// INVALID_ARGUMENT for what is no graph.
  virtual Result<std::string> write_graph(const std::vector<WrittenNode>& nodes) = 0;
  /// A serialised GraphDef as a function without arguments, whose results are what its `_Retval`
  /// nodes get. It may call the functions that it brings, and these here. INVALID_ARGUMENT for what
  /// is no graph, has other nodes of the runtime's own, or contradicts our functions.
  virtual Result<std::shared_ptr<const Function>> read_graph(std::string_view graph_def) = 0;
  /// Runs `work` soon on a thread that may compute, while the device is kept; at once and here
  /// where it is gone.
  virtual void submit(std::function<void()> work) = 0;
  /// How many threads compute.
  virtual int threads() const = 0;
};

/// Those of the kernel's graph. INTERNAL where whoever runs the kernel knows none, such as constant
/// folding.
Result<std::shared_ptr<Functions>> functions(const KernelContext& c);

/// The call of a kernel that is one itself: it is as deep as the kernel's graph, and cancelled with
/// its step.
FunctionCall call_from(const KernelContext& c, Tensors args);

} // namespace troupe
