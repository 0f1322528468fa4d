// The TRANSPORT actor: offers of large tensors that peers pull, and pulls of theirs. Protocol:
// actors/protocol/transport.hpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/family/address_map.hpp"
#include "actors/family/children.hpp"
#include "actors/family/drain.hpp"
#include "actors/family/services.hpp"
#include "actors/protocol/local/node.hpp"
#include "actors/transport/path_plan.hpp"
#include "net/data/data_client.hpp"
#include "net/data/data_server.hpp"

namespace troupe {

/// A tensor on its way in.
struct TransportFetch {
  std::shared_ptr<const TensorTicket> ticket;
  caf::typed_response_promise<FetchedTensor> promise;
  Tensor tensor;             ///< no value until it is its turn
  std::uint64_t arrived = 0; ///< bytes, and those asked for: of pieces in messages
  std::uint64_t asked = 0;
  std::int64_t since_us = 0;
  bool is_unasked = false; ///< it comes by itself: it takes no turn
  Counted counted{counter("transport_pulls")};
};

/// Bytes of tensors on their way from one peer, unless one is larger by itself: memory for more is
/// not taken before there is room.
inline constexpr std::uint64_t byte_window = std::uint64_t{256} << 20;

/// A node that we pull from.
struct TransportPeer {
  TransportActor actor;
  std::string task;
  PathPlan plan{byte_window};
  std::shared_ptr<DataLink> link;     ///< null: messages
  std::shared_ptr<PathRecord> record; ///< null in a simulation
  PathOffer offer;
};

struct TransportState {
  static constexpr const char* name = "transport";
  std::shared_ptr<OfferTable> offers = std::make_shared<OfferTable>();
  IdleWaiters idle;                                ///< of the offers
  std::map<std::uint64_t, TransportFetch> fetches; ///< by a number of our own
  std::uint64_t last_fetch = 0;
  AddressMap<TransportPeer> peers;     ///< by their transports
  AddressMap<std::uint64_t> pullers;   ///< transports that pull from us: node_key
  AddressMap<std::uint64_t> receivers; ///< of offers, watched; numbers of our own
  std::uint64_t last_receiver = 0;
  std::unique_ptr<DataServer> server; ///< since the first peer asked for a path
  std::unique_ptr<DataClient> client; ///< since the first fetch

  TransportState() = default;
  ~TransportState();
};

TransportActor::behavior_type transport(TransportActor::stateful_pointer<TransportState> self,
                                        Services services);

/// What a tensor becomes in a message from node `own` to `receiver`: itself when that is in this
/// process (or null) or the tensor is small, else a ticket. The tensor then lies already in memory
/// that the receiver's node has lent us, or `transport`, which is ours, answers for it until the
/// receiver ends.
WireTensor to_wire(Tensor tensor, const Services& services, const caf::node_id& own,
                   const caf::strong_actor_ptr& receiver, const TransportActor& transport);

template <class Handle>
WireTensor to_wire(Tensor tensor, const Services& services, const caf::node_id& own,
                   const Handle& receiver, const TransportActor& transport) {
  return to_wire(std::move(tensor), services, own, caf::actor_cast<caf::strong_actor_ptr>(receiver),
                 transport);
}

/// Takes back what `to_wire` offered or placed and nobody has come for. Any thread.
void withdraw(const Services& services, const TransportActor& transport,
              const std::vector<TicketId>& tickets);

/// The tensor of a ticket that lies in our memory already; nothing if it must be fetched. ABORTED
/// when it is not there any more.
std::optional<Result<FetchedTensor>> claim_placed(const Services& services, const WireTensor& wire);

/// Calls `done` with the tensors of `wire`, pulling those that are tickets, all at once; at once
/// when they all are here. `self` must be an event-based actor; `done` runs as part of it.
template <class Self, class Done>
void from_wire(Self* self, const Services& services, const TransportActor& transport,
               std::vector<WireTensor> wire, Done done) {
  struct Pending {
    std::vector<Tensor> tensors;
    std::size_t missing = 0;
    bool failed = false;
  };
  auto pending = std::make_shared<Pending>();
  pending->tensors.resize(wire.size());
  std::vector<std::size_t> tickets;
  Status lost;
  for (std::size_t i = 0; i < wire.size(); ++i)
    if (!wire[i].is_ticket())
      pending->tensors[i] = std::move(wire[i].tensor);
    else if (auto placed = claim_placed(services, wire[i]); !placed)
      tickets.push_back(i);
    else if (placed->ok())
      pending->tensors[i] = std::move((*placed)->tensor);
    else
      lost = placed->status();
  if (!lost.ok())
    return done(lost.with_context("fetching a tensor"), std::vector<Tensor>{});
  if (tickets.empty())
    return done(Status{}, std::move(pending->tensors));
  pending->missing = tickets.size();
  auto shared_done = std::make_shared<Done>(std::move(done));
  for (std::size_t i : tickets)
    ask(self, transport, services->timeouts.step, FetchTensor{std::move(wire[i])})
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
