#include "net/transport/shared_loop.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/middleman.hpp>
#include <caf/logger.hpp>
#include <caf/ref_counted.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include "net/transport/job.hpp"

namespace troupe {

namespace {
/// Rounds that a guest still runs for what it has posted itself, before the network's thread is
/// called for it.
constexpr int last_rounds = 8;
/// Jobs in a row before the sockets have their turn.
constexpr int max_jobs = 64;
} // namespace

/// What goes through CAF's pipe, so that a loop which waits for sockets returns. It may lie there
/// when the loop is destroyed.
class SharedLoop::Bell final : public caf::ref_counted, public caf::resumable {
public:
  explicit Bell(SharedLoop& loop) : loop_(loop) {}
  subtype_t subtype() const override { return function_object; }
  resume_result resume(caf::execution_unit*, std::size_t) override {
    std::scoped_lock guard(loop_.lock_);
    loop_.rung_ = false;
    return done;
  }
  void intrusive_ptr_add_ref_impl() override { ref(); }
  void intrusive_ptr_release_impl() override { deref(); }

private:
  SharedLoop& loop_;
};

SharedLoop::SharedLoop(caf::actor_system* system)
    : default_multiplexer(system), may_poll_(!system || caf::get_or(caf::content(system->config()),
                                                                    "troupe.poll-network", true)),
      bell_(new Bell(*this), false) {}

SharedLoop::~SharedLoop() {
  take_inbox();
  for (; !jobs_.empty(); jobs_.pop_front())
    caf::scheduler::abstract_coordinator::cleanup_and_release(jobs_.front());
}

void SharedLoop::run() {
  own_ = std::this_thread::get_id();
  while (num_socket_handlers() > 0) {
    round();
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
  if (auto kind = job->subtype();
      kind != caf::resumable::io_actor && kind != caf::resumable::function_object)
    return default_multiplexer::exec_later(job);
  if (std::this_thread::get_id() == thread_id()) {
    jobs_.push_back(job);
    return;
  }
  std::unique_lock guard(lock_);
  inbox_.push_back(job);
  call_back();
  ring(guard);
}

void SharedLoop::call_back() {
  if (holder_ != Holder::nobody)
    return;
  called_back_ = true;
  back_.notify_one();
}

void SharedLoop::wake() {
  std::unique_lock guard(lock_);
  look_ = true;
  ring(guard);
}

// Wakes the loop if it sleeps. Lets go of the lock.
void SharedLoop::ring(std::unique_lock<std::mutex>& guard) {
  bool is_due = sleeps_ && !rung_;
  rung_ = rung_ || is_due;
  guard.unlock();
  if (is_due) {
    bell_->ref();
    default_multiplexer::exec_later(bell_.get());
  }
}

void SharedLoop::take_inbox() {
  if (jobs_.empty())
    jobs_.swap(inbox_);
  for (; !inbox_.empty(); inbox_.pop_front())
    jobs_.push_back(inbox_.front());
}

void SharedLoop::round() {
  {
    std::scoped_lock guard(lock_);
    take_inbox();
    sleeps_ = jobs_.empty() && !look_;
    look_ = false;
  }
  caf::logger::set_current_actor_system(nullptr); // see run_job
  if (sleeps_) {                                  // others read it, only the holder writes it
    settle();                                     // for what a guest has done between its rounds
    wait();
    std::scoped_lock guard(lock_);
    sleeps_ = false;
    take_inbox();
    polls_ = false;
  } else if (std::exchange(polls_, !polls_)) {
    poll_once(false); // whoever posts in each round does not keep the sockets waiting
  }
  run_jobs();
}

// Whoever posts something meanwhile rings, asleep or not.
void SharedLoop::wait() {
  const auto begun = ShortWaits::Clock::now();
  bool done = false;
  if (may_poll_ && waits_.stays_awake())
    for (auto now = begun; now - begun < ShortWaits::limit;) {
      done = poll_once(false);
      if (done)
        break;
      std::this_thread::yield(); // there may be more threads than processors
      const auto before = std::exchange(now, ShortWaits::Clock::now());
      if (waits_.lost_core(now - before))
        break;
    }
  if (!done)
    poll_once(true);
  waits_.ended(ShortWaits::Clock::now() - begun, !done);
}

void SharedLoop::run_jobs() {
  for (int more = max_jobs; more > 0 && !jobs_.empty(); --more) {
    caf::resumable* job = jobs_.front();
    jobs_.pop_front();
    bool is_broker = job->subtype() == caf::resumable::io_actor;
    run_job(job, this, system().scheduler().max_throughput(),
            [this](caf::resumable* job) { jobs_.push_back(job); });
    if (is_broker)
      send_due(); // before other jobs, which may take long
  }
  settle();
}

void SharedLoop::settle() {
  send_due();
  handle_internal_events();
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
    round();
    return true;
  }
  std::unique_lock guard(lock_);
  if (guests_ > 1)
    return false;
  ++wanted_;
  if (holder_ == Holder::own_thread) {
    look_ = true;
    ring(guard);
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
  if (has_it_) {
    for (int i = 0; i < last_rounds && !loop_.jobs_.empty(); ++i) {
      loop_.poll_once(false);
      loop_.run_jobs();
    }
    loop_.settle();
  }
  std::scoped_lock guard(loop_.lock_);
  --loop_.guests_;
  if (!has_it_)
    return;
  loop_.thread_id(loop_.own_);
  loop_.holder_ = Holder::nobody;
  if (loop_.watched_)
    loop_.back_.notify_one();
  if (loop_.guests_ > 0 || !loop_.jobs_.empty() || !loop_.inbox_.empty())
    loop_.call_back();
}

SharedLoop* shared_loop(caf::actor_system& system) {
  if (!system.has_middleman())
    return nullptr;
  return dynamic_cast<SharedLoop*>(&system.middleman().backend());
}

} // namespace troupe
