#include "kernels/framework/wait.hpp"

#include <mutex>
#include <optional>

namespace troupe {
namespace {

/// Joins what happens in any order and on any thread: the arrival, the cancellation, and the end of
/// the kernel's start. The first outcome counts; `finish` runs once, after the start has ended,
/// because the step may be gone after it.
class Wait : public std::enable_shared_from_this<Wait> {
public:
  Wait(KernelContext& c, KernelDone done, std::function<void()> withdraw)
      : context_(c), done_(std::move(done)), withdraw_(std::move(withdraw)) {}

  /// `what` may be null.
  void start(FunctionView<void(Arrived)> begin, const FunctionView<WaitText()>* what) {
    auto self = shared_from_this();
    token_ = context_.cancellation().on_cancel([self] {
      self->withdraw_();
      self->settle(self->context_.cancellation().status(), true);
    });
    if (token_ == 0)
      settle(context_.cancellation().status(), true);
    else
      begin([self](Result<Tensors> value) { self->settle(std::move(value), false); });
    std::unique_lock guard(lock_);
    if (what && !outcome_ && context_.step().step_resources) {
      guard.unlock();
      note_wait(*context_.step().step_resources, place(), (*what)());
      has_note_ = true;
      guard.lock();
    }
    started_ = true;
    const bool ended = outcome_.has_value(), late = cancelled_ && token_ != 0;
    guard.unlock();
    if (late)
      withdraw_(); // the request may have been made after it was taken back
    if (ended)
      finish();
  }

private:
  WaitPlace place() const {
    return {
        .node = context_.node_name(), .frame = context_.frame_id, .iteration = context_.iteration};
  }

  void settle(Result<Tensors> outcome, bool cancelled) {
    {
      std::scoped_lock guard(lock_);
      if (outcome_)
        return;
      outcome_ = std::move(outcome);
      cancelled_ = cancelled;
      if (!started_)
        return;
    }
    finish();
  }

  void finish() {
    if (has_note_)
      forget_wait(*context_.step().step_resources, place());
    if (token_ != 0)
      context_.cancellation().forget(token_);
    if (!outcome_->ok())
      return done_(outcome_->status());
    Tensors& values = **outcome_;
    Status status;
    for (std::size_t i = 0; status.ok() && i < values.size(); ++i)
      status = context_.set_output(static_cast<int>(i), std::move(values[i]));
    done_(std::move(status));
  }

  KernelContext& context_;
  KernelDone done_;
  std::function<void()> withdraw_;
  Cancellation::Token token_ = 0;
  std::mutex lock_;
  bool started_ = false, cancelled_ = false;
  bool has_note_ = false; // written before started_
  std::optional<Result<Tensors>> outcome_;
};

} // namespace

void wait_for(KernelContext& c, KernelDone done, FunctionView<void(Arrived)> begin,
              std::function<void()> withdraw, FunctionView<WaitText()> what) {
  std::make_shared<Wait>(c, std::move(done), std::move(withdraw))->start(begin, &what);
}

void wait_for(KernelContext& c, KernelDone done, FunctionView<void(Arrived)> begin,
              std::function<void()> withdraw) {
  std::make_shared<Wait>(c, std::move(done), std::move(withdraw))->start(begin, nullptr);
}

} // namespace troupe
