// LeaseTable: who has been heard of when. Events in, verdicts out; knows neither actors nor clocks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/protocol/local/node.hpp"

namespace troupe {

/// One entry for each peer that was reached.
///
///   alive ─┬─ no word for the lease ─▶ frozen ────┐
///          ├─ connection closed ─────▶ crashed ───┤
///          ├─ another incarnation ───▶ restarted ─┼─▶ gone from the table; each watcher is told once
///          ├─ heard nothing of us ───▶ gave up ───┤
///          └─ said goodbye ──────────▶ left ──────┘
class LeaseTable {
public:
  explicit LeaseTable(std::int64_t lease_us) : lease_us_(lease_us) {}

  /// A peer said who it is. True if this replaces another incarnation, which is lost now.
  bool joined(const std::string& task, std::uint64_t incarnation, std::int64_t now_us);
  /// Any sign of life, a chunk of a tensor as well as a heartbeat.
  void heard(const std::string& task, std::int64_t now_us);
  /// Forgets a peer; false if it was not there.
  bool lost(const std::string& task);
  /// Peers whose lease has run out, now forgotten.
  struct Expired {
    std::string task;
    std::uint64_t incarnation;
    std::int64_t silent_us;
  };
  std::vector<Expired> expire(std::int64_t now_us);

  bool contains(const std::string& task) const { return entries_.count(task) > 0; }
  std::uint64_t incarnation(const std::string& task) const;
  std::int64_t silent_us(const std::string& task, std::int64_t now_us) const;
  std::vector<std::string> tasks() const;

private:
  struct Lease {
    std::uint64_t incarnation;
    std::int64_t heard_us;
  };
  std::int64_t lease_us_;
  std::map<std::string, Lease> entries_;
};

/// What happened to `task` and what to do, for people. `own` is the task that says it.
std::string loss_sentence(const std::string& task, const std::string& address, LossReason reason,
                          std::int64_t silent_us, const std::string& own = "this task");

} // namespace troupe
