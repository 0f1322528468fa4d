// A node of a FaultCluster: its actors, and how it comes and goes.
#include <caf/event_based_actor.hpp>

#include "actors/guardian/guardian.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/check.hpp"
#include "core/base/random.hpp"
#include "tests/support/sim/fault_cluster.hpp"
#include "tests/support/sim/internal/fault_wires.hpp"

namespace troupe::testing {

namespace {

caf::behavior keeper(caf::event_based_actor* self,
                     std::function<void(std::uint64_t, caf::strong_actor_ptr)> dialled) {
  return {[=](caf::connect_atom, std::uint64_t to, std::uint16_t port) {
    self->request(self->system().middleman().actor_handle(),
                  caf::infinite, // answered by the simulated wire, at the latest when it closes
                  caf::connect_atom::value, std::string("sim"), port)
        .then([=](const caf::node_id&, const caf::strong_actor_ptr& actor,
                  const std::set<std::string>&) { dialled(to, actor); },
              [=](caf::error&) { dialled(to, nullptr); });
  }};
}

} // namespace

FaultNode::FaultNode(FaultCluster& owner, std::string short_name, std::size_t place)
    : name(std::move(short_name)), index(place),
      scheduler(dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())),
      net(dynamic_cast<caf::io::network::test_multiplexer&>(system.middleman().backend())) {
  time = owner.now();
  bool is_client = name == "client";
  services->task = is_client ? name : long_task_name(name);
  services->incarnation = random_id();
  services->cluster = owner.cluster();
  services->library = &op_library();
  services->timeouts = owner.timeouts();
  services->threads = std::make_shared<SimThreads>(
      [this](std::function<void()> work) { computing.push_back(std::move(work)); },
      owner.pick(2) ? Duration::max() : Duration(0));
  services->network = std::make_shared<SimNetwork>([this](const std::string& address) {
    auto it = guardians.find(address);
    return it == guardians.end() || is_gone(it->second) ? nullptr : it->second;
  });
  keeper = system.spawn(testing::keeper, [this, &owner](std::uint64_t to, caf::strong_actor_ptr x) {
    owner.dialled(index, to, std::move(x));
  });
  if (is_client) {
    transport = system.spawn(troupe::transport, Services(services));
  } else {
    services->host_memory = host->allocator.get();
    for (auto& device : make_cpu_devices(*host, services->task, 1))
      services->devices.add(std::move(device));
    guardian = system.spawn(troupe::guardian, Services(services), [this](std::string why, bool) {
      ended = why.empty() ? "its tree stopped" : std::move(why);
    });
  }
  while (step_alone()) {
  }
  if (!is_client) {
    net.provide_acceptor(port(), caf::io::accept_handle::from_int(port()));
    scheduler.inline_next_enqueue();
    auto published = system.middleman().publish(guardian, port());
    TROUPE_CHECK(published, "a simulated port can be published");
  }
  while (step_alone()) {
  }
  baseline_actors = num_actors();
}

FaultNode::~FaultNode() {
  guardians.clear();
  net.pending_connects().clear(); // CAF would still accept them, without its broker
  computing.clear();
  if (guardian)
    caf::anon_send_exit(guardian, caf::exit_reason::user_shutdown);
  if (transport)
    caf::anon_send_exit(transport, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(keeper, caf::exit_reason::user_shutdown);
  guardian = GuardianActor{};
  transport = TransportActor{};
  keeper = nullptr;
  for (int second = 0; second < 8; ++second) {
    while (step_alone()) {
    }
    scheduler.advance_time(std::chrono::seconds(1));
  }
  // What is left waits for something that never comes; a process that ends takes it along.
  if (num_actors() > 0)
    system.await_actors_before_shutdown(false);
}

std::uint16_t FaultNode::port() const {
  return static_cast<std::uint16_t>(first_port + index);
}

bool FaultNode::step_alone() {
  if (!computing.empty()) {
    auto work = std::move(computing.front());
    computing.pop_front();
    work();
    return true;
  }
  return scheduler.try_run_once() || net.try_exec_runnable();
}

} // namespace troupe::testing
