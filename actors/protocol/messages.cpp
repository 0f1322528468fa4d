#include "actors/protocol/messages.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/init_global_meta_objects.hpp>

#include "actors/protocol/master.hpp"
#include "actors/protocol/node.hpp"
#include "actors/protocol/session.hpp"
#include "actors/protocol/worker.hpp"

namespace troupe {

void add_protocol_messages(caf::actor_system_config& config) {
  config.add_message_types<caf::id_block::troupe_wire>();
  config.add_message_types<caf::id_block::troupe_node>();
  config.add_message_types<caf::id_block::troupe_worker>();
  config.add_message_types<caf::id_block::troupe_master>();
  config.add_message_types<caf::id_block::troupe_session>();
}

} // namespace troupe
