// Cancellation: the first cancel wins and runs the callbacks, one after another.
#include "kernels/framework/cancellation.hpp"

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
