#include "actors/membership/lease_table.hpp"

#include "core/base/strings.hpp"

namespace troupe {

bool LeaseTable::joined(const std::string& task, std::uint64_t incarnation, std::int64_t now_us) {
  auto it = entries_.find(task);
  bool replaced = it != entries_.end() && it->second.incarnation != incarnation;
  entries_[task] = {incarnation, now_us};
  return replaced;
}

void LeaseTable::heard(const std::string& task, std::int64_t now_us) {
  if (auto it = entries_.find(task); it != entries_.end())
    it->second.heard_us = now_us;
}

bool LeaseTable::lost(const std::string& task) {
  return entries_.erase(task) > 0;
}

std::vector<LeaseTable::Expired> LeaseTable::expire(std::int64_t now_us) {
  std::vector<Expired> out;
  for (auto it = entries_.begin(); it != entries_.end();) {
    std::int64_t silent = now_us - it->second.heard_us;
    if (silent > lease_us_) {
      out.push_back({it->first, it->second.incarnation, silent});
      it = entries_.erase(it);
    } else {
      ++it;
    }
  }
  return out;
}

std::uint64_t LeaseTable::incarnation(const std::string& task) const {
  auto it = entries_.find(task);
  return it == entries_.end() ? 0 : it->second.incarnation;
}

std::int64_t LeaseTable::silent_us(const std::string& task, std::int64_t now_us) const {
  auto it = entries_.find(task);
  return it == entries_.end() ? -1 : now_us - it->second.heard_us;
}

std::vector<std::string> LeaseTable::tasks() const {
  std::vector<std::string> out;
  for (const auto& [task, lease] : entries_)
    out.push_back(task);
  return out;
}

std::string loss_sentence(const std::string& task, const std::string& address, LossReason reason,
                          std::int64_t silent_us, const std::string& own) {
  std::string who = str_cat("task ", task, " at ", address);
  switch (reason) {
  case LossReason::crashed:
    return str_cat(
        who, " closed its connection: its process has ended; look at its log and start it again");
  case LossReason::frozen:
    return str_cat(
        who, " has not been heard of for ", silent_us / 1000,
        " ms though its connection is open: it is frozen or overloaded; look at that machine");
  case LossReason::cut_off:
    if (silent_us == 0)
      return str_cat(who, " is cut off: it cannot be reached; check the network and that it runs");
    return str_cat(who, " is cut off: it has not been heard of for ", silent_us / 1000,
                   " ms, and what is sent to it is not acknowledged; check the network and that "
                   "its machine runs");
  case LossReason::left:
    return str_cat(who, " has left the cluster in order; start it again, then make a new session");
  case LossReason::restarted:
    return str_cat(who,
                   " was started again: what it held of this session is gone; make a new session");
  case LossReason::gave_up:
    return str_cat(own, " was declared gone by ", who, ", which had heard nothing of it for ",
                   silent_us / 1000,
                   " ms, though both run: check the network between them, then make a new session");
  }
  return who;
}

} // namespace troupe
