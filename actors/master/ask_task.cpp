#include "actors/master/ask_task.hpp"

namespace troupe {

Status silence_of_task(const Services& services, const std::string& task, std::int64_t waited_us,
                       const PeerList& peers) {
  auto address = services->cluster.address_of(task);
  std::string who =
      str_cat("task ", task, " at ", address.ok() ? address->to_string() : "no address");
  auto peer = std::find_if(peers.peers.begin(), peers.peers.end(),
                           [&](const PeerInfo& info) { return info.task == task; });
  if (peer == peers.peers.end() || !peer->is_connected)
    return unavailable(str_cat(who, " was not reached within ", waited_us / 1000, " ms",
                               peer != peers.peers.end() && peer->last_loss
                                   ? str_cat(" (it was lost: ", to_string(*peer->last_loss), ")")
                                   : std::string(),
                               "; check the network and that it runs"))
        .with_origin({"", "", task, 0});
  return unavailable(str_cat(who, " has not answered for ", waited_us / 1000,
                             " ms, and was last heard of ", peer->silent_us / 1000,
                             " ms ago: it is frozen or overloaded; look at that machine"))
      .with_origin({"", "", task, 0});
}

} // namespace troupe
