// The TRANSPORT actor: offers of large tensors that peers pull, and pulls of theirs. Protocol:
// actors/protocol/node.hpp.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "actors/family/children.hpp"
#include "actors/family/drain.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/node.hpp"

namespace troupe {

struct TransportPull;

struct TransportState {
  static constexpr const char* name = "transport";
  struct Offer {
    Tensor tensor;
    std::int64_t last_used_us = 0;
    caf::actor_addr receiver;
  };
  std::unordered_map<std::uint64_t, Offer> offers;
  std::map<caf::actor_addr, std::size_t> receivers;  ///< watched: how many offers each has
  std::size_t pulls = 0;                             ///< under way
  std::vector<std::weak_ptr<TransportPull>> pulling; ///< they; some may have ended
  IdleWaiters idle;                                  ///< of the offers

  ~TransportState();
};

TransportActor::behavior_type transport(TransportActor::stateful_pointer<TransportState> self,
                                        Services services);

/// What a tensor becomes in a message to `receiver`: itself when that is in this process (or null)
/// or the tensor is small, else a ticket that `transport` (of this node `own`) answers for until
/// the receiver ends.
WireTensor to_wire(Tensor tensor, const caf::node_id& own, const caf::strong_actor_ptr& receiver,
                   const caf::strong_actor_ptr& transport);

/// Takes back what `to_wire` offered and nobody has come for. Any thread.
void withdraw(const caf::strong_actor_ptr& transport, const std::vector<std::uint64_t>& tickets);

/// Calls `done` with the tensors of `wire`, pulling those that are tickets, all at once; at once
/// when there are none. `self` must be an event-based actor; `done` runs as part of it.
template <class Self, class Done>
void from_wire(Self* self, const caf::strong_actor_ptr& transport, std::vector<WireTensor> wire,
               std::chrono::nanoseconds budget, Done done) {
  struct Pending {
    std::vector<Tensor> tensors;
    std::size_t missing = 0;
    bool failed = false;
  };
  auto pending = std::make_shared<Pending>();
  pending->tensors.resize(wire.size());
  std::vector<std::size_t> tickets;
  for (std::size_t i = 0; i < wire.size(); ++i)
    if (wire[i].is_ticket())
      tickets.push_back(i);
    else
      pending->tensors[i] = std::move(wire[i].tensor);
  if (tickets.empty())
    return done(Status{}, std::move(pending->tensors));
  pending->missing = tickets.size();
  auto shared_done = std::make_shared<Done>(std::move(done));
  for (std::size_t i : tickets)
    ask(self, typed<TransportActor>(transport), budget, FetchTensor{std::move(wire[i])})
        .then(
            [=](FetchedTensor& fetched) {
              pending->tensors[i] = std::move(fetched.tensor);
              if (--pending->missing == 0 && !pending->failed)
                (*shared_done)(Status{}, std::move(pending->tensors));
            },
            [=](caf::error& error) {
              --pending->missing;
              if (!std::exchange(pending->failed, true))
                (*shared_done)(to_status(error, "fetching a tensor"), {});
            });
}

} // namespace troupe
