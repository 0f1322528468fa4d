#include "net/transport/step_clock.hpp"

#include <algorithm>
#include <functional>
#include <typeinfo>

#include <caf/actor_cast.hpp>
#include <caf/error.hpp>
#include <caf/sec.hpp>

#include "core/base/coarse_clock.hpp"

namespace troupe {

StepClock::time_point StepClock::now() const noexcept {
  return time_point(coarse_time() + coarse_tick());
}

StepClock::time_point StepClock::exact_now(const caf::actor_clock& clock) noexcept {
  return typeid(clock) == typeid(StepClock) ? clock_type::now() : clock.now();
}

void StepClock::start() {
  thread_ = std::thread([this] { run(); });
}

void StepClock::stop() {
  {
    std::scoped_lock guard(lock_);
    ending_ = true;
  }
  sooner_.notify_one();
  if (thread_.joinable())
    thread_.join();
}

void StepClock::set_request_timeout(time_point due, caf::abstract_actor* self, caf::message_id id) {
  Key key{self->id(), id.integer_value()};
  bool wake = false;
  {
    std::scoped_lock guard(lock_);
    waits_.insert_or_assign(key, Wait{due, id, self->address()});
    ends_.push_back({due, key});
    std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
    if (ends_.size() >= tidy_at_)
      tidy();
    wake = due < next_look_;
    if (wake)
      next_look_ = due;
  }
  if (wake)
    sooner_.notify_one();
}

void StepClock::cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) {
  std::scoped_lock guard(lock_);
  waits_.erase({self->id(), id.integer_value()});
}

bool StepClock::is_stale(const End& end) const {
  auto at = waits_.find(end.key);
  return at == waits_.end() || at->second.due != end.due;
}

// What has been answered, and whose asker has ended, goes; so there are never more than twice as
// many as are waited for, and some.
void StepClock::tidy() {
  std::erase_if(waits_, [](const auto& entry) {
    return !caf::actor_cast<caf::strong_actor_ptr>(entry.second.actor);
  });
  std::erase_if(ends_, [this](const End& end) { return is_stale(end); });
  std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
  tidy_at_ = 2 * ends_.size() + 1024;
}

void StepClock::run() {
  std::vector<Wait> ended;
  std::unique_lock guard(lock_);
  while (!ending_) {
    ++wakes_;
    auto now = clock_type::now();
    auto last = time_point::max(); // due, of what was taken out though it is not due yet
    while (!ends_.empty() && (ends_.front().due <= now || is_stale(ends_.front()))) {
      last = ends_.front().due > now ? ends_.front().due : time_point::max();
      std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
      if (auto at = waits_.find(ends_.back().key);
          at != waits_.end() && at->second.due == ends_.back().due) {
        ended.push_back(std::move(at->second));
        waits_.erase(at);
      }
      ends_.pop_back();
    }
    if (!ended.empty()) {
      guard.unlock();
      for (const Wait& wait : ended)
        if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(wait.actor))
          actor->get()->eq_impl(wait.id, actor, nullptr,
                                caf::make_error(caf::sec::request_timeout));
      ended.clear();
      guard.lock();
      continue;
    }
    // Where all were cancelled it looks again when the last of them would have been due: what comes
    // next is later and need not wake it.
    next_look_ = ends_.empty() ? last : ends_.front().due;
    time_point look = next_look_;
    auto is_sooner = [&] { return ending_ || next_look_ < look; };
    if (look == time_point::max())
      sooner_.wait(guard, is_sooner);
    else
      sooner_.wait_until(guard, look, is_sooner);
  }
}

void StepClock::note_timeout(const caf::abstract_actor* self) {
  std::scoped_lock guard(lock_);
  with_timeouts_.insert(self->id());
}

void StepClock::set_ordinary_timeout(time_point due, caf::abstract_actor* self,
                                     caf::atom_value type, std::uint64_t id) {
  note_timeout(self);
  rest_.set_ordinary_timeout(due, self, type, id);
}

void StepClock::set_multi_timeout(time_point due, caf::abstract_actor* self, caf::atom_value type,
                                  std::uint64_t id) {
  note_timeout(self);
  rest_.set_multi_timeout(due, self, type, id);
}

void StepClock::cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) {
  rest_.cancel_ordinary_timeout(self, type);
}

// Every actor that ends comes here; few have set a timeout.
void StepClock::cancel_timeouts(caf::abstract_actor* self) {
  {
    std::scoped_lock guard(lock_);
    if (!with_timeouts_.erase(self->id()))
      return;
  }
  rest_.cancel_timeouts(self);
}

void StepClock::schedule_message(time_point due, caf::strong_actor_ptr receiver,
                                 caf::mailbox_element_ptr content) {
  rest_.schedule_message(due, std::move(receiver), std::move(content));
}

void StepClock::schedule_message(time_point due, caf::group target, caf::strong_actor_ptr sender,
                                 caf::message content) {
  rest_.schedule_message(due, std::move(target), std::move(sender), std::move(content));
}

void StepClock::cancel_all() {
  {
    std::scoped_lock guard(lock_);
    waits_.clear();
  }
  rest_.cancel_all();
}

std::size_t StepClock::num_waiting() const {
  std::scoped_lock guard(lock_);
  return waits_.size();
}

std::uint64_t StepClock::num_wakes() const {
  std::scoped_lock guard(lock_);
  return wakes_;
}

} // namespace troupe
