#include "actors/collectives/groups.hpp"

#include <algorithm>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe {
namespace {

// As TensorFlow orders devices: numbers as numbers, so that task 10 comes after task 2.
bool device_before(const std::string& a, const std::string& b) {
  const auto x = DeviceName::parse(a), y = DeviceName::parse(b);
  if (!x.ok() || !y.ok())
    return a < b;
  return std::tie(x->job, x->replica, x->task, x->type, x->id) <
         std::tie(y->job, y->replica, y->task, y->type, y->id);
}

std::string instance_text(const CollectiveSpec& spec) {
  return str_cat("collective instance ", spec.instance_key, " of group ", spec.group_key);
}

// What others hear of a step that has ended badly: its cancellation is not theirs.
Status told(const Status& status, const std::string& device, std::int64_t group_key) {
  const Code code = status.code() == Code::cancelled ? Code::aborted : status.code();
  return Status(code, str_cat("the step of ", device, ", a member of collective group ", group_key,
                              ", has ended (", to_string(status.code()), ": ", status.message(),
                              "): the other members' steps end, too; run the step again on all of "
                              "them"))
      .as_derived();
}

std::string between(const CollectiveMember& first, const CollectiveMember& second) {
  return str_cat(" They are node '", first.node, "' on ", first.device, " and node '", second.node,
                 "' on ", second.device, ", of group ", first.spec.group_key,
                 "; build the same collective on every member");
}

template <class T>
Status differ(const CollectiveMember& first, const CollectiveMember& second, std::string_view what,
              const T& a, const T& b) {
  return invalid_argument(str_cat("the members of ", instance_text(first.spec), " disagree about ",
                                  what, ": ", first.device, " (node '", first.node, "') has ", a,
                                  ", ", second.device, " (node '", second.node, "') has ", b,
                                  "; build the same collective on every member"));
}

} // namespace

CollectiveGroups::Gang* CollectiveGroups::gang_for(const CollectiveMember& m) {
  Gang* room = nullptr;
  for (auto& [id, gang] : gangs_) {
    if (gang.group_key != m.spec.group_key || gang.in_step != m.in_step)
      continue;
    bool is_of_step = false, is_of_session = false;
    for (const auto& [device, seat] : gang.seats) {
      is_of_step |= seat.session == m.session && seat.step == m.step;
      is_of_session |= seat.session == m.session;
    }
    if (is_of_step)
      return &gang;
    const bool has_room =
        !gang.seats.contains(m.device) && gang.seats.size() < static_cast<std::size_t>(gang.size);
    if (!room && !m.in_step && !is_of_session && has_room)
      room = &gang;
  }
  return room;
}

Status CollectiveGroups::disagreement(const Gang& gang, const Round& round,
                                      const CollectiveMember& m) const {
  (void)gang;
  if (round.empty())
    return {};
  const CollectiveMember& first = round.begin()->second.member;
  const CollectiveSpec &a = first.spec, &b = m.spec;
  if (a.kind != b.kind || a.dtype != b.dtype)
    return internal(str_cat("Collective instance ", a.instance_key, " expected type ",
                            to_string(a.kind), " and data_type ", to_string(a.dtype),
                            " but got type ", to_string(b.kind), " and data_type ",
                            to_string(b.dtype), ".", between(first, m)));
  if (!(a.shape == b.shape))
    return invalid_argument(str_cat(
        "Shape mismatch in the collective instance ", a.instance_key, ". Op at device ", m.device,
        " expected shape ", b.shape, " but another member in the group expected shape ", a.shape,
        ". This is likely due to different input shapes at different members of the collective op.",
        between(first, m)));
  if (a.merge != b.merge)
    return differ(first, m, "merge_op", to_string(a.merge), to_string(b.merge));
  if (a.divides != b.divides)
    return differ(first, m, "final_op", std::string(a.divides ? "Div" : "Id"),
                  std::string(b.divides ? "Div" : "Id"));
  return {};
}

Result<CollectiveGroups::Formed> CollectiveGroups::form(const Gang& gang, const Round& round) {
  Formed out;
  out.id = last_id_ + 1;
  last_id_ += 1 + static_cast<std::uint64_t>(gang.size);
  out.gang = gang.id;
  std::vector<const Arrival*> order;
  for (const auto& [device, arrival] : round)
    order.push_back(&arrival);
  const CollectiveSpec& spec = order.front()->member.spec;
  const auto has_rank = [](const Arrival* x) { return x->member.rank >= 0; };
  if (std::ranges::all_of(order, has_rank)) {
    std::ranges::sort(order, {}, [](const Arrival* x) { return x->member.rank; });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i]->member.rank == order[i - 1]->member.rank)
        return invalid_argument(str_cat("two members of ", instance_text(spec), " have rank ",
                                        order[i]->member.rank, ": ", order[i - 1]->member.device,
                                        " and ", order[i]->member.device,
                                        "; give each member a rank of its own"));
  } else if (std::ranges::any_of(order, has_rank)) {
    return invalid_argument(
        str_cat("some members of ", instance_text(spec), " have a rank and others have none"));
  } else {
    std::ranges::sort(order, [](const Arrival* x, const Arrival* y) {
      return device_before(x->member.device, y->member.device);
    });
  }
  for (const Arrival* arrival : order) {
    const CollectiveMember& m = arrival->member;
    if (m.is_source) {
      if (out.source >= 0)
        return internal(
            str_cat("Instance ", spec.instance_key, " of group ", spec.group_key,
                    " already has source ", out.devices[static_cast<std::size_t>(out.source)],
                    ", received second claim from ", m.device, "; a broadcast has one sender"));
      out.source = static_cast<int>(out.devices.size());
    }
    out.waiters.push_back(arrival->waiter);
    out.devices.push_back(m.device);
    out.tasks.push_back(m.task);
  }
  if (spec.kind == CollectiveKind::broadcast && out.source < 0)
    return internal(str_cat("Instance ", spec.instance_key, " of group ", spec.group_key,
                            " found no source for broadcast. This could mean that there were "
                            "group_size=",
                            spec.group_size, " BcastRecvs but no BcastSend."));
  return out;
}

void CollectiveGroups::fail(Gang& gang, const Status& why, std::int64_t now_us, Effects& out) {
  Failed failed;
  for (const auto& [instance, round] : gang.rounds)
    for (const auto& [device, arrival] : round)
      failed.waiters.push_back(arrival.waiter);
  gang.rounds.clear();
  if (!failed.waiters.empty()) {
    failed.why = why;
    out.failed.push_back(std::move(failed));
  }
  if (!gang.failure.ok())
    return;
  gang.failure = why;
  gang.failed_us = now_us;
  if (gang.has_formed) {
    std::set<std::string> tasks;
    for (const auto& [device, seat] : gang.seats)
      if (!seat.has_ended)
        tasks.insert(seat.task);
    out.doomed.push_back({gang.id, {tasks.begin(), tasks.end()}, why});
  }
}

// A gang is kept for the members that are yet to come: after a failure, so that they hear of it.
// Not for one session's step that has failed alone: the others meet its next one.
void CollectiveGroups::drop_if_over(std::uint64_t id) {
  auto it = gangs_.find(id);
  if (it == gangs_.end() || !it->second.rounds.empty())
    return;
  const Gang& gang = it->second;
  const auto all_ended = [&] {
    return std::ranges::all_of(gang.seats, [](const auto& x) { return x.second.has_ended; });
  };
  const auto one_session = [&] {
    const std::string& session = gang.seats.begin()->second.session;
    return std::ranges::all_of(gang.seats,
                               [&](const auto& x) { return x.second.session == session; });
  };
  const bool is_full = gang.seats.size() >= static_cast<std::size_t>(gang.size);
  const bool is_over = gang.seats.empty() ||
                       (all_ended() && (is_full || gang.in_step || gang.failure.ok())) ||
                       (!gang.failure.ok() && !gang.in_step && !is_full && one_session());
  if (is_over)
    gangs_.erase(it);
}

CollectiveGroups::Effects CollectiveGroups::join(Waiter waiter, const CollectiveMember& m,
                                                 std::int64_t now_us) {
  Effects out;
  auto refuse = [&](Status why) { out.failed.push_back({{waiter}, std::move(why)}); };
  const CollectiveSpec& spec = m.spec;
  if (spec.group_size <= 0 || spec.group_size > max_group_size) {
    refuse(invalid_argument(str_cat("group_size must be positive integer but got ", spec.group_size,
                                    " (at most ", max_group_size, ")")));
    return out;
  }
  if (m.rank >= spec.group_size) {
    refuse(invalid_argument(
        str_cat("rank ", m.rank, " of ", m.device, " is not in a group of ", spec.group_size)));
    return out;
  }
  lost_.erase(m.task);
  Gang* gang = gang_for(m);
  if (!gang) {
    if (auto known = last_members_.find(spec.group_key);
        known != last_members_.end() && !m.in_step &&
        known->second.size() == static_cast<std::size_t>(spec.group_size))
      for (const auto& [device, task] : known->second)
        if (auto lost = lost_.find(task); lost != lost_.end()) {
          refuse(lost->second.with_context(
              str_cat("collective group ", spec.group_key, " has lost its member ", device)));
          return out;
        }
    if (gangs_.size() >= max_gangs) {
      refuse(resource_exhausted(str_cat("this task leads ", gangs_.size(),
                                        " collectives already; let some of them end first")));
      return out;
    }
    const std::uint64_t id = ++last_id_;
    gang = &gangs_[id];
    gang->id = id;
    gang->group_key = spec.group_key;
    gang->size = spec.group_size;
    gang->in_step = m.in_step;
  }
  const std::uint64_t id = gang->id;
  auto fail_all = [&](const Status& why) {
    fail(*gang, why, now_us, out);
    refuse(gang->failure);
    drop_if_over(id);
  };
  Seat seat{m.task, m.session, m.step, false};
  if (gang->size != spec.group_size) {
    gang->seats.try_emplace(m.device, seat);
    fail_all(internal(str_cat("Collective Op ", m.node, " has group_size ", spec.group_size,
                              " and group_key ", spec.group_key, " but that group has size ",
                              gang->size, " (", m.device,
                              " has just joined it); give every member the same group_size")));
    return out;
  }
  if (!gang->seats.contains(m.device) &&
      gang->seats.size() >= static_cast<std::size_t>(gang->size)) {
    fail_all(internal(str_cat("Collective Op ", m.node, " is assigned to device ", m.device,
                              " and group_key ", spec.group_key,
                              " but that group doesn't contain that device. It has its ",
                              gang->size, " members already; give the other devices another key")));
    return out;
  }
  gang->seats.try_emplace(m.device, seat);
  if (!gang->failure.ok()) {
    refuse(gang->failure);
    drop_if_over(id);
    return out;
  }
  Round& round = gang->rounds[{spec.instance_key, m.frame, m.iteration}];
  if (round.contains(m.device)) {
    fail_all(invalid_argument(
        str_cat(instance_text(spec), " runs twice at once on ", m.device, ": in node '",
                round.at(m.device).member.node, "' and in node '", m.node,
                "'; give each collective of a step an instance_key of its own")));
    return out;
  }
  if (Status differs = disagreement(*gang, round, m); !differs.ok()) {
    fail_all(differs);
    return out;
  }
  round[m.device] = {waiter, m, m.timeout_us > 0 ? now_us + m.timeout_us : 0, now_us};
  if (round.size() < static_cast<std::size_t>(gang->size))
    return out;
  auto formed = form(*gang, round);
  if (!formed.ok()) {
    fail(*gang, formed.status(), now_us, out);
    drop_if_over(id);
    return out;
  }
  gang->rounds.erase({spec.instance_key, m.frame, m.iteration});
  gang->has_formed = true;
  if (!gang->in_step) {
    if (last_members_.size() > max_gangs)
      last_members_.clear();
    auto& members = last_members_[spec.group_key];
    members.clear();
    for (std::size_t i = 0; i < formed->devices.size(); ++i)
      members.emplace_back(formed->devices[i], formed->tasks[i]);
  }
  out.formed = *std::move(formed);
  return out;
}

CollectiveGroups::Effects CollectiveGroups::step_ended(const std::string& session,
                                                       std::uint64_t step,
                                                       const std::string& device,
                                                       const Status& status, std::int64_t now_us) {
  Effects out;
  std::vector<std::uint64_t> touched;
  for (auto& [id, gang] : gangs_) {
    auto seat = gang.seats.find(device);
    if (seat == gang.seats.end() || seat->second.session != session || seat->second.step != step)
      continue;
    seat->second.has_ended = true;
    touched.push_back(id);
    if (!status.ok()) {
      fail(gang, told(status, device, gang.group_key), now_us, out);
      continue;
    }
    for (const auto& [instance, round] : gang.rounds)
      if (!round.contains(device)) {
        const CollectiveMember& waits = round.begin()->second.member;
        fail(gang,
             failed_precondition(str_cat(device, " has ended its step without ",
                                         instance_text(waits.spec), ", which ", waits.device,
                                         " waits in (node '", waits.node,
                                         "'); run the same collectives on every member")),
             now_us, out);
        break;
      }
  }
  for (std::uint64_t id : touched)
    drop_if_over(id);
  return out;
}

CollectiveGroups::Effects CollectiveGroups::task_lost(const std::string& task, const Status& why,
                                                      std::int64_t now_us) {
  Effects out;
  std::vector<std::uint64_t> touched;
  bool was_member = false;
  for (const auto& [key, members] : last_members_)
    was_member |= std::ranges::any_of(members, [&](const auto& x) { return x.second == task; });
  if (was_member)
    lost_[task] = why;
  for (auto& [id, gang] : gangs_) {
    bool has_seat = false;
    std::string device;
    for (auto& [name, seat] : gang.seats)
      if (seat.task == task && !seat.has_ended) {
        seat.has_ended = has_seat = true;
        device = name;
      }
    // Or it is expected: it was a member when the group met last.
    if (auto last = last_members_.find(gang.group_key);
        !has_seat && !gang.in_step && !gang.rounds.empty() && last != last_members_.end() &&
        last->second.size() == static_cast<std::size_t>(gang.size))
      for (const auto& [name, of] : last->second)
        if (of == task && !gang.seats.contains(name)) {
          has_seat = true;
          device = name;
        }
    if (!has_seat)
      continue;
    touched.push_back(id);
    fail(gang,
         why.with_context(
             str_cat("collective group ", gang.group_key, " has lost its member ", device)),
         now_us, out);
  }
  for (std::uint64_t id : touched)
    drop_if_over(id);
  return out;
}

std::string CollectiveGroups::missing(const Gang& gang, const Instance& instance,
                                      const Round& round) const {
  std::vector<std::string> here, known;
  for (const auto& [device, arrival] : round)
    here.push_back(device);
  std::string out =
      str_cat(here.size(), " of ", gang.size, " members of group ", gang.group_key,
              " have reached instance ", std::get<0>(instance), ": ", str_join(here, ", "));
  std::set<std::string> others;
  for (const auto& [device, seat] : gang.seats)
    if (!round.contains(device))
      others.insert(device);
  if (auto last = last_members_.find(gang.group_key); last != last_members_.end() && !gang.in_step)
    for (const auto& [device, task] : last->second)
      if (!round.contains(device))
        others.insert(device);
  if (!others.empty())
    str_append(
        out, "; missing: ", str_join(std::vector<std::string>(others.begin(), others.end()), ", "));
  return out;
}

CollectiveGroups::Effects CollectiveGroups::time_passed(std::int64_t now_us) {
  Effects out;
  std::vector<std::uint64_t> touched;
  for (auto& [id, gang] : gangs_) {
    if (!gang.failure.ok()) {
      if (gang.rounds.empty() && now_us - gang.failed_us >= keeps_failures_us)
        gang.seats.clear(); // forgotten below
      touched.push_back(id);
      continue;
    }
    for (const auto& [instance, round] : gang.rounds) {
      const Arrival* late = nullptr;
      for (const auto& [device, arrival] : round)
        if (arrival.due_us != 0 && arrival.due_us <= now_us)
          late = &arrival;
      if (!late)
        continue;
      const CollectiveMember& m = late->member;
      touched.push_back(id);
      fail(gang,
           deadline_exceeded(
               str_cat("Collective has timed out waiting for other workers: within the ",
                       static_cast<double>(m.timeout_us) / 1e6, " s of node '", m.node, "' on ",
                       m.device, " ", missing(gang, instance, round),
                       "; see that every member runs the step, or raise timeout_seconds")),
           now_us, out);
      break; // its rounds are gone
    }
  }
  for (std::uint64_t id : touched)
    drop_if_over(id);
  return out;
}

std::optional<std::int64_t> CollectiveGroups::next_due_us() const {
  std::optional<std::int64_t> out;
  auto take = [&](std::int64_t due) { out = out ? std::min(*out, due) : due; };
  for (const auto& [id, gang] : gangs_) {
    if (!gang.failure.ok())
      take(gang.failed_us + keeps_failures_us);
    for (const auto& [instance, round] : gang.rounds)
      for (const auto& [device, arrival] : round)
        if (arrival.due_us != 0)
          take(arrival.due_us);
  }
  return out;
}

std::string CollectiveGroups::describe(Waiter waiter) const {
  for (const auto& [id, gang] : gangs_)
    for (const auto& [instance, round] : gang.rounds)
      for (const auto& [device, arrival] : round)
        if (arrival.waiter == waiter)
          return missing(gang, instance, round);
  return {};
}

std::size_t CollectiveGroups::num_waiting() const {
  std::size_t out = 0;
  for (const auto& [id, gang] : gangs_)
    for (const auto& [instance, round] : gang.rounds)
      out += round.size();
  return out;
}

} // namespace troupe
