#include "net/transport/wire_stream.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/message.hpp>

#include "net/data/testing/faulty_stream.hpp"

using namespace troupe;
namespace network = caf::io::network;

namespace {

/// Whoever a stream reads for.
class Owner final : public network::stream_manager {
public:
  Owner(network::default_multiplexer& loop, int socket, bool& alive,
        std::unique_ptr<data::ByteStream> bytes)
      : stream(loop, socket, std::move(bytes)), alive_(alive) {
    alive_ = true;
  }
  ~Owner() override { alive_ = false; }
  bool consume(caf::execution_unit*, const void* from, std::size_t bytes) override {
    came.append(static_cast<const char*>(from), bytes);
    stream.expect(came.size() % 20'000 + 1);
    return true;
  }
  void data_transferred(caf::execution_unit*, std::size_t, std::size_t) override {}
  std::uint16_t port() const override { return 0; }
  void graceful_shutdown() override { stream.graceful_shutdown(); }
  void remove_from_loop() override { stream.passivate(); }
  void add_to_loop() override { stream.start(*this); }
  std::string addr() const override { return "here"; }

  WireStream stream;
  std::string came;

protected:
  caf::message detach_message() override { return {}; }
  void detach_from(caf::io::abstract_broker*) override {}

private:
  bool& alive_;
};

struct Fixture {
  caf::actor_system_config config;
  caf::actor_system system{config};
  network::default_multiplexer loop{&system};
  int ends[2] = {-1, -1};
  bool alive = false;
  caf::intrusive_ptr<Owner> owner;

  struct StartsLater {};
  static constexpr StartsLater starts_later{};

  explicit Fixture(const data::StreamWrapper& wrap = {}) : Fixture(starts_later, wrap) {
    owner->stream.start(*owner);
    loop.handle_internal_events();
  }
  explicit Fixture(StartsLater, const data::StreamWrapper& wrap = {}) {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    owner = caf::make_counted<Owner>(loop, ends[0], alive, // it closes its end
                                     wrap ? wrap(std::make_unique<data::SocketStream>(ends[0]))
                                          : nullptr);
    owner->stream.expect(1);
  }
  ~Fixture() {
    end();
    ::close(ends[1]);
  }
  // What CAF does when the kernel tells of an error. The broker lets go of the connection
  // meanwhile.
  void end() {
    if (!owner)
      return;
    WireStream& stream = owner->stream;
    stream.handle_event(network::operation::propagate_error);
    owner = nullptr;
    loop.del(network::operation::read, ends[0], &stream);
    loop.del(network::operation::write, ends[0], &stream);
    loop.handle_internal_events();
  }
  void write(std::size_t bytes) {
    auto& buffer = owner->stream.write_buffer();
    buffer.insert(buffer.end(), bytes, 'x');
    owner->stream.flush(*owner);
    loop.handle_internal_events();
  }
  // Until so many bytes have come.
  void read(std::size_t bytes) {
    std::vector<char> room(64 << 10);
    while (bytes > 0) {
      loop.poll_once(false);
      loop.handle_internal_events();
      ssize_t got = ::read(ends[1], room.data(), std::min(room.size(), bytes));
      if (got < 0) {
        REQUIRE(errno == EAGAIN);
        continue;
      }
      REQUIRE(got > 0);
      bytes -= static_cast<std::size_t>(got);
    }
    loop.poll_once(false);
    loop.handle_internal_events();
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "wire stream: the memory of a large message is not kept for small ones") {
  constexpr std::size_t large = 8 << 20, small = 100 << 10;
  for (std::size_t bytes : {large, small, small, small}) {
    write(bytes);
    read(bytes);
  }
  for (int i = 0; i < 2; ++i) { // there are two buffers, in turn
    CHECK(owner->stream.write_buffer().capacity() < large / 4);
    write(small);
    read(small);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "wire stream: one that fails before the loop knows that it writes is let go") {
  owner->stream.write_buffer().assign(1 << 20, 'x');
  owner->stream.flush(*owner); // of which the loop is told in its next round
  end();
  CHECK(!alive);
}

TEST_CASE("wire stream: one that fails before the loop knows that it reads is let go") {
  Fixture at(Fixture::starts_later);
  at.owner->stream.write_buffer().assign(1 << 20, 'x');
  at.owner->stream.flush(*at.owner);
  at.loop.handle_internal_events();
  at.owner->stream.start(*at.owner); // of which the loop is told in its next round
  at.end();
  CHECK(!at.alive);
}

TEST_CASE_FIXTURE(Fixture, "wire stream: one that fails while it writes is let go") {
  write(1 << 20);
  end();
  CHECK(!alive);
}

TEST_CASE_FIXTURE(Fixture, "wire stream: one that fails at rest is let go") {
  end();
  CHECK(!alive);
}

TEST_CASE("wire stream: over one that moves a little at a time all bytes come, in order") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Fixture f(data::faulty({seed, 3'000}));
    f.write(300'000);
    f.read(300'000);
    std::string sent;
    for (int i = 0; i < 100'000; ++i)
      sent.push_back(static_cast<char>('a' + i % 23));
    for (std::size_t at = 0; f.owner->came.size() + 20'000 < sent.size();) {
      if (at < sent.size()) {
        ssize_t more = ::send(f.ends[1], sent.data() + at, sent.size() - at, MSG_DONTWAIT);
        at += more > 0 ? static_cast<std::size_t>(more) : 0;
      }
      f.loop.poll_once(false);
      f.loop.handle_internal_events();
    }
    CHECK(sent.starts_with(f.owner->came));
  }
}
