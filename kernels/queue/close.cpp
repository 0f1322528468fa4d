// QueueClose, QueueSize, QueueIsClosed.
#include "kernels/queue/internal/queue.hpp"

namespace troupe::queue_close {
namespace {

Status close(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto queue, queue::find(c));
  const bool cancel = c.attrs().get_or("cancel_pending_enqueues", false);
  const Queue::Ticket ticket = queue->ticket();
  wait_for(
      c, done, [&](Arrived arrived) { queue->close(ticket, cancel, std::move(arrived)); },
      [queue, ticket] { queue->withdraw(ticket); });
  return {};
}

void compute_close(KernelContext& c, KernelDone done) {
  if (Status status = close(c, done); !status.ok())
    done(std::move(status));
}

Status size(KernelContext& c) {
  TROUPE_ASSIGN(auto queue, queue::find(c));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(queue->size())));
}

Status is_closed(KernelContext& c) {
  TROUPE_ASSIGN(auto queue, queue::find(c));
  return c.set_output(0, Tensor::scalar(queue->is_closed()));
}

constexpr auto asks = "it tells of the queue's state";

} // namespace

void register_ops(OpLibrary& library) {
  queue::add_both(library, "QueueClose", [](OpLibrary::Builder& op) {
    op.attr("cancel_pending_enqueues: bool = false")
        .roles({Role::side_effect, Role::blocks})
        .shape_fn(shape_none)
        .not_differentiable("it has no outputs")
        .cpu_kernel_async(compute_close)
        .doc("Lets nothing more into the queue; what waits to get in still may, unless "
             "cancel_pending_enqueues is true.");
  });
  queue::add_both(library, "QueueSize", [](OpLibrary::Builder& op) {
    op.output("size: int32")
        .roles(Role::random)
        .shape_fn(shape_scalar)
        .not_differentiable(asks)
        .cpu_kernel(size)
        .doc("How many elements the queue holds.");
  });
  queue::add_both(library, "QueueIsClosed", [](OpLibrary::Builder& op) {
    op.output("is_closed: bool")
        .roles(Role::random)
        .shape_fn(shape_scalar)
        .not_differentiable(asks)
        .cpu_kernel(is_closed)
        .doc("Whether the queue is closed.");
  });
}

} // namespace troupe::queue_close
