#include "net/data/data_client.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "net/data/event_loop.hpp"
#include "net/data/sockets.hpp"

namespace troupe {

using namespace data;

namespace {

constexpr std::chrono::milliseconds tick_period{250};
constexpr std::chrono::seconds trim_period{5};
/// Read from one peer before another gets its turn.
constexpr std::uint64_t turn_limit = std::uint64_t{8} << 20;

struct Pull {
  BufferRef into;
  std::uint64_t bytes = 0, arrived = 0;
  std::int64_t since_us = 0;
  DataLink::Pulled done;
};

enum class Phase { connecting, greeting, open, ended };

} // namespace

class Link;

struct DataClient::Impl {
  DataClientOptions options;
  std::shared_ptr<PathBook> book;
  std::unordered_set<std::shared_ptr<Link>> links; // of the loop's thread
  std::int64_t trimmed_us = steady_micros();
  Counter& counted = counter("data_connections_out");
  std::unique_ptr<EventLoop> loop;

  void tick();
};

// What other threads touch lies under the lock; the rest is of the loop's thread.
class Link final : public DataLink, public std::enable_shared_from_this<Link> {
public:
  Link(DataClient::Impl& client, DataEndpoint endpoint, std::shared_ptr<SharedRegion> region,
       std::function<void(Status)> opened, std::function<void(Status)> broken)
      : client_(client), endpoint_(std::move(endpoint)), region_(std::move(region)),
        opened_(std::move(opened)), broken_(std::move(broken)),
        record_(client.book->record(PathBook::Direction::from, endpoint_.task)),
        since_us_(steady_micros()), moved_us_(since_us_) {}

  TensorPath path() const override { return endpoint_.path; }
  const std::shared_ptr<SharedRegion>& region() const override { return region_; }

  void pull(std::uint64_t ticket, std::uint64_t bytes, BufferRef into, std::uint64_t offset,
            Pulled done) override;
  void close(Status why) override;

  // Of the loop's thread.
  void start();
  void end(const Status& why, bool by_us = false);
  void check(std::int64_t now_us);
  void trim() {
    if (region_)
      region_->trim();
  }

private:
  bool is_local() const { return endpoint_.path == TensorPath::shared_memory; }
  Status broke(std::string_view why) const {
    return unavailable(str_cat("the ", to_string(endpoint_.path), " path from ", endpoint_.task,
                               " broke: ", why))
        .with_origin({"", "", endpoint_.task, 0});
  }
  // The peer's process or its network has gone, of which others say more: derived. `error` is an
  // errno, 0 for an orderly end.
  Status lost(int error) const {
    bool is_closed = error == 0 || error == ECONNRESET || error == EPIPE;
    return broke(str_cat(is_closed ? "it closed its connection" : std::strerror(error),
                         "; if its process has ended, look at its log and start it again"))
        .as_derived();
  }
  void on_event(std::uint32_t events);
  void greet();
  void read_acceptance();
  void flush();
  void read_pieces();
  bool take_piece(const Piece& piece);
  void finish(std::uint64_t number, const Status& status);
  void update_watch();
  Status refusal(Code code) const;

  DataClient::Impl& client_;
  const DataEndpoint endpoint_;
  const std::shared_ptr<SharedRegion> region_;
  std::function<void(Status)> opened_, broken_;
  const std::shared_ptr<PathRecord> record_;
  const std::int64_t since_us_;
  std::atomic<std::int64_t> moved_us_;
  Progress progress_;

  std::mutex lock_;
  Phase phase_ = Phase::connecting;
  Status ended_;
  Fd socket_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Pull> pulls_; // by number
  std::vector<std::byte> out_;          // requests that the socket did not take yet

  std::uint32_t events_ = 0;
  std::array<std::byte, piece_bytes> frame_;
  std::size_t frame_have_ = 0;
  std::vector<std::byte> greeting_;
  Fd passed_;                      // with the acceptance
  std::uint64_t current_left_ = 0; // of the piece whose bytes are arriving
  std::uint64_t finishing_ = 0;    // its number if it is the last of its tensor
  std::byte* current_at_ = nullptr;
};

void Link::pull(std::uint64_t ticket, std::uint64_t bytes, BufferRef into, std::uint64_t offset,
                Pulled done) {
  std::unique_lock guard(lock_);
  if (phase_ == Phase::ended) {
    Status why = ended_;
    guard.unlock();
    return done(why, 0);
  }
  Request request{++last_number_, ticket, bytes, offset};
  std::int64_t now = steady_micros();
  record_->begin(now);
  if (pulls_.empty())
    moved_us_ = now;
  pulls_.emplace(request.number, Pull{std::move(into), bytes, 0, now, std::move(done)});
  auto frame = encode(request);
  std::size_t sent = 0;
  // From here when the socket takes it: no other thread need wake up for it.
  if (phase_ == Phase::open && out_.empty()) {
    ssize_t count = ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    sent = count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  if (sent == frame.size())
    return;
  out_.insert(out_.end(), frame.begin() + static_cast<std::ptrdiff_t>(sent), frame.end());
  if (phase_ == Phase::open)
    client_.loop->post([self = shared_from_this()] { self->flush(); });
}

void Link::close(Status why) {
  client_.loop->post([self = shared_from_this(), why = std::move(why)] { self->end(why, true); });
}

void Link::start() {
  auto made = is_local() ? connect_local(endpoint_.local_name)
                         : connect_tcp(endpoint_.host, endpoint_.port);
  if (!made.ok())
    return end(made.status());
  {
    std::scoped_lock guard(lock_);
    if (phase_ == Phase::ended)
      return;
    socket_ = *std::move(made);
  }
  client_.links.insert(shared_from_this());
  client_.counted.add(1);
  events_ = EPOLLOUT;
  std::weak_ptr<Link> weak = weak_from_this();
  if (!client_.loop->watch(socket_.get(), events_, [weak](std::uint32_t events) {
        if (auto self = weak.lock())
          self->on_event(events);
      }))
    end(broke("the process has no room for one more connection"));
}

void Link::on_event(std::uint32_t events) {
  switch (phase_) {
  case Phase::connecting:
    return greet();
  case Phase::greeting:
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
      read_acceptance();
    return;
  case Phase::open:
    if (events & EPOLLOUT)
      flush();
    if (phase_ == Phase::open && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
      read_pieces();
    return;
  case Phase::ended:
    return;
  }
}

void Link::greet() {
  if (Status connected = connect_outcome(socket_.get()); !connected.ok())
    return end(unavailable(str_cat("no connection: ", connected.message())));
  if (!is_local())
    tune_stream(socket_.get());
  auto opening = encode(Opening{region_ ? region_->bytes() : 0, endpoint_.token,
                                region_ ? region_->lent_bytes() : 0});
  // Fits into the empty buffer of a new socket.
  if (send_with_fd(socket_.get(), opening.data(), opening.size(), region_ ? region_->fd() : -1) !=
      static_cast<std::ptrdiff_t>(opening.size()))
    return end(unavailable(str_cat("it takes no greeting: ", std::strerror(errno))));
  {
    std::scoped_lock guard(lock_);
    phase_ = Phase::greeting;
  }
  update_watch();
}

void Link::read_acceptance() {
  std::array<std::byte, acceptance_bytes> buffer;
  const std::size_t missing = acceptance_bytes - greeting_.size();
  ssize_t got = is_local() ? receive_with_fd(socket_.get(), buffer.data(), missing, passed_)
                           : ::recv(socket_.get(), buffer.data(), missing, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got <= 0)
    return end(unavailable("it closed the connection instead of accepting it"));
  greeting_.insert(greeting_.end(), buffer.begin(), buffer.begin() + got);
  if (greeting_.size() < acceptance_bytes)
    return;
  std::copy(greeting_.begin(), greeting_.end(), buffer.begin());
  auto acceptance = decode_acceptance(buffer);
  if (!acceptance || !same(acceptance->proof, endpoint_.proof))
    return end(permission_denied("who answers there is not the peer that we were told of"));
  // Without its variables' memory they are copied.
  if (region_ && passed_ && acceptance->shown_bytes != 0)
    if (Status seen = region_->see(passed_.release(), acceptance->shown_bytes); !seen.ok())
      log_warning("variables of ", endpoint_.task, " will be copied: ", seen.message());
  {
    std::scoped_lock guard(lock_);
    phase_ = Phase::open;
  }
  record_->set_path(endpoint_.path);
  if (auto opened = std::exchange(opened_, nullptr))
    opened(Status{});
  flush();
}

void Link::flush() {
  int error = 0;
  {
    std::scoped_lock guard(lock_);
    if (phase_ != Phase::open)
      return;
    while (!out_.empty()) {
      ssize_t sent = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR)
        continue;
      if (sent < 0 && errno != EAGAIN)
        error = errno;
      if (sent <= 0)
        break;
      out_.erase(out_.begin(), out_.begin() + sent);
    }
  }
  if (error != 0)
    return end(lost(error));
  update_watch();
}

void Link::update_watch() {
  std::uint32_t wanted = EPOLLIN;
  {
    std::scoped_lock guard(lock_);
    if (phase_ == Phase::open && !out_.empty())
      wanted |= EPOLLOUT;
  }
  if (wanted != events_) {
    events_ = wanted;
    client_.loop->change(socket_.get(), wanted);
  }
}

void Link::read_pieces() {
  auto self = shared_from_this();
  for (std::uint64_t taken = 0; taken < turn_limit && phase_ == Phase::open;) {
    // The rest of a piece, and the frame behind it in the same call.
    iovec parts[2] = {{current_at_, current_left_},
                      {frame_.data() + frame_have_, frame_.size() - frame_have_}};
    msghdr message{};
    message.msg_iov = current_left_ > 0 ? parts : parts + 1;
    message.msg_iovlen = current_left_ > 0 ? 2 : 1;
    ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return;
    if (got <= 0)
      return end(lost(got == 0 ? 0 : errno));
    taken += static_cast<std::uint64_t>(got);
    moved_us_ = steady_micros();
    record_->moved(moved_us_);
    std::uint64_t of_piece =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(got), current_left_);
    current_at_ += of_piece;
    current_left_ -= of_piece;
    frame_have_ += static_cast<std::size_t>(got) - of_piece;
    if (current_left_ == 0 && finishing_ != 0)
      finish(std::exchange(finishing_, 0), Status{});
    if (frame_have_ == frame_.size()) {
      frame_have_ = 0;
      if (!take_piece(decode_piece(frame_.data())))
        return end(broke("it sent what nobody asked for"));
    }
  }
}

// False when it does not fit what we asked for.
bool Link::take_piece(const Piece& piece) {
  std::unique_lock guard(lock_);
  auto it = pulls_.find(piece.number);
  if (it == pulls_.end())
    return false;
  Pull& pull = it->second;
  if (piece.code != 0) {
    guard.unlock();
    auto code = piece.code <= static_cast<std::uint32_t>(Code::unauthenticated)
                    ? static_cast<Code>(piece.code)
                    : Code::unknown;
    finish(piece.number, refusal(code));
    return true;
  }
  std::byte* at = static_cast<std::byte*>(pull.into->data()) + pull.arrived;
  bool is_last = piece.is_last != 0;
  if (piece.bytes == 0 || piece.bytes > pull.bytes - pull.arrived ||
      is_last != (pull.arrived + piece.bytes == pull.bytes))
    return false;
  pull.arrived += piece.bytes;
  guard.unlock();
  if (is_local()) {
    if (is_last)
      finish(piece.number, Status{});
    return true;
  }
  current_at_ = at;
  current_left_ = piece.bytes;
  finishing_ = is_last ? piece.number : 0;
  return true;
}

Status Link::refusal(Code code) const {
  std::string from = str_cat("the ", to_string(endpoint_.path), " path from ", endpoint_.task);
  switch (code) {
  case Code::not_found:
    return aborted(str_cat(from, ": the tensor is no longer offered; its step has ended, or nobody "
                                 "pulled for too long"));
  case Code::resource_exhausted:
    return resource_exhausted(
        str_cat(from, ": the host has no memory for shared pages; free some, or write "
                      "tensor-path = \"stream\""));
  default:
    return Status(code, str_cat(from, ": the peer refused the tensor"));
  }
}

void Link::finish(std::uint64_t number, const Status& status) {
  std::optional<Pull> pull;
  {
    std::scoped_lock guard(lock_);
    auto it = pulls_.find(number);
    if (it == pulls_.end())
      return;
    pull = std::move(it->second);
    pulls_.erase(it);
  }
  std::int64_t now = steady_micros();
  record_->end(now, status.ok() ? pull->bytes : 0, status.ok());
  pull->into = {}; // who is told may be done with it, and want its memory for the next one
  pull->done(status, now - pull->since_us);
}

void Link::end(const Status& why, bool by_us) {
  auto self = shared_from_this();
  std::map<std::uint64_t, Pull> pulls;
  {
    std::scoped_lock guard(lock_);
    if (phase_ == Phase::ended)
      return;
    phase_ = Phase::ended;
    ended_ = why;
    pulls.swap(pulls_);
    out_.clear();
    if (socket_)
      client_.loop->forget(socket_.get());
    socket_ = Fd{};
  }
  if (client_.links.erase(self))
    client_.counted.add(-1);
  // Tensors may hold the region for long; what is free in it, nobody will use any more.
  if (region_)
    for (int rounds = 0; rounds < 3; ++rounds)
      region_->trim();
  auto opened = std::exchange(opened_, nullptr);
  auto broken = std::exchange(broken_, nullptr);
  std::int64_t now = steady_micros();
  for (auto& [number, pull] : pulls) {
    record_->end(now, 0, false);
    pull.into = {};
    pull.done(why, now - pull.since_us);
  }
  if (opened)
    opened(why);
  else if (broken && !by_us)
    broken(why);
}

void Link::check(std::int64_t now_us) {
  bool is_open = phase_ == Phase::open;
  bool is_owed = false;
  {
    std::scoped_lock guard(lock_);
    is_owed = !pulls_.empty();
    if (is_open && is_owed && !is_local()) {
      Progress now = progress(socket_.get());
      if (now.arrived != progress_.arrived)
        record_->moved(now_us);
      if (now.arrived != progress_.arrived || now.taken != progress_.taken)
        moved_us_ = now_us;
      progress_ = now;
    }
  }
  auto micros = [](std::chrono::milliseconds limit) {
    return std::chrono::microseconds(limit).count();
  };
  if (!is_open && now_us - since_us_ > micros(client_.options.opening))
    end(unavailable(str_cat("no answer within ", client_.options.opening.count(), " ms")));
  else if (is_open && is_owed && now_us - moved_us_ > micros(client_.options.stall))
    end(broke(str_cat("no byte came for ", client_.options.stall.count(), " ms")));
}

void DataClient::Impl::tick() {
  std::int64_t now = steady_micros();
  std::vector<std::shared_ptr<Link>> all(links.begin(), links.end());
  bool is_time = now - trimmed_us > std::chrono::microseconds(trim_period).count();
  if (is_time)
    trimmed_us = now;
  for (const auto& link : all) {
    link->check(now);
    if (is_time)
      link->trim();
  }
}

DataClient::DataClient(DataClientOptions options, std::shared_ptr<PathBook> book)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->book = std::move(book);
  impl_->loop = std::make_unique<EventLoop>("tensors in", tick_period,
                                            [impl = impl_.get()] { impl->tick(); });
}

DataClient::~DataClient() {
  impl_->loop->stop();
  auto links = impl_->links;
  for (const auto& link : links)
    link->end(cancelled("this node ends"), true);
}

std::shared_ptr<DataLink> DataClient::open(DataEndpoint endpoint,
                                           std::shared_ptr<SharedRegion> region,
                                           std::function<void(Status)> opened,
                                           std::function<void(Status)> broken) {
  auto link = std::make_shared<Link>(*impl_, std::move(endpoint), std::move(region),
                                     std::move(opened), std::move(broken));
  impl_->loop->post([link] { link->start(); });
  return link;
}

} // namespace troupe
