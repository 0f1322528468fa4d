// QueueEnqueue, QueueEnqueueMany: put an element, or each row of a batch, into a queue; wait while
// it is full.
#include "kernels/queue/internal/queue.hpp"

namespace troupe::queue_enqueue {
namespace {

using Ticket = Queue::Ticket;

Status put(KernelContext& c, const KernelDone& done, bool many) {
  TROUPE_ASSIGN(auto queue, queue::find(c));
  TROUPE_TRY(queue::check_puts(c, *queue));
  Tensors components;
  for (int i = 1; i < c.num_inputs(); ++i) {
    TROUPE_ASSIGN(Tensor kept, own(c, c.take_input(i)));
    components.push_back(std::move(kept));
  }
  const Ticket ticket = queue->ticket();
  wait_for(
      c, done,
      [&](Arrived arrived) {
        if (many)
          queue->enqueue_many(ticket, std::move(components), std::move(arrived));
        else
          queue->enqueue(ticket, std::move(components), std::move(arrived));
      },
      [queue, ticket] { queue->withdraw(ticket); },
      [&] { return queue::waits_for("room in", queue); });
  return {};
}

template <bool many>
void compute(KernelContext& c, KernelDone done) {
  if (Status status = put(c, done, many); !status.ok())
    done(std::move(status));
}

Status infer_shapes(ShapeContext&) {
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  const auto describe = [](AsyncKernelFn kernel, std::string_view doc) {
    return [=](OpLibrary::Builder& op) {
      op.input("components: Tcomponents")
          .attr("Tcomponents: list(type) >= 1; timeout_ms: int = -1")
          .roles({Role::side_effect, Role::blocks})
          .shape_fn(infer_shapes)
          .not_differentiable("it has no outputs")
          .cpu_kernel_async(kernel, {.prepare = queue::check_timeout})
          .doc(doc);
    };
  };
  queue::add_both(library, "QueueEnqueue",
                  describe(compute<false>, "Puts an element into the queue, once it has room."));
  queue::add_both(library, "QueueEnqueueMany",
                  describe(compute<true>, "Puts each row of the components into the queue as an "
                                          "element, once it has room."));
}

} // namespace troupe::queue_enqueue
