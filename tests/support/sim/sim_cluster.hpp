// SimCluster: whole nodes on one thread, under virtual time, over a simulated wire. No port, no
// clock, no second thread.
//
//   SimCluster cluster({"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"});
//   auto session = cluster.open_session("/job:worker/replica:0/task:0", graph_def);
//   auto result = cluster.ask<RunStepResult>(session, RunStep{…});
//   cluster.cut("/job:ps/replica:0/task:0");
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/test_multiplexer.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/family/ask.hpp"
#include "actors/family/services.hpp"
#include "actors/node/handles.hpp"
#include "actors/protocol/local/session.hpp"
#include "core/base/clock.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "tests/support/sim/sim_services.hpp"

namespace troupe::testing {

/// One for all nodes of a cluster: what it knows of each type of message is as much as a node.
struct SimConfig : caf::actor_system_config {
  SimConfig();
};

/// One process of the simulation.
class SimNode {
public:
  SimNode(std::string task, const Cluster& cluster, std::uint16_t port, class SimCluster& owner);
  ~SimNode();

  std::unique_ptr<DeviceHost> host = std::make_unique<DeviceHost>(1);
  std::shared_ptr<NodeServices> services = std::make_shared<NodeServices>();
  caf::actor_system system;
  caf::scheduler::test_coordinator& scheduler;
  caf::io::network::test_multiplexer& net;
  caf::scoped_actor self{system, true};
  NodeHandles handles;
  std::vector<caf::actor> spawned; ///< ended with the node
  std::uint16_t port;
  bool frozen = false;
  std::map<std::string, caf::strong_actor_ptr>
      guardians; ///< of other nodes, as this node dialled them
  std::vector<caf::io::connection_handle> wires;
  std::multimap<std::string, caf::io::connection_handle> wires_to; ///< the same, by the other end

  /// One job, one network event; false when nothing is left to do now, or while it is frozen.
  bool step();
  /// All that it can do before another node does something; how many events that were.
  std::size_t run();
};

class SimCluster {
public:
  /// A node for each task, and one more, "client", that only talks. Every pair is connected by a
  /// wire of its own.
  explicit SimCluster(const std::vector<std::string>& tasks) : SimCluster(tasks, "") {}
  /// The same with wires only to and from `hub`: a thousand tasks have a million pairs.
  SimCluster(const std::vector<std::string>& tasks, const std::string& hub);
  ~SimCluster();

  SimNode& node(const std::string& task) { return *nodes_.at(task); }
  SimNode& client() { return *nodes_.at("client"); }
  /// Until nothing more happens without time passing.
  void run();
  /// One event somewhere; false when there is none.
  bool run_one();
  /// Virtual time passes on every node, in steps of a heartbeat.
  void advance(std::chrono::milliseconds time);
  /// The node stands still, its wires open, until it is thawed.
  void freeze(const std::string& task) { node(task).frozen = true; }
  void thaw(const std::string& task) { node(task).frozen = false; }
  /// Closes every wire of a node, as it sees it.
  void cut(const std::string& task);
  /// The node is gone: the others find its wires closed, and nobody at its port.
  void crash(const std::string& task);

  /// Asks from `from` and runs the cluster until the answer is there, letting virtual time pass for
  /// at most `patience`.
  template <class Answer, class Handle, class Message>
  Result<Answer> ask(SimNode& from, const Handle& peer, Message message,
                     std::chrono::milliseconds patience = std::chrono::milliseconds(0));

  /// A session through the client's own SESSION actor, with a master on `master_task`. Requires
  /// success.
  SessionActor open_session(const std::string& master_task, std::string graph_def,
                            SessionSettings settings = {});

  std::size_t steps = 0;    ///< events handled: a measure of work
  Duration handler_time{0}; ///< processor time spent on them

private:
  friend class SimNode;
  void connect(SimNode& from, SimNode& to);
  SimConfig config_;
  std::map<std::string, std::unique_ptr<SimNode>> nodes_;
  std::int64_t next_handle_ = 100;
};

template <class Answer, class Handle, class Message>
Result<Answer> SimCluster::ask(SimNode& from, const Handle& peer, Message message,
                               std::chrono::milliseconds patience) {
  auto request = from.self->request(peer, caf::infinite,
                                    std::move(message)); // virtual time: the loop below ends it
  run();
  for (auto passed = std::chrono::milliseconds(0);
       passed < patience && !from.self->has_next_message();
       passed += std::chrono::milliseconds(250))
    advance(std::chrono::milliseconds(250));
  Result<Answer> out = deadline_exceeded("the simulated cluster came to rest without an answer");
  if (!from.self->has_next_message())
    return out;
  request.receive([&](Answer& answer) { out = std::move(answer); },
                  [&](caf::error& error) { out = to_status(error, "a simulated request"); });
  return out;
}

} // namespace troupe::testing
