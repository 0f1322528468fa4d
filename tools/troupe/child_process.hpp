// ChildProcess: this executable, started again as one task, its output read line by line.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// Cuts a stream of bytes into lines; a line without end is given out after 8 KiB.
class LineCutter {
public:
  using Line = std::function<void(std::string_view)>;
  void feed(std::string_view bytes, const Line& line);
  /// Gives out what has no line end yet.
  void finish(const Line& line);

private:
  std::string rest_;
};

/// The child is in a process group of its own, so that Ctrl-C in a terminal reaches only us, and
/// dies with us whatever happens to us, or when the thread that started it ends. Destroyed while it
/// runs, it is killed and awaited.
class ChildProcess {
public:
  /// `arguments` follow the program's name. UNAVAILABLE when the system has no room for another
  /// process.
  static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& arguments);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool is_running() const { return running_; }
  /// Where to poll for standard output and standard error; -1 once closed.
  int output() const { return pipes_[0]; }
  int errors() const { return pipes_[1]; }
  /// Reads what is there, 256 KiB at most while the child runs, and gives out complete lines.
  /// `is_error` says which stream.
  void read(bool is_error, const LineCutter::Line& line);
  void send_signal(int signal);
  /// True once, when the child has ended; `describe_end` and `exit_code` then hold.
  bool reap();
  /// "ended with exit code 1", "was killed by signal 9 (Killed)".
  std::string describe_end() const;
  bool ended_well() const { return !running_ && wait_status_ == 0; }
  /// The newest lines, oldest first.
  const std::deque<std::string>& last_lines() const { return last_lines_; }

private:
  ChildProcess() = default;
  pid_t pid_ = -1;
  bool running_ = false;
  int wait_status_ = 0;
  int pipes_[2] = {-1, -1};
  LineCutter cutters_[2];
  std::deque<std::string> last_lines_;
};

} // namespace troupe
