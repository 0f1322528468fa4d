#include "actors/transport/internal/paths.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe::transport_paths {

namespace {

// Shared pages count against memory-limit like all others.
class AllocatorLimit final : public MemoryLimit {
public:
  explicit AllocatorLimit(Allocator& allocator) : allocator_(allocator) {}
  bool charge(std::size_t bytes) override { return allocator_.charge(bytes); }
  void discharge(std::size_t bytes) override { allocator_.discharge(bytes); }
  std::string refusal() const override { return allocator_.refusal(); }

private:
  Allocator& allocator_;
};

// Hands what happened on another thread to the actor, if it is still there.
std::function<void(std::function<void()>)> poster(Self self) {
  return [address = self->address()](std::function<void()> run) {
    if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(typed<TransportActor>(actor),
                     TransportEvent{std::make_shared<const std::function<void()>>(std::move(run))});
  };
}

std::string text_of(const data::Token& token) {
  return {token.begin(), token.end()};
}

data::Token token_of(const std::string& text) {
  data::Token out{};
  std::copy_n(text.begin(), std::min(text.size(), out.size()), out.begin());
  return out;
}

void open_link(Self self, const Services& services, const caf::actor_addr& address);
void ask_for_paths(Self self, const Services& services, const caf::actor_addr& address);

// Does what the plan says. `why` is what fetches that have no path end with.
void apply(Self self, const Services& services, const caf::actor_addr& address,
           const PathPlan::Effect& effect, const Status& why = {}) {
  using Do = PathPlan::Do;
  switch (effect.what) {
  case Do::nothing:
    return;
  case Do::ask:
    return ask_for_paths(self, services, address);
  case Do::open:
    return open_link(self, services, address);
  case Do::use:
    return pump(self, services, address);
  case Do::fail:
    for (std::uint64_t fetch : effect.failed)
      finish(self, services, address, fetch, why);
    return;
  }
}

// A path stands, or the next one is to be opened.
void go_on(Self self, const Services& services, const caf::actor_addr& address,
           const PathPlan::Effect& effect, const Status& why) {
  TransportPeer& peer = self->state.peers[address];
  if (effect.what == PathPlan::Do::use) {
    const std::string& remark = peer.plan.remark();
    peer.record->set_path(peer.plan.path(), remark);
    log_info("tensors from ", peer.task, " come by ", to_string(peer.plan.path()),
             remark.empty() ? "" : str_cat(" (", remark, ")"));
  }
  apply(self, services, address, effect, why);
}

void path_refused(Self self, const Services& services, const caf::actor_addr& address,
                  const Status& why) {
  TransportPeer& peer = self->state.peers[address];
  const TensorPath tried = peer.plan.path();
  peer.link.reset();
  go_on(self, services, address, peer.plan.refused(why),
        failed_precondition(str_cat("tensor-path \"", to_string(tried), "\" is not to be had from ",
                                    peer.task, " to ", services->task, ": ", why.message(),
                                    "; write tensor-path = \"auto\" or another path"))
            .with_origin({"", "", peer.task, 0}));
}

// A path that stood has ended; the next fetch opens another.
void path_broke(Self self, const Services& services, const caf::actor_addr& address,
                const Status& why) {
  TransportPeer& peer = self->state.peers[address];
  log_warning(why.message());
  peer.link.reset();
  apply(self, services, address, peer.plan.broke(), why);
}

void open_link(Self self, const Services& services, const caf::actor_addr& address) {
  TransportPeer& peer = self->state.peers[address];
  DataEndpoint to;
  to.task = peer.task;
  to.path = peer.plan.path();
  to.local_name = peer.offer.local_name;
  to.host = peer.offer.stream_host;
  to.port = peer.offer.port;
  to.token = token_of(peer.offer.token);
  to.proof = token_of(peer.offer.proof);
  if (to.path == TensorPath::stream && services->tensor_paths.lends)
    to.lent = lent_to_streams;
  std::shared_ptr<SharedRegion> region;
  if (to.path == TensorPath::shared_memory) {
    auto made = SharedRegion::make(SharedRegion::default_bytes(), services->tensor_paths.lends);
    if (!made.ok())
      return path_refused(self, services, address, made.status());
    region = *std::move(made);
  }
  // Events of a link that was given up meanwhile concern nobody.
  auto current = std::make_shared<std::weak_ptr<DataLink>>();
  auto when_current = [=](auto then) {
    return [=, post = poster(self)](Status status) {
      post([=] {
        auto it = self->state.peers.find(address);
        auto link = current->lock();
        if (it != self->state.peers.end() && link && it->second.link == link)
          then(status);
      });
    };
  };
  if (region && region->lent_bytes() > 0)
    services->lent_memory->lend(node_key(address.node()), region, peer.record);
  peer.link = self->state.client->open(
      std::move(to), std::move(region), when_current([=](const Status& status) {
        if (status.ok())
          go_on(self, services, address, self->state.peers[address].plan.opened(), {});
        else
          path_refused(self, services, address, status);
      }),
      when_current([=](const Status& why) { path_broke(self, services, address, why); }));
  *current = peer.link;
}

PathEnd own_end(const Services& services) {
  PathEnd out;
  out.task = services->task;
  out.choice = services->tensor_paths.choice;
  out.host = boot_id();
  out.ucx = ucx_support(out.choice);
  return out;
}

UcxSupport support_of(std::uint8_t sent) {
  return static_cast<UcxSupport>(std::min(sent, static_cast<std::uint8_t>(UcxSupport::rdma)));
}

// UCX over what has no device is for those who name it.
UcxChoice ucx_choice(const TensorPathSettings& settings) {
  return {settings.choice == PathChoice::ucx ? "" : "ib", settings.listen_host};
}

void path_offered(Self self, const Services& services, const caf::actor_addr& address,
                  PathOffer& offer) {
  TransportPeer& peer = self->state.peers[address];
  PathEnd sender;
  bool is_task = services->cluster.address_of(offer.task).ok();
  sender.task = is_task || services->cluster.size() == 0 ? offer.task : "client";
  sender.choice = static_cast<PathChoice>(std::min(offer.choice, last_path_choice));
  sender.host = offer.host;
  sender.has_local_socket = !offer.local_name.empty();
  sender.has_port = offer.port != 0;
  sender.ucx = support_of(offer.ucx);
  peer.task = sender.task;
  peer.record = services->path_book->record(PathBook::Direction::from, peer.task);
  if (is_task) // no peer sends us to a third place
    offer.stream_host = services->cluster.address_of(offer.task)->host;
  peer.offer = std::move(offer);
  auto candidates = paths_to_try(own_end(services), sender);
  if (!candidates.ok())
    return apply(self, services, address, peer.plan.unanswered(), candidates.status());
  go_on(self, services, address, peer.plan.offered(*std::move(candidates)), {});
}

DataClientOptions client_options(const Services& services) {
  DataClientOptions out;
  out.opening = services->timeouts.lease;
  out.stall = services->timeouts.chunk;
  out.unclaimed = services->timeouts.unclaimed();
  out.ucx = ucx_choice(services->tensor_paths);
  out.allocate = [memory = services->host_memory](std::uint64_t bytes) -> Result<BufferRef> {
    TROUPE_ASSIGN(Tensor tensor,
                  Tensor::allocate(*memory, DType::uint8, {static_cast<std::int64_t>(bytes)}));
    return tensor.buffer();
  };
  return out;
}

void ask_for_paths(Self self, const Services& services, const caf::actor_addr& address) {
  TransportPeer& peer = self->state.peers[address];
  if (!self->state.client)
    self->state.client =
        std::make_unique<DataClient>(client_options(services), services->path_book);
  PathEnd own = own_end(services);
  ask(self, peer.actor, services->timeouts.request,
      OpenPath{own.task, static_cast<std::uint8_t>(own.choice), own.host,
               static_cast<std::uint8_t>(own.ucx)})
      .then(
          [=](PathOffer& offer) {
            if (self->state.peers.count(address))
              path_offered(self, services, address, offer);
          },
          [=](caf::error& error) {
            auto it = self->state.peers.find(address);
            if (it == self->state.peers.end())
              return;
            apply(self, services, address, it->second.plan.unanswered(),
                  to_status(error, "asking for a path of tensors"));
          });
}

void start_server(Self self, const Services& services) {
  PathChoice choice = services->tensor_paths.choice;
  DataServerOptions options;
  options.has_local_socket = choice == PathChoice::best || choice == PathChoice::shared_memory;
  if (ucx_support(choice) != UcxSupport::none)
    options.ucx = ucx_choice(services->tensor_paths);
  if (choice == PathChoice::best || choice == PathChoice::stream || options.ucx)
    options.host = services->tensor_paths.listen_host;
  options.handshake = services->tensor_paths.handshake;
  options.connections = static_cast<std::size_t>(services->tensor_paths.connections);
  options.stall = services->timeouts.chunk;
  options.unclaimed = services->timeouts.unclaimed();
  auto settle = [self, post = poster(self)] {
    // By then the actor has handled what was offered before.
    post([self] { self->state.server->offers_settled(); });
  };
  services->lent_memory->limit_shown(limit_of(services));
  if (!services->tensor_paths.shows)
    services->lent_memory->show_nothing();
  for (;;) {
    auto server = DataServer::start(options, self->state.offers, services->path_book,
                                    services->lent_memory, services->push_lanes, settle);
    if (server.ok()) {
      self->state.server = *std::move(server);
      return;
    }
    log_warning(server.status().message());
    if (options.host.empty())
      return;
    options.host.clear(); // at least for this host
  }
}

// Starts a fetch whose turn it is.
void start(Self self, const Services& services, const caf::actor_addr& address,
           std::uint64_t number) {
  TransportPeer& peer = self->state.peers[address];
  TransportFetch& fetch = self->state.fetches.at(number);
  const TensorTicket& ticket = *fetch.ticket;
  std::uint64_t offset = 0;
  if (peer.link && peer.link->region()) {
    auto range = peer.link->region()->allocate(ticket.bytes, limit_of(services));
    if (!range.ok())
      return finish(self, services, address, number, range.status());
    offset = range->offset;
    fetch.tensor = Tensor(ticket.dtype, ticket.shape, std::move(range->buffer));
  } else {
    auto tensor = Tensor::allocate(*services->host_memory, ticket.dtype, ticket.shape);
    if (!tensor.ok())
      return finish(self, services, address, number, tensor.status());
    fetch.tensor = *std::move(tensor);
  }
  fetch.since_us = steady_micros();
  if (!peer.link) {
    if (peer.record)
      peer.record->begin(fetch.since_us);
    for (int i = 0; i < chunk_window; ++i)
      ask_for_next(self, services, address, number);
    return;
  }
  peer.link->pull(ticket.id.number, ticket.bytes, fetch.tensor.buffer(), offset,
                  [=, post = poster(self)](Status status, std::int64_t) {
                    post([=] { finish(self, services, address, number, status); });
                  });
}

} // namespace

std::shared_ptr<MemoryLimit> limit_of(const Services& services) {
  return std::make_shared<AllocatorLimit>(*services->host_memory);
}

void enqueue(Self self, const Services& services, const caf::actor_addr& address,
             std::uint64_t number) {
  TransportPeer& peer = self->state.peers[address];
  if (!peer.actor) {
    peer.actor = typed<TransportActor>(self->state.fetches.at(number).ticket->source);
    self->monitor(peer.actor);
  }
  auto effect = peer.plan.fetch(number, self->state.fetches.at(number).ticket->bytes);
  if (effect.what == PathPlan::Do::ask && !services->network->is_tcp())
    effect = peer.plan.offered({TensorPath::messages});
  apply(self, services, address, effect);
}

void claim(Self self, const Services& services, const caf::actor_addr& address,
           std::uint64_t number) {
  TransportFetch& fetch = self->state.fetches.at(number);
  fetch.is_unasked = true;
  auto peer = self->state.peers.find(address);
  if (peer == self->state.peers.end() || !peer->second.link ||
      peer->second.link->lane() != fetch.ticket->lane)
    return finish(self, services, address, number,
                  unavailable("the stream on which a tensor was sent broke; run the step again")
                      .as_derived());
  auto claimed = [=](Result<BufferRef> bytes, std::int64_t micros) {
    auto found = self->state.fetches.find(number);
    if (found == self->state.fetches.end())
      return;
    TransportFetch& fetch = found->second;
    fetch.since_us = steady_micros() - micros;
    if (bytes.ok())
      fetch.tensor = Tensor(fetch.ticket->dtype, fetch.ticket->shape, *std::move(bytes));
    finish(self, services, address, number, bytes.ok() ? Status{} : bytes.status());
  };
  peer->second.link->claim(fetch.ticket->id.number, fetch.ticket->bytes,
                           [=, post = poster(self)](Result<BufferRef> bytes, std::int64_t micros) {
                             // Whoever is told holds the tensor alone.
                             auto box = std::make_shared<Result<BufferRef>>(std::move(bytes));
                             post([=] { claimed(std::move(*box), micros); });
                           });
}

void pump(Self self, const Services& services, const caf::actor_addr& address) {
  for (;;) {
    auto it = self->state.peers.find(address);
    if (it == self->state.peers.end())
      return;
    auto number = it->second.plan.next_turn();
    if (!number)
      return;
    start(self, services, address, *number);
  }
}

void finish(Self self, const Services& services, const caf::actor_addr& address,
            std::uint64_t number, const Status& status) {
  auto ended = self->state.fetches.extract(number);
  if (ended.empty())
    return;
  TransportFetch& fetch = ended.mapped();
  TensorPath path = TensorPath::messages;
  std::int64_t now = steady_micros();
  if (fetch.is_unasked)
    path = TensorPath::stream;
  auto it = self->state.peers.find(address);
  if (it != self->state.peers.end() && it->second.plan.ended(number)) {
    TransportPeer& peer = it->second;
    if (peer.link)
      path = peer.link->path();
    else if (peer.record && fetch.since_us != 0)
      peer.record->end(now, fetch.ticket->bytes, status.ok());
  }
  if (status.ok())
    fetch.promise.deliver(FetchedTensor{
        std::move(fetch.tensor), Transfer{path, fetch.ticket->bytes, now - fetch.since_us, false}});
  else
    fetch.promise.deliver(to_error(status));
  pump(self, services, address);
}

void lose(Self self, const Services& services, const caf::actor_addr& address, const Status& why) {
  auto gone = self->state.peers.extract(address);
  if (gone.empty())
    return;
  services->lent_memory->forget(node_key(address.node()));
  TransportPeer& peer = gone.mapped();
  if (peer.link)
    peer.link->close(why);
  for (std::uint64_t number : peer.plan.lose())
    if (auto fetch = self->state.fetches.extract(number); !fetch.empty()) {
      if (!peer.link && peer.record && fetch.mapped().since_us != 0)
        peer.record->end(steady_micros(), 0, false);
      fetch.mapped().promise.deliver(to_error(why));
    }
}

caf::result<PathOffer> offer_path(Self self, const Services& services, const OpenPath& request) {
  if (!self->current_sender())
    return to_error(invalid_argument("a path of tensors needs somebody to pull on it"));
  if (!self->state.server && services->network->is_tcp() &&
      services->tensor_paths.choice != PathChoice::messages)
    start_server(self, services);
  PathEnd own = own_end(services), receiver;
  PathOffer out;
  out.task = own.task;
  out.choice = static_cast<std::uint8_t>(own.choice);
  out.host = own.host;
  out.ucx = static_cast<std::uint8_t>(own.ucx);
  receiver.task = services->cluster.address_of(request.task).ok() ? request.task : "client";
  receiver.choice = static_cast<PathChoice>(std::min(request.choice, last_path_choice));
  receiver.host = request.host;
  receiver.ucx = support_of(request.ucx);
  caf::strong_actor_ptr peer = self->current_sender();
  std::uint64_t key = node_key(peer->node());
  if (self->state.pullers.emplace(peer->get()->address(), key).second)
    self->monitor(caf::actor_cast<caf::actor>(peer));
  if (!self->state.server)
    return out;
  const DataServer& server = *self->state.server;
  out.local_name = server.local_name();
  out.port = server.port();
  if (out.port != 0)
    out.stream_host = services->cluster.address_of(services->task)->host;
  own.has_local_socket = !out.local_name.empty();
  own.has_port = out.port != 0;
  if (auto possible = paths_to_try(receiver, own); !possible.ok())
    return to_error(possible.status());
  auto invitation = self->state.server->invite(key, receiver.task);
  out.token = text_of(invitation.token);
  out.proof = text_of(invitation.proof);
  return out;
}

} // namespace troupe::transport_paths
