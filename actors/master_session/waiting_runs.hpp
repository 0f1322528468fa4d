// WaitingRuns: a session's runs that have not begun. Plain: events in, effects out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

struct ClientGraph;

/// A run waits for its feeds, then for its graph, if either is not there.
///
///   expect_feeds ──▶ feeds on their way ──feeds_arrived──▶ (the caller's) ──wait_for──▶ graph being built
///                            │                                                              │
///                            └──────── take, take_late, take_if, take_all ──────────────────┤
///                                                                             graph_is_ready
///
/// `Run` has `due_us` (on the actors' clock; 0: it has no deadline) and `request_id` (0: none).
template <class Run>
class WaitingRuns {
public:
  using GraphRef = std::shared_ptr<ClientGraph>;
  /// A run that waits no longer, and a clause that tells for what it did.
  struct Taken {
    Run run;
    const char* what = "";
  };
  static constexpr const char* for_feeds = "its feeds were on their way to the master";
  static constexpr const char* for_graph = "it waited for its graph to be built by the master";

  /// The number under which they arrive.
  std::uint64_t expect_feeds(Run run) {
    arriving_.emplace(++numbers_, std::move(run));
    return numbers_;
  }
  /// Nothing if the run has been taken meanwhile.
  std::optional<Run> feeds_arrived(std::uint64_t number) {
    auto arrived = arriving_.extract(number);
    return arrived.empty() ? std::nullopt : std::optional<Run>(std::move(arrived.mapped()));
  }
  /// True for the first that waits for this graph, which is to be built now.
  bool wait_for(const GraphRef& graph, Run run) {
    auto [entry, is_first] = by_graph_.try_emplace(graph);
    entry->second.push_back(std::move(run));
    return is_first;
  }
  /// Those that have waited for it; whoever comes now is the first again.
  std::vector<Run> graph_is_ready(const GraphRef& graph) {
    auto waiting = by_graph_.extract(graph);
    return waiting.empty() ? std::vector<Run>() : std::move(waiting.mapped());
  }
  /// Whether somebody waits for it. All may have been taken while it is built.
  bool is_wanted(const GraphRef& graph) const {
    auto waiting = by_graph_.find(graph);
    return waiting != by_graph_.end() && !waiting->second.empty();
  }
  /// Whether some run waits for its graph.
  bool is_some_graph_wanted() const {
    return std::any_of(by_graph_.begin(), by_graph_.end(),
                       [](const auto& entry) { return !entry.second.empty(); });
  }
  /// `f(graph, how many wait for it)`
  template <class F>
  void for_each_graph(F f) const {
    for (const auto& [graph, runs] : by_graph_)
      if (!runs.empty())
        f(*graph, runs.size());
  }

  /// The run of this request, wherever it waits, and goes on waiting; null if there is none.
  Run* find(std::uint64_t request_id) {
    for (auto& [number, run] : arriving_)
      if (run.request_id == request_id)
        return &run;
    for (auto& [graph, runs] : by_graph_)
      for (Run& run : runs)
        if (run.request_id == request_id)
          return &run;
    return nullptr;
  }
  /// The run of this request, wherever it waits.
  std::optional<Taken> take(std::uint64_t request_id) {
    auto out = take_where([&](const Run& run) { return run.request_id == request_id; }, true);
    return out.empty() ? std::nullopt : std::optional<Taken>(std::move(out.front()));
  }
  /// Those whose deadline has passed.
  std::vector<Taken> take_late(std::int64_t now_us) {
    return take_where([&](const Run& run) { return run.due_us != 0 && run.due_us <= now_us; },
                      false);
  }
  /// The next deadline; 0: none has one.
  std::int64_t next_due() const {
    std::int64_t next = 0;
    for_each_run([&](const Run& run) {
      if (run.due_us != 0 && (next == 0 || run.due_us < next))
        next = run.due_us;
    });
    return next;
  }
  /// Those that wait for a graph of which `is_meant(graph)` is true.
  template <class Pred>
  std::vector<Run> take_if(Pred is_meant) {
    std::vector<Run> out;
    for (auto& [graph, runs] : by_graph_)
      if (!runs.empty() && is_meant(*graph))
        for (Run& run : std::exchange(runs, {}))
          out.push_back(std::move(run));
    return out;
  }
  /// All of them. Graphs that are being built go on.
  std::vector<Run> take_all() {
    std::vector<Run> out;
    for (auto& [graph, taken] : std::exchange(arriving_, {}))
      out.push_back(std::move(taken));
    for (auto& [graph, runs] : by_graph_)
      for (Run& run : std::exchange(runs, {}))
        out.push_back(std::move(run));
    return out;
  }

private:
  template <class F>
  void for_each_run(F f) const {
    for (const auto& [number, run] : arriving_)
      f(run);
    for (const auto& [graph, runs] : by_graph_)
      for (const Run& run : runs)
        f(run);
  }
  template <class Pred>
  std::vector<Taken> take_where(Pred is_meant, bool only_one) {
    std::vector<Taken> out;
    for (auto it = arriving_.begin(); it != arriving_.end() && (!only_one || out.empty());)
      if (is_meant(it->second)) {
        out.push_back({std::move(it->second), for_feeds});
        it = arriving_.erase(it);
      } else {
        ++it;
      }
    for (auto& [graph, runs] : by_graph_)
      for (auto it = runs.begin(); it != runs.end() && (!only_one || out.empty());)
        if (is_meant(*it)) {
          out.push_back({std::move(*it), for_graph});
          it = runs.erase(it);
        } else {
          ++it;
        }
    return out;
  }

  std::map<std::uint64_t, Run> arriving_; ///< by number, in order of arrival
  std::uint64_t numbers_ = 0;
  std::map<GraphRef, std::vector<Run>> by_graph_; ///< in order of arrival
};

} // namespace troupe
