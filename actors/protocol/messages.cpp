#include "actors/protocol/messages.hpp"

#include <cstdint>
#include <string>
#include <typeindex>
#include <utility>

#include <caf/actor_system_config.hpp>
#include <caf/init_global_meta_objects.hpp>

#include "actors/protocol/wire/collectives.hpp"
#include "actors/protocol/wire/master.hpp"

namespace troupe {

namespace {

/// The type alone. CAF's add_message_type adds vectors and streams of it too, which nobody sends,
/// which a port would let through, and which take the compiler ten times as long.
template <std::uint16_t Number>
void add_type(caf::actor_system_config& config) {
  using Type = typename caf::type_by_id<Number>::type;
  const std::type_index type = typeid(Type);
  const std::string name = caf::type_name<Type>::value;
  config.type_names_by_rtti.emplace(type, name);
  config.value_factories_by_name.emplace(name, &caf::make_type_erased_value<Type>);
  config.value_factories_by_rtti.emplace(type, &caf::make_type_erased_value<Type>);
}

template <class Block, std::size_t... I>
void add_types(caf::actor_system_config& config, std::index_sequence<I...>) {
  (add_type<Block::begin + I>(config), ...);
}

template <class Block>
void add_block(caf::actor_system_config& config) {
  add_types<Block>(config, std::make_index_sequence<Block::end - Block::begin>());
}

} // namespace

void add_protocol_messages(caf::actor_system_config& config) {
  add_block<caf::id_block::troupe_wire>(config);
  add_block<caf::id_block::troupe_node>(config);
  add_block<caf::id_block::troupe_worker>(config);
  add_block<caf::id_block::troupe_master>(config);
  add_block<caf::id_block::troupe_collectives>(config);
}

} // namespace troupe
