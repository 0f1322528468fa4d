// Caller: how a plain thread asks an actor and waits for the answer, waking as few other threads as
// possible.
//
// What its message makes ready runs on this thread (CallerUnit). Where the answer comes by a
// network, the thread sends, waits and reads on the network's own loop (SharedLoop).
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include <caf/actor_config.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/timespan.hpp>

#include "net/transport/caller_unit.hpp"
#include "net/transport/log_guard.hpp"
#include "net/transport/shared_loop.hpp"

namespace troupe {

/// One thread at a time.
class Caller {
public:
  explicit Caller(caf::actor_system& system);
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller();

  /// Calls one of the functions: with the answer, or with an error, after `budget` at the latest.
  template <class Handle, class Message, class F, class G>
  void ask(const Handle& peer, caf::timespan budget, Message message, F on_answer, G on_error) {
    LogGuard guard; // what runs here may spawn
    std::optional<SharedLoop::Guest> guest;
    if (loop_) {
      guest.emplace(*loop_);
      mailbox().on_loop = std::this_thread::get_id();
    }
    auto request = mailbox().request(peer, budget, std::move(message));
    auto is_answered = [this] { return mailbox().has_next_message(); };
    unit_.drain_until(is_answered);
    if (guest) {
      guest->run_until(is_answered);
      guest.reset();
      mailbox().on_loop = std::thread::id{};
    }
    request.receive(std::move(on_answer), std::move(on_error));
    mailbox().clock().cancel_request_timeout(&mailbox(), request.id());
  }

private:
  class Mailbox : public caf::blocking_actor {
  public:
    Mailbox(caf::actor_config& config, SharedLoop* loop) : blocking_actor(config), loop_(loop) {}
    void act() override {}
    void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* unit) override;
    /// The thread that waits on the loop, not on the mailbox.
    std::atomic<std::thread::id> on_loop{};

  private:
    SharedLoop* loop_;
  };
  Mailbox& mailbox() { return *mailbox_; }

  SharedLoop* loop_;
  CallerUnit unit_;
  caf::strong_actor_ptr handle_; // keeps the mailbox
  Mailbox* mailbox_ = nullptr;
};

} // namespace troupe
