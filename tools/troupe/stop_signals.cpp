#include "tools/troupe/stop_signals.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <thread>

#include "tools/troupe/command.hpp"

namespace troupe {
namespace {

// Lives as long as the process, because the thread that waits does.
struct Shared {
  std::mutex lock;
  std::function<void(const std::string&)> stop;
  std::string came; ///< name of the first signal
};
Shared& shared() {
  static auto* instance = new Shared;
  return *instance;
}

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

void wait_for_signals() {
  sigset_t set = stop_set();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0)
      continue;
    std::scoped_lock guard(shared().lock);
    if (!shared().came.empty())
      _exit(exit_interrupted);
    shared().came = signal == SIGINT ? "SIGINT" : "SIGTERM";
    if (shared().stop)
      shared().stop(shared().came);
  }
}

} // namespace

StopSignals::StopSignals() {
  sigset_t set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::thread(wait_for_signals).detach();
}

void StopSignals::on_stop(std::function<void(const std::string&)> stop) {
  std::scoped_lock guard(shared().lock);
  shared().stop = std::move(stop);
  if (!shared().came.empty())
    shared().stop(shared().came);
}

void StopSignals::forget() {
  std::scoped_lock guard(shared().lock);
  shared().stop = nullptr;
}

} // namespace troupe
