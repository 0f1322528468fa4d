#include "actors/transport/transport.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

TransportState::~TransportState() {
  counter("transport_offers").add(-static_cast<std::int64_t>(offers.size()));
}

// One tensor on its way in. Ends when every chunk has come, or with the first error.
struct TransportPull {
  TransportActor source;
  std::uint64_t ticket = 0;
  Tensor tensor;
  std::uint64_t total = 0, next = 0, arrived = 0;
  bool failed = false;
  caf::typed_response_promise<FetchedTensor> promise;
  std::optional<Counted> counted{counter("transport_pulls")}; ///< until it is answered
};

namespace {

using Self = TransportActor::stateful_pointer<TransportState>;
using Pull = TransportPull;

// The node that held a tensor is gone: who pulls from it need not wait for a chunk's time.
void source_lost(Self self, const caf::actor_addr& source) {
  for (const auto& entry : self->state.pulling)
    if (auto pull = entry.lock(); pull && !pull->failed && pull->source == source) {
      pull->failed = true;
      pull->counted.reset();
      --self->state.pulls;
      pull->promise.deliver(
          to_error(unavailable("the node that holds a tensor closed its connection").as_derived()));
    }
}

void ask_for_next(Self self, const Services& services, const std::shared_ptr<Pull>& pull) {
  if (pull->failed || pull->next >= pull->total)
    return;
  std::uint64_t offset = pull->next;
  std::uint64_t length = std::min<std::uint64_t>(chunk_bytes, pull->total - offset);
  pull->next += length;
  ask_watched(self, pull->source, services->timeouts.chunk, PullChunk{pull->ticket, offset, length})
      .then(
          [=](TensorChunk& chunk) {
            if (pull->failed)
              return;
            if (chunk.length != length) {
              pull->failed = true;
              --self->state.pulls;
              pull->promise.deliver(to_error(
                  internal(str_cat("a peer sent ", chunk.length, " bytes of a tensor where ",
                                   length, " were asked for"))));
              return;
            }
            std::memcpy(static_cast<std::byte*>(pull->tensor.mutable_raw()) + offset,
                        static_cast<const std::byte*>(chunk.buffer->data()) + chunk.offset, length);
            pull->arrived += length;
            if (pull->arrived < pull->total)
              return ask_for_next(self, services, pull);
            --self->state.pulls;
            self->send(pull->source, ReleaseTensor{pull->ticket});
            pull->promise.deliver(FetchedTensor{std::move(pull->tensor)});
          },
          [=](caf::error& error) {
            if (std::exchange(pull->failed, true))
              return;
            --self->state.pulls;
            Status why = to_status(error, str_cat("pulling a tensor of ", pull->total, " bytes"));
            pull->promise.deliver(
                to_error(why.code() == Code::not_found ? aborted(why.message()) : why));
          });
}

caf::result<FetchedTensor> fetch(Self self, const Services& services, FetchTensor& m) {
  if (!m.tensor.is_ticket())
    return FetchedTensor{std::move(m.tensor.tensor)};
  const TensorTicket& ticket = *m.tensor.ticket;
  Allocator& allocator = services->devices.all().empty()
                             ? host_allocator()
                             : services->devices.all().front()->host_side_allocator();
  auto tensor = Tensor::allocate(allocator, ticket.dtype, ticket.shape);
  if (!tensor.ok())
    return to_error(tensor.status());
  if (!ticket.source)
    return to_error(unavailable("the node that holds a tensor is gone"));
  auto pull = std::make_shared<Pull>();
  pull->source = typed<TransportActor>(ticket.source);
  pull->ticket = ticket.id;
  pull->tensor = *std::move(tensor);
  pull->total = ticket.bytes;
  pull->promise = self->make_response_promise<FetchedTensor>();
  ++self->state.pulls;
  auto& pulling = self->state.pulling;
  std::erase_if(pulling, [](const auto& entry) { return entry.expired(); });
  bool watched = std::any_of(pulling.begin(), pulling.end(), [&](const auto& entry) {
    auto other = entry.lock();
    return other && other->source == pull->source;
  });
  if (!watched)
    self->monitor(pull->source);
  pulling.push_back(pull);
  for (int i = 0; i < chunk_window; ++i)
    ask_for_next(self, services, pull);
  return pull->promise;
}

void add_offer(Self self, OfferTensor& m) {
  caf::actor_addr receiver;
  if (m.receiver) {
    receiver = m.receiver->get()->address();
    if (self->state.receivers[receiver]++ == 0)
      self->monitor(caf::actor_cast<caf::actor>(m.receiver));
  }
  counter("transport_offers").add(1);
  self->state.offers[m.ticket] = {std::move(m.tensor), now_us(self), receiver};
}

// An offer is about to be forgotten.
void ends(Self self, const TransportState::Offer& offer) {
  auto& receivers = self->state.receivers;
  counter("transport_offers").add(-1);
  auto receiver = receivers.find(offer.receiver);
  if (receiver != receivers.end() && --receiver->second == 0) {
    self->demonitor(receiver->first);
    receivers.erase(receiver);
  }
}

template <class Unwanted>
void drop_offers(Self self, Unwanted unwanted) {
  auto& state = self->state;
  std::erase_if(state.offers, [&](const auto& entry) {
    bool drop = unwanted(entry.second);
    if (drop)
      ends(self, entry.second);
    return drop;
  });
  if (state.offers.empty())
    state.idle.answer();
}

void release(Self self, std::uint64_t ticket) {
  auto& state = self->state;
  if (auto offer = state.offers.extract(ticket); !offer.empty())
    ends(self, offer.mapped());
  if (state.offers.empty())
    state.idle.answer();
}

} // namespace

TransportActor::behavior_type transport(Self self, Services services) {
  keep_exception_text(self);
  auto sweep_every = services->timeouts.orphan / 4;
  self->set_down_handler([self](caf::down_msg& down) {
    source_lost(self, down.source);
    if (self->state.receivers.count(down.source)) // nobody will come for what was meant for it
      drop_offers(self, [source = down.source](const TransportState::Offer& offer) {
        return offer.receiver == source;
      });
  });
  self->delayed_send(self, sweep_every, caf::tick_atom::value);
  return {
      [self](OfferTensor& m) { add_offer(self, m); },
      [self](const PullChunk& m) -> caf::result<TensorChunk> {
        auto it = self->state.offers.find(m.ticket);
        if (it == self->state.offers.end())
          return to_error(not_found("a tensor that a peer pulls is no longer offered: its step has "
                                    "ended, or nobody pulled for too long"));
        const Tensor& tensor = it->second.tensor;
        auto bytes = tensor.bytes();
        if (m.length > chunk_bytes || m.offset > bytes.size() || m.length > bytes.size() - m.offset)
          return to_error(
              out_of_range(str_cat("bytes ", m.offset, " + ", m.length, " of a tensor of ",
                                   bytes.size(), " were asked for")));
        it->second.last_used_us = now_us(self);
        auto base = static_cast<const std::byte*>(tensor.buffer()->data());
        return TensorChunk{tensor.buffer(),
                           static_cast<std::uint64_t>(bytes.data() - base) + m.offset, m.length};
      },
      [self](const ReleaseTensor& m) { release(self, m.ticket); },
      [self, services](FetchTensor& m) { return fetch(self, services, m); },
      [self](const Drain&) -> caf::result<caf::ok_atom> {
        if (self->state.offers.empty())
          return caf::ok_atom::value;
        auto promise = self->make_response_promise<caf::ok_atom>();
        self->state.idle.add(promise);
        return promise;
      },
      [self](const GetActors&) {
        return describe_tree(
            self,
            str_cat(self->state.offers.size(), " offered, ", self->state.pulls, " being pulled"),
            Children{});
      },
      [self, services, sweep_every](caf::tick_atom) {
        std::int64_t oldest =
            now_us(self) - std::chrono::microseconds(services->timeouts.orphan).count();
        drop_offers(
            self, [&](const TransportState::Offer& offer) { return offer.last_used_us < oldest; });
        self->delayed_send(self, sweep_every, caf::tick_atom::value);
      },
  };
}

WireTensor to_wire(Tensor tensor, const caf::node_id& own, const caf::strong_actor_ptr& receiver,
                   const caf::strong_actor_ptr& transport) {
  if (!receiver || own == receiver->node() || !tensor.has_value() || is_object(tensor.dtype()) ||
      tensor.byte_size() <= max_inline_tensor)
    return tensor;
  TensorTicket ticket;
  ticket.source = transport;
  ticket.id = random_id();
  ticket.dtype = tensor.dtype();
  ticket.shape = tensor.shape();
  ticket.bytes = tensor.byte_size();
  caf::anon_send(typed<TransportActor>(transport),
                 OfferTensor{ticket.id, std::move(tensor), receiver});
  WireTensor out;
  out.ticket = std::make_shared<const TensorTicket>(std::move(ticket));
  return out;
}

void withdraw(const caf::strong_actor_ptr& transport, const std::vector<std::uint64_t>& tickets) {
  if (transport)
    for (std::uint64_t ticket : tickets)
      caf::anon_send(typed<TransportActor>(transport), ReleaseTensor{ticket});
}

} // namespace troupe
