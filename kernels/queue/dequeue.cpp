// QueueDequeue, QueueDequeueMany, QueueDequeueUpTo: take an element, or several as a batch, out of
// a queue; wait while there are too few.
#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/queue/internal/queue.hpp"

namespace troupe::queue_dequeue {
namespace {

enum class How { one, many, up_to };

/// How many elements input 1 asks for.
Result<std::int64_t> count_of(KernelContext& c, How how) {
  if (how == How::one)
    return std::int64_t{1};
  const Tensor& n = c.input(1);
  if (!n.shape().is_scalar())
    return invalid_argument(str_cat("n must be a scalar, but its shape is ", n.shape()));
  const std::int64_t count = n.value<std::int32_t>();
  if (count < 0)
    return invalid_argument(str_cat(how == How::many ? "DequeueManyOp" : "DequeueUpToOp",
                                    " requested ", count, " < 0 elements"));
  return count;
}

Status take(KernelContext& c, const KernelDone& done, How how) {
  TROUPE_ASSIGN(auto queue, queue::find(c));
  TROUPE_ASSIGN(const std::int64_t count, count_of(c, how));
  TROUPE_TRY(queue::check_takes(c, *queue));
  const Queue::Ticket ticket = queue->ticket();
  wait_for(
      c, done,
      [&](Arrived arrived) {
        if (how == How::one)
          queue->dequeue(ticket, std::move(arrived));
        else
          queue->dequeue_many(ticket, count, how == How::up_to, std::move(arrived));
      },
      [queue, ticket] { queue->withdraw(ticket); },
      [&] { return queue::waits_for("elements of", queue); });
  return {};
}

template <How how>
void compute(KernelContext& c, KernelDone done) {
  if (Status status = take(c, done, how); !status.ok())
    done(std::move(status));
}

/// What the batches' shapes are is known to the queue alone.
Status infer_shapes(ShapeContext& c) {
  if (c.num_inputs() > 1) {
    TROUPE_TRY(c.require_rank(1, 0));
    if (const auto n = c.input_as_ints(1); n && (*n)[0] < 0)
      return invalid_argument(str_cat("Input 'n' must be >= 0, but is ", (*n)[0]));
  }
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, PartialShape()));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  const auto describe = [](AsyncKernelFn kernel, bool has_count, std::string_view doc) {
    return [=](OpLibrary::Builder& op) {
      if (has_count)
        op.input("n: int32");
      op.output("components: component_types")
          .attr("component_types: list(type) >= 1; timeout_ms: int = -1")
          .roles({Role::side_effect, Role::blocks})
          .shape_fn(infer_shapes)
          .not_differentiable("its outputs come from other steps")
          .cpu_kernel_async(kernel, {.prepare = queue::check_timeout})
          .doc(doc);
    };
  };
  queue::add_both(
      library, "QueueDequeue",
      describe(compute<How::one>, false, "Takes an element out of the queue, once there is one."));
  queue::add_both(library, "QueueDequeueMany",
                  describe(compute<How::many>, true,
                           "Takes n elements out of the queue as one batch, once there are n."));
  queue::add_both(library, "QueueDequeueUpTo",
                  describe(compute<How::up_to>, true,
                           "As QueueDequeueMany; of a closed queue fewer than n if it has fewer."));
}

} // namespace troupe::queue_dequeue
