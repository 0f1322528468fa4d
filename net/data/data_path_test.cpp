// A sender and a receiver in one process: both paths, what breaks them, and strangers at the door.
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <span>
#include <thread>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "net/data/data_client.hpp"
#include "net/data/data_server.hpp"
#include "net/data/sockets.hpp"
#include "net/data/testing/faulty_stream.hpp"

using namespace troupe;
using namespace troupe::data;

namespace {

constexpr std::chrono::seconds patience{30};

/// Collects what other threads tell.
template <class T>
class Inbox {
public:
  void put(T value) {
    std::scoped_lock guard(lock_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  T take() {
    std::unique_lock guard(lock_);
    REQUIRE(changed_.wait_for(guard, patience, [&] { return !values_.empty(); }));
    T out = std::move(values_.front());
    values_.pop_front();
    return out;
  }

private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<T> values_;
};

Tensor numbers(std::int64_t count, float first = 0) {
  Tensor out = Tensor::make(DType::float32, {count});
  for (std::int64_t i = 0; i < count; ++i)
    out.mutable_data<float>()[static_cast<std::size_t>(i)] = first + static_cast<float>(i % 4096);
  return out;
}

struct Fixture {
  explicit Fixture(DataServerOptions options = {}) {
    set_log_level(LogLevel::error);
    if (options.host.empty())
      options.host = "127.0.0.1";
    auto made = DataServer::start(options, offers, book, lent, lanes, [this] { settled.put(1); });
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    server = *std::move(made);
  }

  DataEndpoint endpoint(TensorPath path) {
    auto invitation = server->invite(peer, "worker");
    DataEndpoint out;
    out.task = "ps";
    out.path = path;
    out.local_name = server->local_name();
    out.host = "127.0.0.1";
    out.port = server->port();
    out.token = invitation.token;
    out.proof = invitation.proof;
    return out;
  }
  std::shared_ptr<DataLink> open(TensorPath path) { return open(endpoint(path)); }
  std::shared_ptr<DataLink> open(DataEndpoint to) {
    std::shared_ptr<SharedRegion> region;
    if (to.path == TensorPath::shared_memory)
      region = *SharedRegion::make(std::uint64_t{1} << 30, true);
    return client->open(
        std::move(to), region, [this](Status s) { opened.put(std::move(s)); },
        [this](Status s) { broken.put(std::move(s)); });
  }
  void offer(std::uint64_t ticket, const Tensor& tensor) {
    offers->put(ticket, tensor, {peer, peer}, steady_micros());
  }
  Tensor pull(DataLink& link, std::uint64_t ticket, const Tensor& like, std::uint64_t bytes = 0) {
    if (bytes == 0)
      bytes = like.bytes().size();
    BufferRef buffer;
    std::uint64_t offset = 0;
    if (link.region()) {
      auto range = link.region()->allocate(bytes);
      REQUIRE(range.ok());
      offset = range->offset;
      buffer = range->buffer;
    } else {
      buffer = Buffer::allocate(host_allocator(), bytes);
    }
    Tensor out(DType::float32, {static_cast<std::int64_t>(bytes / 4)}, buffer);
    link.pull(ticket, bytes, buffer, offset,
              [this](Status s, std::int64_t) { pulled.put(std::move(s)); });
    return out;
  }
  static bool same_bytes(const Tensor& a, const Tensor& b) {
    return a.bytes().size() == b.bytes().size() &&
           std::memcmp(a.raw(), b.raw(), a.bytes().size()) == 0;
  }

  std::uint64_t peer = 17;
  Inbox<int> settled;
  Inbox<Status> opened, broken, pulled;
  std::shared_ptr<OfferTable> offers = std::make_shared<OfferTable>();
  std::shared_ptr<PathBook> book = std::make_shared<PathBook>();
  std::shared_ptr<LentMemory> lent = std::make_shared<LentMemory>();
  std::shared_ptr<PushLanes> lanes = std::make_shared<PushLanes>();
  std::unique_ptr<DataServer> server;
  std::unique_ptr<DataClient> client =
      std::make_unique<DataClient>(DataClientOptions{patience, patience, patience, {}, {}}, book);
};

/// Somebody who speaks by hand.
class Stranger {
public:
  explicit Stranger(Fd socket) : socket_(std::move(socket)) {}
  void say_bytes(const void* from, std::size_t bytes, int fd = -1) {
    pollfd wait{socket_.get(), POLLOUT, 0};
    REQUIRE(::poll(&wait, 1, 30'000) == 1);
    (void)send_with_fd(socket_.get(), from, bytes, fd); // the other side may have closed
  }
  template <class Frame>
  void say(const Frame& frame, int fd = -1) {
    auto bytes = encode(frame);
    say_bytes(bytes.data(), bytes.size(), fd);
  }
  /// Says it again and again, until the other side reads no more or `most` bytes are said; how many
  /// they were.
  std::size_t repeat(std::span<const std::byte> bytes, std::size_t most) {
    std::size_t said = 0;
    pollfd wait{socket_.get(), POLLOUT, 0};
    while (said < most && ::poll(&wait, 1, 500) == 1) {
      auto rest = bytes.subspan(said % bytes.size());
      auto sent = send_with_fd(socket_.get(), rest.data(), rest.size(), -1);
      if (sent <= 0)
        break;
      said += static_cast<std::size_t>(sent);
    }
    return said;
  }
  /// So many bytes; false when the other side closes before.
  bool listen_to(std::size_t bytes) {
    std::vector<char> buffer(bytes);
    for (std::size_t have = 0; have < bytes;) {
      pollfd wait{socket_.get(), POLLIN, 0};
      REQUIRE(::poll(&wait, 1, 30'000) == 1);
      ssize_t got = ::recv(socket_.get(), buffer.data() + have, bytes - have, 0);
      if (got <= 0)
        return false;
      have += static_cast<std::size_t>(got);
    }
    return true;
  }
  /// Bytes until the other side closes.
  std::size_t listen() {
    std::size_t total = 0;
    for (;;) {
      char buffer[4096];
      pollfd wait{socket_.get(), POLLIN, 0};
      REQUIRE(::poll(&wait, 1, 30'000) == 1);
      ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (got <= 0)
        return total;
      total += static_cast<std::size_t>(got);
    }
  }

private:
  Fd socket_;
};

/// For what another thread does by itself; bounds the wait.
template <class F>
void wait_until(F is_done) {
  std::int64_t until = steady_micros() + 30'000'000;
  while (!is_done() && steady_micros() < until)
    std::this_thread::yield();
}

constexpr TensorPath both[] = {TensorPath::shared_memory, TensorPath::stream};

} // namespace

TEST_CASE("data path: tensors of many sizes arrive as they are, and are offered no longer") {
  for (TensorPath path : both) {
    Fixture f;
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    std::uint64_t ticket = 0;
    for (std::int64_t count : {1, 1000, 1 << 18, (5 << 20) + 3}) {
      Tensor sent = numbers(count);
      f.offer(++ticket, sent);
      Tensor got = f.pull(*link, ticket, sent);
      Status outcome = f.pulled.take();
      REQUIRE_MESSAGE(outcome.ok(), outcome.to_string());
      CHECK(f.same_bytes(sent, got));
      if (path == TensorPath::stream) // the last bytes may be here before their sender knows it
        wait_until([&] { return sent.is_unique(); });
      CHECK(sent.is_unique()); // nobody holds the sender's buffer any more
    }
    CHECK(f.offers->size() == 0);
    CHECK(f.book->sentences().size() == 2);
    CHECK(f.book->sentences()[0].find(std::string(to_string(path)) + ", 4 tensors, 21.0 MiB") !=
          std::string::npos);
  }
}

TEST_CASE("data path: many at once are served in turns") {
  for (TensorPath path : both) {
    Fixture f;
    auto link = f.open(path); // pulls wait for it
    std::vector<Tensor> sent, got;
    for (std::uint64_t i = 0; i < 20; ++i) {
      sent.push_back(numbers(i == 0 ? 20 << 20 : 30000, static_cast<float>(i)));
      f.offer(i, sent.back());
      got.push_back(f.pull(*link, i, sent.back()));
    }
    for (std::size_t i = 0; i < sent.size(); ++i)
      REQUIRE(f.pulled.take().ok());
    for (std::size_t i = 0; i < sent.size(); ++i)
      CHECK(f.same_bytes(sent[i], got[i]));
  }
}

TEST_CASE("data path: who is told that a tensor has come holds it alone") {
  for (TensorPath path : both) {
    CAPTURE(to_string(path));
    Fixture f;
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    Tensor sent = numbers(1000);
    f.offer(1, sent);
    std::uint64_t bytes = sent.bytes().size(), offset = 0;
    std::atomic<bool> freed = false;
    BufferRef held;
    std::vector<std::byte> memory(bytes);
    if (link->region()) {
      auto range = link->region()->allocate(bytes);
      REQUIRE(range.ok());
      offset = range->offset;
      held = Buffer::wrap(range->buffer->data(), bytes,
                          [&freed, keep = range->buffer](void*) { freed = true; });
    } else {
      held = Buffer::wrap(memory.data(), bytes, [&freed](void*) { freed = true; });
    }
    Inbox<bool> was_freed;
    BufferRef into = held;
    link->pull(1, bytes, std::move(into), offset, [&](Status status, std::int64_t) {
      held = {};
      was_freed.put(status.ok() && freed.load());
    });
    CHECK(was_freed.take());
  }
}

TEST_CASE("data path: a request that overtook its offer waits until the offers have settled") {
  for (TensorPath path : both) {
    Fixture f;
    auto link = f.open(path);
    Tensor sent = numbers(100000);
    Tensor got = f.pull(*link, 5, sent);
    f.settled.take();
    f.offer(5, sent);
    f.server->offers_settled();
    REQUIRE(f.pulled.take().ok());
    CHECK(f.same_bytes(sent, got));
  }
}

TEST_CASE("data path: each request waits for its own settling, not for one that began before it") {
  for (TensorPath path : both) {
    Fixture f;
    auto link = f.open(path);
    Tensor first = numbers(1000), second = numbers(2000);
    Tensor got_first = f.pull(*link, 1, first);
    f.settled.take();
    Tensor got_second = f.pull(*link, 2, second);
    f.settled.take();
    f.offer(1, first);
    f.server->offers_settled();
    REQUIRE(f.pulled.take().ok());
    f.offer(2, second);
    f.server->offers_settled();
    REQUIRE(f.pulled.take().ok());
    CHECK(f.same_bytes(first, got_first));
    CHECK(f.same_bytes(second, got_second));
  }
}

TEST_CASE("data path: what is not offered, or has another size, is refused; the path stays") {
  for (TensorPath path : both) {
    Fixture f;
    auto link = f.open(path);
    Tensor sent = numbers(1000);
    f.pull(*link, 1, sent);
    f.settled.take();
    f.server->offers_settled();
    CHECK(f.pulled.take().code() == Code::aborted);
    f.offer(2, sent);
    f.pull(*link, 2, sent, 8000);
    CHECK(f.pulled.take().code() == Code::out_of_range);
    f.pull(*link, 2, sent);
    CHECK(f.pulled.take().ok());
  }
}

TEST_CASE("data path: when the sender goes, what is under way ends with its name and the path") {
  for (TensorPath path : both) {
    Fixture f;
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    Tensor sent = numbers(1000);
    f.pull(*link, 1, sent); // parked for ever
    f.settled.take();
    f.server->drop(f.peer);
    Status outcome = f.pulled.take();
    CHECK(outcome.code() == Code::unavailable);
    CHECK(outcome.message().find(std::string(to_string(path)) +
                                 " path from ps broke: it closed its connection; if its process") !=
          std::string::npos);
    CHECK(outcome.derived()); // whoever knows why it went says more
    CHECK(f.broken.take().code() == Code::unavailable);
    f.pull(*link, 1, sent);
    CHECK(f.pulled.take().code() == Code::unavailable);
  }
}

TEST_CASE("data path: when the receiver goes in the middle, the sender lets go of everything") {
  for (TensorPath path : both) {
    Fixture f;
    std::int64_t connections = counter("data_connections_in").value();
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    Tensor sent = numbers(16 << 20);
    f.offer(1, sent);
    f.pull(*link, 1, sent);
    f.client.reset();
    CHECK(!f.pulled.take().ok());
    wait_until([&] { return counter("data_connections_in").value() == connections; });
    CHECK(counter("data_connections_in").value() == connections);
    f.offers->erase_of(f.peer);
    CHECK(sent.is_unique());
  }
}

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

TEST_CASE("data path: what a peer lends is filled unasked, until its connection ends") {
  Fixture f;
  Tensor sent = numbers(200'000);
  CHECK(!f.lent->place(f.peer, sent)); // nobody has connected
  auto link = f.open(TensorPath::shared_memory);
  REQUIRE(f.opened.take().ok());
  LentMemory receiver; // the other node's
  receiver.lend(3, link->region(), f.book->record(PathBook::Direction::from, "ps"));
  auto placed = f.lent->place(f.peer, sent);
  REQUIRE(placed);
  auto claimed = receiver.claim(3, *placed, sent.bytes().size(), nullptr);
  REQUIRE_MESSAGE(claimed.ok(), claimed.status().to_string());
  CHECK(std::memcmp((*claimed)->data(), sent.raw(), sent.bytes().size()) == 0);
  CHECK(f.lent->slots_in_use() > 0);
  CHECK(receiver.claim(3, *placed, sent.bytes().size(), nullptr).status().code() == Code::aborted);
  *claimed = BufferRef{};
  CHECK(f.lent->slots_in_use() == 0);
  // Beside what is asked for, and not more than fits.
  f.offer(1, sent);
  Tensor asked = f.pull(*link, 1, sent);
  CHECK(f.pulled.take().ok());
  CHECK(f.same_bytes(asked, sent));
  std::vector<PlacedValue> values;
  while (auto value = f.lent->place(f.peer, sent))
    values.push_back(*value);
  CHECK(values.size() == LentSlots::num_slots / 13);
  CHECK(!f.lent->place(f.peer, numbers(2 << 20))); // too large for any
  CHECK(f.lent->withdraw(values[0].number));
  CHECK(f.same_bytes(asked, sent)); // it lies elsewhere
  // What has arrived stays when the connection goes, and nothing more comes.
  auto last = receiver.claim(3, values.back(), sent.bytes().size(), nullptr);
  REQUIRE(last.ok());
  f.server->drop(f.peer);
  CHECK(f.broken.take().code() == Code::unavailable);
  CHECK(!f.lent->place(f.peer, sent));
  link.reset();
  CHECK(std::memcmp((*last)->data(), sent.raw(), sent.bytes().size()) == 0);
}

TEST_CASE("data path: a task sees where its peer has variables, a client does not") {
  for (const char* task : {"/job:worker/replica:0/task:0", "client"}) {
    Fixture f;
    auto invitation = f.server->invite(f.peer, task);
    DataEndpoint to = f.endpoint(TensorPath::shared_memory);
    to.token = invitation.token;
    to.proof = invitation.proof;
    auto link = f.open(to);
    REQUIRE(f.opened.take().ok());
    const bool is_task = task[0] == '/';
    CHECK(LentSlots(link->region()->base()).sees_sender() == is_task);
    CHECK(f.lent->shows_to(task, 1000) == is_task);
  }
}

namespace {

/// A stream on which so many bytes may come unasked.
std::shared_ptr<DataLink> open_lane(Fixture& f, std::uint64_t lent = lent_to_streams) {
  DataEndpoint to = f.endpoint(TensorPath::stream);
  to.lent = lent;
  auto link = f.open(to);
  Status opened = f.opened.take();
  REQUIRE_MESSAGE(opened.ok(), opened.to_string());
  return link;
}

Result<BufferRef> claim(DataLink& link, std::uint64_t ticket, const Tensor& like) {
  auto inbox = std::make_shared<Inbox<Result<BufferRef>>>();
  link.claim(ticket, like.bytes().size(),
             [inbox](Result<BufferRef> bytes, std::int64_t) { inbox->put(std::move(bytes)); });
  return inbox->take();
}

bool is_same(const BufferRef& a, const Tensor& b) {
  return a->bytes() >= b.bytes().size() && std::memcmp(a->data(), b.raw(), b.bytes().size()) == 0;
}

} // namespace

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

namespace {

/// A connection that was let in.
Stranger invited(Fixture& f, TensorPath path) {
  const bool is_local = path == TensorPath::shared_memory;
  auto socket =
      is_local ? connect_local(f.server->local_name()) : connect_tcp("127.0.0.1", f.server->port());
  REQUIRE(socket.ok());
  Stranger peer(*std::move(socket));
  auto region = *SharedRegion::make(1 << 20);
  peer.say(Opening{is_local ? region->bytes() : 0, f.server->invite(f.peer, "worker").token},
           is_local ? region->fd() : -1);
  REQUIRE(peer.listen_to(acceptance_bytes));
  return peer;
}

std::vector<std::byte> repeated(const Request& request, std::size_t times) {
  std::vector<std::byte> out;
  auto frame = encode(request);
  for (std::size_t i = 0; i < times; ++i)
    out.insert(out.end(), frame.begin(), frame.end());
  return out;
}

} // namespace

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

TEST_CASE("offers: those of a lost receiver go, those of others stay") {
  OfferTable offers;
  Tensor a = numbers(10), b = numbers(10);
  offers.put(1, a, {7, 1}, 100);
  offers.put(2, b, {8, 1}, 200);
  int empty = 0;
  offers.when_empty([&] { ++empty; });
  offers.erase_of(7);
  CHECK(a.is_unique());
  CHECK(offers.find(2, 300).has_value());
  CHECK(!offers.find(1, 300).has_value());
  offers.erase_unused_since(250, 250); // it was used at 300
  CHECK(empty == 0);
  offers.erase_unused_since(350, 350);
  CHECK(empty == 1);
  CHECK(b.is_unique());
}

TEST_CASE("offers: what waits while its node is sent another is kept, but not for ever") {
  OfferTable offers;
  for (std::uint64_t ticket : {1, 2, 3})
    offers.put(ticket, numbers(10), {ticket, ticket == 3 ? 9u : 5u}, 100);
  offers.touch(1, 200);
  offers.erase_unused_since(150, 50);
  CHECK(offers.find(2, 100).has_value()); // behind the first one, to the same node
  CHECK(offers.size() == 2);              // to another node nothing is on its way
  offers.touch(1, 300);
  offers.erase_unused_since(250, 150);
  CHECK(!offers.find(2, 300).has_value());
  CHECK(offers.size() == 1);
  offers.erase_unused_since(350, 150);
  CHECK(offers.size() == 0);
}
