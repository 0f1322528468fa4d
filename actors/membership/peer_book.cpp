// Reaching a task, and who asks. What is heard of it afterwards: peer_book_leases.cpp.
#include "actors/membership/peer_book.hpp"

#include <algorithm>

#include "actors/membership/loss_sentence.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

/// A task that ends between the dial and its answer is dialled again, three times: another may have
/// taken its place.
constexpr int most_attempts = 3;

/// How long after its time a try may take to end by itself, with better words: the kernel is asked
/// about a connection for as long.
constexpr std::int64_t grace_us = 2'000'000;

/// No wait of no length: CAF and the kernel take that for one without an end.
constexpr std::int64_t shortest_us = 1000;

std::vector<PeerBook::Waiter>
ids_of(const std::vector<std::pair<PeerBook::Waiter, std::int64_t>>& waiters) {
  std::vector<PeerBook::Waiter> out;
  for (const auto& [id, due_us] : waiters)
    out.push_back(id);
  return out;
}

std::string_view how_to_agree(const Cluster& cluster) {
  return cluster.is_partial()
             ? "; the ClusterSpec of each must have both tasks, with the ports that they have"
             : "; give all tasks of a cluster the same config file, or the same cluster-name "
               "where each sees the others at other addresses";
}

} // namespace

PeerBook::Effects PeerBook::wanted(const std::string& task, Waiter waiter, std::int64_t budget_us,
                                   bool may_start, std::int64_t now_us) {
  Effects out;
  if (Link link = link_of(task)) {
    out.push_back(Connected{{waiter}, link});
    return out;
  }
  if (auto address = setup_.cluster.address_of(task); !address.ok()) {
    out.push_back(Refused{{waiter}, address.status()});
    return out;
  }
  Entry& entry = *tasks_.try_emplace(task).first;
  const bool is_new = !entry.second.attempt;
  Try& attempt = is_new ? entry.second.attempt.emplace() : *entry.second.attempt;
  const std::int64_t due_us = now_us + (budget_us > 0 ? budget_us : setup_.dial_us);
  attempt.waiters.emplace_back(waiter, due_us);
  attempt.due_us = std::max(attempt.due_us, due_us);
  attempt.may_start = attempt.may_start || may_start;
  if (is_new)
    dial(entry, 1, now_us, out);
  return out;
}

void PeerBook::dial(Entry& entry, int attempt, std::int64_t now_us, Effects& out) {
  Try& now = *entry.second.attempt;
  owners_.erase(now.link);
  now.link = next_link();
  owners_[now.link] = &entry;
  now.phase = Try::dialling;
  now.since_us = now_us;
  now.attempt = attempt;
  now.dialled_due_us = now.due_us;
  now.dialled_may_start = now.may_start;
  auto address = setup_.cluster.address_of(entry.first); // wanted() has seen that there is one
  out.push_back(Dial{now.link, entry.first, address.ok() ? *address : Address{},
                     std::max(now.due_us - now_us, shortest_us), now.may_start});
}

void PeerBook::dial_again(Entry& entry, std::int64_t now_us, Effects& out) {
  if (entry.second.attempt && entry.second.attempt->phase == Try::resting)
    dial(entry, entry.second.attempt->attempt + 1, now_us, out);
}

// The answer on a fresh connection has a part of the time: its other end may still take one that
// was cut for the one to us, which takes a new attempt; or it is slow, which takes more time with
// each.
PeerBook::Effects PeerBook::reached(Link link, std::int64_t now_us) {
  Effects out;
  Entry* entry = tried_by(link);
  if (!entry || entry->second.attempt->phase != Try::dialling)
    return out;
  Try& attempt = *entry->second.attempt;
  attempt.phase = Try::greeting;
  attempt.since_us = now_us;
  attempt.hello_us = std::max(
      std::min(attempt.due_us - now_us, attempt.attempt * setup_.lease_us / 2), shortest_us);
  auto address = setup_.cluster.address_of(entry->first);
  out.push_back(Greet{link, entry->first, address.ok() ? *address : Address{}, attempt.hello_us});
  return out;
}

PeerBook::Effects PeerBook::unreached(Link link, const Status& why, std::int64_t now_us) {
  Effects out;
  Entry* entry = tried_by(link);
  if (!entry || entry->second.attempt->phase != Try::dialling)
    return out;
  Try& attempt = *entry->second.attempt;
  // Who came meanwhile may have more patience than this dial had.
  if (attempt.due_us > now_us &&
      (attempt.due_us > attempt.dialled_due_us || attempt.may_start != attempt.dialled_may_start))
    dial(*entry, attempt.attempt, now_us, out);
  else
    refuse_unreached(*entry, why.with_context(str_cat("task ", entry->first)), out);
  return out;
}

PeerBook::Effects PeerBook::welcomed(Link link, const Claim& claim, std::int64_t now_us) {
  Effects out;
  Entry* found = tried_by(link);
  if (!found || found->second.attempt->phase != Try::greeting)
    return out;
  auto& [task, known] = *found;
  const auto own = setup_.cluster.identity_between(setup_.task, task);
  if (claim.cluster.digest != own.digest) { // which may have a task of our name
    refuse(
        *found,
        failed_precondition(str_cat("at ", address_text(task), " runs ", claim.task.substr(0, 200),
                                    " of ", claim.cluster.to_string(), ", but ", setup_.task,
                                    " is of ", own.to_string(), how_to_agree(setup_.cluster)))
            .with_origin({"", "", task, 0}),
        out);
    return out;
  }
  if (claim.task != task) {
    refuse(*found,
           failed_precondition(str_cat("at ", address_text(task), " runs ", claim.task, ", not ",
                                       task, "; the nodes' config files differ")),
           out);
    return out;
  }
  if (claim.is_leaving) {
    refuse(*found,
           unavailable(loss_sentence(task, address_text(task), LossReason::left, 0))
               .with_origin({"", "", task, 0}),
           out);
    return out;
  }
  Connected connected{ids_of(known.attempt->waiters), link};
  known.attempt.reset();
  Connection& now = known.connection.emplace();
  now.link = link;
  now.incarnation = claim.incarnation;
  now.process = claim.process;
  now.heard_us = now.answered_us = now_us;
  now.before = known.losses.incarnation != claim.incarnation ? known.losses.incarnation : 0;
  losses_of(*found, claim.incarnation).agreed = false;
  out.push_back(Agree{link, task});
  out.push_back(std::move(connected));
  return out;
}

// Nobody answers on a fresh connection. If no byte has come, it is closed, and its end is the sign
// to dial again; else the other side is busy, or has just taken another connection for this one,
// and is asked again.
PeerBook::Effects PeerBook::unanswered(Link link, bool is_late, const Status& why,
                                       const std::optional<WireState>& wire, std::int64_t now_us) {
  Effects out;
  Entry* entry = tried_by(link);
  if (!entry || entry->second.attempt->phase != Try::greeting)
    return out;
  Try& attempt = *entry->second.attempt;
  const bool again = is_late && attempt.attempt < most_attempts && attempt.due_us > now_us;
  if (again && wire && !wire->lives(std::chrono::microseconds(attempt.hello_us / 2))) {
    attempt.phase = Try::closing;
    attempt.since_us = now_us;
    out.push_back(Close{link});
  } else if (again) {
    dial(*entry, attempt.attempt + 1, now_us, out);
  } else if (is_late) {
    refuse_unreached(*entry, silence_of(*entry), out);
  } else {
    refuse_unreached(*entry, why, out);
  }
  return out;
}

// Two that have dialled each other at the same moment close both connections. One of them dials
// again at once, the other one when it has heard of the first, or with the next beat.
void PeerBook::rest(Entry& entry, std::int64_t now_us, Effects& out) {
  Try& attempt = *entry.second.attempt;
  if (attempt.attempt >= most_attempts)
    return refuse_unreached(
        entry,
        unavailable(str_cat("task ", entry.first, " at ", address_text(entry.first), " closed ",
                            attempt.attempt,
                            " connections before it said who it is; look at its "
                            "log")),
        out);
  owners_.erase(attempt.link);
  attempt.link = 0;
  attempt.phase = Try::resting;
  attempt.since_us = now_us;
  if (setup_.task < entry.first)
    dial_again(entry, now_us, out);
}

void PeerBook::refuse(Entry& entry, const Status& why, Effects& out) {
  owners_.erase(entry.second.attempt->link);
  out.push_back(Refused{ids_of(entry.second.attempt->waiters), why});
  entry.second.attempt.reset();
}

// A task that was lost before is refused with the verdict by which it was lost.
void PeerBook::refuse_unreached(Entry& entry, const Status& why, Effects& out) {
  const auto& verdict = entry.second.verdict;
  if (!verdict || why.code() != Code::unavailable)
    return refuse(entry, why, out);
  refuse(entry,
         unavailable(str_cat(verdict->sentence, " (dialled again: ", why.message(), ")"))
             .with_origin({"", "", entry.first, 0}),
         out);
}

Status PeerBook::silence_of(const Entry& entry) const {
  return unavailable(str_cat("task ", entry.first, " at ", address_text(entry.first),
                             " does not say who it is: it is frozen or overloaded"));
}

// A try ends by itself if every word of it comes, and may go on for those who came later. Whose
// time is long over is not kept waiting by either.
void PeerBook::beat_tries(Entry& entry, std::int64_t now_us, Effects& out) {
  if (!entry.second.attempt)
    return;
  Try& attempt = *entry.second.attempt;
  auto is_over = [&](const auto& waiter) {
    return now_us - waiter.second > setup_.heartbeat_us + grace_us;
  };
  auto over = std::stable_partition(attempt.waiters.begin(), attempt.waiters.end(),
                                    [&](const auto& waiter) { return !is_over(waiter); });
  if (over == attempt.waiters.begin())
    return refuse_unreached(entry, silence_of(entry), out);
  if (over != attempt.waiters.end()) {
    out.push_back(Refused{ids_of({over, attempt.waiters.end()}), silence_of(entry)});
    attempt.waiters.erase(over, attempt.waiters.end());
  }
  if (attempt.phase == Try::closing && now_us - attempt.since_us > setup_.heartbeat_us)
    rest(entry, now_us, out);
  dial_again(entry, now_us, out);
}

PeerBook::Entry* PeerBook::tried_by(Link link) {
  auto owner = owners_.find(link);
  return owner != owners_.end() && owner->second->second.attempt &&
                 owner->second->second.attempt->link == link
             ? owner->second
             : nullptr;
}

PeerBook::Entry* PeerBook::connected_by(Link link) {
  auto owner = owners_.find(link);
  return owner != owners_.end() && owner->second->second.connection &&
                 owner->second->second.connection->link == link
             ? owner->second
             : nullptr;
}

PeerBook::Entry* PeerBook::listening_by(Link link) {
  auto owner = owners_.find(link);
  return owner != owners_.end() && owner->second->second.listener &&
                 owner->second->second.listener->link == link
             ? owner->second
             : nullptr;
}

PeerBook::Link PeerBook::link_of(const std::string& task) const {
  auto it = tasks_.find(task);
  return it != tasks_.end() && it->second.connection ? it->second.connection->link : 0;
}

std::string PeerBook::address_text(const std::string& task) const {
  auto address = setup_.cluster.address_of(task);
  return address.ok() ? address->to_string() : "?";
}

PeerBook::Effects PeerBook::watched(const std::string& task, Watcher watcher) {
  Effects out;
  if (task == setup_.task)
    return out;
  auto known = tasks_.find(task);
  if (known != tasks_.end() && known->second.connection) {
    auto& watchers = known->second.connection->watchers;
    if (std::find(watchers.begin(), watchers.end(), watcher) == watchers.end())
      watchers.push_back(watcher);
    return out;
  }
  // Lost between the dial and now: told at once rather than never.
  const bool was_lost = known != tasks_.end() && known->second.verdict;
  out.push_back(
      Lost{0,
           was_lost ? *known->second.verdict
                    : PeerLost{task, 0, LossReason::cut_off,
                               loss_sentence(task, address_text(task), LossReason::cut_off, 0)},
           {watcher}});
  return out;
}

void PeerBook::unwatched(Watcher watcher) {
  for (auto& [task, known] : tasks_)
    if (known.connection)
      std::erase(known.connection->watchers, watcher);
}

std::vector<PeerInfo> PeerBook::peers(std::int64_t now_us) const {
  std::vector<PeerInfo> out;
  for (const std::string& task : setup_.cluster.tasks()) {
    if (task == setup_.task)
      continue;
    out.push_back({task, address_text(task), false, 0, std::nullopt});
    auto known = tasks_.find(task);
    if (known == tasks_.end())
      continue;
    if (const auto& connection = known->second.connection) {
      out.back().is_connected = true;
      out.back().silent_us = std::max<std::int64_t>(now_us - connection->heard_us, 0);
    }
    if (known->second.verdict)
      out.back().last_loss = known->second.verdict->reason;
  }
  return out;
}

std::size_t PeerBook::num_connected() const {
  return static_cast<std::size_t>(
      std::count_if(tasks_.begin(), tasks_.end(),
                    [](const Entry& entry) { return entry.second.connection.has_value(); }));
}

} // namespace troupe
