#include "tools/troupe/stop_signals.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include "core/base/strings.hpp"
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

void wait_for_signals(sigset_t set) {
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0)
      continue;
    std::scoped_lock guard(shared().lock);
    if (!shared().came.empty())
      _exit(exit_interrupted);
    shared().came = signal_name(signal);
    if (shared().stop)
      shared().stop(shared().came);
  }
}

} // namespace

sigset_t stop_signal_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) != 0 || hangup.sa_handler != SIG_IGN)
    sigaddset(&set, SIGHUP);
  return set;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? str_cat("SIG", name) : str_cat("signal ", signal);
}

StopSignals::StopSignals() {
  sigset_t set = stop_signal_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::thread(wait_for_signals, set).detach();
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
