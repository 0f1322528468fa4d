// Maps by the addresses of actors, those of other processes among them.
#pragma once

#include <map>

#include <caf/actor_addr.hpp>
#include <caf/actor_control_block.hpp>

namespace troupe {

/// Orders addresses by id, then by node; a null one comes first. CAF's own order subtracts the ids
/// as signed numbers. A peer may send an id of 2^63 and more: the difference overflows, what is
/// left is no order, and a map by it does not find what it holds.
struct AddressOrder {
  bool operator()(const caf::actor_addr& a, const caf::actor_addr& b) const {
    if (!a || !b)
      return !a && b;
    return a.id() != b.id() ? a.id() < b.id() : a.node() < b.node();
  }
};

template <class Value>
using AddressMap = std::map<caf::actor_addr, Value, AddressOrder>;

} // namespace troupe
