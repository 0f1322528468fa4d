// KernelRendezvous: what a step's kernels see of its RENDEZVOUS actor.
#pragma once

#include <thread>

#include "actors/protocol/worker.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

/// Sends and receives become messages. Any thread; on the executor's own thread they keep to its
/// execution unit.
class KernelRendezvous final : public Rendezvous {
public:
  KernelRendezvous(caf::scheduled_actor* owner, RendezvousActor actor)
      : owner_(owner), actor_(std::move(actor)) {}

  Status send(const std::string& key, EdgeValue value) override {
    return post(PutEdge{key, std::move(value.tensor), value.is_dead});
  }

  void recv(const std::string& key, std::function<void(Result<EdgeValue>)> done) override {
    auto callback = std::make_shared<std::function<void(Status, Tensor, bool)>>(
        [done = std::move(done)](Status status, Tensor tensor, bool is_dead) {
          if (status.ok())
            done(EdgeValue{std::move(tensor), is_dead});
          else
            done(std::move(status));
        });
    (void)post(TakeEdge{key, std::move(callback)});
  }

  /// The owner's handler runs on this thread, until `leave`.
  void enter() { thread_ = std::this_thread::get_id(); }
  void leave() { thread_ = std::thread::id{}; }

private:
  template <class Message>
  Status post(Message message) {
    auto content = caf::make_message(std::move(message));
    if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id())
      caf::actor_cast<caf::abstract_actor*>(actor_)->enqueue(owner_->ctrl(), caf::make_message_id(),
                                                             std::move(content), owner_->context());
    else
      caf::actor_cast<caf::abstract_actor*>(actor_)->enqueue(nullptr, caf::make_message_id(),
                                                             std::move(content), nullptr);
    return {};
  }

  caf::scheduled_actor* owner_;
  RendezvousActor actor_;
  std::atomic<std::thread::id> thread_{};
};

} // namespace troupe
