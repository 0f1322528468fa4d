#include "actors/transport/transport.hpp"

#include <algorithm>
#include <cstring>

#include "actors/transport/internal/paths.hpp"

#include "core/base/random.hpp"
#include "core/base/strings.hpp"

namespace troupe {

using transport_paths::Self;

TransportState::~TransportState() {
  Status ended = cancelled("the node that a tensor was on its way to ends");
  for (auto& [number, fetch] : fetches)
    fetch.promise.deliver(to_error(ended));
}

namespace {

/// On a slow link a chunk waits behind the others of its window, and a tensor behind other tensors.
/// A peer that is dead is told by its lease long before.
constexpr int slow_link_factor = 20;

} // namespace

namespace transport_paths {

void ask_for_next(Self self, const Services& services, const caf::actor_addr& address,
                  std::uint64_t number) {
  auto found = self->state.fetches.find(number);
  if (found == self->state.fetches.end())
    return;
  TransportFetch& fetch = found->second;
  std::uint64_t total = fetch.ticket->bytes, offset = fetch.asked;
  if (offset >= total)
    return;
  std::uint64_t length = std::min<std::uint64_t>(chunk_bytes, total - offset);
  fetch.asked += length;
  ask_watched(self, typed<TransportActor>(fetch.ticket->source),
              slow_link_factor * services->timeouts.chunk,
              PullChunk{fetch.ticket->id.number, offset, length})
      .then(
          [=](TensorChunk& chunk) {
            auto it = self->state.fetches.find(number);
            if (it == self->state.fetches.end())
              return;
            TransportFetch& fetch = it->second;
            if (chunk.length != length)
              return finish(
                  self, services, address, number,
                  internal(str_cat("a peer sent ", chunk.length, " bytes of a tensor where ",
                                   length, " were asked for")));
            std::memcpy(static_cast<std::byte*>(fetch.tensor.mutable_raw()) + offset,
                        static_cast<const std::byte*>(chunk.buffer->data()) + chunk.offset, length);
            fetch.arrived += length;
            if (fetch.arrived < total)
              return ask_for_next(self, services, address, number);
            self->send(typed<TransportActor>(fetch.ticket->source),
                       ReleaseTensor{fetch.ticket->id.number});
            finish(self, services, address, number, Status{});
          },
          [=](caf::error& error) {
            Status why = to_status(error, str_cat("pulling a tensor of ", total, " bytes"));
            finish(self, services, address, number,
                   why.code() == Code::not_found ? aborted(why.message()) : why);
          });
}

} // namespace transport_paths

namespace {

caf::result<FetchedTensor> fetch(Self self, const Services& services, FetchTensor& m) {
  if (!m.tensor.is_ticket())
    return FetchedTensor{std::move(m.tensor.tensor), {}};
  if (auto placed = claim_placed(services, m.tensor)) {
    if (!placed->ok())
      return to_error(placed->status());
    return **std::move(placed);
  }
  const TensorTicket& ticket = *m.tensor.ticket;
  if (!ticket.source)
    return to_error(unavailable("the node that holds a tensor is gone"));
  if (ticket.bytes == 0)
    return FetchedTensor{Tensor::make(ticket.dtype, ticket.shape), {}};
  std::uint64_t number = ++self->state.last_fetch;
  TransportFetch& fetch = self->state.fetches[number];
  fetch.ticket = m.tensor.ticket;
  fetch.promise = self->make_response_promise<FetchedTensor>();
  auto promise = fetch.promise;
  const caf::actor_addr peer = ticket.source->get()->address();
  if (ticket.id.place == TicketPlace::unasked)
    transport_paths::claim(self, services, peer, number);
  else
    transport_paths::enqueue(self, services, peer, number);
  return promise;
}

// What is meant for a receiver that has ended, nobody will come for.
void add_offer(Self self, OfferTensor& m) {
  OfferReceiver receiver;
  if (m.receiver) {
    auto& number = self->state.receivers[m.receiver->get()->address()];
    if (number == 0) {
      number = ++self->state.last_receiver;
      self->monitor(caf::actor_cast<caf::actor>(m.receiver));
    }
    receiver = {number, node_key(m.receiver->node())};
  }
  self->state.offers->put(m.ticket, std::move(m.tensor), receiver, now_us(self));
}

void answer_when_empty(Self self) {
  if (self->state.offers->size() == 0)
    self->state.idle.answer();
}

// A receiver has ended, or a node is gone, or its transport: who pulls from it need not wait, what
// it has not pulled is freed.
void peer_lost(Self self, const Services& services, const caf::actor_addr& peer) {
  transport_paths::lose(
      self, services, peer,
      unavailable("the node that holds a tensor closed its connection").as_derived());
  if (auto receiver = self->state.receivers.extract(peer); !receiver.empty()) {
    self->state.offers->erase_of(receiver.mapped());
    answer_when_empty(self);
  }
  if (auto puller = self->state.pullers.extract(peer); !puller.empty() && self->state.server)
    self->state.server->drop(puller.mapped());
}

caf::result<TensorChunk> chunk_of(Self self, const PullChunk& m) {
  auto offered = self->state.offers->find(m.ticket, now_us(self));
  if (!offered)
    return to_error(not_found("a tensor that a peer pulls is no longer offered: its step has "
                              "ended, or nobody pulled for too long"));
  auto bytes = offered->bytes();
  if (m.length > chunk_bytes || m.offset > bytes.size() || m.length > bytes.size() - m.offset)
    return to_error(out_of_range(str_cat("bytes ", m.offset, " + ", m.length, " of a tensor of ",
                                         bytes.size(), " were asked for")));
  auto base = static_cast<const std::byte*>(offered->buffer()->data());
  return TensorChunk{offered->buffer(), static_cast<std::uint64_t>(bytes.data() - base) + m.offset,
                     m.length};
}

caf::result<caf::ok_atom> drain(Self self) {
  if (self->state.offers->size() == 0)
    return caf::ok_atom::value;
  auto promise = self->make_response_promise<caf::ok_atom>();
  self->state.idle.add(promise);
  // Tensors also leave by other threads.
  self->state.offers->when_empty([address = self->address()] {
    if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(typed<TransportActor>(actor), ReleaseTensor{0});
  });
  return promise;
}

void sweep(Self self, const Timeouts& timeouts) {
  std::int64_t orphan_us = std::chrono::microseconds(timeouts.unclaimed()).count();
  self->state.offers->erase_unused_since(now_us(self) - orphan_us,
                                         now_us(self) - slow_link_factor * orphan_us);
  answer_when_empty(self);
  self->delayed_send(self, timeouts.unclaimed() / 4, CheckLeases{});
}

} // namespace

TransportActor::behavior_type transport(Self self, Services services) {
  guard_actor(self);
  self->set_down_handler(
      [self, services](caf::down_msg& down) { peer_lost(self, services, down.source); });
  self->delayed_send(self, services->timeouts.unclaimed() / 4, CheckLeases{});
  return {
      [self](OfferTensor& m) { add_offer(self, m); },
      [self](const PullChunk& m) { return chunk_of(self, m); },
      [self](const ReleaseTensor& m) {
        self->state.offers->erase(m.ticket);
        answer_when_empty(self);
      },
      [self, services](const OpenPath& m) {
        return transport_paths::offer_path(self, services, m);
      },
      [self, services](FetchTensor& m) { return fetch(self, services, m); },
      [self](const Drain&) { return drain(self); },
      [self](const GetActors&) {
        return describe_tree(self,
                             str_cat(self->state.offers->size(), " offered, ",
                                     self->state.fetches.size(), " being pulled"),
                             Children{});
      },
      [self, services](CheckLeases) { sweep(self, services->timeouts); },
      [](const TransportEvent& m) { (*m.run)(); },
  };
}

WireTensor to_wire(Tensor tensor, const Services& services, const caf::node_id& own,
                   const caf::strong_actor_ptr& receiver, const TransportActor& transport) {
  if (!receiver || own == receiver->node() || !tensor.has_value() || is_object(tensor.dtype()) ||
      tensor.byte_size() <= max_inline_tensor)
    return tensor;
  TensorTicket ticket;
  ticket.source = untyped(transport);
  ticket.dtype = tensor.dtype();
  ticket.shape = tensor.shape();
  ticket.bytes = tensor.byte_size();
  if (auto placed = services->lent_memory->place(node_key(receiver->node()), tensor)) {
    ticket.id = {placed->shown_at ? TicketPlace::shown : TicketPlace::lent, placed->number};
    ticket.placing_us = static_cast<std::uint32_t>(placed->micros);
    ticket.shown_at = placed->shown_at.value_or(0);
  } else if (auto pushed = services->push_lanes->push(node_key(receiver->node()), tensor)) {
    ticket.id = {TicketPlace::unasked, pushed->ticket};
    ticket.lane = pushed->lane;
  } else {
    ticket.id = {TicketPlace::offered, random_id() & ~PushLanes::mark};
    caf::anon_send(transport, OfferTensor{ticket.id.number, std::move(tensor), receiver});
  }
  WireTensor out;
  out.ticket = std::make_shared<const TensorTicket>(std::move(ticket));
  return out;
}

std::optional<Result<FetchedTensor>> claim_placed(const Services& services,
                                                  const WireTensor& wire) {
  if (!wire.is_ticket() || wire.ticket->id.place == TicketPlace::offered ||
      wire.ticket->id.place == TicketPlace::unasked)
    return std::nullopt;
  const TensorTicket& ticket = *wire.ticket;
  if (!ticket.source)
    return unavailable("the node that holds a tensor is gone");
  const bool is_shown = ticket.id.place == TicketPlace::shown;
  PlacedValue placed{ticket.id.number, ticket.placing_us, false, {}};
  if (is_shown)
    placed.shown_at = ticket.shown_at;
  // Its owner could change it while it is read: only numbers may be, never places in memory.
  if (is_shown && ticket.dtype != DType::float32 && ticket.dtype != DType::float64)
    return invalid_argument(str_cat("a node shows values of type ", to_string(ticket.dtype),
                                    " in its memory; only numbers are read there"));
  auto buffer = services->lent_memory->claim(node_key(ticket.source->node()), placed, ticket.bytes,
                                             transport_paths::limit_of(services));
  if (!buffer.ok())
    return buffer.status();
  return FetchedTensor{
      Tensor(ticket.dtype, ticket.shape, *std::move(buffer)),
      Transfer{TensorPath::shared_memory, ticket.bytes, ticket.placing_us, is_shown}};
}

void withdraw(const Services& services, const TransportActor& transport,
              const std::vector<TicketId>& tickets) {
  for (const TicketId& ticket : tickets)
    switch (ticket.place) {
    case TicketPlace::lent:
    case TicketPlace::shown:
      services->lent_memory->withdraw(ticket.number);
      break;
    case TicketPlace::unasked:
      services->push_lanes->take_back(ticket.number);
      break;
    case TicketPlace::offered:
      if (transport)
        caf::anon_send(transport, ReleaseTensor{ticket.number});
      break;
    }
}

} // namespace troupe
