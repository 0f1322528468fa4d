// send_after_others: how an actor with much to do lets others have their turn.
//
// An actor that sends itself a message goes on at once: CAF hands it up to max-throughput messages
// in a row, and whoever it has answered meanwhile waits in its thread's slot. So a handler that
// ends a time slice asks for the next one through here.
#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/execution_unit.hpp>
#include <caf/message.hpp>

namespace troupe {

/// Sends `message` to `actor` once everything that waits for a thread now has had its turn: on a
/// node the scheduler's queue, on a CallerUnit its own. `here` is the execution unit that runs the
/// calling handler (`self->context()`). Under another scheduler it is a plain send.
void send_after_others(caf::strong_actor_ptr actor, caf::message message,
                       caf::execution_unit* here);

} // namespace troupe
