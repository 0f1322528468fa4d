// Two actor systems over loopback, and strangers with plain sockets.
#include "net/transport/guarded_network.hpp"

#include <future>
#include <latch>
#include <set>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/scoped_actor.hpp>
#include <doctest/doctest.h>

#include "core/trace/counters.hpp"
#include "net/transport/tcp_dial.hpp"

namespace guarded_test {
struct Blob { // a struct, as the messages of the protocol are
  std::string bytes;
};
template <class F>
typename F::result_type inspect(F& f, Blob& x) {
  return f(caf::meta::type_name("Blob"), x.bytes);
}
} // namespace guarded_test

CAF_BEGIN_TYPE_ID_BLOCK(guarded_test, caf::first_custom_type_id + 900)
CAF_ADD_TYPE_ID(guarded_test, (guarded_test::Blob))
CAF_END_TYPE_ID_BLOCK(guarded_test)

using guarded_test::Blob;
using namespace std::chrono_literals;

namespace {

struct Config : caf::actor_system_config {
  Config() {
    add_message_type<Blob>("troupe::Blob");
    load<troupe::GuardedNetwork>();
    set("scheduler.max-threads", std::size_t{2});
    set("middleman.workers", std::size_t{0});
    caf::put(content, "troupe.message-limit", std::size_t{4} << 20);
  }
  Config(const std::string& key, caf::config_value value) : Config() {
    caf::put(content, key, std::move(value));
  }
};

// Answers a blob with one of half its size and the same last byte.
caf::behavior halve(caf::event_based_actor*) {
  return {[](Blob& blob) { return Blob{blob.bytes.substr(blob.bytes.size() / 2)}; }};
}

// Keeps a blob until it is told to go on, then sends its asker a hundred like it.
struct Flood {
  std::promise<void> asked, asker_gone;
  caf::behavior operator()(caf::event_based_actor* self) {
    self->set_down_handler([this](caf::down_msg&) { asker_gone.set_value(); });
    return {[=, this](Blob& blob) {
              blob_ = std::move(blob);
              asker_ = caf::actor_cast<caf::actor>(self->current_sender());
              self->monitor(asker_);
              asked.set_value();
            },
            [=, this](caf::tick_atom) {
              for (int i = 0; i < 100; ++i)
                self->send(asker_, blob_);
              asker_ = nullptr;
            }};
  }

private:
  Blob blob_;
  caf::actor asker_;
};

struct Server {
  Server() : Server(Config()) {}
  explicit Server(Config config) : config_(std::move(config)) {
    auto bound = system.middleman().publish(actor, 0, "127.0.0.1");
    REQUIRE(bound);
    port = *bound;
  }
  ~Server() { caf::anon_send_exit(actor, caf::exit_reason::kill); }

private:
  Config config_;

public:
  caf::actor_system system{config_};
  caf::actor actor = system.spawn(halve);
  std::uint16_t port = 0;
};

struct Client {
  Config config;
  caf::actor_system system{config};

  caf::actor dial(std::uint16_t port) {
    auto actor = system.middleman().remote_actor("127.0.0.1", port);
    REQUIRE(actor);
    return *actor;
  }
  // The answer's size, or 0.
  std::size_t ask(const caf::actor& actor, std::size_t bytes) {
    caf::scoped_actor self{system};
    std::string text(bytes, 'a');
    text.back() = 'z';
    std::size_t size = 0;
    self->monitor(actor); // or a closed connection would be waited for in vain
    self->request(actor, 20s, Blob{std::move(text)})
        .receive([&](Blob& answer) { size = answer.bytes.back() == 'z' ? answer.bytes.size() : 1; },
                 [](caf::error&) {});
    return size;
  }
};

struct Stranger {
  explicit Stranger(std::uint16_t port) : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  static Stranger of(int socket) {
    Stranger out;
    out.socket = socket;
    return out;
  }
  Stranger(Stranger&& other) noexcept : socket(std::exchange(other.socket, -1)) {}
  ~Stranger() {
    if (socket >= 0)
      ::close(socket);
  }
  void say(std::string_view bytes) {
    CHECK(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
  }
  // Reads whatever the server says; true when it closes within `budget`.
  bool is_closed(std::chrono::milliseconds budget) {
    char buffer[4096];
    for (;;) {
      pollfd poll_for{socket, POLLIN, 0};
      if (::poll(&poll_for, 1, static_cast<int>(budget.count())) <= 0)
        return false;
      if (::recv(socket, buffer, sizeof buffer, 0) <= 0)
        return true;
    }
  }
  int socket = -1;

private:
  Stranger() = default;
};

// Stands between a client and the server's port, and passes on both ways pieces of the given sizes,
// in turn.
struct Relay {
  Relay(std::uint16_t server, std::vector<std::size_t> cuts) : cuts_(std::move(cuts)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port = ntohs(at.sin_port);
    passing_ = std::async(std::launch::async, [this, server] {
      Stranger to(server);
      int from = ::accept(listener_, nullptr, nullptr);
      auto back = std::async(std::launch::async, [&] { pass(to.socket, from); });
      pass(from, to.socket);
      back.wait();
      ::close(from);
    });
  }
  // The client's system has ended before.
  ~Relay() {
    passing_.wait();
    ::close(listener_);
  }
  std::uint16_t port = 0;

private:
  void pass(int from, int to) const {
    int yes = 1;
    ::setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::vector<char> bytes(100'000);
    for (std::size_t i = 0;; ++i) {
      ssize_t got = ::recv(from, bytes.data(), cuts_[i % cuts_.size()], 0);
      if (got <= 0 || ::send(to, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got)
        break;
    }
    ::shutdown(from, SHUT_RDWR);
    ::shutdown(to, SHUT_RDWR);
  }

  std::vector<std::size_t> cuts_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  std::future<void> passing_;
};

// Takes connections, and says nothing on them.
struct Mute {
  Mute() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(listener.socket, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(listener.socket, 8) == 0);
    REQUIRE(::getsockname(listener.socket, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port = ntohs(at.sin_port);
  }
  Stranger accept() {
    pollfd poll_for{listener.socket, POLLIN, 0};
    REQUIRE(::poll(&poll_for, 1, 20'000) == 1);
    return Stranger::of(::accept(listener.socket, nullptr, nullptr));
  }
  Stranger listener = Stranger::of(::socket(AF_INET, SOCK_STREAM, 0));
  std::uint16_t port = 0;
};

// Asks CAF for a connection that was introduced to it; what it answers within `budget`.
caf::error dial_introduced(Client& client, std::uint16_t port, std::chrono::milliseconds budget) {
  auto connected = troupe::dial_tcp("127.0.0.1", port, 20s);
  REQUIRE(connected.ok());
  const auto introduction =
      troupe::GuardedNetwork::of(client.system).introduce("127.0.0.1", port, *std::move(connected));
  caf::error out;
  caf::scoped_actor self{client.system};
  self->request(client.system.middleman().actor_handle(), caf::timespan(budget),
                caf::connect_atom::value, "127.0.0.1", port)
      .receive(
          [](const caf::node_id&, const caf::strong_actor_ptr&, const std::set<std::string>&) {},
          [&](caf::error& error) { out = std::move(error); });
  return out;
}

std::string header(std::uint8_t operation, std::string_view length) {
  std::string out(32, '\0');
  out[0] = static_cast<char>(operation);
  out.replace(4, 4, length);
  return out;
}

// The handshake of a node that dials.
std::string greeting_of(caf::actor_system& system, caf::node_id node) {
  std::vector<char> name;
  caf::binary_serializer sink{system, name};
  REQUIRE(!sink(node));
  std::string length{0, 0, 0, static_cast<char>(name.size())};
  return header(1, length) + std::string(name.begin(), name.end());
}

} // namespace

TEST_CASE("guarded network: messages go there and back, up to the limit") {
  Server server;
  Client client;
  caf::actor actor = client.dial(server.port);
  for (std::size_t bytes : {2, 100, 65'000, 70'000, 1 << 20, 3 << 20})
    CHECK(client.ask(actor, bytes) == bytes / 2);
}

TEST_CASE("guarded network: a message is read in pieces when no memory may be taken ahead") {
  Server server(Config("troupe.ahead-limit", caf::config_value(std::int64_t{100'000})));
  Client client;
  caf::actor actor = client.dial(server.port);
  for (std::size_t bytes : {2, 70'000, 131'072, 1 << 20, 3 << 20, 6, 200'000})
    CHECK(client.ask(actor, bytes) == bytes / 2);
}

TEST_CASE("guarded network: messages arrive however their bytes are cut") {
  Server server;
  for (std::vector<std::size_t> cuts :
       {std::vector<std::size_t>{1}, {31, 1}, {33, 7}, {32, 8192, 1}, {8191, 8193, 65'536}}) {
    Relay relay(server.port, cuts);
    Client client;
    caf::actor actor = client.dial(relay.port);
    for (std::size_t bytes : {2, 100, 8'100, 20'000})
      CHECK(client.ask(actor, bytes) == bytes / 2);
    if (cuts.back() > 1'000)
      CHECK(client.ask(actor, 1 << 20) == 1 << 19);
  }
}

TEST_CASE("guarded network: messages that come all at once arrive each, in order") {
  Server server;
  Client client;
  caf::actor actor = client.dial(server.port);
  constexpr std::size_t count = 2'000;
  caf::scoped_actor self{client.system};
  self->monitor(actor);
  for (std::size_t i = 0; i < count; ++i)
    self->send(actor, Blob{std::string(2 * i + 2, 'a')}); // answered by one of half the size
  std::size_t next = 0;
  bool is_down = false;
  self->receive_while([&] { return next < count && !is_down; })(
      [&](Blob& answer) {
        if (answer.bytes.size() != ++next)
          is_down = true;
      },
      [&](const caf::down_msg&) { is_down = true; }, caf::after(20s) >> [&] { is_down = true; });
  CHECK(next == count);
  CHECK_FALSE(is_down);
}

TEST_CASE("guarded network: a message beyond the limit closes its connection, others stay") {
  Server server;
  Client client, other;
  caf::actor actor = client.dial(server.port), kept = other.dial(server.port);
  caf::scoped_actor self{client.system};
  self->monitor(actor);
  self->send(actor, Blob{std::string(std::size_t{5} << 20, 'a')});
  bool down = false;
  self->receive([&](const caf::down_msg&) { down = true; }, caf::after(20s) >> [] {});
  CHECK(down);
  CHECK(other.ask(kept, 10) == 5);
  Client again; // CAF may still hold the old connection for a moment
  CHECK(again.ask(again.dial(server.port), 10) == 5);
}

TEST_CASE("guarded network: strangers without a handshake are closed with their first header") {
  Server server;
  auto refused = troupe::counter("refused_connections").value();
  for (const std::string& bytes :
       {std::string(32, 'x'), header(2, {"\0\0\0\x10", 4}), header(1, "\xff\xff\xff\xff"),
        std::string("GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n")}) {
    Stranger stranger(server.port);
    stranger.say(bytes);
    CHECK(stranger.is_closed(20s));
  }
  CHECK(troupe::counter("refused_connections").value() - refused == 4);
  Client client;
  CHECK(client.ask(client.dial(server.port), 10) == 5);
}

TEST_CASE("guarded network: of many idle strangers few stay, and a client is served at once") {
  Server server;
  std::vector<Stranger> strangers;
  for (int i = 0; i < 200; ++i)
    strangers.emplace_back(server.port);
  Client client;
  CHECK(client.ask(client.dial(server.port), 10) == 5);
  for (int i = 0; i < 100; ++i)
    CHECK(strangers[static_cast<std::size_t>(i)].is_closed(20s));
  CHECK_FALSE(strangers.back().is_closed(0ms));
}

TEST_CASE("guarded network: who does not shake hands in time is closed") {
  Server server(Config("troupe.handshake-deadline", caf::config_value(caf::timespan(50ms))));
  Client client;
  caf::actor actor = client.dial(server.port);
  Stranger idle(server.port), half(server.port);
  half.say("half a header");
  CHECK(idle.is_closed(20s));
  CHECK(half.is_closed(20s));
  CHECK(client.ask(actor, 10) == 5);
}

TEST_CASE("guarded network: a connection that was introduced is the one that is used") {
  Server server;
  Client client;
  auto connected = troupe::dial_tcp("127.0.0.1", server.port, 20s);
  REQUIRE(connected.ok());
  auto own = troupe::dial_tcp("127.0.0.1", server.port, 20s);
  REQUIRE(own.ok());
  const int fd = connected->get();
  auto& network = troupe::GuardedNetwork::of(client.system);
  caf::actor actor;
  {
    const auto first = network.introduce("127.0.0.1", server.port, *std::move(connected));
    const auto other = network.introduce("somewhere", server.port, *std::move(own));
    actor = client.dial(server.port);
  }
  CHECK(client.ask(actor, 10) == 5);
  auto node = caf::actor_cast<caf::strong_actor_ptr>(actor)->node();
  caf::scoped_actor self{client.system};
  self->request(client.system.middleman().actor_handle(), 20s, caf::get_atom::value, node)
      .receive([&](const caf::node_id&, const std::string&,
                   std::uint16_t port) { CHECK(port == server.port); },
               [](caf::error&) { FAIL("the connection is known"); });
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  REQUIRE(::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0);
  CHECK(ntohs(peer.sin_port) == server.port);
}

TEST_CASE("guarded network: who does not greet is left when who dialled would wait no longer") {
  Mute mute;
  Client client;
  // The request and the connection end at the same time, so that the error is of whichever comes
  // first.
  CHECK(dial_introduced(client, mute.port, 20ms));
  Stranger first = mute.accept();
  CHECK(first.is_closed(20s));
  // The next dial does not wait for the greeting that the first has waited for.
  CHECK(dial_introduced(client, mute.port, 20ms));
  Stranger second = mute.accept();
  CHECK(second.is_closed(20s));
}

TEST_CASE("guarded network: who was dialled and does not greet in time is closed") {
  Mute mute;
  Config config("troupe.handshake-deadline", caf::config_value(caf::timespan(50ms)));
  caf::actor_system system{config};
  auto dialled = std::async(
      std::launch::async, [&] { return system.middleman().remote_actor("127.0.0.1", mute.port); });
  Stranger there = mute.accept();
  CHECK(there.is_closed(20s));
  CHECK(dialled.get().error() == caf::sec::disconnect_during_handshake);
}

TEST_CASE("guarded network: who shook hands and falls silent is closed, who talks stays") {
  Server server(Config("troupe.idle-limit", caf::config_value(caf::timespan(200ms))));
  Client client;
  caf::actor actor = client.dial(server.port);
  Stranger silent(server.port);
  silent.say(greeting_of(client.system, troupe::new_identity()));
  bool is_closed = false;
  for (int i = 0; i < 10'000 && !is_closed; ++i) {
    REQUIRE(client.ask(actor, 10) == 5);
    is_closed = silent.is_closed(1ms);
  }
  CHECK(is_closed);
  CHECK(client.ask(actor, 10) == 5);
}

TEST_CASE("guarded network: identities are distinct, of many systems as of many numbers") {
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i)
    seen.insert(to_string(troupe::new_identity()));
  CHECK(seen.size() == 10'000);
  for (int i = 0; i < 300; ++i) { // CAF's counter of systems has 256 values
    Config config;
    caf::actor_system system{config};
    seen.insert(to_string(system.node()));
  }
  CHECK(seen.size() == 10'300);
}

TEST_CASE("guarded network: a node that dials anew has lost what it had, and both are closed") {
  Server server(Config("troupe.crossing-time", caf::config_value(caf::timespan(0))));
  Client client, other;
  caf::actor actor = client.dial(server.port), kept = other.dial(server.port);
  REQUIRE(client.ask(actor, 10) == 5);
  REQUIRE(other.ask(kept, 10) == 5);
  std::string greeting = greeting_of(client.system, client.system.node());
  caf::scoped_actor self{client.system};
  self->monitor(actor);

  // Dialled to see who it is, as a node does that has a connection already.
  Stranger curious(server.port);
  curious.say(greeting);
  CHECK(client.ask(actor, 10) == 5);

  Stranger twin(server.port);
  twin.say(greeting);
  greeting[3] = 2;
  twin.say(greeting);
  bool down = false;
  self->receive([&](const caf::down_msg&) { down = true; }, caf::after(20s) >> [] {});
  CHECK(down);
  CHECK(twin.is_closed(20s));
  CHECK(other.ask(kept, 10) == 5);
}

TEST_CASE("guarded network: connections have a bound") {
  Server server(Config("troupe.connections", caf::config_value(std::int64_t{10})));
  Client client;
  caf::actor actor = client.dial(server.port);
  std::vector<Stranger> strangers;
  for (int i = 0; i < 20; ++i)
    strangers.emplace_back(server.port);
  CHECK(strangers.back().is_closed(20s));
  CHECK(client.ask(actor, 10) == 5);
  strangers.clear();
}

TEST_CASE("guarded network: nothing can be spawned from outside") {
  Server server;
  Client client;
  caf::actor actor = client.dial(server.port);
  auto spawned = client.system.middleman().remote_spawn<caf::actor>(actor.node(), "anything",
                                                                    caf::make_message(), 5s);
  CHECK_FALSE(spawned);
}

TEST_CASE("guarded network: a peer that does not read is closed, others are served") {
  Flood flood;
  Server server(Config("troupe.unsent-limit", caf::config_value(std::int64_t{16} << 20)));
  caf::actor flooding =
      server.system.spawn([&](caf::event_based_actor* self) { return flood(self); });
  auto bound = server.system.middleman().publish(flooding, 0, "127.0.0.1");
  REQUIRE(bound);
  auto refused = troupe::counter("refused_connections").value();
  Client deaf, other;
  caf::actor actor = deaf.dial(*bound), kept = other.dial(server.port);
  caf::scoped_actor self{deaf.system};
  self->monitor(actor);
  self->send(actor, Blob{std::string(std::size_t{1} << 20, 'a')});
  REQUIRE(flood.asked.get_future().wait_for(20s) == std::future_status::ready);
  // From here on its network's thread reads nothing until it is told to.
  std::latch stopped(1), resumed(1);
  auto& network =
      dynamic_cast<caf::io::network::default_multiplexer&>(deaf.system.middleman().backend());
  network.post([&] {
    stopped.count_down();
    resumed.wait();
  });
  stopped.wait();
  caf::anon_send(flooding, caf::tick_atom::value); // 100 MiB; the kernel takes about 10 of them
  CHECK(flood.asker_gone.get_future().wait_for(20s) == std::future_status::ready);
  CHECK(troupe::counter("refused_connections").value() - refused == 1);
  CHECK(other.ask(kept, 10) == 5);
  resumed.count_down();
  bool is_down = false;
  self->receive_while([&] { return !is_down; })(
      [](Blob&) {}, // what had been sent before
      [&](const caf::down_msg&) { is_down = true; },
      caf::after(20s) >>
          [&] {
            FAIL("the peer does not learn that its connection was closed");
            is_down = true;
          });
  caf::anon_send_exit(flooding, caf::exit_reason::kill);
}
