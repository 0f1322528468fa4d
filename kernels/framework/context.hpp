// KernelContext: everything a running kernel may touch.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <typeindex>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "devices/device.hpp"
#include "devices/host/compute_pool.hpp"
#include "devices/resource/resource_manager.hpp"
#include "kernels/framework/cancellation.hpp"
#include "kernels/framework/kernel.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

class Functions;

/// Thrown out of a kernel's loop when its step has been cancelled. Whoever runs kernels catches it
/// and answers with the step's status.
class StepCancelled : public std::exception {
public:
  const char* what() const noexcept override { return "the step was cancelled"; }
};

/// What flows along a data edge at run time: nothing (dead or not yet there), a value, or a
/// reference to a variable.
struct Entry {
  Tensor tensor;
  std::shared_ptr<Variable> ref;
  bool has_value() const { return tensor.has_value() || ref != nullptr; }
};

/// State of nodes that outlives a step: one object for each (session, node name), shared by every
/// graph of the session.
class NodeStates {
public:
  /// Finds the node's state, or makes it; T is the node's promise. Any thread.
  template <class T, class Make>
  std::shared_ptr<T> get(std::string_view node, Make&& make) {
    std::scoped_lock guard(lock_);
    auto found = states_.find(node);
    if (found == states_.end())
      found = states_.emplace(node, std::shared_ptr<T>(make())).first;
    return std::static_pointer_cast<T>(found->second);
  }

private:
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<void>, std::less<>> states_;
};

/// What all kernels of one (step, device partition) share. Owned by whoever runs the step, outlives
/// its kernels.
struct StepEnvironment {
  std::uint64_t step_id = 0;
  Device* device = nullptr;
  Stream* stream = nullptr; ///< of the device, for this step's work there; null: device->stream()
  Rendezvous* rendezvous = nullptr;          ///< null where the graph has no cut edges
  Cancellation* cancellation = nullptr;      ///< never null in a running step
  NodeStates* node_states = nullptr;         ///< of the session
  ResourceManager* step_resources = nullptr; ///< cleared when the step ends
  Functions* functions = nullptr;            ///< those that the graph's nodes may run; null: none
  int call_depth = 0;                        ///< 0: the graph is no function's body
};

/// What every run of a kernel asks of its node. Those of nodes that are alike are one, so that a
/// step of many nodes finds it in the core's cache.
struct KernelIo {
  NodeTypes types;
  std::vector<bool> output_in_host_memory; ///< empty: none asked for it
};

/// The unchanging part of a node, made when its graph is compiled.
struct KernelNode {
  std::string name;
  const OpSchema* schema = nullptr;
  const KernelDef* kernel = nullptr;
  AttrMap attrs;
  std::shared_ptr<const KernelIo> io;
  std::shared_ptr<const void> prepared;
};

/// Makes kernel nodes: the only place where a node finds its kernel, so that tests and steps run
/// the same. Kernels and device outlive it. Not for two threads.
class KernelBinder {
public:
  /// `graph_version`: see PrepareContext.
  KernelBinder(const KernelRegistry& kernels, Device& device, int graph_version = 0)
      : kernels_(kernels), device_(device), graph_version_(graph_version) {}

  /// Finds a node's kernel on the device, lets it prepare, and marks outputs in host memory: those
  /// that the kernel asks for and those of object dtypes (none on a device without own memory).
  /// `attrs` are complete, the dtypes are those that they give. NOT_FOUND without a kernel; what
  /// prepare returns. `first_input`: see PrepareContext.
  Result<KernelNode> bind(std::string name, const OpSchema& schema, AttrMap attrs,
                          const std::vector<DType>& inputs, const std::vector<DType>& outputs,
                          std::string_view first_input = {});
  /// A node that somebody else runs: all but the kernel.
  KernelNode describe(std::string name, const OpSchema& schema, AttrMap attrs,
                      const std::vector<DType>& inputs, const std::vector<DType>& outputs);

private:
  using Io = std::shared_ptr<const KernelIo>;
  const Io& share(const std::vector<DType>& inputs, const std::vector<DType>& outputs,
                  std::vector<bool> in_host);

  const KernelRegistry& kernels_;
  Device& device_;
  int graph_version_;
  Io last_; ///< neighbours are often alike
  std::map<std::tuple<std::vector<DType>, std::vector<DType>, std::vector<bool>>, Io> all_;
};

/// One node, bound with the dtypes that its attrs give.
Result<KernelNode> bind_kernel(const KernelRegistry& kernels, std::string name,
                               const OpSchema& schema, AttrMap attrs, Device& device);
/// Which tensors of `args` are in host memory on a device with its own: those of the declared args
/// `names` and those of object dtypes.
Result<std::vector<bool>> in_host_memory(const std::vector<ArgDef>& args,
                                         const std::vector<std::string>& names,
                                         const AttrMap& attrs, const std::vector<DType>& types);

/// One run of one kernel. Not for two threads at once, except that parallel loops may read inputs
/// and write disjoint parts of outputs.
class KernelContext {
public:
  KernelContext(const KernelNode& node, const StepEnvironment& step, std::span<Entry> inputs,
                std::span<Entry> outputs)
      : KernelContext(node, *node.io, step, inputs, outputs) {}
  /// For who knows where node.io lies without looking at the node.
  KernelContext(const KernelNode& node, const KernelIo& io, const StepEnvironment& step,
                std::span<Entry> inputs, std::span<Entry> outputs)
      : node_(&node), io_(&io), step_(&step), inputs_(inputs), outputs_(outputs) {}

  // The node.
  const std::string& node_name() const { return node_->name; }
  const KernelNode& node() const { return *node_; }
  const KernelIo& io() const { return *io_; }
  const AttrMap& attrs() const { return node_->attrs; }
  template <class T>
  Result<T> attr(std::string_view name) const {
    return node_->attrs.get<T>(name);
  }
  /// What the kernel's prepare function kept.
  template <class T>
  const T& prepared() const {
    return *static_cast<const T*>(node_->prepared.get());
  }

  // Inputs. Lists are flattened.
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  /// False for a dead input; only Merge and transfer nodes ever see one.
  bool has_input(int i) const { return inputs_[static_cast<std::size_t>(i)].has_value(); }
  /// The value; for a reference input that the schema declares as a value the executor has taken a
  /// snapshot. Requires has_input(i).
  const Tensor& input(int i) const { return inputs_[static_cast<std::size_t>(i)].tensor; }
  /// The variable behind a reference input (declared `Ref(T)`). Requires one.
  const std::shared_ptr<Variable>& input_ref(int i) const {
    return inputs_[static_cast<std::size_t>(i)].ref;
  }
  /// Takes an input's value away, so that the kernel may hold the only reference.
  Tensor take_input(int i) { return std::move(inputs_[static_cast<std::size_t>(i)].tensor); }
  Entry& input_entry(int i) { return inputs_[static_cast<std::size_t>(i)]; }
  /// The one resource handle in input i. INVALID_ARGUMENT if it is none.
  Result<ResourceHandle> input_handle(int i) const;

  // Outputs.
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DType output_type(int i) const { return io_->types.outputs[static_cast<std::size_t>(i)]; }
  /// Memory of the declared output dtype; already set as the output: fill the returned tensor,
  /// which shares it.
  Result<Tensor> allocate_output(int i, const Shape& shape);
  /// Reuses input `from`'s buffer when nobody else holds it and dtype size, element count and
  /// memory fit; otherwise allocates. The returned tensor may thus be the input: elementwise
  /// kernels may read and write the same index.
  Result<Tensor> forward_or_allocate(int from, int i, const Shape& shape);
  /// The first of several inputs that can be forwarded.
  Result<Tensor> forward_or_allocate(std::initializer_list<int> from, int i, const Shape& shape);
  /// Where the kernel computes: on a device with its own memory there, unless all its arguments are
  /// in host memory.
  Result<Tensor> allocate_temp(DType dtype, const Shape& shape);
  /// INTERNAL if the dtype is not the declared one.
  Status set_output(int i, Tensor value);
  void set_output_ref(int i, std::shared_ptr<Variable> variable) {
    outputs_[static_cast<std::size_t>(i)].ref = std::move(variable);
  }
  /// Leaves output i dead; for Switch and Recv.
  void set_output_dead(int i) { outputs_[static_cast<std::size_t>(i)] = Entry{}; }
  Entry& output_entry(int i) { return outputs_[static_cast<std::size_t>(i)]; }

  // Surroundings.
  Device& device() const { return *step_->device; }
  /// Where work on the device goes, copies to and from it among it: in order, one after the other.
  Stream& stream() const { return step_->stream ? *step_->stream : device().stream(); }
  ResourceManager& resources() const { return step_->device->resources(); }
  const StepEnvironment& step() const { return *step_; }
  Cancellation& cancellation() const { return *step_->cancellation; }
  Rendezvous* rendezvous() const { return step_->rendezvous; }
  using LoopBody = FunctionView<void(std::int64_t begin, std::int64_t end)>;
  /// See ComputePool::parallel_for; unit_cost in nanoseconds. A loop of more than some milliseconds
  /// looks at the step's cancellation now and then, and throws StepCancelled: what it leaves behind
  /// is no result, so the kernel must not go on with it.
  void parallel_for(std::int64_t total, double unit_cost, LoopBody body) const {
    if (static_cast<double>(total) * std::max(unit_cost, least_cost) < look_ns)
      step_->device->compute().parallel_for(total, unit_cost, body);
    else
      parallel_for_while_wanted(total, unit_cost, body);
  }
  /// The same to its end, whatever becomes of the step: where variables are changed in place, which
  /// must not stay half done.
  void parallel_for_to_the_end(std::int64_t total, double unit_cost, LoopBody body) const {
    step_->device->compute().parallel_for(total, unit_cost, body);
  }
  /// A loop on this thread alone, which looks at the cancellation as parallel_for does.
  void serial_for(std::int64_t total, double unit_cost, LoopBody body) const;
  /// Throws StepCancelled if the step is cancelled; between pieces of work of some milliseconds.
  void stop_if_cancelled() const;
  /// This node's state in its session.
  template <class T, class Make>
  std::shared_ptr<T> node_state(Make&& make) const {
    return step_->node_states->get<T>(node_->name, std::forward<Make>(make));
  }

  // The place in a loop; 0 and 0 outside one. Part of the keys of sends and receives.
  std::uint64_t frame_id = 0;
  std::int64_t iteration = 0;
  /// Whether any input was dead; only transfer nodes run then.
  bool is_input_dead = false;
  /// The task that the only output goes to and nowhere else; null: none, or it is not known.
  const std::string* receiver = nullptr;

private:
  static constexpr double look_ns = 5e6;    // between two looks at the cancellation
  static constexpr double least_cost = 1.0; // ns of an item, also where it seems to have no element

  bool allocate_at_receiver(const Shape& shape);
  void parallel_for_while_wanted(std::int64_t total, double unit_cost, LoopBody body) const;

  const KernelNode* node_;
  const KernelIo* io_;
  const StepEnvironment* step_;
  std::span<Entry> inputs_;
  std::span<Entry> outputs_;
};

} // namespace troupe
