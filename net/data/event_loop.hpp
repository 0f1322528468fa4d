// EventLoop: one thread that waits for many sockets and does what others hand it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace troupe {

/// `post` is safe for any thread; everything else belongs to the loop's own thread. The destructor
/// ends the thread after its current round, and drops work that was posted since.
class EventLoop {
public:
  using Handler = std::function<void(std::uint32_t events)>; ///< of epoll

  /// `tick` runs every `period`.
  EventLoop(std::string name, std::chrono::milliseconds period, std::function<void()> tick);
  ~EventLoop();
  /// Ends the thread; nothing runs afterwards. Not from the thread itself.
  void stop();

  void post(std::function<void()> work);

  /// False when the system refuses. The handler may forget its own descriptor, which stays open,
  /// and any other. Events of a forgotten descriptor never reach the next handler of the same
  /// number.
  bool watch(int fd, std::uint32_t events, Handler handler);
  void change(int fd, std::uint32_t events);
  void forget(int fd);

private:
  struct Watched {
    std::uint32_t generation = 0; ///< of this watch; a descriptor's number is used again
    std::shared_ptr<Handler> handler;
  };
  bool control(int operation, int fd, std::uint32_t events, std::uint32_t generation);
  void run();
  void run_posted();

  std::string name_;
  std::chrono::milliseconds period_;
  std::function<void()> tick_;
  int epoll_ = -1, wake_ = -1;
  std::unordered_map<int, Watched> watched_;
  std::uint32_t last_generation_ = 0;
  std::mutex lock_;
  std::vector<std::function<void()>> posted_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

} // namespace troupe
