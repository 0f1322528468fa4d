#include "actors/family/alarm.hpp"

#include <caf/behavior.hpp>

#include "net/transport/step_clock.hpp"

namespace troupe {

void Alarm::set(caf::scheduled_actor* self, std::chrono::nanoseconds budget,
                std::function<void()> ring) {
  clear();
  self_ = self;
  ring_ = std::move(ring);
  due_ = self->clock().now() + budget;
  if (!listens_)
    listen();
  is_set_ = true;
  self->clock().set_request_timeout(due_, self, id_);
}

void Alarm::clear() {
  if (!std::exchange(is_set_, false))
    return;
  // The clock forgets everything of an actor that has ended by itself.
  if (!self_->getf(caf::abstract_actor::is_cleaned_up_flag))
    self_->clock().cancel_request_timeout(self_, id_);
}

// The clock's word is taken like an answer, once.
void Alarm::listen() {
  id_ = self_->new_request_id(caf::message_priority::normal).response_id();
  self_->add_multiplexed_response_handler(id_,
                                          caf::behavior{[this](const caf::error&) { heard(); }});
  listens_ = true;
}

void Alarm::heard() {
  listens_ = false;
  if (!is_set_)
    return;
  // Sent before the clock heard that it was cleared: means what was set before.
  if (StepClock::exact_now(self_->clock()) < due_) {
    self_->clock().cancel_request_timeout(self_, id_);
    listen();
    self_->clock().set_request_timeout(due_, self_, id_);
    return;
  }
  is_set_ = false;
  ring_();
}

} // namespace troupe
