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
  }
  return "lost";
}

std::string last_heard_of(std::int64_t silent_us) {
  return str_cat("last heard of ", silent_us / 1000, " ms ago");
}

std::string PeerInfo::to_string() const {
  if (is_connected)
    return str_cat("alive, ", last_heard_of(silent_us));
  return last_loss.empty() ? "not dialled yet" : str_cat("not connected (lost: ", last_loss, ")");
}

} // namespace troupe
