#include "net/transport/shared_loop.hpp"

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/resumable.hpp>

namespace troupe {

namespace {
/// Rounds that a guest still runs for what it has posted itself, before the network's thread is
/// called for it.
constexpr int last_rounds = 8;
} // namespace

void SharedLoop::run() {
  own_ = std::this_thread::get_id();
  while (num_socket_handlers() > 0) {
    poll_once(true);
    if (wanted_.load(std::memory_order_relaxed) > 0) {
      std::unique_lock guard(lock_);
      lend(guard);
    }
  }
  std::scoped_lock guard(lock_);
  holder_ = Holder::ended;
  free_.notify_all();
}

void SharedLoop::lend(std::unique_lock<std::mutex>& guard) {
  if (wanted_ == 0)
    return; // the one that asked has its answer
  holder_ = Holder::nobody;
  called_back_ = false;
  used_ = true; // by the one that has asked, as soon as it runs
  free_.notify_all();
  while (true) {
    // Who has asked takes it, unless the answer is there already.
    back_.wait(guard, [&] { return wanted_ == 0; });
    if (holder_ == Holder::guest) { // however long it takes
      watched_ = true;
      back_.wait(guard, [&] { return holder_ != Holder::guest; });
      watched_ = false;
    } else if (called_back_ || !std::exchange(used_, false)) {
      break;
    } else {
      back_.wait_for(guard, grace, [&] { return called_back_ && holder_ == Holder::nobody; });
    }
  }
  holder_ = Holder::own_thread;
  thread_id(own_);
}

void SharedLoop::exec_later(caf::resumable* job) {
  if (std::this_thread::get_id() == thread_id()) {
    posted_.store(true, std::memory_order_relaxed);
    return default_multiplexer::exec_later(job);
  }
  default_multiplexer::exec_later(job);
  if (holder_ == Holder::nobody) {
    std::scoped_lock guard(lock_);
    call_back();
  }
}

void SharedLoop::call_back() {
  if (holder_ != Holder::nobody)
    return;
  called_back_ = true;
  back_.notify_one();
}

void SharedLoop::wake() {
  post([] {});
}

void SharedLoop::take(Guest& guest) {
  holder_ = Holder::guest;
  used_ = true;
  guest.has_it_ = true;
  thread_id(std::this_thread::get_id());
}

SharedLoop::Guest::Guest(SharedLoop& loop) : loop_(loop) {
  std::scoped_lock guard(loop_.lock_);
  // Where several wait at the same time the network's thread serves them all.
  if (++loop_.guests_ > 1)
    return;
  if (loop_.holder_ == Holder::nobody && !loop_.called_back_)
    loop_.take(*this);
}

bool SharedLoop::next_round(Guest& guest) {
  if (guest.has_it_) {
    posted_.store(false, std::memory_order_relaxed);
    poll_once(true);
    return true;
  }
  std::unique_lock guard(lock_);
  if (guests_ > 1)
    return false;
  ++wanted_;
  if (holder_ == Holder::own_thread) {
    guard.unlock();
    wake();
    guard.lock();
  }
  free_.wait(guard, [&] { return holder_ != Holder::own_thread; });
  if (--wanted_ == 0)
    back_.notify_one();
  if (holder_ != Holder::nobody)
    return false;
  take(guest);
  return true;
}

SharedLoop::Guest::~Guest() {
  if (has_it_)
    for (int i = 0; i < last_rounds && loop_.posted_.exchange(false); ++i)
      loop_.poll_once(false);
  std::scoped_lock guard(loop_.lock_);
  --loop_.guests_;
  if (!has_it_)
    return;
  loop_.thread_id(loop_.own_);
  loop_.holder_ = Holder::nobody;
  if (loop_.watched_)
    loop_.back_.notify_one();
  if (loop_.guests_ > 0 || loop_.posted_)
    loop_.call_back();
}

SharedLoop* shared_loop(caf::actor_system& system) {
  if (!system.has_middleman())
    return nullptr;
  return dynamic_cast<SharedLoop*>(&system.middleman().backend());
}

} // namespace troupe
