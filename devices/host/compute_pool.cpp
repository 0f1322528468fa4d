// A loop is published in a slot; helpers see its bit, enter the slot and claim chunks of indices
// from the loop's counter until none is left.
//
// Lifetimes: a loop lies on its caller's stack. A helper counts itself into the slot before it
// reads the slot's loop; the caller removes the loop before it reads the count. Both steps are
// sequentially consistent, so either the caller sees the helper and waits for it, or the helper
// sees no loop. What a body wrote is released by the helper's leaving and acquired by the caller's
// reading of the count.
//
// Sleep: a helper counts itself among the sleepers, looks once more for work, and waits for the
// wake-up number to change; whoever brings work publishes it first, then reads the sleepers. Again
// both are sequentially consistent, so no wake-up is lost.
#include "devices/host/compute_pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

#include "core/base/denormals.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "devices/host/sleep.hpp"
#include "devices/host/spin.hpp"

namespace troupe {

namespace {

constexpr double worth_waking_ns = 50e3; // of work in all
constexpr double chunk_ns = 10e3;        // the least worth claiming
constexpr int chunks_per_thread = 4;
constexpr auto spin_time = std::chrono::microseconds(60); // about what waking a thread takes
constexpr int max_loops = 64; // at one time; more run on their callers alone

thread_local bool t_in_loop = false;

/// While it lives, this thread is in a loop's body: loops inside run on it alone.
class InLoop {
public:
  InLoop() : outer_(std::exchange(t_in_loop, true)) {}
  ~InLoop() { t_in_loop = outer_; }
  InLoop(const InLoop&) = delete;

private:
  bool outer_;
};

struct Loop {
  FunctionView<void(std::int64_t, std::int64_t)> body;
  std::int64_t total, chunk;
  alignas(64) std::atomic<std::int64_t> next{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure{}; // the first one's, whose thrower alone writes it

  // What a body throws is kept for the caller; the chunks nobody has claimed are given up.
  void run() noexcept {
    InLoop in_loop;
    // Compared before it is added to, so that it cannot overflow however many come.
    while (next.load(std::memory_order_relaxed) < total) {
      std::int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= total)
        break;
      try {
        body(begin, std::min(chunk, total - begin) + begin);
      } catch (...) {
        if (!has_failed.exchange(true, std::memory_order_relaxed))
          failure = std::current_exception();
        next.store(total, std::memory_order_relaxed);
      }
    }
  }
};

struct alignas(64) Slot {
  static constexpr int caller_sleeps = 1 << 30;
  std::atomic<Loop*> loop{nullptr};
  std::atomic<int> inside{0}; // helpers, and whether the caller sleeps until there is none

  void leave() {
    if (inside.fetch_sub(1, std::memory_order_acq_rel) == (caller_sleeps | 1))
      wake_sleepers(inside);
  }
  void wait_until_empty() {
    if (spin_until([&] { return inside.load(std::memory_order_seq_cst) == 0; }, spin_time))
      return;
    int now = inside.fetch_or(caller_sleeps, std::memory_order_seq_cst) | caller_sleeps;
    for (; now != caller_sleeps; now = inside.load(std::memory_order_seq_cst))
      sleep_while(inside, now);
    inside.fetch_and(~caller_sleeps, std::memory_order_seq_cst);
  }
};

} // namespace

struct ComputePool::Impl {
  const int threads;
  std::once_flag started;
  std::vector<std::thread> helpers;

  alignas(64) std::atomic<std::uint64_t> taken{0}; // slots, by bit
  alignas(64) std::atomic<std::uint64_t> open{0};  // those with a loop that may want helpers
  std::array<Slot, max_loops> slots;

  alignas(64) std::atomic<int> queued{0};
  std::atomic<bool> stopping{false};
  std::mutex queue_lock;
  struct Submitted {
    std::uint64_t ticket = 0;
    std::function<void()> work;
  };
  std::deque<Submitted> queue; // by ticket
  std::uint64_t last_ticket = 0;

  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<int> wake_ups{0};

  explicit Impl(int threads) : threads(std::max(threads, 1)) {}

  void start();
  void help(int number);
  bool help_loops(int number);
  bool run_submitted();
  bool has_work() const {
    return open.load(std::memory_order_seq_cst) != 0 ||
           queued.load(std::memory_order_seq_cst) != 0 || stopping.load(std::memory_order_seq_cst);
  }
  void wake(int count);
  int take_slot();
};

void ComputePool::Impl::start() {
  std::call_once(started, [this] {
    int wanted = std::max(threads - 1, 1);
    try {
      for (int i = 0; i < wanted; ++i)
        helpers.emplace_back([this, i] { help(i); });
    } catch (const std::system_error& e) {
      log_warning("the compute pool runs with ", helpers.size(), " helper threads instead of ",
                  wanted, ": ", e.what());
    }
  });
}

void ComputePool::Impl::help(int number) {
  pthread_setname_np(pthread_self(), str_cat("compute/", number).c_str());
  FlushDenormals flush;
  // As long as it has been worth it lately: where work comes too late for it, another process may
  // want the core.
  std::chrono::nanoseconds spin = spin_time;
  for (;;) {
    // Submitted work after each loop, so that neither kind starves the other.
    bool looped = help_loops(number);
    bool ran = run_submitted();
    if (looped || ran)
      continue;
    if (stopping.load(std::memory_order_acquire))
      return; // the queue was empty after nothing more could come from outside
    auto idle_since = std::chrono::steady_clock::now();
    if (spin_until([this] { return has_work(); }, spin)) {
      spin = spin_time;
      continue;
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    int seen = wake_ups.load(std::memory_order_seq_cst);
    if (!has_work())
      sleep_while(wake_ups, seen);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
    bool came_soon = std::chrono::steady_clock::now() - idle_since < 2 * spin_time;
    spin = came_soon ? spin_time : spin / 2;
  }
}

bool ComputePool::Impl::help_loops(int number) {
  bool did = false;
  std::uint64_t bits = open.load(std::memory_order_acquire);
  while (bits) {
    // Helpers begin at different slots, so that loops at one time share them.
    int turn = number % max_loops;
    int index = (std::countr_zero(std::rotr(bits, turn)) + turn) % max_loops;
    bits &= ~(std::uint64_t{1} << index);
    Slot& slot = slots[static_cast<std::size_t>(index)];
    slot.inside.fetch_add(1, std::memory_order_seq_cst);
    if (Loop* loop = slot.loop.load(std::memory_order_seq_cst)) {
      loop->run();
      // Nothing is left to claim: later ones need not look.
      open.fetch_and(~(std::uint64_t{1} << index), std::memory_order_acq_rel);
      did = true;
    }
    slot.leave();
  }
  return did;
}

bool ComputePool::Impl::run_submitted() {
  if (queued.load(std::memory_order_acquire) == 0)
    return false;
  std::function<void()> work;
  {
    std::scoped_lock guard(queue_lock);
    if (queue.empty())
      return false;
    work = std::move(queue.front().work);
    queue.pop_front();
    queued.fetch_sub(1, std::memory_order_relaxed);
  }
  work();
  return true;
}

void ComputePool::Impl::wake(int count) {
  int asleep = sleepers.load(std::memory_order_seq_cst);
  if (asleep == 0)
    return;
  wake_ups.fetch_add(1, std::memory_order_seq_cst);
  wake_sleepers(wake_ups, std::min(count, asleep));
}

/// A slot of one's own, or -1.
int ComputePool::Impl::take_slot() {
  std::uint64_t bits = taken.load(std::memory_order_relaxed);
  while (~bits) {
    int index = std::countr_one(bits);
    if (taken.compare_exchange_weak(bits, bits | (std::uint64_t{1} << index),
                                    std::memory_order_acquire, std::memory_order_relaxed))
      return index;
  }
  return -1;
}

ComputePool::ComputePool(int threads) : impl_(std::make_unique<Impl>(threads)) {}

ComputePool::~ComputePool() {
  impl_->stopping.store(true, std::memory_order_seq_cst);
  impl_->wake_ups.fetch_add(1, std::memory_order_seq_cst);
  wake_sleepers(impl_->wake_ups);
  for (std::thread& helper : impl_->helpers)
    helper.join();
}

int ComputePool::threads() const {
  return impl_->threads;
}

std::uint64_t ComputePool::submit(std::function<void()> work) {
  Impl& pool = *impl_;
  pool.start();
  if (pool.helpers.empty()) { // the system has no thread for us
    work();
    return 0;
  }
  std::uint64_t ticket = 0;
  {
    std::scoped_lock guard(pool.queue_lock);
    ticket = ++pool.last_ticket;
    pool.queue.push_back({ticket, std::move(work)});
    pool.queued.fetch_add(1, std::memory_order_seq_cst);
  }
  pool.wake(1);
  return ticket;
}

bool ComputePool::withdraw(std::uint64_t ticket) {
  Impl& pool = *impl_;
  std::function<void()> work; // destroyed without the lock
  std::scoped_lock guard(pool.queue_lock);
  const auto at = std::ranges::lower_bound(pool.queue, ticket, {}, &Impl::Submitted::ticket);
  if (at == pool.queue.end() || at->ticket != ticket)
    return false;
  work = std::move(at->work);
  pool.queue.erase(at);
  pool.queued.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void ComputePool::parallel_for(std::int64_t total, double unit_cost,
                               FunctionView<void(std::int64_t, std::int64_t)> body) {
  if (total <= 0)
    return;
  Impl& pool = *impl_;
  if (total == 1 || t_in_loop)
    return body(0, total);
  bool worth_it = static_cast<double>(total) * unit_cost >= worth_waking_ns;
  int index = worth_it && pool.threads > 1 ? pool.take_slot() : -1;
  if (index < 0) {
    InLoop in_loop;
    return body(0, total);
  }

  pool.start();
  Loop loop{body, total, 1};
  const std::int64_t pieces = std::int64_t{pool.threads} * chunks_per_thread;
  const auto least =
      static_cast<std::int64_t>(std::min(chunk_ns / unit_cost, static_cast<double>(total)));
  loop.chunk = std::max({total / pieces + (total % pieces != 0), least, std::int64_t{1}});
  const std::int64_t chunks = total / loop.chunk + (total % loop.chunk != 0);

  const std::uint64_t bit = std::uint64_t{1} << index;
  Slot& slot = pool.slots[static_cast<std::size_t>(index)];
  slot.loop.store(&loop, std::memory_order_seq_cst);
  pool.open.fetch_or(bit, std::memory_order_seq_cst);
  pool.wake(static_cast<int>(std::min<std::int64_t>(pool.threads, chunks) - 1));
  loop.run();
  pool.open.fetch_and(~bit, std::memory_order_seq_cst);
  slot.loop.store(nullptr, std::memory_order_seq_cst);
  slot.wait_until_empty();
  pool.taken.fetch_and(~bit, std::memory_order_release);
  if (loop.failure)
    std::rethrow_exception(loop.failure);
}

} // namespace troupe
