// Counters: named numbers of this process, such as how many worker sessions are alive. For status
// pages and for tests that ask whether everything was freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// One number. Any thread; relaxed, so that a reader sees each counter's latest value but no order
/// between counters.
class Counter {
public:
  void add(std::int64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::int64_t> value_{0};
};

/// The counter of that name, made with value 0 at first use; lives until the process ends. Takes a
/// lock: where it is hot, keep the reference.
Counter& counter(std::string_view name);

/// All of them, in order of name.
std::vector<std::pair<std::string, std::int64_t>> counter_snapshot();

/// Counts itself: adds 1 while it lives. A copy or moved-to one counts as one more.
class Counted {
public:
  explicit Counted(Counter& counter) : counter_(&counter) { counter_->add(1); }
  Counted(const Counted& other) : Counted(*other.counter_) {}
  Counted& operator=(const Counted& other) {
    other.counter_->add(1);
    counter_->add(-1);
    counter_ = other.counter_;
    return *this;
  }
  ~Counted() { counter_->add(-1); }

private:
  Counter* counter_;
};

} // namespace troupe
