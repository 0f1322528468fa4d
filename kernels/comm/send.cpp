// _Send: puts a value, or the news that it is dead, into the step's rendezvous. From a device with
// its own memory it travels as a host copy; _HostSend's value is in host memory already.
#include "core/tensor/variant.hpp"
#include "kernels/comm/internal/edge.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::comm_send {
namespace {

Status send(KernelContext& c) {
  if (!c.rendezvous())
    return comm::no_rendezvous(c);
  if (!c.has_input(0))
    return c.rendezvous()->send(comm::key_of(c), {.tensor = {}, .is_dead = true});
  if (c.input(0).dtype() == DType::variant && c.prepared<comm::Edge>().leaves_task)
    TROUPE_TRY(check_writable(c.input(0)));
  // Taken: the receiver may be the only holder then.
  return c.rendezvous()->send(comm::key_of(c),
                              {.tensor = c.take_input(0), .is_dead = c.is_input_dead});
}

void send_from_device(KernelContext& c, KernelDone done) {
  if (!c.has_input(0) || c.input(0).kind() != MemoryKind::device || !c.rendezvous()) {
    done(send(c));
    return;
  }
  c.device().copy_to_host(
      c.input(0), c.stream(), [&c, done = std::move(done)](Result<Tensor> copy) {
        done(copy.ok() ? c.rendezvous()->send(comm::key_of(c), {.tensor = *std::move(copy),
                                                                .is_dead = c.is_input_dead})
                       : copy.status());
      });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("_Send")
      .input("tensor: T")
      .attr("T: type")
      .attr(comm::edge_attrs)
      .stateful()
      .roles(Role::send)
      .shape_fn(shape_none)
      .not_differentiable("graphs are cut after differentiation")
      .cpu_kernel(send, {.prepare = comm::prepare_edge})
      .doc("Sends its input along a cut edge.");
  library.kernels.add({.op = "_Send",
                       .device_type = "GPU",
                       .compute_async = send_from_device,
                       .options = {.prepare = comm::prepare_edge}});
  library.op("_HostSend")
      .input("tensor: T")
      .attr("T: type")
      .attr(comm::edge_attrs)
      .stateful()
      .roles(Role::send)
      .shape_fn(shape_none)
      .not_differentiable("graphs are cut after differentiation")
      .kernel_on_all_devices(send, {.host_inputs = {"tensor"}, .prepare = comm::prepare_edge})
      .doc("Sends its input, which is in host memory, along a cut edge.");
}

} // namespace troupe::comm_send
