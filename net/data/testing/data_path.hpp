// A sender and a receiver in one process, and strangers that speak their frames by hand. For tests
// of the data path.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "net/data/data_client.hpp"
#include "net/data/data_server.hpp"
#include "net/data/sockets.hpp"
#include "net/ucx/ucx_worker.hpp"

namespace troupe::data::testing {

inline constexpr std::chrono::seconds patience{30};

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

inline Tensor numbers(std::int64_t count, float first = 0) {
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
    options.ucx = UcxChoice{"tcp", "127.0.0.1"};
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
  std::unique_ptr<DataClient> client = std::make_unique<DataClient>(
      DataClientOptions{patience, patience, patience, {}, {}, {"tcp", "127.0.0.1"}}, book);
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

/// Those that can be here: without UCX on this machine, the others.
inline std::vector<TensorPath> every_path() {
  std::vector<TensorPath> out{TensorPath::shared_memory, TensorPath::stream};
  if (const Status there = ucx_is_there(); there.ok())
    out.push_back(TensorPath::ucx);
  else
    MESSAGE("skipped: ucx: ", there.message());
  return out;
}
inline constexpr TensorPath both[] = {TensorPath::shared_memory, TensorPath::stream};

/// A stream on which so many bytes may come unasked.
inline std::shared_ptr<DataLink> open_lane(Fixture& f, std::uint64_t lent = lent_to_streams) {
  DataEndpoint to = f.endpoint(TensorPath::stream);
  to.lent = lent;
  auto link = f.open(to);
  Status opened = f.opened.take();
  REQUIRE_MESSAGE(opened.ok(), opened.to_string());
  return link;
}

inline Result<BufferRef> claim(DataLink& link, std::uint64_t ticket, const Tensor& like) {
  auto inbox = std::make_shared<Inbox<Result<BufferRef>>>();
  link.claim(ticket, like.bytes().size(),
             [inbox](Result<BufferRef> bytes, std::int64_t) { inbox->put(std::move(bytes)); });
  return inbox->take();
}

inline bool is_same(const BufferRef& a, const Tensor& b) {
  return a->bytes() >= b.bytes().size() && std::memcmp(a->data(), b.raw(), b.bytes().size()) == 0;
}

/// A connection that was let in.
inline Stranger invited(Fixture& f, TensorPath path) {
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

inline std::vector<std::byte> repeated(const Request& request, std::size_t times) {
  std::vector<std::byte> out;
  auto frame = encode(request);
  for (std::size_t i = 0; i < times; ++i)
    out.insert(out.end(), frame.begin(), frame.end());
  return out;
}

} // namespace troupe::data::testing
