// Who may connect, and what a peer may do: strangers at the door, and invited peers that misbehave.
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
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
  // An address of UCX that is too long to be one, or has no token, or comes with shared memory.
  std::string address(longest_address, 'x');
  Stranger endless = dial(TensorPath::stream);
  endless.say(Opening{0, token(), 0, longest_address + 1});
  CHECK(endless.listen() == 0);
  Stranger unknown = dial(TensorPath::stream);
  unknown.say(Opening{0, make_token(), 0, address.size()});
  unknown.say_bytes(address.data(), address.size());
  CHECK(unknown.listen() == 0);
  auto region = *SharedRegion::make(1 << 20);
  Stranger both_ways = dial(TensorPath::shared_memory);
  both_ways.say(Opening{region->bytes(), token(), 0, 8}, region->fd());
  both_ways.say_bytes(address.data(), 8);
  CHECK(both_ways.listen() == 0);
}

TEST_CASE("data path: who wants tensors by ucx where there are none is turned away") {
  DataServerOptions options;
  options.host = "127.0.0.1";
  auto book = std::make_shared<PathBook>();
  auto server =
      DataServer::start(options, std::make_shared<OfferTable>(), book,
                        std::make_shared<LentMemory>(), std::make_shared<PushLanes>(), [] {});
  REQUIRE(server.ok());
  auto socket = connect_tcp("127.0.0.1", (*server)->port());
  REQUIRE(socket.ok());
  Stranger peer(*std::move(socket));
  peer.say(Opening{0, (*server)->invite(1, "worker").token, 0, 8});
  peer.say_bytes("12345678", 8);
  CHECK(peer.listen() == 0);
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

/// What a peer takes, as the test says it: one more byte each time that the server asks, or none.
struct SaidProgress {
  std::atomic<bool> grows = true;
  std::atomic<std::uint64_t> taken = 1;
  Inbox<int> asked;

  Progress next() {
    asked.put(1);
    return {grows ? ++taken : taken.load(), 0, 0, 0};
  }
};

class StreamOfSaidProgress final : public ByteStream {
public:
  StreamOfSaidProgress(std::unique_ptr<ByteStream> below, std::shared_ptr<SaidProgress> said)
      : below_(std::move(below)), said_(std::move(said)) {}
  int fd() const override { return below_->fd(); }
  Moved send(std::span<const iovec> from) override { return below_->send(from); }
  Moved receive(std::span<const iovec> into) override { return below_->receive(into); }
  Moved send_passing(std::span<const std::byte> from, int passed) override {
    return below_->send_passing(from, passed);
  }
  Moved receive_passing(std::span<std::byte> into, Fd& passed) override {
    return below_->receive_passing(into, passed);
  }
  Progress progress() const override { return said_->next(); }
  void finish() override { below_->finish(); }

private:
  const std::unique_ptr<ByteStream> below_;
  const std::shared_ptr<SaidProgress> said_;
};

} // namespace

TEST_CASE(
    "data path: who takes nothing for too long is closed, who takes a little all the time is not") {
  for (bool takes_a_little : {true, false}) {
    CAPTURE(takes_a_little);
    auto said = std::make_shared<SaidProgress>();
    said->grows = takes_a_little;
    DataServerOptions options;
    options.stall = std::chrono::milliseconds(1); // less than lies between two looks
    options.wrap = [&](std::unique_ptr<ByteStream> below) {
      return std::make_unique<StreamOfSaidProgress>(std::move(below), said);
    };
    Fixture f(options);
    const std::int64_t connections = counter("data_connections_in").value();
    const Tensor tensor = numbers(4 << 20); // more than sockets hold
    f.offer(1, tensor);
    Stranger peer = invited(f, TensorPath::stream);
    peer.say(Request{1, 1, tensor.bytes().size(), 0});
    if (takes_a_little) {
      for (int look = 0; look < 4; ++look)
        said->asked.take();
    } else {
      wait_until([&] { return counter("data_connections_in").value() == connections; });
    }
    CHECK(peer.listen_to(tensor.bytes().size()) == takes_a_little);
  }
}

TEST_CASE("sockets: progress grows while the other end takes a little") {
  std::uint16_t port = 0;
  auto listener = listen_tcp("127.0.0.1", port);
  REQUIRE(listener.ok());
  auto sender = connect_tcp("127.0.0.1", port);
  REQUIRE(sender.ok());
  pollfd wait{listener->get(), POLLIN, 0};
  REQUIRE(::poll(&wait, 1, 30'000) == 1);
  Fd receiver(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
  std::vector<char> buffer(1 << 20);
  while (::send(sender->get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
  }
  for (int round = 0; round < 3; ++round) { // in the first, bytes may still move by themselves
    const std::uint64_t before = progress(sender->get()).taken;
    std::size_t taken = 0;
    while (progress(sender->get()).taken == before && taken < buffer.size()) {
      pollfd readable{receiver.get(), POLLIN, 0};
      REQUIRE(::poll(&readable, 1, 30'000) == 1);
      const ssize_t got = ::recv(receiver.get(), buffer.data(), 16'384, 0);
      REQUIRE(got > 0);
      taken += static_cast<std::size_t>(got);
    }
    CHECK(progress(sender->get()).taken > before);
  }
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
