// send_behind: how an actor with much to do lets others have their turn.
//
// An actor that sends itself a message goes on at once: CAF hands it up to max-throughput messages
// in a row, while the actors that it has answered wait for the same thread. So a handler that ends
// a time slice, or has sent something that should not wait, asks for its next turn through here.
#pragma once

#include <cstdint>

#include <caf/actor_control_block.hpp>
#include <caf/execution_unit.hpp>
#include <caf/message.hpp>

namespace troupe {

enum class Behind : std::uint8_t {
  own, ///< what the calling handler has made ready on its thread; wakes no other thread for it
  all, ///< everything that waits for a thread now
};

/// Sends `message` to `actor` once the actors before it in the queue have had their turn: on a node
/// the scheduler's queue, on a CallerUnit its own. `here` is the execution unit that runs the
/// calling handler (`self->context()`). Under another scheduler it is a plain send.
void send_behind(Behind behind, caf::strong_actor_ptr actor, caf::message message,
                 caf::execution_unit* here);

} // namespace troupe
