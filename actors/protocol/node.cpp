#include "actors/protocol/node.hpp"

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

} // namespace troupe
