#include "actors/node/node.hpp"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/family/services.hpp"
#include "actors/guardian/guardian.hpp"
#include "actors/node/dial.hpp"
#include "actors/node/handles.hpp"
#include "actors/node/pool_threads.hpp"
#include "actors/node/system_config.hpp"
#include "actors/node/tcp_network.hpp"
#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "devices/factory.hpp"
#include "devices/file_host.hpp"
#include "devices/host/device_host.hpp"
#include "kernels/framework/files.hpp"
#include "net/transport/log_guard.hpp"
#include "net/transport/stop_event.hpp"

namespace troupe {

namespace {

// Who is connected beats, or renews its session, several times within it.
std::chrono::milliseconds idle_limit(const Timeouts& timeouts) {
  return std::max({std::chrono::milliseconds(60'000), 3 * timeouts.lease, 3 * timeouts.heartbeat});
}

// CAF keeps the kernel's reason to itself; the same attempt tells it.
std::string why_not_listening(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (int error =
          ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found))
    return ::gai_strerror(error);
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return std::strerror(errno);
  int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  int error = 0;
  if (::bind(socket, found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket, 1) != 0)
    error = errno;
  ::close(socket);
  return error ? std::strerror(error) : "the port could not be opened just now, try again";
}

/// Whether and why the tree has stopped; outlives the guardian that reports it.
struct End {
  std::mutex lock;
  std::condition_variable changed;
  bool ended = false;
  bool in_order = true;
  std::string why;
  StopEvent dialling; ///< set with `ended`: threads that still dial would keep us
};

} // namespace

// Destroyed from the last member to the first: the actors go before what they use.
struct ClusterNode::Impl {
  std::shared_ptr<End> end = std::make_shared<End>();
  NodeOptions options;
  std::shared_ptr<DeviceHost> host;
  std::shared_ptr<NodeServices> services = std::make_shared<NodeServices>();
  std::unique_ptr<SystemConfig> config;
  std::unique_ptr<caf::actor_system> system;
  NodeHandles handles;
  std::uint16_t port = 0;
};

namespace {

std::vector<std::string> types_of(const std::vector<DeviceFactory>& factories) {
  std::vector<std::string> out;
  for (const DeviceFactory& factory : factories)
    out.emplace_back(factory.type);
  return out;
}

Status add_devices(const NodeOptions& options, DeviceHost& host, NodeServices& services) {
  const auto& factories = options.device_factories ? *options.device_factories : device_factories();
  for (const auto& [type, count] : options.device_count)
    if (std::ranges::find(factories, type, &DeviceFactory::type) == factories.end())
      return failed_precondition(str_cat(services.task, " is to have ", count, " ", type,
                                         " devices, and this build knows no such type; it knows ",
                                         str_join(types_of(factories), ", ")));
  TROUPE_ASSIGN(const auto files, open_files(options.files));
  for (const DeviceFactory& factory : factories) {
    auto wanted = options.device_count.find(std::string(factory.type));
    const int count = wanted == options.device_count.end() ? -1 : wanted->second;
    TROUPE_ASSIGN(auto devices, factory.make(services.task, count, host));
    for (auto& device : devices) {
      allow_files(*device, files);
      services.devices.add(std::move(device));
    }
  }
  return {};
}

/// The node's own actors, as its guardian names them.
Status ask_handles(caf::actor_system& system, std::chrono::milliseconds budget,
                   NodeHandles& handles) {
  caf::scoped_actor self{system};
  Status status;
  self->request(handles.guardian, caf::timespan(budget), Hello{protocol_version, "owner"})
      .receive(
          [&](const Welcome& w) {
            handles.master = w.master;
            handles.worker = w.worker;
            handles.transport = w.transport;
            handles.membership = w.membership;
          },
          [&](caf::error& error) { status = to_status(error, "starting the node"); });
  return status;
}

/// The port, which the system chooses where the address names none.
Result<std::uint16_t> publish(caf::actor_system& system, const GuardianActor& guardian,
                              const Address& address, const std::string& task) {
  auto port = system.middleman().publish(guardian, address.port, address.host.c_str(), true);
  if (port)
    return *port;
  return unavailable(str_cat("cannot listen at ", address, " for ", task, ": ",
                             why_not_listening(address),
                             "; `ss -ltnp` shows who has the port, and `ip address` the "
                             "addresses of this machine"));
}

} // namespace

ClusterNode::ClusterNode() : impl_(std::make_unique<Impl>()) {}

Result<std::unique_ptr<ClusterNode>> ClusterNode::start(const NodeOptions& options) {
  LogGuard log_guard;
  std::unique_ptr<ClusterNode> node(new ClusterNode);
  Impl& impl = *node->impl_;
  NodeServices& services = *impl.services;
  services.task = task_name(options.job, options.task);
  const bool is_local = options.cluster.size() == 0;
  services.cluster = options.cluster;
  services.timeouts = options.timeouts;
  services.tensor_paths = options.tensor_paths;
  services.incarnation = random_id();
  services.started_us = steady_micros();
  services.library = &op_library();
  Address address;
  if (!is_local) {
    TROUPE_ASSIGN(address, options.cluster.address_of(services.task));
    address = options.listen.value_or(address);
    services.tensor_paths.listen_host = address.host;
  }
  impl.host = options.host;
  if (!impl.host)
    impl.host = std::make_shared<DeviceHost>(options.compute_threads, options.memory_limit);
  if (options.accelerator_share > 0)
    impl.host->accelerator_share = options.accelerator_share;
  impl.options = options;
  impl.options.host = impl.host;
  services.host_memory = impl.host->allocator.get();
  TROUPE_TRY(add_devices(options, *impl.host, services));
  services.threads = std::make_shared<PoolThreads>(*impl.host->compute);
  if (!is_local)
    services.network = std::make_shared<TcpNetwork>(
        std::shared_ptr<const StopEvent>(impl.end, &impl.end->dialling), options.find_address,
        options.dial_foreign);
  auto settings = options.caf_settings;
  settings.emplace_back("troupe.idle-limit", str_cat(idle_limit(options.timeouts).count(), "ms"));
  impl.config = std::make_unique<SystemConfig>(is_local ? NetworkUse::none : NetworkUse::node,
                                               options.actor_threads, settings);
  impl.system = std::make_unique<caf::actor_system>(*impl.config);
  auto end = impl.end;
  impl.handles.guardian =
      impl.system->spawn(guardian, Services(impl.services), [end](std::string why, bool in_order) {
        std::scoped_lock guard(end->lock);
        end->ended = true;
        end->why = std::move(why);
        end->in_order = in_order;
        end->changed.notify_all();
        end->dialling.set();
      });
  TROUPE_TRY(ask_handles(*impl.system, services.timeouts.request, impl.handles));
  if (!is_local) {
    TROUPE_ASSIGN(impl.port, publish(*impl.system, impl.handles.guardian, address, services.task));
  }
  return node;
}

namespace {

// What the actors said last, such as why they end, is written before the connections close: the
// network's thread has handled it when it answers, and has been at its sockets when it answers
// again.
void flush_network(caf::actor_system& system) {
  caf::scoped_actor self{system};
  for (int round = 0; round < 2; ++round)
    self->request(system.middleman().actor_handle(), caf::timespan(std::chrono::seconds(1)),
                  caf::get_atom::value, system.node())
        .receive([](const caf::node_id&, const std::string&, std::uint16_t) {}, [](caf::error&) {});
}

} // namespace

ClusterNode::~ClusterNode() {
  LogGuard log_guard;
  Impl& impl = *impl_;
  if (!impl.system)
    return;
  shut_down("its owner is done");
  impl.handles.master = MasterActor{};
  impl.handles.worker = WorkerActor{};
  impl.handles.transport = TransportActor{};
  impl.handles.membership = MembershipActor{};
  if (!wait_for(std::chrono::seconds(10)))
    impl.system->await_actors_before_shutdown(
        false); // an actor hangs: better an untidy end than none
  else if (impl.services->network->reaches_others())
    flush_network(*impl.system);

  // Only now: without a reference the guardian would be gone before its children's end reaches it.
  impl.handles.guardian = GuardianActor{};
}

const std::string& ClusterNode::task() const {
  return impl_->services->task;
}
const NodeOptions& ClusterNode::options() const {
  return impl_->options;
}
std::uint16_t ClusterNode::port() const {
  return impl_->port;
}
caf::actor_system& ClusterNode::system() {
  return *impl_->system;
}
const NodeServices& ClusterNode::services() const {
  return *impl_->services;
}
std::shared_ptr<const NodeServices> ClusterNode::shared_services() const {
  return impl_->services;
}
const NodeHandles& ClusterNode::handles() const {
  return impl_->handles;
}

Status ClusterNode::adopt(const std::string& name, const DrainActor& actor) {
  LogGuard log_guard;
  caf::scoped_actor self{*impl_->system};
  Status status;
  self->request(impl_->handles.guardian, caf::timespan(impl_->services->timeouts.request),
                Adopt{name, actor})
      .receive([](caf::ok_atom) {},
               [&](caf::error& error) { status = to_status(error, "joining the node's tree"); });
  return status;
}

std::string ClusterNode::wait() {
  std::unique_lock guard(impl_->end->lock);
  impl_->end->changed.wait(guard, [&] { return impl_->end->ended; });
  return impl_->end->why;
}

bool ClusterNode::ended_in_order() const {
  std::scoped_lock guard(impl_->end->lock);
  return impl_->end->in_order;
}

bool ClusterNode::wait_for(std::chrono::milliseconds budget) {
  std::unique_lock guard(impl_->end->lock);
  return impl_->end->changed.wait_for(guard, budget, [&] { return impl_->end->ended; });
}

void ClusterNode::shut_down(const std::string& reason, std::chrono::milliseconds grace) {
  if (impl_->handles.guardian)
    caf::anon_send(impl_->handles.guardian,
                   ShutDown{std::chrono::microseconds(grace).count(), reason});
}

} // namespace troupe
