// Who may connect, and what a peer may do: strangers at the door, and invited peers that misbehave.
#include <doctest/doctest.h>

#include <deque>

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/data/testing/data_path.hpp"

using namespace troupe;
using namespace troupe::data;
using namespace troupe::data::testing;

TEST_CASE("data path: a token is good once, and only as long as its peer is invited") {
  for (TensorPath path : both) {
    Fixture f;
    DataEndpoint to = f.endpoint(path);
    auto first = f.open(to);
    REQUIRE(f.opened.take().ok());
    auto second = f.open(to);
    CHECK(f.opened.take().code() == Code::unavailable);
    DataEndpoint late = f.endpoint(path);
    f.server->drop(f.peer);
    auto third = f.open(late);
    CHECK(f.opened.take().code() == Code::unavailable);
  }
}

TEST_CASE("data path: a receiver refuses a sender that does not know its proof") {
  for (TensorPath path : both) {
    Fixture f;
    DataEndpoint to = f.endpoint(path);
    to.proof = make_token();
    auto link = f.open(to);
    CHECK(f.opened.take().code() == Code::permission_denied);
  }
}

TEST_CASE("data path: nobody at the other end is an error with the reason") {
  Fixture f;
  DataEndpoint to = f.endpoint(TensorPath::shared_memory);
  to.local_name += "x";
  auto link = f.open(to);
  CHECK(f.opened.take().code() == Code::unavailable);
  DataEndpoint stream = f.endpoint(TensorPath::stream);
  f.server.reset();
  auto other = f.open(stream);
  CHECK(f.opened.take().code() == Code::unavailable);
}

TEST_CASE("data path: strangers are closed before they cost anything") {
  Fixture f;
  auto dial = [&](TensorPath path) {
    auto socket = path == TensorPath::stream ? connect_tcp("127.0.0.1", f.server->port())
                                             : connect_local(f.server->local_name());
    REQUIRE(socket.ok());
    return Stranger(*std::move(socket));
  };
  for (TensorPath path : both) {
    std::string garbage(4096, '\xee');
    Stranger noise = dial(path);
    noise.say_bytes(garbage.data(), garbage.size());
    CHECK(noise.listen() == 0);
    Stranger guess = dial(path);
    guess.say(Opening{path == TensorPath::stream ? 0u : 4096u, make_token()});
    CHECK(guess.listen() == 0);
  }
  // A token, but no shared memory, or memory that could be taken away.
  auto token = [&] { return f.server->invite(f.peer, "worker").token; };
  Stranger empty = dial(TensorPath::shared_memory);
  empty.say(Opening{4096, token()});
  CHECK(empty.listen() == 0);
  Fd file(::memfd_create("x", MFD_ALLOW_SEALING | MFD_CLOEXEC));
  REQUIRE(::ftruncate(file.get(), 4096) == 0);
  Stranger unsealed = dial(TensorPath::shared_memory);
  unsealed.say(Opening{4096, token()}, file.get());
  CHECK(unsealed.listen() == 0);
  Stranger claims = dial(TensorPath::stream);
  claims.say(Opening{4096, token()});
  CHECK(claims.listen() == 0);
}

TEST_CASE("data path: who claims to lend what it has not is turned away") {
  Fixture f;
  auto region = *SharedRegion::make(1 << 20);
  for (std::uint64_t lent : {LentSlots::bytes, std::uint64_t{4096}, ~std::uint64_t{0}}) {
    auto socket = connect_local(f.server->local_name());
    REQUIRE(socket.ok());
    Stranger peer(*std::move(socket));
    peer.say(Opening{region->bytes(), f.server->invite(f.peer, "worker").token, lent},
             region->fd());
    CHECK(peer.listen() == 0);
    CHECK(!f.lent->place(f.peer, numbers(1)));
  }
}

TEST_CASE("data path: an invited peer cannot have bytes written outside of its memory") {
  Fixture f;
  f.offer(1, numbers(4096));
  auto region = *SharedRegion::make(1 << 20);
  for (Request request :
       {Request{1, 1, 16384, (1 << 20) - 4096}, Request{1, 1, 16384, ~std::uint64_t{0} - 4096},
        Request{1, 1, ~std::uint64_t{0}, 0}}) {
    auto socket = connect_local(f.server->local_name());
    REQUIRE(socket.ok());
    Stranger peer(*std::move(socket));
    peer.say(Opening{region->bytes(), f.server->invite(f.peer, "worker").token}, region->fd());
    peer.say(request.number == 1 ? request : Request{});
    CHECK(peer.listen() <= acceptance_bytes);
  }
}

TEST_CASE("data path: who takes no answers is not read from, and goes on when it takes them") {
  for (TensorPath path : both) {
    Fixture f;
    f.offer(1, numbers(16));
    Stranger peer = invited(f, path);
    const auto wrong = repeated({1, 1, 8, 0}, 1024); // each is refused at once
    std::size_t said = peer.repeat(wrong, std::size_t{64} << 20);
    CHECK(said < std::size_t{64} << 20);
    CHECK(peer.listen_to(said / request_bytes * piece_bytes));
    f.offers->erase_of(f.peer);
  }
}

TEST_CASE("data path: who goes with as many requests as are kept is closed") {
  Fixture f;
  std::int64_t connections = counter("data_connections_in").value();
  {
    Stranger peer = invited(f, TensorPath::shared_memory);
    const auto parked = repeated({1, 77, 8, 0}, 1024);
    peer.say_bytes(parked.data(), parked.size());
    for (int i = 0; i < 1024; ++i)
      f.settled.take();
  }
  wait_until([&] { return counter("data_connections_in").value() == connections; });
  CHECK(counter("data_connections_in").value() == connections);
}

namespace {

/// Takes a tensor of 16 MiB in slices, one each `pause`, until `slow_for` has passed, then as fast
/// as it can; whether all of it came.
bool takes_slowly(Fixture& f, std::size_t slice, std::chrono::milliseconds pause,
                  std::chrono::milliseconds slow_for) {
  Tensor tensor = numbers(4 << 20);
  f.offer(1, tensor);
  Stranger peer = invited(f, TensorPath::stream);
  peer.say(Request{1, 1, tensor.bytes().size(), 0});
  std::size_t left = tensor.bytes().size();
  const std::int64_t until = steady_micros() + std::chrono::microseconds(slow_for).count();
  while (steady_micros() < until) {
    if (!peer.listen_to(slice))
      return false;
    left -= slice;
    ::poll(nullptr, 0, static_cast<int>(pause.count()));
  }
  return peer.listen_to(left);
}

} // namespace

TEST_CASE(
    "data path: who takes nothing for too long is closed, who takes a little all the time is not") {
  using std::chrono::milliseconds;
  DataServerOptions options;
  options.stall = milliseconds(1'000);
  Fixture f(options);
  CHECK(takes_slowly(f, 16'384, milliseconds(50), milliseconds(3'000)));
  CHECK(!takes_slowly(f, 1, milliseconds(3'000), milliseconds(1)));
}

TEST_CASE("data path: of silent strangers the oldest goes") {
  DataServerOptions options;
  options.strangers = 3;
  Fixture f(options);
  std::deque<Stranger> silent;
  for (int i = 0; i < 4; ++i)
    silent.emplace_back(*connect_tcp("127.0.0.1", f.server->port()));
  CHECK(silent.front().listen() == 0);
}

TEST_CASE("data path: who shows no token in time is closed") {
  DataServerOptions options;
  options.handshake = std::chrono::milliseconds(1);
  Fixture f(options);
  Stranger silent(*connect_local(f.server->local_name()));
  CHECK(silent.listen() == 0);
}

TEST_CASE("data path: a peer that answers with what nobody asked for breaks the path") {
  for (Piece piece : {Piece{99, 10, 0, 1}, Piece{1, 0, 0, 1}, Piece{1, 5000, 0, 0},
                      Piece{1, 4000, 0, 0}, Piece{1, 10, 0, 1}}) {
    Fixture f;
    std::uint16_t port = 0;
    auto listener = listen_tcp("127.0.0.1", port);
    REQUIRE(listener.ok());
    DataEndpoint to = f.endpoint(TensorPath::stream);
    to.port = port;
    auto link = f.open(to);
    pollfd wait{listener->get(), POLLIN, 0};
    REQUIRE(::poll(&wait, 1, 30'000) == 1);
    Stranger liar(Fd(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC)));
    liar.say(Acceptance{to.proof, 0});
    REQUIRE(f.opened.take().ok());
    f.pull(*link, 1, numbers(1000));
    liar.say(piece);
    CHECK(f.pulled.take().code() == Code::unavailable);
  }
}
