// ForeignSteps: steps of masters that are no nodes of troupe. RecvTensor names its step alone, so
// this knows the session of each, and keeps whoever comes for a value before the step has begun
// here. Plain; knows no actors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace troupe {

/// `Session` is what a session is reached by, `Pull` a peer that waits for a value.
///
///   unknown ── RunGraph ─▶ runs ── CleanupGraph, or its session ends ─▶ ended
///      └─ pulls are kept ──┘ (handed over)
///
/// A step that has ended is known for as long as a peer may still ask for it: until 1 024 more have
/// ended.
template <class Session, class Pull>
class ForeignSteps {
public:
  /// What a pull is to do.
  enum class Answer {
    hand_over, ///< to the session of find()
    kept,      ///< until the step begins
    refused,   ///< the step has ended
  };

  /// The pulls that have waited for it. One that runs already is only told its session again.
  std::vector<Pull> begun(std::uint64_t step_id, Session session) {
    std::vector<Pull> out;
    if (auto early = early_.extract(step_id); !early.empty())
      for (auto& [since_us, pull] : early.mapped())
        out.push_back(std::move(pull));
    running_.insert_or_assign(step_id, std::move(session));
    return out;
  }
  /// Null for one that does not run.
  const Session* find(std::uint64_t step_id) const {
    auto it = running_.find(step_id);
    return it == running_.end() ? nullptr : &it->second;
  }
  bool has_ended(std::uint64_t step_id) const {
    return std::find(ended_.begin(), ended_.end(), step_id) != ended_.end();
  }
  /// Takes `pull` if it is kept.
  Answer pulls(std::uint64_t step_id, Pull& pull, std::int64_t now_us) {
    if (running_.contains(step_id))
      return Answer::hand_over;
    if (has_ended(step_id))
      return Answer::refused;
    early_[step_id].emplace_back(now_us, std::move(pull));
    return Answer::kept;
  }
  /// The pulls that still wait for its beginning.
  std::vector<Pull> ended(std::uint64_t step_id) {
    std::vector<Pull> out = begun(step_id, {});
    running_.erase(step_id);
    remember(step_id);
    return out;
  }
  template <class P>
  void sessions_ended(P is_it) {
    for (auto it = running_.begin(); it != running_.end();) {
      if (!is_it(it->second)) {
        ++it;
        continue;
      }
      remember(it->first);
      it = running_.erase(it);
    }
  }
  /// Pulls that have waited since before then, no longer kept, by step.
  std::vector<std::pair<std::uint64_t, Pull>> give_up_before(std::int64_t before_us) {
    std::vector<std::pair<std::uint64_t, Pull>> out;
    for (auto it = early_.begin(); it != early_.end();) {
      auto& waiting = it->second;
      while (!waiting.empty() && waiting.front().first < before_us) {
        out.emplace_back(it->first, std::move(waiting.front().second));
        waiting.erase(waiting.begin());
      }
      it = waiting.empty() ? early_.erase(it) : std::next(it);
    }
    return out;
  }
  std::size_t num_running() const { return running_.size(); }
  bool runs_any_of(const Session& session) const {
    return std::any_of(running_.begin(), running_.end(),
                       [&](const auto& entry) { return entry.second == session; });
  }
  std::size_t num_early() const {
    std::size_t out = 0;
    for (const auto& [step_id, waiting] : early_)
      out += waiting.size();
    return out;
  }

private:
  void remember(std::uint64_t step_id) { ended_[num_ended_++ % ended_.size()] = step_id; }

  std::map<std::uint64_t, Session> running_;
  std::map<std::uint64_t, std::vector<std::pair<std::int64_t, Pull>>>
      early_;                               // since when, in order
  std::array<std::uint64_t, 1024> ended_{}; // a ring
  std::size_t num_ended_ = 0;
};

} // namespace troupe
