#include "actors/membership/loss_sentence.hpp"

#include "core/base/strings.hpp"

namespace troupe {

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
