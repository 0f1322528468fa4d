// NodeWatch: what tools ask a node besides running graphs: its actors, sessions, state.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "actors/protocol/local/master.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

class ClusterNode;

/// A line of its own to one node, so that it answers while a session's steps run. One thread. Each
/// call asks the node once or twice and waits at most `patience` for each answer, `why` a little
/// longer: it ends UNAVAILABLE or DEADLINE_EXCEEDED then.
class NodeWatch {
public:
  /// UNAVAILABLE naming who does not answer.
  static Result<NodeWatch> dial(const Address& address,
                                std::chrono::milliseconds patience = std::chrono::seconds(10));
  /// A node in this process, which must live longer.
  static Result<NodeWatch> of(ClusterNode& node);
  NodeWatch(NodeWatch&&) noexcept;
  NodeWatch& operator=(NodeWatch&&) noexcept;
  ~NodeWatch();

  const Welcome& welcome() const;
  Result<NodeStatus> status();
  /// In order of path; parents before their children.
  Result<ActorTree> actors();
  /// NOT_FOUND naming the paths that there are.
  Status kill(const std::string& path);
  /// What its devices hold for all sessions.
  Result<ResourceList> resources();
  /// Ends the sessions of the node's master and empties containers on every task; without names the
  /// default one.
  Status reset(const std::vector<std::string>& containers);
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
