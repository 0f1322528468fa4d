// CollectiveGroups: who computes what together. Plain: events in, effects out.
//
// A member joins with what it is about to compute. The steps that compute together are a gang:
//
//   - If all members are devices of one step, that step alone is the gang.
//   - Else each session brings one step. A step joins the oldest gang that has room for it. So the
//     first step of one session meets the first of the other, and those that fail leave no
//     number behind that others would have to guess.
//
// A gang computes each instance once. When all its members have joined in one, that instance has
// formed. What one member says differently, its failure, its loss or its deadline ends the gang:
// its waiting members are told, and those that come later.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/framework/collectives.hpp"

namespace troupe {

/// A device that wants to take part.
struct CollectiveMember {
  CollectiveSpec spec;
  std::string node, device, task;
  std::string session;
  std::uint64_t step = 0, frame = 0;
  std::int64_t iteration = 0;
  int rank = -1;
  bool is_source = false;
  bool in_step = false;
  std::int64_t timeout_us = 0; ///< 0: none
};

class CollectiveGroups {
public:
  using Waiter = std::uint64_t;
  static constexpr std::int64_t keeps_failures_us = 60'000'000;
  static constexpr std::size_t max_gangs = 1 << 14;
  static constexpr std::int32_t max_group_size = 1 << 16;

  /// `first_id` begins the numbers of gangs and collectives: random, so that those of another
  /// leader or process are others.
  explicit CollectiveGroups(std::uint64_t first_id) : last_id_(first_id) {}

  struct Formed {
    std::uint64_t id = 0; ///< id + 1 + rank is free for each rank, too
    std::uint64_t gang = 0;
    int source = -1;
    std::vector<Waiter> waiters; ///< by rank
    std::vector<std::string> devices, tasks;
  };
  struct Failed {
    std::vector<Waiter> waiters;
    Status why;
  };
  /// What has formed for these steps and is not over yet fails.
  struct Doomed {
    std::uint64_t gang = 0;
    std::vector<std::string> tasks;
    Status why;
  };
  struct Effects {
    std::vector<Failed> failed;
    std::vector<Doomed> doomed;
    std::optional<Formed> formed;
  };

  Effects join(Waiter waiter, const CollectiveMember& member, std::int64_t now_us);
  /// A device's part of a step has ended. OK: well.
  Effects step_ended(const std::string& session, std::uint64_t step, const std::string& device,
                     const Status& status, std::int64_t now_us);
  /// `why` says what happened and what to do.
  Effects task_lost(const std::string& task, const Status& why, std::int64_t now_us);
  /// Fails the waiters whose deadline has passed.
  Effects time_passed(std::int64_t now_us);
  /// When time_passed has something to do.
  std::optional<std::int64_t> next_due_us() const;
  /// What a waiter waits for: "2 of 3 members of group 7 …"; empty for an unknown waiter.
  std::string describe(Waiter waiter) const;

  std::size_t num_gangs() const { return gangs_.size(); }
  std::size_t num_waiting() const;

private:
  using Instance = std::tuple<std::int64_t, std::uint64_t, std::int64_t>; // key, frame, iteration
  struct Arrival {
    Waiter waiter = 0;
    CollectiveMember member;
    std::int64_t due_us = 0; // 0: never
    std::int64_t since_us = 0;
  };
  using Round = std::map<std::string, Arrival>; // by device
  struct Seat {
    std::string task, session;
    std::uint64_t step = 0;
    bool has_ended = false;
  };
  struct Gang {
    std::uint64_t id = 0;
    std::int64_t group_key = 0;
    std::int32_t size = 0;
    bool in_step = false;
    std::map<std::string, Seat> seats; // by device
    std::map<Instance, Round> rounds;  // those that have not formed
    bool has_formed = false;           // one at least
    Status failure;
    std::int64_t failed_us = 0;
  };
  using Gangs = std::map<std::uint64_t, Gang>; // by id: the oldest first

  Gang* gang_for(const CollectiveMember& member);
  Status disagreement(const Gang& gang, const Round& round, const CollectiveMember& member) const;
  Result<Formed> form(const Gang& gang, const Round& round);
  void fail(Gang& gang, const Status& why, std::int64_t now_us, Effects& out);
  void drop_if_over(std::uint64_t id);
  std::string missing(const Gang& gang, const Instance& instance, const Round& round) const;

  Gangs gangs_;
  std::map<std::int64_t, std::vector<std::pair<std::string, std::string>>> last_members_;
  std::map<std::string, Status> lost_; // tasks that have been members, until they come back
  std::uint64_t last_id_;
};

} // namespace troupe
