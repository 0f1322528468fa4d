// BuildQueue: the client graphs of a session that are still to be built, one at a time. Plain:
// events in, effects out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

namespace troupe {

struct ClientGraph;

/// A build runs elsewhere and ends with a message; its ticket tells it from one that was given up.
///
///   add ──▶ waiting ──begin──▶ under way ──end──▶ (gone)
class BuildQueue {
public:
  using GraphRef = std::shared_ptr<ClientGraph>;

  struct Build {
    GraphRef graph;
    std::uint64_t ticket = 0;
    std::int64_t version = 0; ///< of the full graph that it sees
  };

  bool is_idle() const { return queue_.empty(); }
  void add(GraphRef graph) { queue_.push_back(std::move(graph)); }
  /// The next build, which sees `version` of the full graph; nothing if none waits or one is under
  /// way.
  std::optional<Build> begin(std::int64_t version);
  /// The build that the ticket is of, if it is the one under way; null for one that came too late.
  const Build* find(std::uint64_t ticket) const;
  /// The graph that is being built, or null.
  GraphRef under_way() const { return under_way_ ? under_way_->graph : nullptr; }
  /// The one under way is over.
  void end();

private:
  std::deque<GraphRef> queue_; ///< in order of arrival; the first is the one under way, if any
  std::optional<Build> under_way_;
  std::uint64_t tickets_ = 0;
};

} // namespace troupe
