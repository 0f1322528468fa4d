// Books of three tasks against each other, while messages are lost, doubled and overtake each
// other, connections end, and processes freeze, end and come back. A seed decides.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "actors/membership/peer_book.hpp"

using namespace troupe;

namespace {

using Book = PeerBook;
using Link = Book::Link;

constexpr std::int64_t ms = 1000, one_second = 1000 * ms;
constexpr std::int64_t beat_time = one_second, lease_time = 5 * one_second,
                       dial_time = 10 * one_second;
/// After its time is over: a round of heartbeats, the book's grace, and the round that looks.
constexpr std::int64_t longest_answer = 2 * beat_time + 2 * one_second;

struct Process;
/// Two processes share one connection. Each end has a link for every dial of its own that came to
/// it, and one for the beats of the other.
struct Connection {
  Process* ends[2] = {};
  Link beats[2] = {};
  std::vector<Link> links[2];
  bool is_open = true;
  bool is_ended[2] = {}; ///< as that end has been told: nothing comes over it afterwards
  int end_of(const Process* process) const { return ends[0] == process ? 0 : 1; }
};

struct Process {
  Process(const std::string& name, std::uint64_t incarnation, const Cluster& cluster)
      : task(name), incarnation(incarnation),
        book({name, incarnation, cluster, beat_time, lease_time, dial_time}) {}
  std::string task;
  std::uint64_t incarnation;
  Book book;
  bool is_alive = true;
  std::int64_t frozen_until = 0;
  std::map<Link, std::shared_ptr<Connection>> lines;
  std::map<Book::Waiter, std::int64_t> waiting; ///< until when
  std::set<Link> lost;
  std::map<std::string, std::set<Book::Watcher>> watching; ///< that were not told yet
};

class World {
public:
  explicit World(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 3; ++i)
      REQUIRE(cluster_.add("w", i, {"h", static_cast<std::uint16_t>(i + 1)}).ok());
    tasks_ = cluster_.tasks();
    for (const std::string& task : tasks_)
      start(task);
  }

  void run(std::int64_t time, bool with_faults) {
    with_faults_ = with_faults;
    for (const std::int64_t end = now_ + time; now_ < end;) {
      if (events_.empty() || events_.top().at > now_ + 10 * ms) {
        now_ += 10 * ms;
        if (pick(20) == 0)
          somebody_wants();
        if (with_faults && pick(150) == 0)
          fault();
        check_waiters();
        continue;
      }
      Event event = events_.top();
      events_.pop();
      now_ = std::max(now_, event.at);
      if (!event.at_process->is_alive)
        continue;
      if (now_ < event.at_process->frozen_until) {
        event.at = event.at_process->frozen_until;
        events_.push(event);
        continue;
      }
      event.run();
    }
  }

  // All know each other, and nothing is lost that lives.
  void check_calm() {
    num_lost_ = 0;
    run(10 * one_second, false);
    CHECK(num_lost_ == 0);
    for (const auto& [task, process] : running_)
      for (const PeerInfo& peer : process->book.peers(now_)) {
        CHECK(peer.is_connected);
        Process* there = running_.at(peer.task);
        const auto& connection = process->lines.at(process->book.link_of(peer.task));
        CHECK(connection->is_open);
        CHECK((connection->ends[0] == there || connection->ends[1] == there));
      }
  }
  std::size_t num_verdicts() const { return num_verdicts_; }
  std::size_t num_answers() const { return num_answers_; }

private:
  struct Event {
    std::int64_t at;
    std::uint64_t order;
    Process* at_process;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  bool goes_wrong(std::uint64_t one_of) { return with_faults_ && pick(one_of) == 0; }
  std::int64_t delay() {
    return static_cast<std::int64_t>(goes_wrong(20) ? pick(3000) : pick(30)) * ms;
  }
  void at(Process* process, std::int64_t wait, std::function<void()> run) {
    events_.push({now_ + wait, random_(), process, std::move(run)});
  }
  /// What travels is lost, doubled, late.
  void send(const std::shared_ptr<Connection>& connection, Process* to,
            const std::function<void()>& run) {
    if (!connection->is_open || goes_wrong(15))
      return;
    for (int i = 0; i < (goes_wrong(10) ? 2 : 1); ++i)
      at(to, delay(), [=] {
        if (!connection->is_ended[connection->end_of(to)])
          run();
      });
  }

  void start(const std::string& task) {
    processes_.push_back(std::make_unique<Process>(task, random_() | 1, cluster_));
    running_[task] = processes_.back().get();
    beat(processes_.back().get());
  }
  void beat(Process* process) {
    at(process, beat_time, [=, this] {
      perform(process, process->book.beat(now_));
      beat(process);
    });
  }
  void close(const std::shared_ptr<Connection>& connection) {
    if (!std::exchange(connection->is_open, false))
      return;
    const int blind = goes_wrong(3) ? static_cast<int>(pick(2)) : -1;
    for (int i : {0, 1})
      if (i != blind) // which notices by the silence, or by what the other one says
        at(connection->ends[i], delay(), [=, this] {
          connection->is_ended[i] = true;
          for (Link link : connection->links[i])
            perform(connection->ends[i], connection->ends[i]->book.ended(link, false, now_));
        });
  }

  void somebody_wants() {
    Process* process = running_.at(tasks_[pick(3)]);
    const std::string& task = tasks_[pick(3)];
    if (task == process->task || now_ < process->frozen_until)
      return;
    const std::int64_t budget = static_cast<std::int64_t>(1 + pick(15)) * one_second;
    process->waiting[++waiters_] = now_ + budget;
    perform(process, process->book.wanted(task, waiters_, budget, pick(2) == 0, now_));
  }
  void fault() {
    Process* process = running_.at(tasks_[pick(3)]);
    if (pick(3) == 0) {
      process->frozen_until =
          std::max(process->frozen_until, now_ + static_cast<std::int64_t>(pick(12)) * one_second);
    } else if (pick(2) == 0 && !process->lines.empty()) {
      auto line = std::next(process->lines.begin(),
                            static_cast<std::ptrdiff_t>(pick(process->lines.size())));
      close(line->second);
    } else {
      process->is_alive = false;
      for (auto& [link, connection] : process->lines)
        close(connection);
      start(process->task);
    }
  }

  void check_waiters() {
    for (const auto& [task, process] : running_)
      if (now_ >= process->frozen_until + beat_time)
        for (const auto& [waiter, until] : process->waiting)
          CHECK_MESSAGE(now_ <= std::max(until, process->frozen_until) + longest_answer,
                        "somebody waits for too long");
  }
  void answered(Process* process, const std::vector<Book::Waiter>& waiters) {
    for (Book::Waiter waiter : waiters)
      CHECK_MESSAGE(process->waiting.erase(waiter) == 1, "who waits is answered once");
    num_answers_ += waiters.size();
  }

  void perform(Process* process, const Book::Effects& effects) {
    for (const auto& effect : effects)
      std::visit([&](const auto& m) { deliver(process, m); }, effect);
  }

  std::shared_ptr<Connection> connection_of(Process* process, Process* there) {
    auto& known = connections_[std::minmax(process, there)];
    if (known && known->is_open)
      return known;
    known = std::make_shared<Connection>();
    known->ends[0] = process;
    known->ends[1] = there;
    for (int i : {0, 1}) {
      known->beats[i] = known->ends[i]->book.next_link();
      known->links[i].push_back(known->beats[i]);
      known->ends[i]->lines[known->beats[i]] = known;
    }
    return known;
  }
  void deliver(Process* process, const Book::Dial& m) {
    auto ended = [=, this] {
      Process* there = running_.at(m.task);
      if (goes_wrong(10))
        return perform(process,
                       process->book.unreached(m.link, unavailable("nobody listens"), now_));
      auto effects = process->book.reached(m.link, now_);
      if (effects.empty())
        return; // it was told twice, or nobody wants it any more
      auto connection = connection_of(process, there);
      connection->links[connection->end_of(process)].push_back(m.link);
      process->lines[m.link] = connection;
      perform(process, effects);
    };
    at(process, delay(), ended);
    if (goes_wrong(10))
      at(process, delay(), ended);
  }
  void deliver(Process* process, const Book::Greet& m) {
    auto connection = process->lines.at(m.link);
    Process* there = connection->ends[1 - connection->end_of(process)];
    send(connection, there, [=, this] {
      Book::Claim claim{there->task, there->incarnation, cluster_.identity(), there->incarnation,
                        false};
      send(connection, process,
           [=, this] { perform(process, process->book.welcomed(m.link, claim, now_)); });
    });
    at(process, m.budget_us, [=, this] { // also of one that was answered
      std::optional<WireState> wire;
      if (pick(3) > 0)
        wire.emplace().silent = std::chrono::milliseconds(pick(2) * 20'000);
      perform(process, process->book.unanswered(m.link, true, unavailable("hello"), wire, now_));
    });
  }
  void deliver(Process* process, const Book::Close& m) { close(process->lines.at(m.link)); }
  void deliver(Process* process, const Book::Connected& m) {
    answered(process, m.waiters);
    CHECK(process->lost.count(m.link) == 0);
    for (const auto& [task, other] : running_)
      if (process->book.link_of(task) == m.link) {
        perform(process, process->book.watched(task, ++watchers_));
        process->watching[task].insert(watchers_);
      }
  }
  void deliver(Process* process, const Book::Refused& m) {
    CHECK(m.why.code() == Code::unavailable);
    answered(process, m.waiters);
  }

  using Answer = std::function<void(const Heartbeat&)>;
  void ask(Process* process, Link link, const std::string& task, const Answer& answer) {
    auto connection = process->lines.at(link);
    const int own = connection->end_of(process);
    Process* there = connection->ends[1 - own];
    send(connection, there, [=, this, m = process->book.heartbeat(task)] {
      if (!there->book.admit(m, process->incarnation).ok())
        return;
      perform(there, there->book.beaten(m, connection->beats[1 - own], process->incarnation, now_));
      send(connection, process,
           [=, reply = there->book.heartbeat(process->task)] { answer(reply); });
    });
  }
  void deliver(Process* process, const Book::Agree& m) {
    ask(process, m.link, m.task, [=, this](const Heartbeat& reply) {
      perform(process, process->book.agreed(m.link, reply, now_));
    });
    at(process, lease_time,
       [=, this] { perform(process, process->book.disagreed(m.link, true, std::nullopt)); });
  }
  void deliver(Process* process, const Book::Beat& m) {
    ask(process, m.link, m.task, [=, this](const Heartbeat& reply) {
      perform(process, process->book.answered(m.link, reply, now_));
    });
  }
  void deliver(Process* process, const Book::Look& m) {
    WireState wire;
    wire.is_cut = !process->lines.at(m.link)->is_open;
    process->book.looked_at(m.link, wire);
  }
  void deliver(Process* process, const Book::Examine& m) {
    at(process, delay(),
       [=, this] { perform(process, process->book.examined(m.link, std::nullopt, -1, now_)); });
  }
  void deliver(Process* process, const Book::Lost& m) {
    ++num_lost_, ++num_verdicts_;
    auto& watching = process->watching[m.loss.task];
    for (Book::Watcher watcher : m.watchers)
      CHECK_MESSAGE(watching.erase(watcher) == 1, "who watches is told once");
    CHECK_MESSAGE(watching.empty(), "all who watch are told");
    CHECK_MESSAGE(process->lost.insert(m.link).second, "a connection is lost once");
    CHECK(process->book.link_of(m.loss.task) == 0);
    const auto& connection = process->lines.at(m.link);
    Process* there = connection->ends[1 - connection->end_of(process)];
    CHECK(m.loss.incarnation == there->incarnation);
    if (m.loss.reason == LossReason::restarted)
      CHECK_MESSAGE(std::count_if(processes_.begin(), processes_.end(),
                                  [&](const auto& p) { return p->task == m.loss.task; }) > 1,
                    "there was no other incarnation");
  }
  void deliver(Process* process, const Book::GiveUp& m) {
    auto connection = process->lines.at(m.link);
    Process* there = connection->ends[1 - connection->end_of(process)];
    send(connection, there,
         [=, this,
          farewell = Farewell{process->task, process->incarnation, cluster_.identity().digest,
                              m.silent_us}] { perform(there, there->book.farewell(farewell)); });
    at(process, beat_time / 5, [=, this] { close(connection); });
  }

  std::mt19937_64 random_;
  Cluster cluster_;
  std::vector<std::string> tasks_;
  std::vector<std::unique_ptr<Process>> processes_; ///< also those that have ended
  std::map<std::string, Process*> running_;
  std::map<std::pair<Process*, Process*>, std::shared_ptr<Connection>> connections_; ///< the newest
  std::priority_queue<Event> events_;
  std::int64_t now_ = 0;
  bool with_faults_ = false;
  Book::Waiter waiters_ = 0;
  Book::Watcher watchers_ = 0;
  std::size_t num_lost_ = 0, num_verdicts_ = 0, num_answers_ = 0;
};

} // namespace

TEST_CASE("peer book: whatever is lost, doubled or late, all are told once and find together") {
  std::size_t verdicts = 0, answers = 0;
  const char* wanted = std::getenv("TROUPE_SEEDS"); // as many instead, for a longer look
  const std::uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 1000;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    World world(seed);
    world.run(120 * one_second, true);
    world.run(40 * one_second, false); // what is broken is noticed, and everybody wants everybody
    world.check_calm();
    verdicts += world.num_verdicts();
    answers += world.num_answers();
  }
  CHECK(verdicts > 3 * seeds); // or the faults hit nobody
  CHECK(answers > 30 * seeds);
}
