// ComputePool: the one bounded set of threads of a node for kernels and for the parallel loops
// inside them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/function_view.hpp"

namespace troupe {

class ComputePool {
public:
  /// `threads` ≥ 1 counts whoever calls parallel_for: threads - 1 helpers are started (at least
  /// one, so that `submit` always progresses), when first needed.
  explicit ComputePool(int threads);
  ~ComputePool(); ///< runs what was submitted, then joins
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  int threads() const;

  /// Runs `work` on a helper thread, first come first served. The ticket is for `withdraw`; 0: it
  /// has run already, since the system has no thread for a helper. Any thread.
  std::uint64_t submit(std::function<void()> work);

  /// Takes back what was submitted. False if it has begun, or run: a helper that has not come yet,
  /// because other processes have the cores, need not be waited for. Any thread.
  bool withdraw(std::uint64_t ticket);

  /// Calls `body(begin, end)` for disjoint ranges that cover [0, total), on the caller's thread
  /// and, when the work is worth it, on idle helpers; returns when all is done. `unit_cost` is the
  /// cost of one index in nanoseconds, about; below roughly 50 µs of work in all nobody is woken.
  /// Nesting is allowed: an inner loop runs on its caller's thread, unless the outer one has a
  /// single index. What a body throws, on whatever thread, ends the loop early and is thrown here,
  /// once nobody runs it any more; of several, one. Any thread.
  void parallel_for(std::int64_t total, double unit_cost,
                    FunctionView<void(std::int64_t, std::int64_t)> body);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
