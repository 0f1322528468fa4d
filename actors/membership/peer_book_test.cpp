#include "actors/membership/peer_book.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

using Book = PeerBook;
using Link = Book::Link;

constexpr std::int64_t second = 1'000'000, heartbeat = second, lease = 5 * second;
const std::string own = "/job:worker/replica:0/task:1";
const std::string first = "/job:worker/replica:0/task:0"; // dials again after us
const std::string last = "/job:worker/replica:0/task:2";  // before us

Cluster cluster() {
  Cluster out;
  for (int i = 0; i < 3; ++i)
    REQUIRE(out.add("worker", i, {"h", static_cast<std::uint16_t>(i + 1)}).ok());
  return out;
}

template <class T>
std::vector<T> all(const Book::Effects& effects) {
  std::vector<T> out;
  for (const auto& effect : effects)
    if (const T* found = std::get_if<T>(&effect))
      out.push_back(*found);
  return out;
}
template <class T>
T only(const Book::Effects& effects) {
  auto found = all<T>(effects);
  REQUIRE(found.size() == 1);
  return found[0];
}

WireState wire(std::int64_t silent_ms, bool is_cut = false) {
  WireState out;
  out.silent = std::chrono::milliseconds(silent_ms);
  out.is_cut = is_cut;
  return out;
}

struct Fixture {
  Book book{{own, 77, cluster(), heartbeat, lease, 10 * second}};
  std::uint64_t digest = cluster().identity().digest;

  Book::Claim claim(const std::string& task, std::uint64_t incarnation = 1) {
    return {task, incarnation, cluster().identity(), incarnation, false};
  }
  /// As `from` would send it.
  Heartbeat beat_of(const std::string& from, std::uint64_t incarnation = 1,
                    std::uint32_t losses = 0) {
    return {from, incarnation, losses, losses ? 77u : 0u, digest, 0};
  }
  Link greet(const std::string& task, Book::Waiter waiter = 1, std::int64_t now = 0) {
    Link link = only<Book::Dial>(book.wanted(task, waiter, 0, true, now)).link;
    CHECK(only<Book::Greet>(book.reached(link, now)).link == link);
    return link;
  }
  Link connect(const std::string& task, std::uint64_t incarnation = 1, std::int64_t now = 0) {
    Link link = greet(task, 1, now);
    auto effects = book.welcomed(link, claim(task, incarnation), now);
    CHECK(only<Book::Connected>(effects).link == link);
    CHECK(only<Book::Agree>(effects).link == link);
    CHECK(book.agreed(link, beat_of(task, incarnation), now).empty());
    return link;
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "peer book: a task is dialled once for all who want it") {
  auto dial = only<Book::Dial>(book.wanted(first, 1, second, false, 0));
  CHECK(dial.address == Address{"h", 1});
  CHECK(dial.budget_us == second);
  CHECK(book.wanted(first, 2, second, false, 10).empty());
  CHECK(only<Book::Greet>(book.reached(dial.link, 20)).budget_us == second + 10 - 20);
  CHECK(only<Book::Connected>(book.welcomed(dial.link, claim(first), 30)).waiters ==
        std::vector<Book::Waiter>{1, 2});
  CHECK(only<Book::Connected>(book.wanted(first, 3, 0, true, 40)).link == dial.link);
  CHECK(only<Book::Refused>(book.wanted("/job:none/replica:0/task:0", 4, 0, true, 50)).why.code() ==
        Code::not_found);
}

TEST_CASE_FIXTURE(Fixture, "peer book: who comes with more patience has the task dialled anew") {
  Link link = only<Book::Dial>(book.wanted(first, 1, second, false, 0)).link;
  CHECK(book.wanted(first, 2, 3 * second, false, 0).empty());
  auto again = only<Book::Dial>(book.unreached(link, unavailable("nobody listens"), second));
  CHECK(again.budget_us == 2 * second);
  CHECK(book.unreached(link, unavailable("told twice"), second).empty());
  auto refused =
      only<Book::Refused>(book.unreached(again.link, unavailable("nobody listens"), 3 * second));
  CHECK(refused.waiters == std::vector<Book::Waiter>{1, 2});
  CHECK(refused.why.message() == "task " + first + ": nobody listens");
}

TEST_CASE_FIXTURE(Fixture, "peer book: two that dial each other close both; one dials at once") {
  CHECK(all<Book::Dial>(book.ended(greet(last), false, 0)).size() == 1);
  CHECK(book.ended(greet(first), false, 0).empty());
  SUBCASE("the other when it hears of the first") {
    CHECK(all<Book::Dial>(book.beaten(beat_of(first), book.next_link(), 9, 1)).size() == 1);
  }
  SUBCASE("the other with the next beat") {
    CHECK(all<Book::Dial>(book.beat(heartbeat)).size() == 1);
  }
}

TEST_CASE_FIXTURE(Fixture, "peer book: the third connection that ends unwelcomed is the last") {
  Link link = greet(last);
  for (int i = 0; i < 2; ++i) {
    link = only<Book::Dial>(book.ended(link, false, 0)).link;
    (void)book.reached(link, 0);
  }
  auto why = only<Book::Refused>(book.ended(link, false, 0)).why;
  CHECK(why.code() == Code::unavailable);
  CHECK(why.message().find("closed 3 connections before it said who it is") != std::string::npos);
  CHECK(only<Book::Dial>(book.wanted(last, 2, 0, true, 0)).link != link);
}

TEST_CASE_FIXTURE(Fixture, "peer book: a fresh connection without a byte is closed") {
  Link link = greet(last);
  const Status late = unavailable("hello");
  SUBCASE("its end is the sign to dial again") {
    CHECK(only<Book::Close>(book.unanswered(link, true, late, wire(9000), 2500000)).link == link);
    CHECK(book.welcomed(link, claim(last), 2600000).empty());
    CHECK(all<Book::Dial>(book.ended(link, false, 2600000)).size() == 1);
  }
  SUBCASE("if that is not told, a beat is") {
    CHECK(only<Book::Close>(book.unanswered(link, true, late, wire(9000), 2500000)).link == link);
    CHECK(all<Book::Dial>(book.beat(3 * second)).empty());
    CHECK(all<Book::Dial>(book.beat(4 * second)).size() == 1);
  }
  SUBCASE("one with bytes is busy and is asked again, until the time is over") {
    link = only<Book::Dial>(book.unanswered(link, true, late, wire(10), 2500000)).link;
    (void)book.reached(link, 3 * second);
    auto why = only<Book::Refused>(book.unanswered(link, true, late, wire(10), 11 * second)).why;
    CHECK(why.message().find("frozen or overloaded") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "peer book: whose time is long over is told, though the try goes on") {
  (void)book.wanted(first, 1, second, true, 0);
  (void)book.wanted(first, 2, 30 * second, true, 0);
  CHECK(book.beat(3 * second).empty());
  CHECK(only<Book::Refused>(book.beat(5 * second)).waiters == std::vector<Book::Waiter>{1});
  CHECK(only<Book::Refused>(book.beat(34 * second)).waiters == std::vector<Book::Waiter>{2});
}

TEST_CASE_FIXTURE(Fixture, "peer book: who is not who was dialled is refused by name") {
  auto refused = [&](Book::Claim claim) {
    return only<Book::Refused>(book.welcomed(greet(first), claim, 0)).why;
  };
  Book::Claim other = claim(first);
  other.cluster.digest ^= 1;
  CHECK(refused(other).code() == Code::failed_precondition);
  CHECK(refused(claim(last)).message().find("runs " + last + ", not " + first) !=
        std::string::npos);
  Book::Claim leaving = claim(first);
  leaving.is_leaving = true;
  CHECK(refused(leaving).message().find("has left the cluster in order") != std::string::npos);
  CHECK(book.link_of(first) == 0);
}

TEST_CASE_FIXTURE(Fixture, "peer book: a silent peer is examined, and lost once") {
  Link link = connect(first);
  CHECK(all<Book::Examine>(book.beat(lease)).empty());
  CHECK(only<Book::Look>(book.beat(lease)).link == link);
  CHECK(only<Book::Examine>(book.beat(lease + 1)).link == link);
  SUBCASE("bytes are signs of life") {
    CHECK(book.examined(link, wire(100), -1, 6 * second).empty());
    CHECK(all<Book::Examine>(book.beat(6 * second + lease - 100'000)).empty());
  }
  SUBCASE("tensors are") {
    CHECK(book.examined(link, wire(9000), 10, 6 * second).empty());
    CHECK(book.peers(6 * second)[0].silent_us == 10);
  }
  SUBCASE("a word that came meanwhile is") {
    CHECK(book.answered(link, beat_of(first), 6 * second).empty());
    CHECK(book.examined(link, wire(9000), -1, 6 * second).empty());
  }
  SUBCASE("its machine acknowledges: frozen") {
    auto effects = book.examined(link, wire(9000), -1, 6 * second);
    CHECK(only<Book::Lost>(effects).loss.reason == LossReason::frozen);
    CHECK(only<Book::GiveUp>(effects).silent_us == 6 * second);
    CHECK(book.examined(link, wire(9000), -1, 7 * second).empty());
    CHECK(book.ended(link, false, 7 * second).empty());
  }
  SUBCASE("nothing is acknowledged: cut off") {
    auto effects = book.examined(link, wire(9000, true), -1, 6 * second);
    CHECK(only<Book::Lost>(effects).loss.reason == LossReason::cut_off);
  }
}

TEST_CASE_FIXTURE(Fixture, "peer book: words over another connection do not keep a link alive") {
  Link link = connect(first);
  const Link other = book.next_link();
  CHECK(book.beaten(beat_of(first), other, 1, 2 * lease).empty());
  CHECK(all<Book::Examine>(book.beat(2 * lease)).empty());
  CHECK(book.beaten(beat_of(first), other, 1, 2 * lease + 1).empty());
  CHECK(only<Book::Examine>(book.beat(2 * lease + 1)).link == link);
  SUBCASE("without an answer or a byte it is lost") {
    auto lost = only<Book::Lost>(book.examined(link, wire(9000), -1, 2 * lease + 1));
    CHECK(lost.loss.reason == LossReason::cut_off);
  }
  SUBCASE("bytes of its own do") {
    CHECK(book.examined(link, wire(100), -1, 2 * lease + 1).empty());
    CHECK(all<Book::Examine>(book.beat(2 * lease + 2)).empty());
  }
  SUBCASE("an answer does") {
    CHECK(book.answered(link, beat_of(first), 2 * lease + 1).empty());
    CHECK(book.examined(link, wire(9000), -1, 2 * lease + 1).empty());
  }
  SUBCASE("tensors do") {
    CHECK(book.examined(link, std::nullopt, 10, 2 * lease + 1).empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "peer book: who took us for our predecessor is asked again") {
  Link link = greet(first);
  CHECK(only<Book::Agree>(book.welcomed(link, claim(first), 0)).link == link);
  Heartbeat of_predecessor = beat_of(first);
  of_predecessor.lost_incarnation = 76;
  CHECK(book.agreed(link, of_predecessor, 1).empty());
  CHECK(only<Book::Agree>(book.beat(heartbeat)).link == link);
  CHECK(book.agreed(link, beat_of(first), heartbeat).empty());
  CHECK(only<Book::Beat>(book.beat(2 * heartbeat)).link == link);
}

TEST_CASE_FIXTURE(Fixture, "peer book: a verdict that is due is told before the next beat") {
  Link link = connect(first);
  CHECK(book.judge(lease).empty());
  CHECK(only<Book::Examine>(book.judge(lease + 1)).link == link);
}

TEST_CASE_FIXTURE(Fixture, "peer book: a connection that ends says how") {
  Link link = connect(first);
  SUBCASE("crashed") {
    CHECK(only<Book::Lost>(book.ended(link, false, 1)).loss.reason == LossReason::crashed);
  }
  SUBCASE("left") {
    CHECK(only<Book::Lost>(book.ended(link, true, 1)).loss.reason == LossReason::left);
  }
  SUBCASE("cut off, if what was sent before was not acknowledged") {
    book.looked_at(link, wire(3000, true));
    CHECK(only<Book::Lost>(book.ended(link, false, 1)).loss.reason == LossReason::cut_off);
  }
  SUBCASE("crashed, if it was heard of since") {
    book.looked_at(link, wire(3000, true));
    (void)book.answered(link, beat_of(first), 1);
    CHECK(only<Book::Lost>(book.ended(link, false, 2)).loss.reason == LossReason::crashed);
  }
  CHECK(book.ended(link, false, 3).empty());
}

TEST_CASE_FIXTURE(Fixture, "peer book: another incarnation has to outlast a question to ours") {
  Link link = connect(first, 1);
  auto effects = book.beaten(beat_of(first, 2), book.next_link(), 2, 10);
  CHECK(only<Book::Beat>(effects).link == link);
  CHECK(all<Book::Lost>(effects).empty());
  SUBCASE("ours answers: it was a stray") {
    CHECK(book.answered(link, beat_of(first, 1), 20).empty());
    CHECK(all<Book::Lost>(book.beat(heartbeat)).empty());
  }
  SUBCASE("ours does not: it was started again") {
    CHECK(book.beaten(beat_of(first, 2), book.next_link(), 2, 30).empty());
    auto lost = only<Book::Lost>(book.beat(heartbeat));
    CHECK(lost.loss.reason == LossReason::restarted);
    CHECK(lost.loss.incarnation == 1);
  }
}

TEST_CASE_FIXTURE(Fixture, "peer book: late words of the incarnation before change nothing") {
  Link old = connect(first, 1);
  (void)book.ended(old, false, 1);
  Link link = connect(first, 2, 2);
  CHECK(book.beaten(beat_of(first, 1), book.next_link(), 1, 3).empty());
  CHECK(book.answered(old, beat_of(first, 1), 4).empty());
  CHECK(book.farewell({first, 1, digest, 0}).empty());
  CHECK(book.agreed(old, beat_of(first, 1), 5).empty());
  CHECK(book.disagreed(old, false, std::nullopt).empty());
  CHECK(all<Book::Lost>(book.beat(3 * heartbeat)).empty());
  CHECK(book.link_of(first) == link);
}

TEST_CASE_FIXTURE(Fixture, "peer book: a peer that has lost us oftener ends what we have of it") {
  Link link = connect(first);
  Heartbeat m = beat_of(first, 1, 1);
  SUBCASE("it gave us up") {
    m.silent_us = 7 * second;
    CHECK(only<Book::Lost>(book.answered(link, m, 1)).loss.reason == LossReason::gave_up);
  }
  SUBCASE("it saw an end that we did not") {
    CHECK(only<Book::Lost>(book.answered(link, m, 1)).loss.reason == LossReason::cut_off);
  }
  CHECK(book.heartbeat(first).losses == 1);
  CHECK(book.heartbeat(first).lost_incarnation == 1);
  (void)connect(first, 1, 2);
  CHECK(all<Book::Lost>(book.beat(3)).empty());
}

TEST_CASE_FIXTURE(Fixture, "peer book: losses from before a link concern nobody after it") {
  Link link = greet(first);
  (void)book.welcomed(link, claim(first), 0);
  CHECK(book.answered(link, beat_of(first, 1, 5), 1).empty());
  CHECK(book.agreed(link, beat_of(first, 1, 5), 2).empty());
  CHECK(only<Book::Lost>(book.answered(link, beat_of(first, 1, 6), 3)).link == link);
}

TEST_CASE_FIXTURE(Fixture, "peer book: a link whose first word is not answered has ended again") {
  Link link = greet(first);
  (void)book.welcomed(link, claim(first), 0);
  CHECK(only<Book::Agree>(book.disagreed(link, true, wire(10))).link == link);
  CHECK(only<Book::Lost>(book.disagreed(link, true, wire(9000))).loss.reason ==
        LossReason::cut_off);
}

TEST_CASE_FIXTURE(Fixture, "peer book: a watcher is told once, and at once of what is lost") {
  CHECK(only<Book::Lost>(book.watched(first, 5)).loss.reason == LossReason::cut_off);
  Link link = connect(first);
  CHECK(book.watched(first, 5).empty());
  CHECK(book.watched(first, 5).empty());
  CHECK(book.watched(first, 6).empty());
  CHECK(book.watched(first, 7).empty());
  book.unwatched(6);
  auto lost = only<Book::Lost>(book.ended(link, false, 1));
  CHECK(lost.watchers == std::vector<Book::Watcher>{5, 7});
  CHECK(only<Book::Lost>(book.watched(first, 6)).loss.reason == LossReason::crashed);
  CHECK(only<Book::Lost>(book.ended(connect(first, 1, 2), false, 3)).watchers.empty());
  CHECK(book.watched(own, 8).empty());
}

TEST_CASE_FIXTURE(Fixture, "peer book: who was lost and is not reached is told of by its loss") {
  (void)book.ended(connect(first), true, 1);
  Link link = only<Book::Dial>(book.wanted(first, 1, second, false, 2)).link;
  auto why = only<Book::Refused>(book.unreached(link, unavailable("nobody listens"), second)).why;
  CHECK(why.message().find("has left the cluster in order") != std::string::npos);
  CHECK(why.message().find("dialled again: task " + first + ": nobody") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "peer book: who beats unasked is beaten back, and given up in silence") {
  Link link = book.next_link();
  CHECK(book.beaten(beat_of(first), link, 1, 0).empty());
  CHECK(only<Book::Beat>(book.beat(heartbeat)).link == link);
  CHECK(book.everyone() == std::vector<std::pair<std::string, Link>>{{first, link}});
  CHECK(only<Book::Examine>(book.beat(lease + 1)).link == link);
  auto gone = book.examined(link, wire(9000), -1, 6 * second);
  CHECK(!only<Book::GiveUp>(gone).was_connected);
  CHECK(all<Book::Lost>(gone).empty());
  CHECK(book.heartbeat(first).losses == 1); // of which it hears, if it thinks itself connected
  CHECK(book.beat(7 * second).empty());
}

TEST_CASE_FIXTURE(Fixture, "peer book: strangers and impostors are not heard") {
  (void)connect(first, 1);
  CHECK(book.admit(beat_of(first, 1), 1).ok());
  CHECK(book.admit(beat_of(first, 1), 2).code() == Code::failed_precondition);
  CHECK(book.admit(beat_of(first, 2), 2).ok());
  CHECK(!book.admit("/job:none/replica:0/task:0", digest).ok());
  CHECK(!book.admit(first, digest + 1).ok());
}
