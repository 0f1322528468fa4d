#include "tests/support/sim/sim_cluster.hpp"

#include "actors/family/ask.hpp"
#include "actors/guardian/guardian.hpp"
#include "actors/protocol/messages.hpp"
#include "actors/session/session.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/check.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"

#include <ctime>

namespace troupe::testing {

namespace {

// Processor time of this thread.
Duration thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

} // namespace

SimConfig::SimConfig() {
  add_protocol_messages(*this);
  load<caf::io::middleman>();
  set("scheduler.policy", caf::atom("testing"));
  set("logger.inline-output", true);
  set("middleman.network-backend", caf::atom("testing"));
  set("middleman.manual-multiplexing", true);
  set("middleman.heartbeat-interval", caf::timespan{0});
  set("middleman.workers", std::size_t{0});
}

SimNode::SimNode(std::string task, const Cluster& cluster, std::uint16_t listen, SimCluster& owner)
    : system(owner.config_),
      scheduler(dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())),
      net(dynamic_cast<caf::io::network::test_multiplexer&>(system.middleman().backend())),
      port(listen) {
  // The network module has put a maker of groups of its own there; the next node's does so too.
  owner.config_.group_module_factories.clear();
  services->task = task;
  services->incarnation = random_id();
  services->cluster = cluster;
  services->library = &op_library();
  services->network = std::make_shared<SimNetwork>([this](const std::string& address) {
    auto it = guardians.find(address);
    return it == guardians.end() ? nullptr : it->second;
  });
  if (task == "client") {
    handles.transport = system.spawn(transport, Services(services));
    spawned.push_back(caf::actor_cast<caf::actor>(handles.transport));
    return;
  }
  services->host_memory = host->allocator.get();
  for (auto& device : make_cpu_devices(*host, task, 1))
    services->devices.add(std::move(device));
  handles.guardian = system.spawn(guardian, Services(services), [](std::string, bool) {});
  spawned.push_back(caf::actor_cast<caf::actor>(handles.guardian));
}

SimNode::~SimNode() {
  self->context(nullptr);
}

bool SimNode::step() {
  if (frozen)
    return false;
  return scheduler.try_run_once() || net.try_exec_runnable() || net.read_data() ||
         net.try_accept_connection();
}

std::size_t SimNode::run() {
  std::size_t events = 0;
  // Looking for what has come takes a look at each wire. While nobody else runs nothing comes.
  for (bool may_have_come = !frozen; !frozen; ++events) {
    if (scheduler.try_run_once() || net.try_exec_runnable())
      continue;
    if (std::exchange(may_have_come, false) && net.read_data())
      continue;
    if (!net.try_accept_connection())
      break;
    may_have_come = true;
  }
  return events;
}

SimCluster::SimCluster(const std::vector<std::string>& tasks, const std::string& hub) {
  Cluster cluster;
  std::uint16_t port = 4200;
  for (const std::string& task : tasks) {
    auto name = DeviceName::parse(task);
    TROUPE_CHECK(name.ok() && name->has_task_part(), "a simulated task has a full task name");
    Status added = cluster.add(*name->job, *name->task, Address{"sim", ++port});
    TROUPE_CHECK(added.ok(), added.message());
  }
  for (const std::string& task : cluster.tasks())
    nodes_[task] = std::make_unique<SimNode>(task, cluster, cluster.address_of(task)->port, *this);
  nodes_["client"] = std::make_unique<SimNode>("client", cluster, std::uint16_t{0}, *this);
  run();
  for (auto& [task, node] : nodes_) {
    if (node->port == 0)
      continue;
    node->net.provide_acceptor(node->port, caf::io::accept_handle::from_int(node->port));
    node->scheduler.inline_next_enqueue();
    auto published = node->system.middleman().publish(node->handles.guardian, node->port);
    TROUPE_CHECK(published, "a simulated port can be published");
    auto welcome = ask<Welcome>(*node, node->handles.guardian, Hello{protocol_version, "owner"});
    TROUPE_CHECK(welcome.ok(), welcome.status().message());
    node->handles.master = welcome->master;
    node->handles.worker = welcome->worker;
    node->handles.transport = welcome->transport;
    node->handles.membership = welcome->membership;
  }
  for (auto& [from_task, from] : nodes_)
    for (auto& [to_task, to] : nodes_)
      if (to->port != 0 && from_task != to_task &&
          (hub.empty() || from_task == hub || to_task == hub))
        connect(*from, *to);
  run();
}

void SimCluster::connect(SimNode& from, SimNode& to) {
  auto near = caf::io::connection_handle::from_int(next_handle_++);
  auto far = caf::io::connection_handle::from_int(next_handle_++);
  to.net.prepare_connection(caf::io::accept_handle::from_int(to.port), far, from.net, "sim",
                            to.port, near);
  from.scheduler.inline_next_enqueue();
  from.scheduler.after_next_enqueue([this] { run(); });
  auto guardian = from.system.middleman().remote_actor<GuardianActor>("sim", to.port);
  TROUPE_CHECK(guardian, "a simulated wire connects");
  from.guardians[str_cat("sim:", to.port)] = untyped(*guardian);
  from.wires.push_back(near);
  to.wires.push_back(far);
  from.wires_to.emplace(to.services->task, near);
  to.wires_to.emplace(from.services->task, far);
}

SimCluster::~SimCluster() {
  for (auto& [task, node] : nodes_) {
    node->frozen = false;
    node->guardians.clear();
    node->handles = NodeHandles{};
    for (caf::actor& actor : node->spawned)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    node->spawned.clear();
  }
  run();
}

void SimCluster::run() {
  for (bool busy = true; busy;) {
    busy = false;
    for (auto& [task, node] : nodes_) {
      Duration start = thread_time();
      const std::size_t events = node->run();
      if (events == 0)
        continue;
      handler_time += thread_time() - start;
      steps += events;
      busy = true;
    }
  }
}

bool SimCluster::run_one() {
  for (auto& [task, node] : nodes_)
    if (node->step()) {
      ++steps;
      return true;
    }
  return false;
}

void SimCluster::advance(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds beat{250};
  for (auto passed = std::chrono::milliseconds(0); passed < time; passed += beat) {
    for (auto& [task, node] : nodes_)
      if (!node->frozen)
        node->scheduler.advance_time(beat);
    run();
  }
}

void SimCluster::cut(const std::string& task) {
  SimNode& node = *nodes_.at(task);
  for (caf::io::connection_handle wire : node.wires)
    if (auto& scribe = node.net.impl_ptr(wire))
      scribe->io_failure(&node.net, caf::io::network::operation::read);
  run();
}

void SimCluster::crash(const std::string& task) {
  SimNode& gone = *nodes_.at(task);
  gone.frozen = true;
  for (auto& [name, node] : nodes_) {
    node->guardians.erase(str_cat("sim:", gone.port));
    auto [begin, end] = node->wires_to.equal_range(task);
    for (auto wire = begin; wire != end; ++wire)
      if (auto& scribe = node->net.impl_ptr(wire->second))
        scribe->io_failure(&node->net, caf::io::network::operation::read);
  }
  run();
}

SessionActor SimCluster::open_session(const std::string& master_task, std::string graph_def,
                                      SessionSettings settings) {
  SimNode& client = *nodes_.at("client");
  auto actor = client.system.spawn(session, Services(client.services), MasterActor{},
                                   client.handles.transport);
  client.spawned.push_back(caf::actor_cast<caf::actor>(actor));
  OpenSession request;
  request.guardian =
      typed<GuardianActor>(client.guardians.at(str_cat("sim:", nodes_.at(master_task)->port)));
  request.master = Address{"sim", nodes_.at(master_task)->port};
  request.request.settings = std::move(settings);
  request.request.graph_def = std::move(graph_def);
  auto created = ask<SessionCreated>(client, actor, std::move(request));
  TROUPE_CHECK(created.ok(), created.status().message());
  return actor;
}

} // namespace troupe::testing
