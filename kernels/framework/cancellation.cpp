// Cancellation: the first cancel wins and runs the callbacks, one after another.
#include "kernels/framework/cancellation.hpp"

#include <algorithm>
#include <limits>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"

namespace troupe {

Status Cancellation::status() const {
  std::scoped_lock guard(lock_);
  return why_;
}

void Cancellation::cancel(Status why) {
  std::unique_lock guard(lock_);
  if (cancelled_)
    return;
  why_ = std::move(why);
  cancelled_.store(true, std::memory_order_release);
  runner_ = std::this_thread::get_id();
  while (!callbacks_.empty()) {
    auto first = callbacks_.extract(callbacks_.begin());
    running_ = first.key();
    guard.unlock();
    first.mapped()();
    guard.lock();
    running_ = 0;
    finished_.notify_all();
  }
}

void Cancellation::set_deadline(std::uint64_t step_id, std::int64_t start_us,
                                std::int64_t timeout_us) {
  step_id_ = step_id;
  timeout_us_ = timeout_us;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - start_us;
  deadline_us_ = timeout_us > 0 ? start_us + std::min(timeout_us, most) : 0;
  ends_us_.store(deadline_us_, std::memory_order_relaxed);
}

bool Cancellation::has_passed_deadline() {
  if (steady_micros() < ends_us_.load(std::memory_order_relaxed))
    return false;
  cancel(deadline_exceeded(
      str_cat("step ", step_id_, " took longer than its deadline of ", timeout_us_ / 1000, " ms")));
  return true;
}

Cancellation::Token Cancellation::on_cancel(std::function<void()> callback) {
  std::scoped_lock guard(lock_);
  if (cancelled_)
    return 0;
  const Token token = next_++;
  callbacks_.emplace(token, std::move(callback));
  return token;
}

bool Cancellation::forget(Token token) {
  std::unique_lock guard(lock_);
  if (callbacks_.erase(token) > 0)
    return true;
  if (token != 0 && runner_ != std::this_thread::get_id())
    finished_.wait(guard, [&] { return running_ != token; });
  return false;
}

} // namespace troupe
