// KernelRendezvous: what a step's kernels see of its RENDEZVOUS actor.
#pragma once

#include <atomic>
#include <thread>

#include "actors/protocol/local/worker.hpp"
#include "kernels/framework/rendezvous.hpp"
#include "net/data/lent_memory.hpp"

namespace troupe {

/// A kernel that waits for a value. The kernel keeps the memory of its step until it is answered,
/// but every actor on the value's way may end before that. So a waiter that is destroyed without an
/// answer answers CANCELLED, on the thread that destroys it.
class PendingReceive {
public:
  explicit PendingReceive(std::function<void(Result<EdgeValue>)> done) : done_(std::move(done)) {}
  ~PendingReceive();
  PendingReceive(const PendingReceive&) = delete;
  /// At most once.
  void answer(Status status, EdgeValue value);

private:
  std::function<void(Result<EdgeValue>)> done_; ///< empty once it was called
};

/// Turns sends and receives into messages. Any thread; messages from the owner's own handler stay
/// on the owner's execution unit. The answer to a receive goes to the owner, whose handler calls
/// `done`.
class KernelRendezvous final : public Rendezvous {
public:
  /// `lent` outlives it.
  KernelRendezvous(caf::scheduled_actor* owner, RendezvousActor actor, std::uint64_t step_id,
                   LentMemory& lent);
  Status send(const std::string& key, EdgeValue value) override;
  void recv(const std::string& key, std::function<void(Result<EdgeValue>)> done) override;
  BufferRef memory_of(const std::string& task, std::uint64_t bytes) override;
  std::shared_ptr<VariableMemory> variable_memory(const std::string& task,
                                                  std::uint64_t bytes) override;

  /// The owner's handler begins and ends on this thread.
  void enter() { thread_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
  void leave() {
    thread_.store(std::thread::id{}, std::memory_order_relaxed);
    has_posted_ = false;
  }
  /// Within the owner's handler: whether it has posted something that waits for the owner's thread.
  bool has_posted() const { return has_posted_; }

private:
  void post(caf::message content);

  caf::scheduled_actor* owner_;   // touched only within its own handler
  caf::actor_addr owner_address_; // weak: the owner holds us
  RendezvousActor actor_;
  std::uint64_t step_id_;
  LentMemory& lent_;
  std::atomic<std::thread::id> thread_{};
  bool has_posted_ = false; // touched on that thread
};

} // namespace troupe
