// NodeWatch: what tools ask a node besides running graphs: its actors, sessions, state.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "actors/family/timeouts.hpp"
#include "actors/protocol/local/master.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

class ClusterNode;

/// A line of its own to one node, so that it answers while a session's steps run. One thread. A
/// call that is not answered in time ends UNAVAILABLE or DEADLINE_EXCEEDED, naming the task and
/// what its connection tells of it.
class NodeWatch {
public:
  /// Without a time of its own: until a silent task of the cluster has been judged, as its master
  /// does.
  static constexpr std::chrono::milliseconds patience = Timeouts{}.lease + std::chrono::seconds(2);

  /// Dialling, and all calls until the next `limit`, take at most so long together. UNAVAILABLE
  /// naming who does not answer.
  static Result<NodeWatch> dial(const Address& address, std::chrono::milliseconds limit = patience);
  /// A node in this process, which must live longer.
  static Result<NodeWatch> of(ClusterNode& node);
  NodeWatch(NodeWatch&&) noexcept;
  NodeWatch& operator=(NodeWatch&&) noexcept;
  ~NodeWatch();

  /// All calls from now on until the next `limit` take at most so long together.
  void limit(std::chrono::milliseconds time);
  const Welcome& welcome() const;
  Result<NodeStatus> status();
  /// In order of path; parents before their children.
  Result<ActorTree> actors();
  /// NOT_FOUND naming the paths that there are.
  Status kill(const std::string& path);
  /// What its devices hold for all sessions.
  Result<ResourceList> resources();
  /// Ends the sessions of the node's master and empties containers on every task; without names the
  /// default one. `is_timed`: the node takes the time that is left; else it takes its own.
  Status reset(const std::vector<std::string>& containers, bool is_timed = false);
  Result<SessionList> sessions();
  /// Of any session of the node's master, running and lately ended. ABORTED if there is no such.
  Result<StepList> steps(const std::string& session_handle);
  /// What its running steps wait for, or one of them; 0: all.
  Result<StepsExplained> why(const std::string& session_handle, std::uint64_t step_id = 0);

private:
  struct Impl;
  explicit NodeWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
