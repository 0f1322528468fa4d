// The progress line of a training run: epoch, step, loss, images a second, time left.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace troupe::fashion_mnist {

/// Workers report from their own threads. On a terminal the line is written over again and again,
/// elsewhere a new one is printed now and then.
class Progress {
public:
  Progress(std::int64_t steps, std::int64_t steps_per_epoch, std::int64_t batch);
  /// One step of any worker is done.
  void step_done(float loss);
  /// Leaves the last state standing and ends the line.
  void finish();
  /// Of training, so far.
  double images_per_second() const;

private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;
  std::string line() const;
  void print();

  const std::int64_t steps_, steps_per_epoch_, batch_;
  const bool terminal_;
  const Clock::time_point begin_ = Clock::now();
  mutable std::mutex lock_; // guards what follows
  std::int64_t done_ = 0;
  double loss_ = 0; // smoothed
  Clock::time_point next_print_ = begin_;
};

} // namespace troupe::fashion_mnist
