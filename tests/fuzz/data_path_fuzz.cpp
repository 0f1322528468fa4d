// What a peer says on a data connection, to a real server and to a real client over real sockets.
// The first byte chooses who is spoken to, the path, and whether the greeting is an honest one; the
// second where what follows is cut in two.
//   to the server   an opening, or after an honest one up to 16 requests
//   to the client   an acceptance, or after an honest one the pieces of three pulls
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include "core/base/check.hpp"
#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "net/data/data_client.hpp"
#include "net/data/data_server.hpp"
#include "net/data/sockets.hpp"

namespace troupe {
namespace {

using namespace data;

constexpr int patience_ms = 30'000;
constexpr std::uint64_t peer = 17;
constexpr std::size_t most_requests = 16;
/// Of the tensors with tickets 1, 2 and 3, and of what is pulled; the last is sent in two pieces.
constexpr std::uint64_t sizes[] = {64, 4096, (std::uint64_t{4} << 20) + 64};

struct Choice {
  bool to_client = false, by_stream = false, is_honest = false;
  std::span<const std::byte> first, second;
};

bool wait_for(int fd, short events) {
  pollfd wait{fd, events, 0};
  int ready = -1;
  while ((ready = ::poll(&wait, 1, patience_ms)) < 0 && errno == EINTR) { // the fuzzer's alarm
  }
  return ready == 1;
}

/// False when the other side has closed.
bool say(const Fd& socket, std::span<const std::byte> bytes, int passed = -1) {
  while (!bytes.empty()) {
    TROUPE_CHECK(wait_for(socket.get(), POLLOUT), "the other side reads");
    std::ptrdiff_t sent = send_with_fd(socket.get(), bytes.data(), bytes.size(), passed);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Exactly so many bytes; false when the other side has closed.
bool hear(const Fd& socket, std::span<std::byte> into) {
  while (!into.empty()) {
    TROUPE_CHECK(wait_for(socket.get(), POLLIN), "the other side answers or closes");
    ssize_t got = ::recv(socket.get(), into.data(), into.size(), 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

class Server {
public:
  Server() {
    for (std::uint64_t bytes : sizes)
      tensors_.push_back(Tensor::zeros(DType::uint8, {static_cast<std::int64_t>(bytes)}));
    DataServerOptions options;
    options.host = "127.0.0.1";
    auto started = DataServer::start(options, offers_, book_, lent_, lanes_,
                                     [this] { server_->offers_settled(); });
    TROUPE_CHECK(started.ok(), started.status().to_string());
    server_ = *std::move(started);
  }

  void speak(const Choice& choice) {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      offers_->put(i + 1, tensors_[i], {peer, peer}, steady_micros());
    auto token = server_->invite(peer, "peer").token;
    auto dialled = choice.by_stream ? connect_tcp("127.0.0.1", server_->port())
                                    : connect_local(server_->local_name());
    TROUPE_CHECK(dialled.ok(), dialled.status().to_string());
    Fd socket = *std::move(dialled);
    const bool passes_region = !choice.by_stream;
    if (choice.is_honest) {
      auto opening = encode(Opening{passes_region ? region_->bytes() : 0, token});
      std::array<std::byte, acceptance_bytes> acceptance;
      TROUPE_CHECK(say(socket, opening, passes_region ? region_->fd() : -1) &&
                       hear(socket, acceptance) && decode_acceptance(acceptance),
                   "who shows a token is accepted");
    }
    const bool heard =
        say(socket, choice.first, passes_region && !choice.is_honest ? region_->fd() : -1) &&
        say(socket, choice.second);
    if (heard && choice.is_honest)
      check_answers(socket, (choice.first.size() + choice.second.size()) / request_bytes);
    ::shutdown(socket.get(), SHUT_WR);
    while (hear(socket, sink_)) {
    }
    server_->drop(peer); // an invitation that nobody took
  }

private:
  // Each request is answered to its end, once, or the connection is closed.
  void check_answers(const Fd& socket, std::size_t requests) {
    std::array<std::byte, piece_bytes> frame;
    while (requests > 0 && hear(socket, frame)) {
      Piece piece = decode_piece(frame.data());
      for (std::uint64_t left = region_in(socket) ? 0 : piece.bytes; left > 0;) {
        auto part = std::span(sink_).first(std::min<std::uint64_t>(left, sink_.size()));
        if (!hear(socket, part))
          return;
        left -= part.size();
      }
      if (piece.code != 0 || piece.kind == Piece::last)
        --requests;
    }
  }
  // By shared memory no bytes follow a frame.
  static bool region_in(const Fd& socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
           address.ss_family == AF_UNIX;
  }

  std::vector<Tensor> tensors_;
  std::vector<std::byte> sink_ = std::vector<std::byte>(1 << 20);
  std::shared_ptr<OfferTable> offers_ = std::make_shared<OfferTable>();
  std::shared_ptr<PathBook> book_ = std::make_shared<PathBook>();
  std::shared_ptr<LentMemory> lent_ = std::make_shared<LentMemory>();
  std::shared_ptr<PushLanes> lanes_ = std::make_shared<PushLanes>();
  std::shared_ptr<SharedRegion> region_ = *SharedRegion::make(8 << 20);
  std::unique_ptr<DataServer> server_;
};

class Client {
public:
  Client() : local_(*listen_local(name_)), stream_(*listen_tcp("127.0.0.1", port_)) {}

  void speak(const Choice& choice) {
    DataEndpoint to;
    to.task = "peer";
    to.path = choice.by_stream ? TensorPath::stream : TensorPath::shared_memory;
    to.local_name = name_;
    to.host = "127.0.0.1";
    to.port = port_;
    to.token = make_token();
    to.proof = make_token();
    opened_ = ended_ = 0;
    auto link = client_->open(
        to, choice.by_stream ? nullptr : region_, [this](Status) { note(opened_); }, [](Status) {});
    const Fd& listener = choice.by_stream ? stream_ : local_;
    TROUPE_CHECK(wait_for(listener.get(), POLLIN), "the client connects");
    Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    TROUPE_CHECK(static_cast<bool>(socket), "a connection is taken");
    pull_all(*link, choice.by_stream);
    if ((!choice.is_honest || say(socket, encode(Acceptance{to.proof}))) &&
        say(socket, choice.first))
      say(socket, choice.second);
    ::shutdown(socket.get(), SHUT_WR);
    std::byte sink[1024];
    while (hear(socket, sink)) {
    }
    std::unique_lock guard(lock_);
    TROUPE_CHECK(changed_.wait_for(guard, std::chrono::milliseconds(patience_ms),
                                   [&] { return opened_ == 1 && ended_ == std::size(sizes); }),
                 "the connection and each pull end, once");
  }

private:
  void pull_all(DataLink& link, bool by_stream) {
    for (std::uint64_t bytes : sizes) {
      BufferRef buffer;
      std::uint64_t offset = 0;
      if (by_stream) {
        buffer = Buffer::allocate(host_allocator(), bytes);
      } else {
        auto range = region_->allocate(bytes);
        TROUPE_CHECK(range.ok(), range.status().to_string());
        buffer = range->buffer;
        offset = range->offset;
      }
      link.pull(1, bytes, buffer, offset, [this](Status, std::int64_t) { note(ended_); });
    }
  }
  void note(std::size_t& count) {
    std::scoped_lock guard(lock_);
    ++count;
    changed_.notify_all();
  }

  std::string name_;
  std::uint16_t port_ = 0;
  Fd local_, stream_;
  std::shared_ptr<SharedRegion> region_ = *SharedRegion::make(16 << 20);
  std::mutex lock_;
  std::condition_variable changed_;
  std::size_t opened_ = 0, ended_ = 0;
  std::unique_ptr<DataClient> client_ =
      std::make_unique<DataClient>(DataClientOptions{std::chrono::milliseconds(patience_ms),
                                                     std::chrono::milliseconds(patience_ms),
                                                     std::chrono::milliseconds(patience_ms),
                                                     {},
                                                     {}},
                                   std::make_shared<PathBook>());
};

} // namespace
} // namespace troupe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  if (size < 2)
    return 0;
  // Never destroyed: the fuzzer ends by exit.
  static const bool is_quiet = (set_log_level(LogLevel::error), true);
  static Server& server = *new Server;
  static Client& client = *new Client;
  (void)is_quiet;
  Choice choice{(data[0] & 1) != 0, (data[0] & 2) != 0, (data[0] & 4) != 0, {}, {}};
  auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  if (!choice.to_client)
    bytes = bytes.first(std::min(bytes.size(), most_requests * data::request_bytes));
  choice.first = bytes.first(std::min<std::size_t>(data[1], bytes.size()));
  choice.second = bytes.subspan(choice.first.size());
  if (choice.to_client)
    client.speak(choice);
  else
    server.speak(choice);
  return 0;
}
