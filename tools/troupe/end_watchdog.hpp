// EndWatchdog: the bound of a node's end. An orderly end waits for every thread, and a kernel that
// is in the middle of a large product looks at nothing before it is done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe {

/// Any thread.
class EndWatchdog {
public:
  /// How long a node takes, at most, from the end of its steps' grace to the end of its process.
  static constexpr std::chrono::milliseconds leaving{2000};
  /// The part of it that begins when the tree of actors has stopped.
  static constexpr std::chrono::milliseconds stopped{1500};

  /// From now on the process has `budget` to end; the shorter of several bounds holds. When it is
  /// over, a log line says which kernels still run, and the process exits with `exit_code`.
  void start(std::chrono::milliseconds budget, int exit_code);
  /// Calls it off.
  ~EndWatchdog();

private:
  void watch();

  std::mutex lock_;
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::time_point::max();
  int exit_code_ = 0;
  bool called_off_ = false;
  std::thread thread_;
};

} // namespace troupe
