#include "actors/worker_session/peer_sessions.hpp"

#include <set>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

struct Found {
  int session = 0;
};
struct Peers {
  std::map<std::string, int> receivers;
  std::set<std::string> senders;
};

} // namespace

TEST_CASE("peer sessions: found once, forgotten with its task") {
  PeerSessions<Found, Peers> peers;
  CHECK(peers.find("a") == nullptr);
  peers.found("a", {1});
  CHECK(peers.find("a")->session == 1);
  peers.lost("a");
  CHECK(peers.find("a") == nullptr);
}

TEST_CASE("peer sessions: who acknowledged sends unasked, unless it was lost meanwhile") {
  PeerSessions<Found, Peers> peers;
  peers.found("a", {1});
  peers.acknowledged("a", 1);
  CHECK(peers.edges()->senders == std::set<std::string>{"a"});
  peers.lost("a");
  CHECK(peers.edges()->senders.empty());
  peers.acknowledged("a", 1); // late
  CHECK(peers.edges()->senders.empty());
  peers.found("a", {2});
  peers.acknowledged("a", 1); // of the one before
  CHECK(peers.edges()->senders.empty());
}

TEST_CASE("peer sessions: a receiver is new once, and again after its connection or task is lost") {
  PeerSessions<Found, Peers> peers;
  CHECK(!peers.asked_by("a", 0)); // which nothing can be sent to
  CHECK(peers.asked_by("a", 1));
  CHECK(!peers.asked_by("a", 1));
  CHECK(peers.asked_by("a", 2));
  peers.receiver_ended([](int session) { return session == 1; }); // late
  CHECK(!peers.asked_by("a", 2));
  peers.receiver_ended([](int session) { return session == 2; });
  CHECK(peers.asked_by("a", 2));
  peers.lost("a");
  CHECK(peers.asked_by("a", 2));
}

TEST_CASE("peer sessions: a step keeps what it began with") {
  PeerSessions<Found, Peers> peers;
  auto begun = peers.edges();
  CHECK(peers.asked_by("a", 1));
  CHECK(begun->receivers.empty());
  auto next = peers.edges();
  CHECK(!peers.asked_by("a", 1));
  CHECK(next == peers.edges()); // and no copy is made where nothing changes
}
