#include "tools/troupe/end_watchdog.hpp"

#include <algorithm>

#include <unistd.h>

#include "actors/executor/executable.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {

void EndWatchdog::start(std::chrono::milliseconds budget, int exit_code) {
  std::scoped_lock guard(lock_);
  end_ = std::min(end_, std::chrono::steady_clock::now() + budget);
  exit_code_ = exit_code;
  if (!thread_.joinable())
    thread_ = std::thread([this] { watch(); });
  changed_.notify_all();
}

EndWatchdog::~EndWatchdog() {
  {
    std::scoped_lock guard(lock_);
    called_off_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

void EndWatchdog::watch() {
  std::unique_lock guard(lock_);
  while (!called_off_ && std::chrono::steady_clock::now() < end_) {
    auto until = end_; // a copy: it may change while the lock is free
    changed_.wait_until(guard, until);
  }
  if (called_off_)
    return;
  std::vector<std::string> kernels = Executable::running_kernels();
  log_warning("ends although ", kernels.empty()
                                    ? "not every thread has"
                                    : str_cat("kernels still run: ", str_join(kernels, ", ")));
  flush_log(std::chrono::milliseconds(200));
  _exit(exit_code_);
}

} // namespace troupe
