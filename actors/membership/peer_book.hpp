// PeerBook: what a node knows of the other tasks of its cluster, and what follows from what it
// hears. Events in, effects out, time passed in; knows neither actors nor clocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/protocol/local/node.hpp"
#include "core/trace/counters.hpp"
#include "net/cluster/cluster.hpp"
#include "net/transport/wire_state.hpp"

namespace troupe {

/// A task is reached when somebody here wants it, and then watched until it is lost:
///
///   unknown ── wanted ─▶ dialling ── reached ─▶ greeting ── welcome ─▶ connected ── lost ─▶ unknown
///      ▲                 ▲  ▲  │                 │ │ │                                (and told)
///      │                 │  │  └ unreachable ──▶ refused ◀─ a refusal, or attempts and time are over
///      │                 │  └ no word, but bytes ┘ │ └ no byte: its connection is closed ─▶ closing
///      │                 └── a beat of either ── resting ◀── the connection has ended ────────┘
///      └── each that waited is answered ── refused or connected
///
/// A connected one is lost by the first of:
///
///   no word for the lease, nor bytes ─▶ frozen, or cut off when nothing is acknowledged
///   no answer nor byte over the link ─▶ cut off, though its words come over another
///   for two leases
///   its connection ends ──────────────▶ crashed, or cut off when nothing was acknowledged before
///   it says goodbye ──────────────────▶ left
///   it says that it has lost us ──────▶ gave up, or cut off
///   another incarnation beats, and it
///   does not answer for a round ──────▶ restarted
///
/// A task that sends us heartbeats is a listener, connected or not. Events of a link that is no
/// longer the task's own change nothing.
///
/// Invariants: each waiter is answered once, soon after its budget at the latest; each watcher is
/// told once; each connection is lost once.
class PeerBook {
public:
  /// A connection to a task, or from one; never 0, never used again.
  using Link = std::uint64_t;
  /// Who asked, by a number that the caller gives.
  using Waiter = std::uint64_t;
  using Watcher = std::uint64_t;

  struct Setup {
    std::string task; ///< our own
    std::uint64_t incarnation = 0;
    Cluster cluster;
    std::int64_t heartbeat_us = 0;
    std::int64_t lease_us = 0;
    std::int64_t dial_us = 0; ///< budget of a request without one
  };

  // What is to be done.

  /// Dial; then reached() or unreached().
  struct Dial {
    Link link;
    std::string task;
    Address address;
    std::int64_t budget_us;
    bool may_start;
  };
  /// Say hello over the connection; then welcomed() or unanswered().
  struct Greet {
    Link link;
    std::string task;
    Address address;
    std::int64_t budget_us;
  };
  /// Close the connection; ended() follows.
  struct Close {
    Link link;
  };
  struct Connected {
    std::vector<Waiter> waiters;
    Link link;
  };
  struct Refused {
    std::vector<Waiter> waiters;
    Status why;
  };
  /// Send the first heartbeat over a new link; then agreed() or disagreed().
  struct Agree {
    Link link;
    std::string task;
  };
  /// Send a heartbeat; the answer is for answered(), that none comes is not.
  struct Beat {
    Link link;
    std::string task;
  };
  /// Ask the kernel ahead of time, so that it judges better when it matters; then looked_at().
  struct Look {
    Link link;
  };
  /// Ask the kernel whether bytes come; then examined().
  struct Examine {
    Link link;
    std::string task;
  };
  struct Lost {
    Link link;
    PeerLost loss;
    std::vector<Watcher> watchers;
  };
  /// Say farewell, as far as it can be told, and close the connection.
  struct GiveUp {
    Link link;
    std::string task;
    std::int64_t silent_us;
    bool was_connected; ///< false: it had dialled us, and nobody here had wanted it
  };
  using Effect = std::variant<Dial, Greet, Close, Connected, Refused, Agree, Beat, Look, Examine,
                              Lost, GiveUp>;
  using Effects = std::vector<Effect>;

  explicit PeerBook(Setup setup) : setup_(std::move(setup)) {}
  PeerBook(const PeerBook&) = delete;
  PeerBook& operator=(const PeerBook&) = delete;

  // Reaching a task.

  /// `budget_us` 0: the usual time; `may_start`: a refused connection is tried again.
  Effects wanted(const std::string& task, Waiter waiter, std::int64_t budget_us, bool may_start,
                 std::int64_t now_us);
  Effects reached(Link link, std::int64_t now_us);
  Effects unreached(Link link, const Status& why, std::int64_t now_us);
  struct Claim {
    std::string task;
    std::uint64_t incarnation = 0;
    ClusterIdentity cluster;
    std::uint64_t process = 0; ///< of the connection's other end
    bool is_leaving = false;   ///< it has let go of its actors
  };
  Effects welcomed(Link link, const Claim& claim, std::int64_t now_us);
  /// `is_late`: no word came in time; else `why` is the answer, or how the connection ended.
  /// `wire`: what the kernel knows of the connection.
  Effects unanswered(Link link, bool is_late, const Status& why,
                     const std::optional<WireState>& wire, std::int64_t now_us);

  // Hearing of a task.

  /// The answer to the first heartbeat over a link.
  Effects agreed(Link link, const Heartbeat& m, std::int64_t now_us);
  /// None came. `wire` is asked for when the time for it is over; else the connection has ended.
  Effects disagreed(Link link, bool is_late, const std::optional<WireState>& wire);
  /// The answer to a later one.
  Effects answered(Link link, const Heartbeat& m, std::int64_t now_us);
  /// FAILED_PRECONDITION for a sender that is no task of our cluster, which must not be kept by
  /// name; or for a process that is known under another number: it is not who it says.
  Status admit(const std::string& task, std::uint64_t cluster) const;
  Status admit(const Heartbeat& m, std::uint64_t process) const;
  /// A heartbeat came unasked over `link` from `process`; 0: nobody to beat back to.
  Effects beaten(const Heartbeat& m, Link link, std::uint64_t process, std::int64_t now_us);
  Effects farewell(const Farewell& m);
  /// The connection behind a link is gone; `in_order`: by the will of the other end.
  Effects ended(Link link, bool in_order, std::int64_t now_us);

  // As time passes.

  /// Once a heartbeat.
  Effects beat(std::int64_t now_us);
  /// Examines who is due: for whoever is asked before the next beat.
  Effects judge(std::int64_t now_us) const;
  /// `tensors_us`: since bytes of tensors came, on connections of their own; negative: never.
  Effects examined(Link link, const std::optional<WireState>& wire, std::int64_t tensors_us,
                   std::int64_t now_us);
  void looked_at(Link link, const std::optional<WireState>& wire);

  // Who wants to know.

  /// Told at once when the task is lost already.
  Effects watched(const std::string& task, Watcher watcher);
  /// The watcher has ended.
  void unwatched(Watcher watcher);

  /// What we say to a task.
  Heartbeat heartbeat(const std::string& task) const;
  /// The same at our end, or where we give it up: `silent_us` is not 0 then.
  Farewell farewell_to(const std::string& task, std::int64_t silent_us) const;
  Link next_link() { return ++links_made_; }
  /// 0: not connected.
  Link link_of(const std::string& task) const;
  /// Every task that knows us.
  std::vector<std::pair<std::string, Link>> everyone() const;
  /// Every other task of the cluster.
  std::vector<PeerInfo> peers(std::int64_t now_us) const;
  std::size_t num_connected() const;

private:
  /// How a task is being reached, and for whom.
  struct Try {
    Link link = 0;
    enum { dialling, greeting, closing, resting } phase = dialling;
    std::int64_t since_us = 0; ///< the phase
    int attempt = 1;
    std::vector<std::pair<Waiter, std::int64_t>> waiters; ///< with when their time is over
    std::int64_t due_us = 0;                              ///< the latest of these
    bool may_start = false;                               ///< one of them expects it to start
    std::int64_t dialled_due_us = 0;
    bool dialled_may_start = false;
    std::int64_t hello_us = 0; ///< the patience for its answer
    Counted counted{counter("dials")};
  };
  struct Connection {
    Link link = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t process = 0;
    std::int64_t heard_us = 0;
    std::int64_t answered_us = 0; ///< a question over this link, or bytes of it came
    std::uint64_t before = 0;     ///< the incarnation before; its messages are stale
    /// Silent, and what we send is not acknowledged: if the connection ends next, that is why.
    bool is_cut = false;
    std::optional<std::int64_t> challenged_us; ///< another incarnation has beaten
    bool is_unknown = false; ///< its peer took us for our predecessor: agreed on with the next beat
    std::vector<Watcher> watchers;
    void note_answer(std::int64_t at_us) { answered_us = std::max(answered_us, at_us); }
  };
  /// Beaten back unasked, so that a node that dialled us hears of us even while its own questions
  /// wait behind its own bytes.
  struct Listener {
    Link link = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t process = 0;
    std::int64_t heard_us = 0;
  };
  /// How often a peer's present incarnation was lost. Both ends of a connection count, and agree
  /// within a heartbeat. A peer that has lost us more often than we have lost it knows of a
  /// connection that ended unseen by us: a new one took its place first, and what was under way is
  /// lost.
  struct Losses {
    std::uint64_t incarnation = 0;
    std::uint32_t count = 0;
    bool agreed = false;        ///< over the present link; earlier counts are ignored
    std::int64_t silent_us = 0; ///< that it was when it was given up last; 0: lost otherwise
  };
  struct Task {
    std::optional<Try> attempt;
    std::optional<Connection> connection;
    std::optional<Listener> listener;
    Losses losses;
    std::optional<PeerLost> verdict; ///< how it was lost last
  };
  using Entry = std::map<std::string, Task>::value_type;

  /// The task whose connection that is now; null for a link that is nobody's any more.
  Entry* connected_by(Link link);
  Entry* tried_by(Link link);
  Entry* listening_by(Link link);
  std::string address_text(const std::string& task) const;
  Losses& losses_of(Entry& entry, std::uint64_t incarnation);

  void dial(Entry& entry, int attempt, std::int64_t now_us, Effects& out);
  void dial_again(Entry& entry, std::int64_t now_us, Effects& out);
  void rest(Entry& entry, std::int64_t now_us, Effects& out);
  void refuse(Entry& entry, const Status& why, Effects& out);
  void refuse_unreached(Entry& entry, const Status& why, Effects& out);
  Status silence_of(const Entry& entry) const;
  void hear(Entry& entry, const Heartbeat& m, std::int64_t now_us, Effects& out);
  void judge(const Entry& entry, std::int64_t now_us, Effects& out) const;
  bool is_unanswered(const Connection& connection, std::int64_t now_us) const;
  void beat_tries(Entry& entry, std::int64_t now_us, Effects& out);
  void beat_known(Entry& entry, std::int64_t now_us, Effects& out);
  void count_loss(Entry& entry, std::uint64_t incarnation, LossReason reason,
                  std::int64_t silent_us);
  void connection_ended(Entry& entry, LossReason reason, std::int64_t now_us, Effects& out);
  void forget_listener(Entry& entry);
  void lose(Entry& entry, LossReason reason, std::int64_t silent_us, Effects& out);

  Setup setup_;
  std::map<std::string, Task> tasks_; ///< none is taken out again
  std::map<Link, Entry*> owners_;     ///< of links in use
  Link links_made_ = 0;
};

} // namespace troupe
