#include "net/transport/caller.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/make_actor.hpp>

namespace troupe {

Caller::Caller(caf::actor_system& system) : loop_(shared_loop(system)), unit_(system) {
  caf::actor_config config{&unit_};
  handle_ = caf::make_actor<Mailbox, caf::strong_actor_ptr>(system.next_actor_id(), system.node(),
                                                            &system, config, loop_);
  mailbox_ = static_cast<Mailbox*>(caf::actor_cast<caf::abstract_actor*>(handle_));
}

Caller::~Caller() {
  mailbox_->cleanup(caf::exit_reason::normal, &unit_);
  unit_.drain();
}

void Caller::Mailbox::enqueue(caf::mailbox_element_ptr message, caf::execution_unit* unit) {
  blocking_actor::enqueue(std::move(message), unit);
  if (std::thread::id waiting = on_loop.load();
      waiting != std::thread::id{} && waiting != std::this_thread::get_id())
    loop_->wake();
}

} // namespace troupe
