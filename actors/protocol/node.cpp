#include "actors/protocol/local/node.hpp"

#include "core/base/strings.hpp"

namespace troupe {

std::string to_string(LossReason reason) {
  switch (reason) {
  case LossReason::crashed:
    return "crashed";
  case LossReason::frozen:
    return "frozen";
  case LossReason::cut_off:
    return "cut off";
  case LossReason::left:
    return "left";
  case LossReason::restarted:
    return "restarted";
  case LossReason::gave_up:
    return "gave up";
  }
  return "lost";
}

std::optional<LossReason> loss_reason_of(std::uint8_t number) {
  if (number > static_cast<std::uint8_t>(LossReason::gave_up))
    return std::nullopt;
  return static_cast<LossReason>(number);
}

std::string PeerInfo::to_string() const {
  if (is_connected)
    return str_cat("alive, last heard of ", silent_us / 1000, " ms ago");
  return last_loss ? str_cat("not connected (lost: ", troupe::to_string(*last_loss), ")")
                   : "not dialled yet";
}

} // namespace troupe
