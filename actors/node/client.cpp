#include "actors/node/client.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include <caf/actor_system.hpp>

#include "actors/family/ask.hpp"
#include "actors/family/services.hpp"
#include "actors/node/dial.hpp"
#include "actors/node/system_config.hpp"
#include "actors/node/tcp_network.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "net/transport/log_guard.hpp"
#include "net/transport/stop_event.hpp"

namespace troupe {

namespace {

/// A node closes connections on which nothing comes for a minute.
constexpr std::chrono::seconds greets_every{15};

// Keeps a client's connection while its process lives, with or without a session. Ends with the
// connection.
using Greeter = caf::typed_actor<caf::reacts_to<caf::tick_atom>>;

Greeter::behavior_type greeter(Greeter::pointer self, GuardianActor guardian) {
  guard_actor(self);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  self->monitor(guardian);
  self->delayed_send(self, greets_every, caf::tick_atom::value);
  return {[=](caf::tick_atom) {
    ask(self, guardian, greets_every, Hello{protocol_version, "client"})
        .then([](const Welcome&) {}, [](caf::error&) {}); // its end is told by the connection's
    self->delayed_send(self, greets_every, caf::tick_atom::value);
  }};
}

} // namespace

struct ClientNode::Impl {
  std::shared_ptr<const NodeServices> services;
  /// Before the system, whose end waits for dials.
  std::shared_ptr<StopEvent> stop_dialling = std::make_shared<StopEvent>();
  SystemConfig config{NetworkUse::client, 2, {}};
  caf::actor_system system{config};
  TransportActor transport;
  struct Greeted {
    caf::actor_addr guardian, greeter;
  };
  std::mutex lock;              // guards what follows
  std::vector<Greeted> greeted; // nodes that were dialled

  /// Once for each connection, whoever dials. A greeter that has ended is forgotten.
  void greet(const GuardianActor& guardian) {
    std::scoped_lock guard(lock);
    std::erase_if(greeted, [](const Greeted& one) {
      return !caf::actor_cast<caf::strong_actor_ptr>(one.greeter);
    });
    if (std::ranges::find(greeted, guardian.address(), &Greeted::guardian) == greeted.end())
      greeted.push_back({guardian.address(), system.spawn(greeter, guardian).address()});
  }
};

ClientNode::ClientNode(const Timeouts& timeouts) : impl_(std::make_unique<Impl>()) {
  LogGuard log_guard;
  auto services = std::make_shared<NodeServices>();
  services->task = "client";
  services->incarnation = random_id();
  services->timeouts = timeouts;
  services->library = &op_library();
  services->started_us = steady_micros();
  services->network = std::make_shared<TcpNetwork>(impl_->stop_dialling);
  impl_->services = services;
  impl_->transport = impl_->system.spawn(troupe::transport, Services(services));
}

ClientNode::~ClientNode() {
  impl_->stop_dialling->set();
  LogGuard log_guard;
  for (const Impl::Greeted& one : impl_->greeted)
    if (auto greeter = caf::actor_cast<caf::actor>(one.greeter))
      caf::anon_send_exit(greeter, caf::exit_reason::user_shutdown);
  stop(impl_->transport);
  impl_->transport = TransportActor{};
}

caf::actor_system& ClientNode::system() {
  return impl_->system;
}
const std::shared_ptr<const NodeServices>& ClientNode::services() const {
  return impl_->services;
}
const TransportActor& ClientNode::transport() const {
  return impl_->transport;
}

Result<GuardianActor> ClientNode::dial(const Address& address, std::chrono::milliseconds budget) {
  LogGuard log_guard;
  TROUPE_ASSIGN(caf::strong_actor_ptr found, dial_guardian(impl_->system, address, {budget}));
  auto guardian = typed<GuardianActor>(found);
  impl_->greet(guardian);
  return guardian;
}

} // namespace troupe
