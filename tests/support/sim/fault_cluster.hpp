// FaultCluster: whole nodes on one thread under virtual time, over a wire that delays, and a seed
// that decides what happens next. Nodes freeze, crash and come back; wires are cut, held, slowed;
// actors are watched message by message. The same seed and the same calls give the same trace.
//
//   FaultCluster cluster({"ps/0", "worker/0", "worker/1"}, seed, timeouts);
//   cluster.start();
//   cluster.run_until([&] { return answered; }, std::chrono::seconds(60));
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "tests/support/sim/sim_cluster.hpp"
#include "tests/support/sim/sim_services.hpp"

namespace troupe::testing {

using SimTime = std::chrono::microseconds; ///< since the cluster began

class FaultCluster;

/// One process of the simulation. Names are short: "ps/0", "worker/1", "client".
class FaultNode {
public:
  FaultNode(FaultCluster& owner, std::string name, std::size_t index);
  ~FaultNode();

  const std::string name;
  const std::size_t index;
  SimConfig config;
  std::unique_ptr<DeviceHost> host = std::make_unique<DeviceHost>(1);
  std::shared_ptr<NodeServices> services = std::make_shared<NodeServices>();
  caf::actor_system system{config};
  caf::scheduler::test_coordinator& scheduler;
  caf::io::network::test_multiplexer& net;
  TransportActor transport; ///< a client's; other nodes have theirs below the guardian
  GuardianActor guardian;
  caf::actor keeper;                                      ///< dials for this node
  std::map<std::string, caf::strong_actor_ptr> guardians; ///< of other nodes, by address
  std::deque<std::function<void()>> computing;            ///< offloaded, not yet run
  SimTime time{0};                                        ///< how far its clock has been turned
  SimTime frozen_until{0};
  std::string ended;               ///< why its tree has stopped by itself
  std::size_t baseline_actors = 0; ///< that run in a node without work

  std::uint16_t port() const;
  /// Actors alive in this process.
  std::size_t num_actors() { return system.registry().running(); }
  /// One event of this process alone; false when nothing is left to do now.
  bool step_alone();
};

/// What is about to happen, or has just happened, to an actor.
struct SimEvent {
  FaultNode& node;
  caf::strong_actor_ptr actor;
  std::string_view kind;    ///< "worker-session"
  std::string_view message; ///< "RunGraph"; empty when it is not one of ours
  bool is_answer = false;   ///< to a request of the actor
};

class FaultCluster {
public:
  FaultCluster(const std::vector<std::string>& tasks, std::uint64_t seed, const Timeouts& timeouts);
  ~FaultCluster();

  /// Starts every node and lets all find each other.
  void start();
  /// Until `done`, or nothing can happen before `budget` of virtual time has passed. False if not
  /// done then.
  bool run_until(const std::function<bool()>& done, SimTime budget);
  void run_for(SimTime time);

  SimTime now() const { return now_; }
  /// Null while the process is not running.
  FaultNode* find(std::string_view name);
  FaultNode& client() { return *nodes_.back(); }
  const std::vector<std::unique_ptr<FaultNode>>& nodes() const { return nodes_; }
  const Cluster& cluster() const { return cluster_; }
  const Timeouts& timeouts() const { return timeouts_; }
  std::mt19937_64& random() { return random_; }
  /// Uniform below `n`; the same on every platform.
  std::uint64_t pick(std::uint64_t n) { return n ? random_() % n : 0; }

  /// Called at `time`, from outside every actor.
  void at(SimTime time, std::function<void()> action);
  /// Called before (`handled` false) and after every message of every actor.
  std::function<void(const SimEvent&, bool handled)> observer;

  // Faults.
  /// The process is gone at once; it comes back, with a new incarnation, after `away`.
  void crash(const std::string& node, SimTime away);
  /// No thread of the process runs; its connections stay open, its clock goes on.
  void freeze(const std::string& node, SimTime duration);
  /// The connections of a pair close, and no new one is made for `duration`.
  void cut(const std::string& a, const std::string& b, SimTime duration);
  /// Bytes of a pair stand still for `duration`; then they flow again.
  void hold(const std::string& a, const std::string& b, SimTime duration);
  /// Bytes from `from` to `to` stand still for `duration`; the other way they flow.
  void hold_one_way(const std::string& from, const std::string& to, SimTime duration);
  /// Bytes of a pair take `extra` longer, for `duration`.
  void slow(const std::string& a, const std::string& b, SimTime extra, SimTime duration);
  /// Undoes everything: frozen nodes run, wires carry, crashed nodes start.
  void heal();
  /// True when every process runs and every pair is connected.
  bool is_whole() const;

  /// A number made of everything that has happened, in order.
  std::uint64_t trace() const { return trace_; }
  /// Each event as a line, for a person who looks at one schedule.
  std::function<void(const std::string&)> narrate;
  std::size_t events = 0;

  void note(std::string_view text);

private:
  friend class FaultNode;
  struct Packet {
    SimTime due;
    std::vector<char> bytes;
  };
  struct End {
    std::size_t node = 0;
    caf::io::connection_handle handle;
    std::deque<Packet> in;
    SimTime last_due{0};
    bool attached = false; ///< somebody has taken up the connection
    bool closed = false;   ///< this side's socket
    bool eof = false;
    SimTime eof_due{0};
  };
  struct Link {
    End ends[2];
  };
  struct Pair {
    SimTime blocked_until{0}, held_until{0}, slow_until{0}, slow_by{0};
    std::size_t held_from = all; ///< whose bytes are held; `all`: of both
    static constexpr std::size_t all = ~std::size_t{0};
    bool holds(std::size_t from) const { return held_from == all || held_from == from; }
  };
  struct Dial {
    bool under_way = false;
    SimTime retry_at{0};
  };
  enum class What { job, compute, net, deliver, eof };
  struct Candidate {
    What what;
    std::size_t node;
    std::size_t index;
    int end;
  };

  Pair& pair(std::size_t a, std::size_t b) { return pairs_[{std::min(a, b), std::max(a, b)}]; }
  std::size_t index_of(std::string_view name) const;
  bool runs(std::size_t node) const { return nodes_[node] && nodes_[node]->frozen_until <= now_; }
  SimTime latency(std::size_t a, std::size_t b);
  void boot(std::size_t index);
  void turn_clock(FaultNode& node);
  void dial_missing();
  void dialled(std::size_t from, std::size_t to, caf::strong_actor_ptr guardian);
  void pump(std::size_t node);
  bool step();
  void run_job(std::size_t node, std::size_t index);
  void deliver(Link& link, int end);
  void close_end(Link& link, int end);
  void forget_guardians();
  void sever(Link& link, bool at_once, std::size_t dead);
  SimTime next_time() const;
  /// Ends the processes that have crashed or stopped since the last event.
  void bury();

  std::vector<std::string> names_;
  Cluster cluster_;
  Timeouts timeouts_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<FaultNode>> nodes_; ///< null while not running; the client is last
  std::vector<std::unique_ptr<Link>> links_;
  std::map<std::pair<std::size_t, std::size_t>, Pair> pairs_;
  std::map<std::pair<std::size_t, std::size_t>, Dial> dials_;
  std::multimap<SimTime, std::function<void()>> agenda_;
  struct Doomed {
    std::size_t node;
    SimTime away;
  };
  std::vector<Doomed> doomed_;
  std::vector<Candidate> candidates_;
  SimTime now_{0};
  std::int64_t next_handle_ = 100;
  std::uint64_t trace_ = 1469598103934665603ull;
};

/// "worker/1" ↔ "/job:worker/replica:0/task:1".
std::string long_task_name(std::string_view short_name);

} // namespace troupe::testing
