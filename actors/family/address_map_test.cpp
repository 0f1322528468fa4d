#include "actors/family/address_map.hpp"

#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/make_actor.hpp>
#include <doctest/doctest.h>

using namespace troupe;

namespace {

class Nobody final : public caf::blocking_actor {
public:
  explicit Nobody(caf::actor_config& config) : blocking_actor(config) {}
  void act() override {}
};

} // namespace

TEST_CASE("address map: finds and gives back what has any id, as another process may send it") {
  caf::actor_system_config settings;
  settings.set("scheduler.max-threads", 1);
  caf::actor_system system(settings);
  std::vector<caf::actor_addr> addresses;
  std::vector<caf::strong_actor_ptr> kept;
  const caf::node_id here = system.node();
  const auto there = caf::make_node_id(7, "0123456789012345678901234567890123456789");
  REQUIRE(there);
  for (caf::actor_id high :
       {caf::actor_id{0}, caf::actor_id{1} << 62, caf::actor_id{1} << 63, ~caf::actor_id{0} - 20})
    for (caf::actor_id low = 1; low <= 20; ++low)
      for (const caf::node_id& node : {here, *there}) {
        caf::actor_config config;
        kept.push_back(
            caf::make_actor<Nobody, caf::strong_actor_ptr>(high + low, node, &system, config));
        addresses.push_back(caf::actor_cast<caf::actor_addr>(kept.back()));
      }
  addresses.emplace_back();
  AddressMap<std::size_t> map;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    map[addresses[i * 67 % addresses.size()]] =
        i * 67 % addresses.size(); // 161 addresses, out of order
  REQUIRE(map.size() == addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    auto found = map.extract(addresses[i]);
    REQUIRE(!found.empty());
    CHECK(found.mapped() == i);
  }
  for (auto& actor : kept)
    static_cast<Nobody*>(actor->get())->cleanup(caf::exit_reason::normal, nullptr);
}
