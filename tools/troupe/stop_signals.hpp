// The signals that ask a process to stop, as a call: the first asks for an orderly end, the second
// ends the process at once.
#pragma once

#include <csignal>
#include <functional>
#include <string>

namespace troupe {

/// SIGINT, SIGTERM, and SIGHUP unless it is ignored. nohup leaves it so, for a process that is to
/// outlive its terminal; a signal that is waited for comes even if it is ignored.
sigset_t stop_signal_set();
/// "SIGTERM".
std::string signal_name(int signal);

/// Blocks these signals in this thread, and so in all that it starts later; call it before any
/// other thread exists. A thread of its own waits for them: the first calls what `on_stop` was
/// given, with the signal's name, at once if it came before; the second exits with 130. SIGPIPE and
/// SIGXFSZ are ignored: a closed pipe and memory or a file above `ulimit -f` are errors of the call
/// that meets them.
class StopSignals {
public:
  StopSignals();
  /// `stop` may be called from another thread until `forget` returns.
  void on_stop(std::function<void(const std::string&)> stop);
  void forget();
};

} // namespace troupe
