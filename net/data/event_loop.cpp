#include "net/data/event_loop.hpp"

#include <cerrno>
#include <utility>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/check.hpp"

namespace troupe {

EventLoop::EventLoop(std::string name, std::chrono::milliseconds period, std::function<void()> tick)
    : name_(std::move(name)), period_(period), tick_(std::move(tick)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  TROUPE_CHECK(epoll_ >= 0 && wake_ >= 0, "the process has no file descriptor left for a thread");
  TROUPE_CHECK(control(EPOLL_CTL_ADD, wake_, EPOLLIN, 0), "an eventfd can be waited for");
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) { // no destructor runs
    ::close(wake_);
    ::close(epoll_);
    throw;
  }
}

EventLoop::~EventLoop() {
  stop();
  ::close(wake_);
  ::close(epoll_);
}

void EventLoop::stop() {
  ended_.store(true);
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
  if (thread_.joinable())
    thread_.join();
}

void EventLoop::post(std::function<void()> work) {
  bool first = false;
  {
    std::scoped_lock guard(lock_);
    first = posted_.empty();
    posted_.push_back(std::move(work));
  }
  if (first) { // otherwise it is awake, or about to be
    std::uint64_t one = 1;
    [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
  }
}

bool EventLoop::control(int operation, int fd, std::uint32_t events, std::uint32_t generation) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
  return ::epoll_ctl(epoll_, operation, fd, &event) == 0;
}

bool EventLoop::watch(int fd, std::uint32_t events, Handler handler) {
  if (!control(EPOLL_CTL_ADD, fd, events, ++last_generation_))
    return false;
  watched_[fd] = {last_generation_, std::make_shared<Handler>(std::move(handler))};
  return true;
}

void EventLoop::change(int fd, std::uint32_t events) {
  if (auto it = watched_.find(fd); it != watched_.end())
    control(EPOLL_CTL_MOD, fd, events, it->second.generation);
}

void EventLoop::forget(int fd) {
  if (watched_.erase(fd))
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::run_posted() {
  std::vector<std::function<void()>> work;
  {
    std::scoped_lock guard(lock_);
    work.swap(posted_);
  }
  for (auto& one : work)
    one();
}

void EventLoop::run() {
  ::pthread_setname_np(::pthread_self(), name_.c_str());
  using clock = std::chrono::steady_clock;
  auto next_tick = clock::now() + period_;
  epoll_event events[64];
  while (!ended_.load()) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(next_tick - clock::now()).count();
    int count = ::epoll_wait(epoll_, events, 64, left > 0 ? static_cast<int>(left) : 0);
    for (int i = 0; i < count; ++i) {
      const int fd = static_cast<int>(events[i].data.u64 & UINT32_MAX);
      const auto generation = static_cast<std::uint32_t>(events[i].data.u64 >> 32);
      if (fd == wake_) {
        std::uint64_t many = 0;
        [[maybe_unused]] auto taken = ::read(wake_, &many, sizeof many);
        run_posted();
        continue;
      }
      // A handler that ran before in this round may have forgotten it, and opened another since.
      if (auto it = watched_.find(fd);
          it != watched_.end() && it->second.generation == generation) {
        auto handler = it->second.handler;
        (*handler)(events[i].events);
      }
    }
    if (clock::now() >= next_tick) {
      tick_();
      next_tick = clock::now() + period_;
    }
  }
}

} // namespace troupe
