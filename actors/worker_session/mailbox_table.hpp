// MailboxTable: which steps have a rendezvous here, which have ended, and which rendezvous rest.
// Events in, decisions out; knows no actors and no clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "actors/family/step_table.hpp"
#include "core/base/status.hpp"

namespace troupe {

/// `Rendezvous` is a handle, opaque here.
///
///   none ── its RunGraph, or an impatient peer ─▶ open ─┬─ cleaned up ────────────────────▶ ended
///                                                       └─ its rendezvous ends ─▶ lost ──────┘
///
/// One that was opened for a peer and whose RunGraph does not come is an orphan. A step is known as
/// ended for as long as a peer may still ask for it: until 256 more have ended. The rendezvous of a
/// step that has ended rests for the next one, unless it was lost.
template <class Rendezvous>
class MailboxTable {
public:
  struct Mailbox {
    Rendezvous rendezvous{};
    std::int64_t created_us = 0;
    bool started = false; ///< its RunGraph has come; until then it may be an orphan
    Status lost;          ///< why its rendezvous has ended before the step
    void clear() { *this = {}; }
  };
  using Entry = std::pair<const std::uint64_t, Mailbox>;

  /// Null if it has none.
  Mailbox* find(std::uint64_t step_id) { return open_.find(step_id); }
  bool has_ended(std::uint64_t step_id) const {
    return !open_.find(step_id) && std::find(ended_.begin(), ended_.end(), step_id) != ended_.end();
  }

  bool has_resting() const { return !resting_.empty(); }
  /// Requires has_resting().
  Rendezvous take_resting() {
    Rendezvous out = std::move(resting_.back());
    resting_.pop_back();
    return out;
  }
  /// Requires that the step has none.
  Mailbox& open(std::uint64_t step_id, Rendezvous rendezvous, std::int64_t now_us) {
    Mailbox& box = open_.add(step_id);
    box.rendezvous = std::move(rendezvous);
    box.created_us = now_us;
    return box;
  }
  /// The step has ended. Calls `leave(Rendezvous&, bool rests)` if it had a mailbox. True if that
  /// was the last one.
  template <class F>
  bool close(std::uint64_t step_id, F leave) {
    ended_[num_ended_++ % ended_.size()] = step_id;
    Mailbox* box = open_.find(step_id);
    if (!box)
      return false;
    const bool rests = box->lost.ok() && resting_.size() < max_resting;
    leave(box->rendezvous, rests);
    if (rests)
      resting_.push_back(std::move(box->rendezvous));
    open_.remove(step_id);
    return open_.empty();
  }
  /// A rendezvous has ended. Returns the step that it served, which the caller must end; null if it
  /// was at rest.
  template <class P>
  Entry* rendezvous_ended(P is_it) {
    std::erase_if(resting_, is_it);
    for (Entry& entry : open_)
      if (is_it(entry.second.rendezvous))
        return &entry;
    return nullptr;
  }

  /// Steps whose rendezvous was opened for a peer before `before_us` and that no RunGraph has
  /// begun. `is_begun(step_id)`: it has begun in another way.
  template <class P>
  std::vector<std::uint64_t> orphans(std::int64_t before_us, P is_begun) const {
    std::vector<std::uint64_t> out;
    for (const auto& [step_id, box] : open_)
      if (!box.started && !is_begun(step_id) && box.created_us < before_us)
        out.push_back(step_id);
    return out;
  }
  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> out;
    for (const auto& [step_id, box] : open_)
      out.push_back(step_id);
    return out;
  }

  const std::vector<Rendezvous>& resting() const { return resting_; }
  bool empty() const { return open_.empty(); }
  std::size_t size() const { return open_.size(); }
  auto begin() const { return open_.begin(); }
  auto end() const { return open_.end(); }

private:
  /// More are only needed while more steps run at once.
  static constexpr std::size_t max_resting = 16;

  StepTable<Mailbox> open_;
  std::vector<Rendezvous> resting_;
  std::array<std::uint64_t, 256> ended_{}; ///< a ring
  std::size_t num_ended_ = 0;
};

} // namespace troupe
