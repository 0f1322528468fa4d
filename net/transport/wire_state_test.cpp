#include "net/transport/wire_state.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace troupe;

namespace {

// A connection of this process with itself over loopback.
struct TwoEnds {
  TwoEnds() {
    int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener, 1) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port = ntohs(address.sin_port);
    dialled = ::socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(::connect(dialled, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    accepted = ::accept(listener, nullptr, nullptr);
    REQUIRE(accepted >= 0);
    ::close(listener);
  }
  ~TwoEnds() {
    ::close(dialled);
    ::close(accepted);
  }
  std::uint16_t port = 0;
  int dialled = -1, accepted = -1;
};

} // namespace

TEST_CASE("wire: a connection is found by its other end, one that is not there is not") {
  TwoEnds c;
  REQUIRE(::write(c.accepted, "x", 1) == 1);
  char byte = 0;
  REQUIRE(::read(c.dialled, &byte, 1) == 1);
  auto state = wire_state("127.0.0.1", c.port);
  REQUIRE(state);
  CHECK(!state->is_cut);
  CHECK(!wire_state("127.0.0.2", c.port));
}

TEST_CASE("wire: closing a connection ends it for both") {
  TwoEnds c;
  CHECK(close_wire("127.0.0.1", c.port));
  char byte = 0;
  CHECK(::read(c.dialled, &byte, 1) == 0);
  ::close(c.dialled);
  CHECK(::read(c.accepted, &byte, 1) <= 0);
  c.dialled = -1;
  CHECK(!close_wire("127.0.0.1", c.port));
}

TEST_CASE("wire: a silent end lives for its lease, and longer where round trips are long, but not "
          "for ever") {
  using std::chrono::milliseconds;
  constexpr milliseconds lease{5'000};
  auto lives = [&](int silent, int round_trip, int longest) {
    WireState state;
    state.silent = milliseconds(silent);
    state.round_trip = milliseconds(round_trip);
    state.longest_round_trip = milliseconds(longest);
    return state.lives(lease);
  };
  CHECK(lives(4'999, 0, 0));
  CHECK(!lives(5'000, 0, 0));
  CHECK(!lives(5'000, 2'500, 2'500));
  CHECK(lives(7'999, 4'000, 4'000));
  CHECK(!lives(8'000, 4'000, 4'000));
  CHECK(lives(59'999, 100'000, 100'000));
  CHECK(!lives(60'000, 100'000, 100'000));
  CHECK(lives(5'999, 0, 3'000));
  CHECK(!lives(6'000, 0, 3'000));
  CHECK(lives(14'999, 0, 100'000));
  CHECK(!lives(15'000, 0, 100'000));
}
