// StepCrew: a session's running steps, and the actors of steps that rest. Plain: the actors are
// opaque.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/family/step_table.hpp"

namespace troupe {

/// An actor runs one step after the other:
///
///   (new) ──start──▶ runs a step ──finish─▶ rests ──take_resting──▶ (the caller's) ──start──▶ …
///                        └──finish: it cannot rest, or enough others do──▶ (to be stopped)
///
/// `Step` has an `actor`, and `clear`. In the steady state nothing is allocated for a step.
template <class Step>
class StepCrew {
public:
  using Actor = decltype(Step::actor);
  /// Actors that rest at most; more are only needed while more steps run at once.
  static constexpr std::size_t max_resting = 16;

  std::optional<Actor> take_resting() {
    if (resting_.empty())
      return std::nullopt;
    std::optional<Actor> out = std::move(resting_.back());
    resting_.pop_back();
    return out;
  }
  /// Requires that there is none of that id.
  Step& start(std::uint64_t step_id, Actor actor) {
    by_actor_.emplace(actor.id(), step_id);
    Step& step = steps_.add(step_id);
    step.actor = std::move(actor);
    return step;
  }
  Step* find(std::uint64_t step_id) { return steps_.find(step_id); }
  const Step* find(std::uint64_t step_id) const { return steps_.find(step_id); }
  /// The step is over; `may_rest`: its actor takes another one. The actor, if it is to be stopped.
  std::optional<Actor> finish(std::uint64_t step_id, bool may_rest) {
    std::optional<Actor> surplus;
    Step* step = steps_.find(step_id);
    if (!step)
      return surplus;
    by_actor_.erase(step->actor.id());
    if (may_rest && resting_.size() < max_resting)
      resting_.push_back(std::move(step->actor));
    else if (may_rest)
      surplus = std::move(step->actor);
    steps_.remove(step_id);
    return surplus;
  }
  /// An actor has ended by itself. The step that it ran; 0: it rested, or is not ours.
  std::uint64_t actor_ended(std::uint64_t actor_id) {
    std::erase_if(resting_, [&](const Actor& actor) { return actor.id() == actor_id; });
    auto found = by_actor_.find(actor_id);
    return found == by_actor_.end() ? 0 : found->second;
  }

  bool empty() const { return steps_.empty(); }
  std::size_t size() const { return steps_.size(); }
  /// Of the running ones, by step id.
  auto begin() { return steps_.begin(); }
  auto end() { return steps_.end(); }
  auto begin() const { return steps_.begin(); }
  auto end() const { return steps_.end(); }
  const std::vector<Actor>& resting() const { return resting_; }

private:
  StepTable<Step> steps_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_actor_; ///< actor id → step id, of those
  std::vector<Actor> resting_;
};

} // namespace troupe
