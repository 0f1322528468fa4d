#include "core/base/line_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

/// Writes all of it, however long that takes; false when the descriptor fails.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote > 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (wrote < 0 && errno == EAGAIN) { // somebody has made the open file non-blocking
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (wrote == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// A duplicate of `fd`. Where the process has no descriptor left for one, its own streams stand for
/// themselves, since they stay open: the first line may be the one that says what ran out.
int duplicate(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return copy < 0 && errno == EMFILE && fd <= STDERR_FILENO ? fd : copy;
}

} // namespace

struct LineWriter::State {
  State(int descriptor, std::size_t bytes) : fd(duplicate(descriptor)), capacity(bytes) {}
  ~State() {
    if (fd > STDERR_FILENO)
      ::close(fd);
  }

  const int fd;
  const std::size_t capacity;
  mutable std::mutex lock;
  std::condition_variable changed;
  std::string queue;               ///< the first line may have lost its beginning to the pipe
  std::size_t in_flight = 0;       ///< bytes that the thread has taken and not written yet
  std::int64_t dropped = 0;        ///< lines
  std::int64_t dropped_untold = 0; ///< of these, the ones that no line in the stream tells of yet
  bool has_thread = false;
  bool can_try = true; ///< the descriptor has writes that do not wait
  bool stopped = false;

  std::size_t pending() const { return queue.size() + in_flight; }
  void drop(std::string_view lines) {
    std::int64_t count = std::count(lines.begin(), lines.end(), '\n');
    dropped += count;
    dropped_untold += count;
  }
  std::size_t try_write(std::string_view text);
  bool write_taken(std::string_view text);
  static void write_queued(const std::shared_ptr<State>& state);
  static bool start_thread(const std::shared_ptr<State>& state);
};

// How much of it is dealt with without waiting.
std::size_t LineWriter::State::try_write(std::string_view text) {
  iovec piece{const_cast<char*>(text.data()), text.size()};
  ssize_t wrote = ::pwritev2(fd, &piece, 1, -1, RWF_NOWAIT);
  if (wrote >= 0)
    return static_cast<std::size_t>(wrote);
  if (errno == EAGAIN || errno == EINTR)
    return 0;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == ESPIPE) {
    can_try = false; // a terminal or a file: the thread writes
    return 0;
  }
  drop(text);
  return text.size();
}

// Line by line, since other processes may write to the same pipe; false when it is to stop.
bool LineWriter::State::write_taken(std::string_view text) {
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    std::string_view line = end == text.npos ? text : text.substr(0, end + 1);
    bool written = write_all(fd, line);
    text.remove_prefix(line.size());
    std::scoped_lock guard(lock);
    if (!written)
      drop(line);
    in_flight = text.size();
    if (stopped)
      return false;
  }
  return true;
}

void LineWriter::State::write_queued(const std::shared_ptr<State>& state) {
  for (;;) {
    std::string taken;
    {
      std::unique_lock guard(state->lock);
      state->changed.notify_all(); // for a flush that waits
      state->changed.wait(guard, [&] { return state->stopped || !state->queue.empty(); });
      if (state->stopped)
        return;
      taken.swap(state->queue);
      state->in_flight = taken.size();
    }
    if (!state->write_taken(taken))
      return;
  }
}

// Signals are for the threads that wait for them, and a closed pipe is an error like any other.
bool LineWriter::State::start_thread(const std::shared_ptr<State>& state) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread([state] { write_queued(state); }).detach();
  } catch (const std::system_error&) {
    started = false; // no room for a thread: these lines are dropped, the next ones try again
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

LineWriter::LineWriter(int fd, std::size_t capacity)
    : state_(std::make_shared<State>(fd, capacity)) {}

LineWriter::~LineWriter() {
  std::scoped_lock guard(state_->lock);
  state_->stopped = true;
  state_->changed.notify_all();
}

void LineWriter::write(std::string_view lines) {
  State& s = *state_;
  std::scoped_lock guard(s.lock);
  if (s.pending() > 0 && s.pending() + lines.size() > s.capacity)
    return s.drop(lines);
  std::string with_note;
  if (std::int64_t untold = std::exchange(s.dropped_untold, 0)) {
    with_note = str_cat("(lines dropped here because nobody read: ", untold, ")\n", lines);
    lines = with_note;
  }
  if (s.pending() == 0 && s.can_try)
    lines.remove_prefix(s.try_write(lines));
  if (lines.empty())
    return;
  if (!s.has_thread && !(s.has_thread = State::start_thread(state_)))
    return s.drop(lines);
  s.queue.append(lines);
  s.changed.notify_all();
}

bool LineWriter::flush(std::chrono::milliseconds budget) {
  std::unique_lock guard(state_->lock);
  return state_->changed.wait_for(guard, budget, [&] { return state_->pending() == 0; });
}

std::int64_t LineWriter::num_dropped() const {
  std::scoped_lock guard(state_->lock);
  return state_->dropped;
}

LineWriter& standard_output() {
  static auto* writer = new LineWriter(STDOUT_FILENO);
  return *writer;
}

LineWriter& standard_error() {
  static auto* writer = new LineWriter(STDERR_FILENO);
  return *writer;
}

} // namespace troupe
