// What the executor knows of a kernel: its function and what it asks for; and the registry that
// finds one for a node.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/status.hpp"
#include "graph/op/schema.hpp"

namespace troupe {

class KernelContext;
class PrepareContext;

/// Runs at once; outputs are set when it returns ok.
using KernelFn = Status (*)(KernelContext&);
/// Starts, and calls `done` exactly once, before it returns or later from any thread. The context
/// lives until then. Must not hold a thread while it waits, and must end soon after its
/// cancellation (see KernelContext::cancellation).
using KernelDone = std::function<void(Status)>;
using AsyncKernelFn = void (*)(KernelContext&, KernelDone);
/// Once for each node when a graph is compiled: checks attributes and returns what the kernel wants
/// to keep of them, shared by all steps (a cache in it has a lock); see
/// KernelContext::prepared<T>().
using PrepareFn = Result<std::shared_ptr<const void>> (*)(PrepareContext&);

/// `attr` must have one of `dtypes` for the kernel to apply.
struct TypeConstraint {
  std::string attr;
  std::vector<DType> dtypes;
};

/// In `host_inputs` or `host_outputs`: all of them.
inline constexpr auto all_args = "*";

struct KernelOptions {
  std::vector<TypeConstraint> types = {};
  std::vector<std::string> host_inputs =
      {}; ///< declared args that must be in host memory even on a device with its own
  std::vector<std::string> host_outputs = {};
  PrepareFn prepare = nullptr;
  bool expensive = false; ///< may take more than some microseconds: may go to a compute thread
  /// Values of the node's attribute "_kernel" for which the kernel stands: "" is that of nodes
  /// without it. None: "" alone.
  std::vector<std::string> labels = {};
};

struct KernelDef {
  std::string op;
  std::string device_type;    ///< "CPU", "GPU"
  KernelFn compute = nullptr; ///< one of the two
  AsyncKernelFn compute_async = nullptr;
  KernelOptions options = {};
};

/// Filled once at start, then read by any thread.
class KernelRegistry {
public:
  void add(KernelDef def);
  /// The kernel for a node's op and attrs on a device type. NOT_FOUND in TensorFlow's words: "No
  /// OpKernel was registered to support Op 'X' used by node … Registered kernels: …".
  Result<const KernelDef*> find(std::string_view op, const AttrMap& attrs,
                                std::string_view device_type,
                                std::string_view node_name = {}) const;
  /// Device types that have a kernel for the node, in order of preference (GPU before CPU).
  std::vector<std::string> device_types(std::string_view op, const AttrMap& attrs) const;
  std::vector<const KernelDef*> of(std::string_view op) const;

private:
  std::unordered_map<std::string, std::vector<std::unique_ptr<KernelDef>>> by_op_;
};

/// What `prepare` sees.
class PrepareContext {
public:
  PrepareContext(std::string_view node, const OpSchema& schema, const AttrMap& attrs,
                 const NodeTypes& types, std::string_view device, std::string_view first_input,
                 int graph_version = 0)
      : node_(node), schema_(schema), attrs_(attrs), types_(types), device_(device),
        first_input_(first_input), graph_version_(graph_version) {}
  std::string_view node_name() const { return node_; }
  /// What the graph calls the value of input 0; empty where it has no name.
  std::string_view first_input() const { return first_input_; }
  const OpSchema& schema() const { return schema_; }
  const AttrMap& attrs() const { return attrs_; }
  template <class T>
  Result<T> attr(std::string_view name) const {
    return attrs_.get<T>(name);
  }
  DType input_type(int i) const { return types_.inputs[static_cast<std::size_t>(i)]; }
  DType output_type(int i) const { return types_.outputs[static_cast<std::size_t>(i)]; }
  int num_inputs() const { return static_cast<int>(types_.inputs.size()); }
  int num_outputs() const { return static_cast<int>(types_.outputs.size()); }
  std::string_view device_name() const { return device_; }
  /// The version of GraphDef that the graph is read as; 0 where nobody said it.
  int graph_version() const { return graph_version_; }
  /// The same node with other attributes, which outlive it.
  PrepareContext with_attrs(const AttrMap& attrs) const {
    return {node_, schema_, attrs, types_, device_, first_input_, graph_version_};
  }

private:
  std::string_view node_;
  const OpSchema& schema_;
  const AttrMap& attrs_;
  const NodeTypes& types_;
  std::string_view device_, first_input_;
  int graph_version_;
};

/// Wraps a value for PrepareFn: `return prepared(MatMulAttrs{ta, tb});`
template <class T>
Result<std::shared_ptr<const void>> prepared(T value) {
  return std::shared_ptr<const void>(std::make_shared<const T>(std::move(value)));
}

} // namespace troupe
