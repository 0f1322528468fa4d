#include "net/transport/turn.hpp"

#include <caf/actor_system.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/ref_counted.hpp>
#include <caf/resumable.hpp>

#include "net/transport/caller_unit.hpp"
#include "net/transport/step_scheduler.hpp"

namespace troupe {

namespace {

/// Waits in a queue in the actor's place.
class Turn final : public caf::ref_counted, public caf::resumable {
public:
  Turn(caf::strong_actor_ptr actor, caf::message message)
      : actor_(std::move(actor)), message_(std::move(message)) {}

  subtype_t subtype() const override { return function_object; }
  resume_result resume(caf::execution_unit* unit, std::size_t) override {
    actor_->enqueue(nullptr, caf::make_message_id(), std::move(message_), unit);
    return done;
  }
  void intrusive_ptr_add_ref_impl() override { ref(); }
  void intrusive_ptr_release_impl() override { deref(); }

private:
  caf::strong_actor_ptr actor_;
  caf::message message_;
};

} // namespace

void send_behind(Behind behind, caf::strong_actor_ptr actor, caf::message message,
                 caf::execution_unit* here) {
  auto* caller = dynamic_cast<CallerUnit*>(here);
  auto* scheduler = here ? dynamic_cast<StepScheduler*>(&here->system().scheduler()) : nullptr;
  if (!caller && !scheduler) {
    actor->enqueue(nullptr, caf::make_message_id(), std::move(message), here);
    return;
  }
  // Born with one reference, which the queue takes over.
  auto* turn = new Turn(std::move(actor), std::move(message));
  if (caller)
    caller->exec_later(turn);
  else
    scheduler->enqueue_last(turn, here, behind == Behind::all);
}

} // namespace troupe
