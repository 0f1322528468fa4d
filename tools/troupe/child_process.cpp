#include "tools/troupe/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::size_t longest_line = 8192;
constexpr std::size_t kept_lines = 8;
constexpr int most_pieces = 64;

// In the child, between fork and exec: only what is safe there.
[[noreturn]] void become(char* const* argv, const int* out, const int* err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it died before the line above
    _exit(1);
  // A node waits for these two; one that comes before it does must not be lost, nor kill it.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_SETMASK, &stop, nullptr);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(out[1], STDOUT_FILENO);
  dup2(err[1], STDERR_FILENO);
  execv("/proc/self/exe", argv);
  _exit(127);
}

} // namespace

void LineCutter::feed(std::string_view bytes, const Line& line) {
  while (!bytes.empty()) {
    std::size_t end = bytes.find('\n');
    std::size_t take = std::min({end, bytes.size(), longest_line - rest_.size()});
    rest_.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    bool at_end = !bytes.empty() && bytes[0] == '\n';
    if (at_end)
      bytes.remove_prefix(1);
    if (at_end || rest_.size() == longest_line) {
      line(rest_);
      rest_.clear();
    }
  }
}

void LineCutter::finish(const Line& line) {
  if (!rest_.empty())
    line(rest_);
  rest_.clear();
}

Result<std::unique_ptr<ChildProcess>>
ChildProcess::start(const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>("troupe")};
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0)
    return unavailable(str_cat("cannot make a pipe: ", std::strerror(errno)));
  if (pipe2(err, O_CLOEXEC) != 0) {
    Status status = unavailable(str_cat("cannot make a pipe: ", std::strerror(errno)));
    close(out[0]);
    close(out[1]);
    return status;
  }
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0)
    become(argv.data(), out, err, parent);
  int error = errno;
  close(out[1]);
  close(err[1]);
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->pipes_[0] = out[0];
  child->pipes_[1] = err[0];
  if (pid < 0)
    return unavailable(str_cat("cannot start another process: ", std::strerror(error)));
  for (int pipe : child->pipes_)
    fcntl(pipe, F_SETFL, O_NONBLOCK);
  child->pid_ = pid;
  child->running_ = true;
  return child;
}

ChildProcess::~ChildProcess() {
  if (running_) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
    }
  }
  for (int pipe : pipes_)
    if (pipe >= 0)
      close(pipe);
}

void ChildProcess::read(bool is_error, const LineCutter::Line& line) {
  int& pipe = pipes_[is_error ? 1 : 0];
  auto keep = [&](std::string_view text) {
    last_lines_.emplace_back(text);
    if (last_lines_.size() > kept_lines)
      last_lines_.pop_front();
    line(text);
  };
  char bytes[4096];
  // Of a child that writes without a pause, not more than a share at a time.
  for (int pieces = 0; pipe >= 0 && (pieces < most_pieces || !running_); ++pieces) {
    ssize_t got = ::read(pipe, bytes, sizeof bytes);
    if (got > 0) {
      cutters_[is_error ? 1 : 0].feed({bytes, static_cast<std::size_t>(got)}, keep);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      cutters_[is_error ? 1 : 0].finish(keep);
      close(pipe);
      pipe = -1;
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void ChildProcess::send_signal(int signal) {
  if (running_)
    kill(pid_, signal);
}

bool ChildProcess::reap() {
  if (!running_ || waitpid(pid_, &wait_status_, WNOHANG) != pid_)
    return false;
  running_ = false;
  return true;
}

std::string ChildProcess::describe_end() const {
  if (WIFSIGNALED(wait_status_))
    return str_cat("was killed by signal ", WTERMSIG(wait_status_), " (",
                   strsignal(WTERMSIG(wait_status_)), ")");
  return str_cat("ended with exit code ", WEXITSTATUS(wait_status_));
}

} // namespace troupe
