// What comes unasked over a stream: within what its receiver lends, whole, and ended with its
// stream.
#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>

#include "net/data/testing/data_path.hpp"
#include "net/data/testing/faulty_stream.hpp"

using namespace troupe;
using namespace troupe::data;
using namespace troupe::data::testing;

TEST_CASE(
    "data path: what fits into what a stream lends comes unasked, between what is asked for") {
  Fixture f;
  auto link = open_lane(f);
  Tensor large = numbers(6 << 20);
  f.offer(1, large);
  Tensor pulled = f.pull(*link, 1, large);
  for (int i = 0; i < 20; ++i) {
    Tensor sent = numbers(100'000 + i, static_cast<float>(i));
    auto pushed = f.lanes->push(f.peer, sent);
    REQUIRE(pushed);
    CHECK(pushed->lane == link->lane());
    auto got = claim(*link, pushed->ticket, sent);
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    CHECK(is_same(*got, sent));
    wait_until([&] { return sent.is_unique(); });
    CHECK(sent.is_unique());
  }
  CHECK(f.pulled.take().ok());
  CHECK(f.same_bytes(large, pulled));
  wait_until([&] { return f.offers->size() == 0; });
  CHECK(f.offers->size() == 0);
}

TEST_CASE("data path: what the kernel takes for a peer is no sign that the peer lives") {
  Fixture f;
  auto link = open_lane(f);
  const auto record = f.book->record(PathBook::Direction::to, "worker");
  const std::int64_t before = record->last_us();
  Tensor sent = numbers(1000);
  REQUIRE(f.lanes->push(f.peer, sent));
  wait_until([&] { return sent.is_unique(); });
  CHECK(sent.is_unique());
  CHECK(record->last_us() == before);
}

TEST_CASE("data path: a stream takes no more unasked than it lends, until what came is claimed") {
  Fixture f;
  CHECK(!f.lanes->push(f.peer, numbers(1)));
  auto link = open_lane(f, 1 << 20);
  Tensor sent = numbers(200'000);
  auto first = f.lanes->push(f.peer, sent);
  REQUIRE(first);
  CHECK(!f.lanes->push(f.peer, sent));
  CHECK(claim(*link, first->ticket, sent).ok());
  std::optional<PushLanes::Pushed> second;
  wait_until([&] { return (second = f.lanes->push(f.peer, sent)).has_value(); });
  REQUIRE(second);
  CHECK(f.lanes->take_back(second->ticket)); // nobody will claim it
  std::optional<PushLanes::Pushed> third;
  wait_until([&] { return (third = f.lanes->push(f.peer, sent)).has_value(); });
  REQUIRE(third);
  CHECK(claim(*link, second->ticket, sent).status().code() == Code::aborted);
  CHECK(claim(*link, third->ticket, sent).ok());
  CHECK(!f.lanes->push(f.peer + 1, sent));
}

TEST_CASE(
    "data path: where there is no memory for what comes unasked, whoever claims it is told so") {
  Fixture f;
  DataClientOptions options;
  options.allocate = [](std::uint64_t) -> Result<BufferRef> {
    return resource_exhausted("the limit of 1 MiB is reached");
  };
  f.client = std::make_unique<DataClient>(options, f.book);
  auto link = open_lane(f);
  Tensor sent = numbers(200'000);
  auto pushed = f.lanes->push(f.peer, sent);
  REQUIRE(pushed);
  CHECK(claim(*link, pushed->ticket, sent).status().code() == Code::resource_exhausted);
  f.offer(1, sent); // the path stands
  Tensor got = f.pull(*link, 1, sent);
  CHECK(f.pulled.take().ok());
  CHECK(f.same_bytes(sent, got));
}

TEST_CASE("data path: who waits for what comes unasked is told when its sender goes") {
  Fixture f;
  auto link = open_lane(f);
  auto inbox = std::make_shared<Inbox<Result<BufferRef>>>();
  link->claim(unasked | 5, 100,
              [inbox](Result<BufferRef> bytes, std::int64_t) { inbox->put(std::move(bytes)); });
  f.server->drop(f.peer);
  Status outcome = inbox->take().status();
  CHECK(outcome.code() == Code::unavailable);
  CHECK(outcome.derived());
  CHECK(f.broken.take().code() == Code::unavailable);
  wait_until([&] { return !f.lanes->push(f.peer, numbers(1)); });
  CHECK(!f.lanes->push(f.peer, numbers(1)));
  CHECK(f.offers->size() == 0);
}

TEST_CASE("data path: what nobody claims in time is dropped, and its room lent again") {
  Fixture f;
  DataClientOptions options;
  options.unclaimed = std::chrono::milliseconds(1);
  f.client = std::make_unique<DataClient>(options, f.book);
  auto link = open_lane(f, 1 << 20);
  Tensor sent = numbers(200'000);
  auto first = f.lanes->push(f.peer, sent);
  REQUIRE(first);
  std::optional<PushLanes::Pushed> second;
  wait_until([&] { return (second = f.lanes->push(f.peer, sent)).has_value(); });
  CHECK(second);
  CHECK(claim(*link, first->ticket, sent).status().code() == Code::aborted);
}

TEST_CASE("data path: tensors arrive whole over streams that move a little at a time and are not "
          "always ready") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    DataServerOptions server;
    server.wrap = faulty({seed, seed < 6 ? 40'000u : 50u});
    Fixture f(server);
    DataClientOptions client{patience, patience, patience, {}, faulty({seed + 100, 10'000})};
    f.client = std::make_unique<DataClient>(client, f.book);
    auto link = open_lane(f);
    for (std::int64_t count : {1, 1000, 30'000}) {
      Tensor sent = numbers(count, static_cast<float>(seed));
      f.offer(static_cast<std::uint64_t>(count), sent);
      Tensor got = f.pull(*link, static_cast<std::uint64_t>(count), sent);
      auto pushed = f.lanes->push(f.peer, sent);
      REQUIRE(pushed);
      CHECK(f.pulled.take().ok());
      CHECK(f.same_bytes(sent, got));
      auto came = claim(*link, pushed->ticket, sent);
      REQUIRE(came.ok());
      CHECK(is_same(*came, sent));
    }
  }
}

TEST_CASE("data path: wherever a stream breaks, whatever was asked for or claimed on it ends") {
  for (std::size_t after : {1, 33, 56, 57, 5000, 100'000}) {
    CAPTURE(after);
    Fixture f;
    StreamFaults faults{7, 4096, 0, after};
    DataClientOptions client{patience, patience, patience, {}, faulty(faults)};
    f.client = std::make_unique<DataClient>(client, f.book);
    DataEndpoint to = f.endpoint(TensorPath::stream);
    to.lent = lent_to_streams;
    auto link = f.open(to);
    Tensor sent = numbers(100'000);
    f.offer(1, sent);
    Tensor got = f.pull(*link, 1, sent);
    CHECK(claim(*link, unasked | 9, sent).status().code() == Code::unavailable);
    CHECK(f.pulled.take().code() == Code::unavailable);
  }
}

TEST_CASE(
    "data path: a peer that sends unasked what was not lent, or not announced, breaks the path") {
  const std::uint64_t ticket = unasked | 3;
  for (Piece piece :
       {Piece{ticket, 10, 0, Piece::last}, Piece{ticket, 2 << 20, 0, Piece::announced},
        Piece{ticket, 0, 0, Piece::announced}}) {
    Fixture f;
    std::uint16_t port = 0;
    auto listener = listen_tcp("127.0.0.1", port);
    REQUIRE(listener.ok());
    DataEndpoint to = f.endpoint(TensorPath::stream);
    to.port = port;
    to.lent = 1 << 20;
    auto link = f.open(to);
    pollfd wait{listener->get(), POLLIN, 0};
    REQUIRE(::poll(&wait, 1, 30'000) == 1);
    Stranger liar(Fd(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC)));
    liar.say(Acceptance{to.proof, 0});
    REQUIRE(f.opened.take().ok());
    liar.say(piece);
    CHECK(f.broken.take().code() == Code::unavailable);
  }
}
