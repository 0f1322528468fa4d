// _Recv: waits, without holding a thread, for what the other half of a cut edge sends. A dead value
// makes the output dead. A cancelled step ends the wait at once.
#include <mutex>
#include <optional>

#include "kernels/comm/internal/edge.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::comm_recv {
namespace {

/// Joins the three things that happen in any order and on any thread: the value (or the abort), the
/// cancellation, and the end of the kernel's start. The first outcome counts; `finish` runs once,
/// after the start has ended, because the step may be gone after it.
class Wait : public std::enable_shared_from_this<Wait> {
public:
  Wait(KernelContext& c, KernelDone done) : context_(c), done_(std::move(done)) {}

  void start() {
    auto self = shared_from_this();
    token_ = context_.cancellation().on_cancel(
        [self] { self->settle(self->context_.cancellation().status()); });
    if (token_ == 0) {
      settle(context_.cancellation().status());
    } else {
      context_.rendezvous()->recv(comm::key_of(context_), [self](Result<EdgeValue> value) {
        self->settle(std::move(value));
      });
    }
    std::unique_lock guard(lock_);
    started_ = true;
    const bool ended = outcome_.has_value();
    guard.unlock();
    if (ended)
      finish();
  }

private:
  void settle(Result<EdgeValue> outcome) {
    {
      std::scoped_lock guard(lock_);
      if (outcome_)
        return;
      outcome_ = std::move(outcome);
      if (!started_)
        return;
    }
    finish();
  }

  void finish() {
    if (token_ != 0)
      context_.cancellation().forget(token_);
    if (!outcome_->ok())
      return done_(outcome_->status());
    EdgeValue value = **std::move(outcome_);
    if (value.is_dead) {
      context_.set_output_dead(0);
      return done_({});
    }
    const auto& host = context_.io().output_in_host_memory;
    if (!context_.device().has_own_memory() || (!host.empty() && host[0]))
      return done_(context_.set_output(0, std::move(value.tensor)));
    context_.device().copy_to_device(
        value.tensor, context_.stream(), [self = shared_from_this()](Result<Tensor> copy) {
          self->done_(copy.ok() ? self->context_.set_output(0, *std::move(copy)) : copy.status());
        });
  }

  KernelContext& context_;
  KernelDone done_;
  Cancellation::Token token_ = 0;
  std::mutex lock_;
  bool started_ = false;
  std::optional<Result<EdgeValue>> outcome_;
};

void recv(KernelContext& c, KernelDone done) {
  if (!c.rendezvous())
    return done(comm::no_rendezvous(c));
  std::make_shared<Wait>(c, std::move(done))->start();
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("_Recv")
      .output("tensor: tensor_type")
      .attr("tensor_type: type")
      .attr(comm::edge_attrs)
      .stateful()
      .roles({Role::receive, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable("it has no inputs")
      .async_kernel_on_all_devices(recv, {.prepare = comm::prepare_edge})
      .doc("The value that the other half of a cut edge sends.");
  library.op("_HostRecv")
      .output("tensor: tensor_type")
      .attr("tensor_type: type")
      .attr(comm::edge_attrs)
      .stateful()
      .roles({Role::receive, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable("it has no inputs")
      .async_kernel_on_all_devices(recv,
                                   {.host_outputs = {"tensor"}, .prepare = comm::prepare_edge})
      .doc("The value that the other half of a cut edge sends, in host memory.");
}

} // namespace troupe::comm_recv
