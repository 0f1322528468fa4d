#include "examples/fashion_mnist/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace troupe::fashion_mnist {

Progress::Progress(std::int64_t steps, std::int64_t steps_per_epoch, std::int64_t batch)
    : steps_(steps), steps_per_epoch_(std::max<std::int64_t>(steps_per_epoch, 1)), batch_(batch),
      terminal_(isatty(STDOUT_FILENO) != 0) {}

double Progress::seconds() const {
  return std::max(1e-3, std::chrono::duration<double>(Clock::now() - begin_).count());
}

std::string Progress::line() const {
  double rate = static_cast<double>(done_ * batch_) / seconds();
  double left = seconds() * static_cast<double>(steps_ - done_) /
                static_cast<double>(std::max<std::int64_t>(done_, 1));
  std::int64_t epoch = std::max<std::int64_t>(done_ - 1, 0) / steps_per_epoch_ + 1;
  std::int64_t epochs = (steps_ + steps_per_epoch_ - 1) / steps_per_epoch_;
  char text[160];
  std::snprintf(text, sizeof text,
                "epoch %lld/%lld  step %lld/%lld  loss %.3f  %.0f images/s  %.0f s left",
                static_cast<long long>(epoch), static_cast<long long>(epochs),
                static_cast<long long>(done_), static_cast<long long>(steps_), loss_, rate, left);
  return text;
}

void Progress::print() {
  // \r goes back to the line's beginning, \033[K clears what a longer line left behind.
  std::printf(terminal_ ? "\r%s\033[K" : "%s\n", line().c_str());
  std::fflush(stdout);
}

void Progress::step_done(float loss) {
  std::scoped_lock guard(lock_);
  loss_ = done_ == 0 ? loss : 0.98 * loss_ + 0.02 * loss;
  ++done_;
  if (Clock::now() < next_print_)
    return;
  next_print_ =
      Clock::now() + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(5));
  print();
}

void Progress::finish() {
  std::scoped_lock guard(lock_);
  print();
  if (terminal_)
    std::printf("\n");
}

double Progress::images_per_second() const {
  std::scoped_lock guard(lock_);
  return static_cast<double>(done_ * batch_) / seconds();
}

} // namespace troupe::fashion_mnist
