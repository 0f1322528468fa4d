#include "tools/troupe/stop_signals.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <doctest/doctest.h>

#include "tools/troupe/command.hpp"

namespace troupe {
namespace {

// In a process of its own: says "ready", then the name of each signal that asks it to stop, and
// stays.
[[noreturn]] void stay_whatever_comes(int to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  StopSignals signals;
  signals.on_stop([to](const std::string& name) {
    [[maybe_unused]] auto n = write(to, name.data(), name.size());
  });
  [[maybe_unused]] auto n = write(to, "ready", 5);
  for (;;)
    pause();
}

std::string read_word(int from) {
  char bytes[32];
  ssize_t got = read(from, bytes, sizeof bytes);
  return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : "";
}

TEST_CASE("stop signals: the first asks for an end, the second ends at once") {
  for (auto [first, second] :
       {std::pair(SIGTERM, SIGTERM), std::pair(SIGINT, SIGTERM), std::pair(SIGHUP, SIGHUP)}) {
    int pipes[2];
    REQUIRE(pipe(pipes) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::signal(SIGHUP, SIG_DFL); // this test may run under nohup itself
      stay_whatever_comes(pipes[1]);
    }
    close(pipes[1]);
    CHECK(read_word(pipes[0]) == "ready");
    kill(child, first);
    CHECK(read_word(pipes[0]) == signal_name(first));
    kill(child, second);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == exit_interrupted);
    close(pipes[0]);
  }
}

TEST_CASE("stop signals: a terminal that goes away means nothing to what nohup has started") {
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGHUP, SIG_IGN);
    stay_whatever_comes(pipes[1]);
  }
  close(pipes[1]);
  CHECK(read_word(pipes[0]) == "ready");
  kill(child, SIGHUP);
  kill(child, SIGTERM);
  CHECK(read_word(pipes[0]) == "SIGTERM");
  kill(child, SIGKILL);
  CHECK(waitpid(child, nullptr, 0) == child);
  close(pipes[0]);
}

TEST_CASE("stop signals: they have their names") {
  CHECK(signal_name(SIGINT) == "SIGINT");
  CHECK(signal_name(SIGTERM) == "SIGTERM");
  CHECK(signal_name(SIGHUP) == "SIGHUP");
  CHECK(signal_name(1000) == "signal 1000");
}

} // namespace
} // namespace troupe
