// OpLibrary: where an op's file registers everything about it: schema, shape function, gradient,
// kernels, documentation.
#pragma once

#include <string_view>

#include "graph/op/registry.hpp"
#include "graph/op/shape_context.hpp"
#include "kernels/framework/kernel.hpp"

namespace troupe {

/// Schemas for whoever checks and differentiates graphs, kernels for whoever runs them.
class OpLibrary {
public:
  OpRegistry ops;
  KernelRegistry kernels;

  /// One op:
  ///
  ///   library.op("Softmax")
  ///       .input("logits: T").output("softmax: T").attr("T: {half, bfloat16, float, double}")
  ///       .shape_fn(infer_shape)
  ///       .gradient(differentiate)
  ///       .cpu_kernel(compute, {.types = {{"T", {DType::float32, DType::float64}}}})
  ///       .doc("Probabilities along the last axis; each row sums to 1.");
  ///
  /// The schema is added when the builder dies at the end of the statement.
  class Builder {
  public:
    Builder(OpLibrary& library, std::string_view name)
        : library_(library), schema_(name), name_(name) {}
    ~Builder();
    Builder(const Builder&) = delete;
    Builder& input(std::string_view spec) {
      schema_.input(spec);
      return *this;
    }
    Builder& output(std::string_view spec) {
      schema_.output(spec);
      return *this;
    }
    Builder& attr(std::string_view spec) {
      schema_.attr(spec);
      return *this;
    }
    Builder& stateful() {
      schema_.stateful();
      return *this;
    }
    Builder& commutative() {
      schema_.commutative();
      return *this;
    }
    Builder& aggregate() {
      schema_.aggregate();
      return *this;
    }
    Builder& allows_uninitialized_input() {
      schema_.allows_uninitialized_input();
      return *this;
    }
    /// What kind of op it is: `.roles({Role::random, Role::flat})`.
    Builder& roles(RoleSet roles) {
      schema_.roles(roles);
      return *this;
    }
    Builder& shape_fn(ShapeFn fn) {
      schema_.shape_fn(fn);
      return *this;
    }
    Builder& gradient(GradientFn fn) {
      schema_.gradient(fn);
      return *this;
    }
    Builder& not_differentiable(std::string_view why) {
      schema_.not_differentiable(why);
      return *this;
    }
    Builder& doc(std::string_view text) {
      schema_.doc(text);
      return *this;
    }
    Builder& cpu_kernel(KernelFn fn, KernelOptions options = {});
    Builder& cpu_kernel_async(AsyncKernelFn fn, KernelOptions options = {});
    /// Enqueues its work on the stream of its step (kernels/gpu/launch.hpp).
    Builder& gpu_kernel(KernelFn fn, KernelOptions options = {});
    /// A host's function for nodes on GPUs: inputs and outputs are in host memory. For shapes,
    /// indices and other small integers, as in TensorFlow.
    Builder& host_kernel_on_gpu(KernelFn fn, KernelOptions options = {});
    /// The same function for every device type: ops that only handle references to values
    /// (Identity, Switch, NoOp …).
    Builder& kernel_on_all_devices(KernelFn fn, KernelOptions options = {});
    Builder& async_kernel_on_all_devices(AsyncKernelFn fn, KernelOptions options = {});

  private:
    OpLibrary& library_;
    SchemaBuilder schema_;
    std::string name_;
  };
  Builder op(std::string_view name) { return {*this, name}; }
};

/// Every op that this process links: generated from the families' folders.
void register_all_ops(OpLibrary& library);
/// The process's library: made on first use by register_all_ops, then immutable. Both come with
/// kernels_all.
const OpLibrary& op_library();

/// Device types a kernel may be on; kernel_on_all_devices registers for each.
inline constexpr std::string_view device_types[] = {"CPU", "GPU"};

} // namespace troupe
