// Where work runs that takes more than a millisecond: an interface, so that a simulation, which has
// one thread, can run it in its own order.
#pragma once

#include <chrono>
#include <functional>

#include "core/base/clock.hpp"

namespace troupe {

class WorkThreads {
public:
  virtual ~WorkThreads() = default;
  /// Runs `work` away from the actors' threads.
  virtual void run(std::function<void()> work) = 0;
  /// Expensive kernels may go to compute threads, and actors that block have threads of their own.
  virtual bool are_real() const { return false; }
  /// How long an executor's handler runs kernels before other messages, a cancellation among them,
  /// get their turn. A simulation, which knows no real time, takes none of it or all.
  virtual Duration slice() const { return std::chrono::milliseconds(1); }
};

/// Runs everything at once, where it is handed over.
class CallersThread final : public WorkThreads {
public:
  void run(std::function<void()> work) override { work(); }
};

} // namespace troupe
