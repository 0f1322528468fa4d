// StepClock: the clock of a node's actors, made for requests that are answered long before their
// budget ends.
//
// CAF's own clock wakes its thread for every request. It keeps each budget, and with it the asking
// actor, until the budget has passed: days, for a step. Here a request notes its budget in a table,
// and the asker takes it out when the answer has come (actors/family/ask.hpp). The thread is woken
// only for a budget that ends sooner than all others.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <caf/actor_addr.hpp>
#include <caf/detail/thread_safe_actor_clock.hpp>

namespace troupe {

/// Any thread. Budgets of requests are its own, all else is passed on to CAF's clock.
class StepClock final : public caf::detail::thread_safe_actor_clock {
public:
  /// `rest` does what is not a request's; it must outlive this.
  explicit StepClock(caf::actor_clock& rest) : rest_(rest) {}

  /// Up to a tick of the system's clock (4 ms) ahead, so that what is set by it does not end early
  /// unless a tick comes late; at a seventh of the exact time's price: CAF asks at every turn of an
  /// actor.
  time_point now() const noexcept override;
  /// What `clock` says, exactly if it is a StepClock.
  static time_point exact_now(const caf::actor_clock& clock) noexcept;

  void start();
  void stop(); ///< ends the thread; budgets do not end any more

  /// Unless it is cancelled before, `self` gets sec::request_timeout as the answer `id` at `due`.
  void set_request_timeout(time_point due, caf::abstract_actor* self, caf::message_id id) override;
  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) override;

  void set_ordinary_timeout(time_point due, caf::abstract_actor* self, caf::atom_value type,
                            std::uint64_t id) override;
  void set_multi_timeout(time_point due, caf::abstract_actor* self, caf::atom_value type,
                         std::uint64_t id) override;
  void cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) override;
  void cancel_timeouts(caf::abstract_actor* self) override;
  void schedule_message(time_point due, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override;
  void schedule_message(time_point due, caf::group target, caf::strong_actor_ptr sender,
                        caf::message content) override;
  void cancel_all() override;

  /// Budgets that neither ended nor were cancelled.
  std::size_t num_waiting() const;
  /// How often the thread was woken or woke.
  std::uint64_t num_wakes() const;

private:
  struct Key {
    caf::actor_id actor = 0;
    std::uint64_t request = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return (key.actor * 0x9E3779B97F4A7C15u ^ key.request) * 0xD6E8FEB86659FD93u;
    }
  };
  struct Wait {
    time_point due;
    caf::message_id id;
    caf::actor_addr actor; // weak: a budget keeps nobody alive
  };
  /// A place in the order of ends. Stale when its request was answered.
  struct End {
    time_point due;
    Key key;
    friend bool operator>(const End& a, const End& b) { return a.due > b.due; }
  };
  void run();
  void note_timeout(const caf::abstract_actor* self);
  void tidy(); // the lock is held
  bool is_stale(const End& end) const;

  caf::actor_clock& rest_;
  mutable std::mutex lock_; // guards what follows
  std::condition_variable sooner_;
  std::unordered_map<Key, Wait, KeyHash> waits_;
  std::unordered_set<caf::actor_id> with_timeouts_; // that wait for messages with an end
  std::vector<End> ends_;                           // a heap, the soonest on top
  std::size_t tidy_at_ = 1024;
  time_point next_look_ = time_point::max();
  std::uint64_t wakes_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

} // namespace troupe
