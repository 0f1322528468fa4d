// Hearing of a task until it is lost. How it is reached: peer_book.cpp.
#include <algorithm>
#include <utility>

#include "actors/membership/loss_sentence.hpp"
#include "actors/membership/peer_book.hpp"
#include "core/base/strings.hpp"

namespace troupe {

Status PeerBook::admit(const std::string& task, std::uint64_t cluster) const {
  const auto own = setup_.cluster.identity_between(setup_.task, task);
  if (setup_.cluster.contains(task) && own.digest == cluster)
    return {};
  return failed_precondition(str_cat("task ", str_quote(task.substr(0, 200)), " is not of ",
                                     own.to_string(), ", as ", setup_.task,
                                     " is; give all tasks the same config file"));
}

Status PeerBook::admit(const Heartbeat& m, std::uint64_t process) const {
  if (Status stranger = admit(m.from, m.cluster); !stranger.ok() || process == 0)
    return stranger;
  auto known = tasks_.find(m.from);
  if (known == tasks_.end())
    return {};
  auto is_impostor = [&](const auto& there) {
    return there && there->incarnation == m.incarnation && there->process != process;
  };
  if (!is_impostor(known->second.connection) && !is_impostor(known->second.listener))
    return {};
  return failed_precondition(str_cat("what beats for ", m.from, " is another process than ",
                                     setup_.task, " knows under that name"));
}

PeerBook::Losses& PeerBook::losses_of(Entry& entry, std::uint64_t incarnation) {
  Losses& losses = entry.second.losses;
  if (losses.incarnation != incarnation)
    losses = {incarnation, 0, false, 0};
  return losses;
}

Heartbeat PeerBook::heartbeat(const std::string& task) const {
  auto known = tasks_.find(task);
  const Losses losses = known == tasks_.end() ? Losses{} : known->second.losses;
  return {setup_.task,
          setup_.incarnation,
          losses.count,
          losses.incarnation,
          setup_.cluster.identity_between(setup_.task, task).digest,
          losses.silent_us};
}

Farewell PeerBook::farewell_to(const std::string& task, std::int64_t silent_us) const {
  return {setup_.task, setup_.incarnation,
          setup_.cluster.identity_between(setup_.task, task).digest, silent_us};
}

PeerBook::Effects PeerBook::agreed(Link link, const Heartbeat& m, std::int64_t now_us) {
  Effects out;
  Entry* entry = connected_by(link);
  if (!entry)
    return out;
  Losses& losses = losses_of(*entry, entry->second.connection->incarnation);
  if (!losses.agreed && m.lost_incarnation != 0 && m.lost_incarnation != setup_.incarnation) {
    // It still takes our predecessor for us, and would not count the end of this connection.
    entry->second.connection->is_unknown = true;
  } else if (!losses.agreed) {
    if (m.lost_incarnation == setup_.incarnation)
      losses.count = std::max(losses.count, m.losses);
    losses.agreed = true;
  }
  entry->second.connection->note_answer(now_us);
  hear(*entry, m, now_us, out);
  return out;
}

// If no answer comes, the connection has ended again, and perhaps another has taken its place.
PeerBook::Effects PeerBook::disagreed(Link link, bool is_late,
                                      const std::optional<WireState>& wire) {
  Effects out;
  Entry* entry = connected_by(link);
  if (!entry || entry->second.losses.agreed)
    return out;
  // The answer may wait behind others on a slow link.
  if (is_late && wire && wire->lives(std::chrono::microseconds(setup_.lease_us)))
    out.push_back(Agree{link, entry->first});
  else
    lose(*entry, LossReason::cut_off, 0, out);
  return out;
}

PeerBook::Effects PeerBook::answered(Link link, const Heartbeat& m, std::int64_t now_us) {
  Effects out;
  Entry* connected = connected_by(link);
  Entry* entry = connected ? connected : listening_by(link);
  if (!entry || entry->first != m.from)
    return out;
  if (connected)
    connected->second.connection->note_answer(now_us);
  hear(*entry, m, now_us, out);
  return out;
}

PeerBook::Effects PeerBook::beaten(const Heartbeat& m, Link link, std::uint64_t process,
                                   std::int64_t now_us) {
  Effects out;
  if (m.from == setup_.task)
    return out;
  Entry& entry = *tasks_.try_emplace(m.from).first;
  hear(entry, m, now_us, out);
  if (process == 0)
    return out;
  // The process that we know is asked first who of them is the task now.
  if (const auto& connection = entry.second.connection;
      connection && connection->incarnation != m.incarnation)
    return out;
  if (!entry.second.listener || entry.second.listener->link != link) {
    forget_listener(entry);
    owners_[link] = &entry;
  }
  entry.second.listener = Listener{link, m.incarnation, process, now_us};
  losses_of(entry, m.incarnation); // what we say of it from now on concerns this incarnation
  dial_again(entry, now_us, out);
  return out;
}

// A word of another incarnation than the one that is connected may be the first of the next, or a
// late one of the last, or of a copy that should not run. The connected one is asked: it has until
// the next beat to answer.
void PeerBook::hear(Entry& entry, const Heartbeat& m, std::int64_t now_us, Effects& out) {
  if (auto& connection = entry.second.connection) {
    if (connection->incarnation != m.incarnation) {
      if (connection->before == m.incarnation || connection->challenged_us)
        return;
      connection->challenged_us = now_us;
      out.push_back(Beat{connection->link, entry.first});
      return;
    }
    connection->heard_us = std::max(connection->heard_us, now_us);
    connection->is_cut = false;
    connection->challenged_us.reset();
  }
  if (m.lost_incarnation != setup_.incarnation)
    return;
  Losses& ours = losses_of(entry, m.incarnation);
  if (!ours.agreed)
    return;
  const bool has_lost_us = m.losses > ours.count;
  if (has_lost_us)
    lose(entry, m.silent_us > 0 ? LossReason::gave_up : LossReason::cut_off, m.silent_us, out);
  ours.count = std::max(ours.count, m.losses);
}

PeerBook::Effects PeerBook::farewell(const Farewell& m) {
  Effects out;
  auto known = tasks_.find(m.from);
  if (known == tasks_.end())
    return out;
  Task& task = known->second;
  if (task.connection && task.connection->incarnation == m.incarnation)
    lose(*known, m.silent_us > 0 ? LossReason::gave_up : LossReason::left, m.silent_us, out);
  if (task.listener && task.listener->incarnation == m.incarnation)
    forget_listener(*known);
  return out;
}

PeerBook::Effects PeerBook::ended(Link link, bool in_order, std::int64_t now_us) {
  Effects out;
  if (Entry* entry = tried_by(link)) {
    rest(*entry, now_us, out);
    return out;
  }
  const LossReason reason = in_order ? LossReason::left : LossReason::crashed;
  if (Entry* entry = connected_by(link)) {
    connection_ended(*entry, reason, now_us, out);
  } else if (Entry* there = listening_by(link)) {
    const std::uint64_t incarnation = there->second.listener->incarnation;
    forget_listener(*there);
    if (there->second.connection)
      connection_ended(*there, reason, now_us, out);
    else
      count_loss(*there, incarnation, reason, 0);
  }
  return out;
}

// Of one that was silent, and to whom nothing came through, its process need not have ended: it may
// have given us up, and have said so in vain.
void PeerBook::connection_ended(Entry& entry, LossReason reason, std::int64_t now_us,
                                Effects& out) {
  const Connection& connection = *entry.second.connection;
  if (reason == LossReason::crashed && connection.is_cut)
    lose(entry, LossReason::cut_off, now_us - connection.heard_us, out);
  else
    lose(entry, reason, 0, out);
}

void PeerBook::count_loss(Entry& entry, std::uint64_t incarnation, LossReason reason,
                          std::int64_t silent_us) {
  Losses& losses = losses_of(entry, incarnation);
  ++losses.count;
  const bool was_silent = reason == LossReason::frozen || reason == LossReason::cut_off;
  losses.silent_us = was_silent ? silent_us : 0;
}

void PeerBook::lose(Entry& entry, LossReason reason, std::int64_t silent_us, Effects& out) {
  auto& [task, known] = entry;
  if (!known.connection)
    return;
  Connection gone = std::move(*known.connection);
  known.connection.reset();
  owners_.erase(gone.link);
  forget_listener(entry);
  count_loss(entry, gone.incarnation, reason, silent_us);
  known.verdict = PeerLost{task, gone.incarnation, reason,
                           loss_sentence(task, address_text(task), reason, silent_us, setup_.task)};
  out.push_back(Lost{gone.link, *known.verdict, std::move(gone.watchers)});
}

void PeerBook::forget_listener(Entry& entry) {
  if (entry.second.listener)
    owners_.erase(entry.second.listener->link);
  entry.second.listener.reset();
}

PeerBook::Effects PeerBook::beat(std::int64_t now_us) {
  Effects out;
  for (Entry& entry : tasks_) {
    beat_tries(entry, now_us, out);
    beat_known(entry, now_us, out);
  }
  return out;
}

// A beat also tells the peer that we know it: then it says farewell to us, and counts the end of
// our connection.
void PeerBook::beat_known(Entry& entry, std::int64_t now_us, Effects& out) {
  auto& [task, known] = entry;
  if (const auto& connection = known.connection;
      connection && connection->challenged_us &&
      now_us - *connection->challenged_us >= setup_.heartbeat_us / 2)
    lose(entry, LossReason::restarted, 0, out);
  judge(entry, now_us, out);
  const Link link = known.connection ? known.connection->link
                    : known.listener ? known.listener->link
                                     : 0;
  if (!link)
    return;
  if (known.connection && std::exchange(known.connection->is_unknown, false))
    out.push_back(Agree{link, task});
  else
    out.push_back(Beat{link, task});
  const std::int64_t heard_us =
      known.connection ? known.connection->heard_us : known.listener->heard_us;
  if (now_us - heard_us > setup_.lease_us / 2)
    out.push_back(Look{link});
}

PeerBook::Effects PeerBook::judge(std::int64_t now_us) const {
  Effects out;
  for (const Entry& entry : tasks_)
    judge(entry, now_us, out);
  return out;
}

void PeerBook::judge(const Entry& entry, std::int64_t now_us, Effects& out) const {
  const auto& [task, known] = entry;
  if (known.connection && (now_us - known.connection->heard_us > setup_.lease_us ||
                           is_unanswered(*known.connection, now_us)))
    out.push_back(Examine{known.connection->link, task});
  else if (!known.connection && known.listener &&
           now_us - known.listener->heard_us > setup_.lease_us)
    out.push_back(Examine{known.listener->link, task});
}

// Its words may come over a connection that it dialled anew, while ours has ended unseen by us.
bool PeerBook::is_unanswered(const Connection& connection, std::int64_t now_us) const {
  return now_us - connection.answered_us > 2 * setup_.lease_us;
}

// No message has come for the lease. If bytes have, a long one is on its way, or we were stopped
// ourselves; else the verdict is final: the connection is closed, so that a zombie learns of it.
PeerBook::Effects PeerBook::examined(Link link, const std::optional<WireState>& wire,
                                     std::int64_t tensors_us, std::int64_t now_us) {
  Effects out;
  Entry* connected = connected_by(link);
  Entry* entry = connected ? connected : listening_by(link);
  if (!entry || (!connected && entry->second.connection))
    return out;
  std::int64_t& heard_us =
      connected ? entry->second.connection->heard_us : entry->second.listener->heard_us;
  // Tensors that come from it, on a connection of their own, are signs of life too.
  const bool has_tensors = connected && tensors_us >= 0 && tensors_us < setup_.lease_us;
  const bool has_bytes = wire && wire->lives(std::chrono::microseconds(setup_.lease_us));
  const std::int64_t wire_us = has_bytes ? std::chrono::microseconds(wire->silent).count() : 0;
  if (connected && has_bytes)
    connected->second.connection->note_answer(now_us - wire_us);
  const std::int64_t silent_us = now_us - heard_us;
  if (silent_us <= setup_.lease_us) { // heard of meanwhile, or over another connection
    if (connected && !has_tensors && is_unanswered(*connected->second.connection, now_us))
      lose(*connected, LossReason::cut_off, 0, out);
    return out;
  }
  if (has_tensors || has_bytes) {
    heard_us = std::max(heard_us, now_us - (has_tensors ? tensors_us : wire_us));
    return out;
  }
  const auto reason = wire && wire->is_cut ? LossReason::cut_off : LossReason::frozen;
  if (connected) {
    lose(*entry, reason, silent_us, out);
  } else { // its end of a connection that was cut must not stand in the way of the next one
    const std::uint64_t incarnation = entry->second.listener->incarnation;
    forget_listener(*entry);
    count_loss(*entry, incarnation, reason, silent_us); // of which it hears if no word gets through
  }
  out.push_back(GiveUp{link, entry->first, silent_us, connected != nullptr});
  return out;
}

void PeerBook::looked_at(Link link, const std::optional<WireState>& wire) {
  if (Entry* entry = connected_by(link); entry && wire && wire->is_cut)
    entry->second.connection->is_cut = true;
}

std::vector<std::pair<std::string, PeerBook::Link>> PeerBook::everyone() const {
  std::vector<std::pair<std::string, Link>> out;
  for (const auto& [task, known] : tasks_)
    if (known.connection)
      out.emplace_back(task, known.connection->link);
    else if (known.listener)
      out.emplace_back(task, known.listener->link);
  return out;
}

} // namespace troupe
