#include "tools/troupe/supervisor.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "core/base/strings.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/stop_signals.hpp"

namespace troupe {
namespace {

using std::chrono::steady_clock;
// A node's own start and end are bounded below these.
constexpr auto start_budget = std::chrono::seconds(60);
constexpr auto end_budget = std::chrono::seconds(15); // beyond the grace that steps have

template <class... Ts>
void report(const Ts&... pieces) {
  announce(STDERR_FILENO, str_cat("up: ", pieces..., "\n"));
}

} // namespace

Supervisor::Supervisor(const ClusterConfig& config, std::vector<NodeConfig> tasks)
    : file_(config.file), end_budget_(end_budget) {
  std::size_t width = 0;
  for (const NodeConfig& task : tasks) {
    width = std::max(width, task.name().size());
    end_budget_ =
        std::max<std::chrono::milliseconds>(end_budget_, end_budget + task.timeouts.shutdown_grace);
  }
  for (NodeConfig& task : tasks) {
    std::string prefix = task.name();
    prefix.append(width - prefix.size(), ' ').append(" | ");
    tasks_.push_back({std::move(task), std::move(prefix),
                      RestartBudget(config.restarts, config.restart_window), nullptr});
  }
  sigset_t set = stop_signal_set();
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  std::signal(SIGPIPE, SIG_IGN);
}

Supervisor::~Supervisor() {
  close(signals_);
}

int Supervisor::run() {
  deadline_ = steady_clock::now() + start_budget;
  for (Task& task : tasks_)
    if (!start(task)) {
      exit_code_ = exit_failed;
      end_all("not every task could be started");
      break;
    }
  while (anyone_running())
    wait_for_events();
  return exit_code_;
}

bool Supervisor::start(Task& task) {
  task.is_ready = false;
  auto child = ChildProcess::start({"node", "--config-file=" + file_, "--job=" + task.config.job,
                                    str_cat("--task=", task.config.task)});
  if (!child) {
    report(task.config.name(), ": ", child.status().message());
    return false;
  }
  task.child = *std::move(child);
  return true;
}

bool Supervisor::anyone_running() const {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [](const Task& t) { return t.child && t.child->is_running(); });
}

void Supervisor::wait_for_events() {
  std::vector<pollfd> polled{{signals_, POLLIN, 0}};
  for (const Task& task : tasks_)
    if (task.child)
      for (int pipe : {task.child->output(), task.child->errors()})
        if (pipe >= 0)
          polled.push_back({pipe, POLLIN, 0});
  int timeout = -1;
  if (phase_ != Phase::running) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - steady_clock::now());
    timeout = static_cast<int>(std::max<std::int64_t>(left.count(), 0)) + 1;
  }
  poll(polled.data(), polled.size(), timeout);
  for (Task& task : tasks_)
    if (task.child)
      read(task);
  handle_signals();
  for (Task& task : tasks_)
    if (task.child && task.child->reap())
      handle_end(task);
  announce_when_ready();
  check_deadline();
}

void Supervisor::read(Task& task) {
  for (bool is_error : {false, true})
    task.child->read(is_error, [&](std::string_view line) {
      if (!is_error && line.starts_with("ready at "))
        task.is_ready = true;
      announce(is_error ? STDERR_FILENO : STDOUT_FILENO, str_cat(task.prefix, line, "\n"));
    });
}

void Supervisor::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD)
      continue;
    if (was_interrupted_) {
      report("a second signal: every task is killed");
      exit_code_ = exit_interrupted;
      for (Task& task : tasks_)
        if (task.child)
          task.child->send_signal(SIGKILL);
      continue;
    }
    was_interrupted_ = true;
    end_all(signal_name(static_cast<int>(info.ssi_signo)));
  }
}

void Supervisor::handle_end(Task& task) {
  read(task); // what it said last
  std::string name = task.config.name();
  if (phase_ == Phase::ending) {
    if (!task.child->ended_well()) {
      report(name, " ", task.child->describe_end());
      exit_code_ = std::max<int>(exit_code_, exit_failed);
    }
    return;
  }
  if (phase_ == Phase::running && task.child->ended_well()) {
    report(name, " has ended in order");
    return;
  }
  std::string lines;
  for (const std::string& line : task.child->last_lines())
    str_append(lines, "\n    ", line);
  report(name, " ", task.child->describe_end(),
         lines.empty() ? ", without a word" : "; its last lines:", lines);
  if (task.budget.take(steady_clock::now())) {
    report(name, " is started again");
    if (start(task))
      return;
  }
  exit_code_ = exit_failed;
  if (phase_ == Phase::starting)
    end_all(str_cat(name, " could not be started"));
  else
    report(name, " stays down; the others go on. ",
           task.budget.restarts() == 0
               ? "To have tasks started again, write restarts = 3"
               : str_cat(
                     "It was started again ", task.budget.restarts(), " times within ",
                     std::chrono::duration_cast<std::chrono::seconds>(task.budget.window()).count(),
                     " s, which is what restarts and restart-window allow; raise restarts"),
           " in [troupe] of ", file_);
}

void Supervisor::announce_when_ready() {
  if (phase_ != Phase::starting ||
      !std::all_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.is_ready; }))
    return;
  phase_ = Phase::running;
  announce(STDOUT_FILENO,
           str_cat("up: ", tasks_.size(), tasks_.size() == 1 ? " task ready\n" : " tasks ready\n"));
}

void Supervisor::end_all(const std::string& why) {
  if (phase_ == Phase::ending)
    return;
  phase_ = Phase::ending;
  deadline_ = steady_clock::now() + end_budget_;
  report(why, ": ending every task");
  for (auto task = tasks_.rbegin(); task != tasks_.rend(); ++task)
    if (task->child)
      task->child->send_signal(SIGTERM);
}

void Supervisor::check_deadline() {
  if (phase_ == Phase::running || steady_clock::now() < deadline_)
    return;
  std::vector<std::string> late;
  for (Task& task : tasks_)
    if (task.child && task.child->is_running() && (phase_ == Phase::ending || !task.is_ready))
      late.push_back(task.config.name());
  exit_code_ = std::max<int>(exit_code_, exit_failed);
  if (phase_ == Phase::starting)
    return end_all(
        str_cat("not ready within ", start_budget.count(), " s: ", str_join(late, ", ")));
  if (!late.empty())
    report("still running after ", end_budget_.count() / 1000,
           " s, killed: ", str_join(late, ", "));
  for (Task& task : tasks_)
    if (task.child)
      task.child->send_signal(SIGKILL);
  deadline_ = steady_clock::now() + end_budget;
}

} // namespace troupe
