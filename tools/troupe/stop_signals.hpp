// SIGINT and SIGTERM as a call: the first asks for an orderly end, the second ends the process at
// once.
#pragma once

#include <functional>
#include <string>

namespace troupe {

/// Blocks both signals in this thread, and so in all that it starts later; call it before any other
/// thread exists. A thread of its own waits for them: the first calls what `on_stop` was given,
/// with the signal's name, at once if it came before; the second exits with 130.
class StopSignals {
public:
  StopSignals();
  /// `stop` may be called from another thread until `forget` returns.
  void on_stop(std::function<void(const std::string&)> stop);
  void forget();
};

} // namespace troupe
