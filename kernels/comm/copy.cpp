// _CopyToHost, _CopyToDevice: a value in the other memory of a device that has its own. Put between
// two kernels of such a device of which one has the value in host memory and the other does not
// (actors/graph_manager/memory_of_edges.cpp).
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::comm_copy {
namespace {

void copy_to_host(KernelContext& c, KernelDone done) {
  if (c.input(0).kind() != MemoryKind::device) {
    done(c.set_output(0, c.input(0)));
    return;
  }
  c.device().copy_to_host(c.input(0), c.stream(),
                          [&c, done = std::move(done)](Result<Tensor> copy) {
                            done(copy.ok() ? c.set_output(0, *std::move(copy)) : copy.status());
                          });
}

void copy_to_device(KernelContext& c, KernelDone done) {
  if (!c.device().has_own_memory() || c.input(0).kind() == MemoryKind::device ||
      is_object(c.input(0).dtype())) {
    done(c.set_output(0, c.input(0)));
    return;
  }
  c.device().copy_to_device(c.input(0), c.stream(),
                            [&c, done = std::move(done)](Result<Tensor> copy) {
                              done(copy.ok() ? c.set_output(0, *std::move(copy)) : copy.status());
                            });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("_CopyToHost")
      .input("x: T")
      .output("y: T")
      .attr("T: type")
      .shape_fn(shape_unchanged)
      .not_differentiable("graphs are cut after differentiation")
      .async_kernel_on_all_devices(copy_to_host, {.host_outputs = {"y"}})
      .doc("Its input, in host memory.");
  library.op("_CopyToDevice")
      .input("x: T")
      .output("y: T")
      .attr("T: type")
      .shape_fn(shape_unchanged)
      .not_differentiable("graphs are cut after differentiation")
      .async_kernel_on_all_devices(copy_to_device, {.host_inputs = {"x"}})
      .doc("Its input, in the memory of its device.");
}

} // namespace troupe::comm_copy
