#include "actors/membership/membership.hpp"

#include <caf/actor_proxy.hpp>
#include <caf/stateful_actor.hpp>

#include "actors/family/dialer.hpp"
#include "actors/family/wire.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {

MembershipState::~MembershipState() {
  for (auto& [waiter, promise] : waiting)
    promise.deliver(to_error(unavailable("this task ends: it dials nobody any more").as_derived()));
}

namespace {

using Self = MembershipActor::stateful_pointer<MembershipState>;
using Link = PeerBook::Link;

/// Of a heartbeat: as long a peer that is given up has to take in that it is.
constexpr int part_for_farewell = 5;

// Of another node: that the connection to it is gone.
bool has_ended(const TreeActor& actor) {
  return actor && actor->getf(caf::abstract_actor::is_cleaned_up_flag);
}

// Who waits for an answer of a lost peer is told now. When another connection has taken the place
// of the one that carried the requests, nothing else would tell. The peer's membership is left
// alone: it goes on talking to us.
void end_handles(Self self, const Peer& peer) {
  for (const TreeActor& actor :
       {TreeActor(peer.worker), TreeActor(peer.master), TreeActor(peer.transport)})
    if (actor && actor->node() != self->node() && !has_ended(actor))
      static_cast<caf::actor_proxy*>(caf::actor_cast<caf::abstract_actor*>(actor))
          ->kill_proxy(self->context(), caf::exit_reason::remote_link_unreachable);
}

std::optional<WireState> state_of(const std::optional<Wire>& wire) {
  return wire ? std::optional(wire->state) : std::nullopt;
}

std::chrono::milliseconds in_ms(std::int64_t us) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::microseconds(us));
}

/// Does what the book decides.
struct Deliver {
  Self self;
  const Services& services;
  const std::optional<Wire>& wire; ///< of the link that it was decided of, if it was asked for

  void operator()(PeerBook::Dial& m) const;
  void operator()(PeerBook::Greet& m) const;
  void operator()(PeerBook::Close&) const {
    if (wire)
      close_wire(wire->host, wire->port);
  }
  void operator()(PeerBook::Connected& m) const;
  void operator()(PeerBook::Refused& m) const;
  void operator()(PeerBook::Agree& m) const;
  void operator()(PeerBook::Beat& m) const;
  void operator()(PeerBook::Look& m) const;
  void operator()(PeerBook::Examine& m) const;
  void operator()(PeerBook::Lost& m) const;
  void operator()(PeerBook::GiveUp& m) const;
};

void perform(Self self, const Services& services, PeerBook::Effects effects,
             const std::optional<Wire>& wire = {}) {
  for (PeerBook::Effect& effect : effects)
    std::visit(Deliver{self, services, wire}, effect);
}

PeerBook& book_of(Self self) {
  return *self->state.book;
}

/// Calls `done(std::optional<Wire>)` for the connection behind a link.
template <class Done>
void ask_line(Self self, const Services& services, Link link, Done done) {
  const PeerLines::Line* line = self->state.lines.line(link);
  ask_wire(self, services, line ? line->node() : caf::node_id{}, std::move(done));
}

/// The membership at the other end; empty when it is not known, or the line is closed.
MembershipActor membership_at(Self self, Link link) {
  const PeerLines::Line* line = self->state.lines.line(link);
  return line ? line->peer.membership : MembershipActor{};
}

void Deliver::operator()(PeerBook::Dial& m) const {
  dial_apart(self, services, m.address, DialPatience{in_ms(m.budget_us), m.may_start},
             [self = self, services = services,
              link = m.link](const Result<caf::strong_actor_ptr>& guardian) {
               PeerBook& book = book_of(self);
               if (!guardian.ok())
                 return perform(self, services,
                                book.unreached(link, guardian.status(), now_us(self)));
               auto effects = book.reached(link, now_us(self));
               if (effects.empty())
                 return; // it is not wanted any more
               if (self->state.lines.open(link, (*guardian)->get()->address(), {*guardian, {}}))
                 self->monitor(caf::actor_cast<caf::actor>(*guardian));
               perform(self, services, std::move(effects));
             });
}

void welcome(Self self, const Services& services, Link link, Welcome& w) {
  auto& state = self->state;
  PeerLines::Line* line = state.lines.line(link);
  if (!line)
    return; // it has ended since
  const bool is_leaving = !w.worker || !w.master || !w.transport || !w.membership;
  line->peer = {w.task, w.incarnation, w.worker, w.master, w.transport, w.membership};
  PeerBook::Claim claim{w.task, w.incarnation, w.cluster, node_key(line->node()), is_leaving};
  line->guardian = nullptr;
  perform(self, services, book_of(self).welcomed(link, claim, now_us(self)));
}

void Deliver::operator()(PeerBook::Greet& m) const {
  PeerLines::Line* line = self->state.lines.line(m.link);
  if (!line)
    return;
  ask_watched(self, typed<GuardianActor>(line->guardian), in_ms(m.budget_us),
              Hello{protocol_version, services->task})
      .then([self = self, services = services,
             link = m.link](Welcome& w) { welcome(self, services, link, w); },
            [self = self, services = services, link = m.link,
             what = str_cat("hello to ", m.task, " at ", m.address)](caf::error& error) {
              ask_line(self, services, link,
                       [=, is_late = error == caf::sec::request_timeout,
                        why = to_status(error, what)](const std::optional<Wire>& wire) {
                         perform(self, services,
                                 book_of(self).unanswered(link, is_late, why, state_of(wire),
                                                          now_us(self)),
                                 wire);
                       });
            });
}

void Deliver::operator()(PeerBook::Connected& m) const {
  const PeerLines::Line* line = self->state.lines.line(m.link);
  for (PeerBook::Waiter waiter : m.waiters)
    if (auto promise = self->state.waiting.extract(waiter); promise.empty())
      continue;
    else if (line)
      promise.mapped().deliver(line->peer);
    else
      promise.mapped().deliver(to_error(unavailable("the connection has just ended")));
}

void Deliver::operator()(PeerBook::Refused& m) const {
  for (PeerBook::Waiter waiter : m.waiters)
    if (auto promise = self->state.waiting.extract(waiter); !promise.empty())
      promise.mapped().deliver(to_error(m.why));
}

void Deliver::operator()(PeerBook::Agree& m) const {
  auto disagreed = [self = self, services = services,
                    link = m.link](bool is_late, const std::optional<Wire>& wire) {
    perform(self, services, book_of(self).disagreed(link, is_late, state_of(wire)));
  };
  ask_watched(self, membership_at(self, m.link), services->timeouts.lease,
              book_of(self).heartbeat(m.task))
      .then(
          [self = self, services = services, link = m.link](const Heartbeat& m) {
            perform(self, services, book_of(self).agreed(link, m, now_us(self)));
          },
          [self = self, services = services, link = m.link, disagreed](caf::error& error) {
            if (error != caf::sec::request_timeout)
              return disagreed(false, std::nullopt);
            ask_line(self, services, link,
                     [=](const std::optional<Wire>& wire) { disagreed(true, wire); });
          });
}

void Deliver::operator()(PeerBook::Beat& m) const {
  auto there = membership_at(self, m.link);
  if (!there)
    return;
  ask_watched(self, there, services->timeouts.lease, book_of(self).heartbeat(m.task))
      .then(
          [self = self, services = services, link = m.link](const Heartbeat& m) {
            perform(self, services, book_of(self).answered(link, m, now_us(self)));
          },
          [](caf::error&) {}); // silence is judged by the lease
}

void Deliver::operator()(PeerBook::Look& m) const {
  ask_line(self, services, m.link, [self = self, link = m.link](const std::optional<Wire>& wire) {
    book_of(self).looked_at(link, state_of(wire));
  });
}

void Deliver::operator()(PeerBook::Examine& m) const {
  ask_line(self, services, m.link,
           [self = self, services = services, link = m.link,
            task = m.task](const std::optional<Wire>& wire) {
             const std::int64_t tensors_us = services->path_book->silent_us(task, steady_micros());
             perform(self, services,
                     book_of(self).examined(link, state_of(wire), tensors_us, now_us(self)), wire);
           });
}

void Deliver::operator()(PeerBook::Lost& m) const {
  auto& state = self->state;
  PeerLines::Line* line = state.lines.line(m.link);
  if (m.link && (m.loss.reason == LossReason::left || state.is_leaving))
    log_info(m.loss.sentence);
  else if (m.link)
    log_warning(m.loss.sentence);
  for (PeerBook::Watcher id : m.watchers)
    if (auto watcher = state.watchers.find(id))
      caf::anon_send(caf::actor_cast<caf::actor>(watcher), m.loss);
  if (line)
    end_handles(self, line->peer); // after the watchers, whose words are better
}

void Deliver::operator()(PeerBook::GiveUp& m) const {
  if (!m.was_connected)
    log_info(m.task, ", which had dialled this task, has not been heard of for ",
             m.silent_us / 1000, " ms: its connection is closed");
  auto close = [wire = wire] {
    if (wire)
      close_wire(wire->host, wire->port);
  };
  auto there = membership_at(self, m.link);
  if (!there)
    return close();
  ask_watched(self, there, services->timeouts.heartbeat / part_for_farewell,
              book_of(self).farewell_to(m.task, m.silent_us))
      .then([=](caf::ok_atom) { close(); }, [=](caf::error&) { close(); });
}

caf::result<Peer> get_peer(Self self, const Services& services, const GetPeer& m) {
  auto& state = self->state;
  if (m.task == services->task)
    return state.own;
  // Whoever asks has been told already that it has ended; our own DOWN waits in the mailbox.
  const Link link = state.book->link_of(m.task);
  if (const auto* line = state.lines.line(link); line && has_ended(line->peer.worker))
    perform(self, services, state.book->ended(link, false, now_us(self)));
  auto promise = self->make_response_promise<Peer>();
  const PeerBook::Waiter waiter = ++state.waiters_made;
  state.waiting.emplace(waiter, promise);
  perform(self, services,
          state.book->wanted(m.task, waiter, m.budget_us, m.may_start, now_us(self)));
  return promise;
}

caf::result<Heartbeat> take_heartbeat(Self self, const Services& services, const Heartbeat& m) {
  auto& state = self->state;
  auto sender = self->current_sender();
  const std::uint64_t process = sender ? node_key(sender->node()) : 0;
  if (Status refused = state.book->admit(m, process); !refused.ok())
    return to_error(refused);
  Link link = 0;
  if (sender && m.from != services->task) {
    link = state.lines.find(sender->address());
    if (!link) {
      link = state.book->next_link();
      Peer there;
      there.membership = typed<MembershipActor>(sender);
      state.lines.open(link, sender->address(), {nullptr, there});
      self->monitor(caf::actor_cast<caf::actor>(sender));
    }
  }
  perform(self, services, state.book->beaten(m, link, process, now_us(self)));
  return state.book->heartbeat(m.from);
}

// Tells every node that knows us; answers when all have heard it, or after their time to do so.
caf::result<caf::ok_atom> say_farewell(Self self, const Services& services) {
  self->state.is_leaving = true;
  std::vector<std::pair<MembershipActor, Farewell>> all;
  for (const auto& [task, link] : book_of(self).everyone())
    if (auto there = membership_at(self, link))
      all.emplace_back(std::move(there), book_of(self).farewell_to(task, 0));
  auto promise = self->make_response_promise<caf::ok_atom>();
  auto answered = gather(all.size(), [promise]() mutable { promise.deliver(caf::ok_atom::value); });
  for (const auto& [membership, farewell] : all)
    ask(self, membership, services->timeouts.cancel, farewell)
        .then([=](caf::ok_atom) mutable { answered(); },
              [=](caf::error&) mutable { answered(); }); // its lease tells it, if this does not
  return promise;
}

void connection_down(Self self, const Services& services, const caf::down_msg& down) {
  const bool in_order = down.reason == caf::exit_reason::user_shutdown || !down.reason;
  const Link link = self->state.lines.find(down.source);
  perform(self, services, book_of(self).ended(link, in_order, now_us(self)));
  self->state.lines.close(down.source);
}

} // namespace

MembershipActor::behavior_type membership(Self self, Services services) {
  guard_actor(self);
  auto us = [](std::chrono::milliseconds time) { return std::chrono::microseconds(time).count(); };
  const Timeouts& t = services->timeouts;
  self->state.book.emplace(PeerBook::Setup{services->task, services->incarnation, services->cluster,
                                           us(t.heartbeat), us(t.lease), us(t.dial)});
  self->set_down_handler([=](caf::down_msg& down) { connection_down(self, services, down); });
  if (services->cluster.size() > 1)
    self->delayed_send(self, services->timeouts.heartbeat, HeartbeatDue{});
  return {
      [=](const GetPeer& m) { return get_peer(self, services, m); },
      [=](const WatchPeer& m) {
        for (PeerBook::Watcher ended : self->state.watchers.add(m.watcher))
          book_of(self).unwatched(ended);
        perform(self, services, book_of(self).watched(m.task, m.watcher.id()));
        return caf::ok_atom::value;
      },
      [=](Peer& m) { self->state.own = std::move(m); },
      [=](const Heartbeat& m) { return take_heartbeat(self, services, m); },
      [=](const Farewell& m) -> caf::result<caf::ok_atom> {
        if (Status stranger = book_of(self).admit(m.from, m.cluster); !stranger.ok())
          return to_error(stranger);
        perform(self, services, book_of(self).farewell(m));
        return caf::ok_atom::value;
      },
      [=](const Drain& m) -> caf::result<caf::ok_atom> {
        if (m.end.ok())
          return caf::ok_atom::value;
        return say_farewell(self, services);
      },
      [=](const GetPeers&) {
        perform(self, services, book_of(self).judge(now_us(self))); // who asks wonders why
        return PeerList{book_of(self).peers(now_us(self))};
      },
      [=](const GetActors&) {
        return describe_tree(self, str_cat(book_of(self).num_connected(), " peers"), Children{});
      },
      [=](HeartbeatDue) {
        perform(self, services, book_of(self).beat(now_us(self)));
        self->delayed_send(self, services->timeouts.heartbeat, HeartbeatDue{});
      },
  };
}

} // namespace troupe
