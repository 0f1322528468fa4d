#include "actors/node/client.hpp"

#include <caf/actor_system.hpp>

#include "actors/family/services.hpp"
#include "actors/node/dial.hpp"
#include "actors/node/system_config.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/clock.hpp"
#include "core/base/random.hpp"

namespace troupe {

struct ClientNode::Impl {
  std::shared_ptr<const NodeServices> services;
  SystemConfig config{NetworkUse::client, 2, {}};
  caf::actor_system system{config};
  TransportActor transport;
};

ClientNode::ClientNode(const Timeouts& timeouts) : impl_(std::make_unique<Impl>()) {
  auto services = std::make_shared<NodeServices>();
  services->task = "client";
  services->incarnation = random_id();
  services->timeouts = timeouts;
  services->library = &op_library();
  services->started_us = steady_micros();
  services->real_network = true;
  impl_->services = services;
  impl_->transport = impl_->system.spawn(troupe::transport, Services(services));
}

ClientNode::~ClientNode() {
  stop(untyped(impl_->transport));
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
  TROUPE_ASSIGN(caf::strong_actor_ptr guardian, dial_guardian(impl_->system, address, budget));
  return typed<GuardianActor>(guardian);
}

} // namespace troupe
