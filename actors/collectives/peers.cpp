#include "actors/collectives/internal/parts.hpp"
#include "actors/family/ask.hpp"
#include "core/base/strings.hpp"

namespace troupe::collectives_parts {

CollectivesActor own_handle(Self self) {
  return caf::actor_cast<CollectivesActor>(self->ctrl());
}
void found(Self self, const std::string& task, const Status& status,
           const CollectivesActor& actor) {
  auto it = self->state.peers.find(task);
  if (it == self->state.peers.end())
    return;
  auto waiting = std::exchange(it->second.waiting, {});
  if (status.ok())
    it->second.actor = actor;
  else
    self->state.peers.erase(it);
  for (auto& done : waiting)
    done(status, actor);
}

void with_peer(Self self, const Parts& parts, const std::string& task, CollectivePeer::Found done) {
  if (task == parts.services->task)
    return done({}, own_handle(self));
  auto [it, is_new] = self->state.peers.try_emplace(task);
  if (it->second.actor)
    return done({}, it->second.actor);
  it->second.waiting.push_back(std::move(done));
  if (!is_new)
    return;
  const Timeouts& t = parts.services->timeouts;
  auto failed = [=](std::string_view what) {
    return [=, what = std::string(what)](caf::error& error) {
      found(self, task, to_status(error, str_cat(what, " ", task)), {});
    };
  };
  ask(self, parts.membership, t.dial + 2 * t.request,
      GetPeer{task, std::chrono::microseconds(t.verdict()).count(), true})
      .then(
          [=](const Peer& peer) {
            ask(self, parts.membership, parts.services->timeouts.request,
                WatchPeer{task, own_handle(self)})
                .then([](caf::ok_atom) {}, [](caf::error&) {}); // membership never refuses
            ask(self, peer.worker, parts.services->timeouts.request, FindCollectives{})
                .then(
                    [=](const CollectivesFound& there) {
                      found(self, task,
                            there.actor ? Status{}
                                        : unavailable(str_cat(task, " computes no collectives")),
                            there.actor);
                    },
                    failed("finding the collectives of"));
          },
          failed("dialling"));
}

void send_abort(Self self, const Parts& parts, const std::string& task, std::uint64_t gang,
                const Status& why) {
  with_peer(self, parts, task, [gang, why](const Status& status, const CollectivesActor& actor) {
    if (status.ok())
      caf::anon_send(actor, AbortCollective{gang, {why}});
  });
}

} // namespace troupe::collectives_parts
