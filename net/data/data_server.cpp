#include "net/data/data_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "net/data/event_loop.hpp"
#include "net/data/shared_region.hpp"
#include "net/data/sockets.hpp"

namespace troupe {

using namespace data;

namespace {

/// Sent of one tensor before another of the same peer gets its turn, and in one turn of a peer.
constexpr std::uint64_t piece_limit = std::uint64_t{4} << 20;
/// Requests of one peer that are kept, with answers that it has not taken; nothing more is read
/// from it until there are fewer.
constexpr std::size_t most_requests = 1024;
constexpr std::size_t most_invitations = 4096;
constexpr std::chrono::milliseconds tick_period{250};

/// A request under way.
struct Serving {
  Request request;
  Tensor tensor; ///< no value: not found yet
  std::uint64_t done = 0;
  std::uint64_t parked = 0; ///< until the offers have settled so often
};

struct Connection {
  Fd socket;
  bool is_local = false;
  bool is_open = false; ///< has shown its token
  std::int64_t since_us = 0, moved_us = 0;
  std::uint64_t taken = 0; ///< as progress() told it last
  std::uint64_t peer = 0;
  std::string task;
  std::shared_ptr<PathRecord> record;
  Fd passed; ///< with the greeting
  std::shared_ptr<ForeignRegion> region;
  std::shared_ptr<BorrowedSlots> borrowed; ///< null when nothing is lent
  std::vector<std::byte> in;
  std::deque<Serving> queue;
  // On their way out: frames, then bytes of `held`.
  std::vector<std::byte> out;
  std::size_t out_sent = 0;
  std::span<const std::byte> payload;
  Tensor held;
  std::vector<std::byte> late;            ///< frames that must wait for the payload's end
  std::optional<std::uint64_t> finishing; ///< ticket of the tensor that ends with the payload
  std::uint64_t finishing_bytes = 0;
  std::uint32_t events = EPOLLIN;

  bool takes_requests() const {
    return queue.size() + (out.size() + late.size()) / piece_bytes < most_requests;
  }
  bool has_output() const { return out_sent < out.size() || !payload.empty(); }
  bool has_work() const {
    return has_output() ||
           std::any_of(queue.begin(), queue.end(), [](const Serving& s) { return s.parked == 0; });
  }
};

struct Invited {
  Token token, proof;
  std::uint64_t peer = 0;
  std::string task;
  std::int64_t until_us = 0;
};

} // namespace

struct DataServer::Impl {
  DataServerOptions options;
  std::shared_ptr<OfferTable> offers;
  std::shared_ptr<PathBook> book;
  std::shared_ptr<LentMemory> lent;
  std::int64_t swept_us = steady_micros();
  std::function<void()> settle;
  Fd local, stream;
  std::string local_name;
  std::uint16_t port = 0;

  std::mutex lock;
  std::list<Invited> invitations; // oldest first

  // Of the loop's thread.
  std::unordered_map<int, std::unique_ptr<Connection>> connections;
  bool is_listening = true;
  std::uint64_t settles_asked = 0, settles_done = 0; // in this order
  Counter& counted = counter("data_connections_in");
  Counter& refused = counter("refused_data_connections");
  std::unique_ptr<EventLoop> loop; // last: its end is the end of all handlers

  ~Impl() {
    if (loop)
      loop->stop();
    while (!connections.empty())
      close(connections.begin()->first);
  }

  void listen();
  void accept(int listener, bool is_local);
  void make_room();
  void on_event(int fd, std::uint32_t events);
  bool read(Connection& c);
  bool open(Connection& c);
  bool accept_local(Connection& c, const Token& proof);
  bool take_requests(Connection& c);
  void look_up(Connection& c, Serving& serving);
  bool produce(Connection& c);
  void refuse(Connection& c, const Serving& serving, const Status& why);
  bool flush(Connection& c);
  void sent(Connection& c, std::uint64_t ticket, std::uint64_t bytes);
  void watch(Connection& c);
  void close(int fd, std::string_view why = {});
  void tick();
};

void DataServer::Impl::listen() {
  is_listening = true;
  if (local)
    loop->watch(local.get(), EPOLLIN, [this](std::uint32_t) { accept(local.get(), true); });
  if (stream)
    loop->watch(stream.get(), EPOLLIN, [this](std::uint32_t) { accept(stream.get(), false); });
}

void DataServer::Impl::accept(int listener, bool is_local) {
  Fd socket(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      is_listening = false; // again with the next tick: meanwhile it would only spin
      if (local)
        loop->forget(local.get());
      if (stream)
        loop->forget(stream.get());
    }
    return;
  }
  if (is_local && !is_same_user(socket.get())) {
    refused.add(1);
    return log_warning("a process of another user came to the Unix socket for tensors");
  }
  make_room();
  if (connections.size() >= options.connections) {
    refused.add(1);
    return log_warning("there are ", connections.size(),
                       " data connections already; one more was refused");
  }
  if (!is_local)
    tune_stream(socket.get());
  int fd = socket.get();
  auto c = std::make_unique<Connection>();
  c->socket = std::move(socket);
  c->is_local = is_local;
  c->since_us = steady_micros();
  if (!loop->watch(fd, EPOLLIN, [this, fd](std::uint32_t events) { on_event(fd, events); }))
    return;
  connections.emplace(fd, std::move(c));
  counted.add(1);
}

// The oldest of those without a token goes.
void DataServer::Impl::make_room() {
  std::size_t strangers = 0;
  const Connection* oldest = nullptr;
  for (const auto& [fd, c] : connections)
    if (!c->is_open) {
      ++strangers;
      if (!oldest || c->since_us < oldest->since_us)
        oldest = c.get();
    }
  if (strangers >= options.strangers)
    close(oldest->socket.get(), "others without a token came after it");
}

void DataServer::Impl::on_event(int fd, std::uint32_t events) {
  Connection& c = *connections.at(fd);
  // Reading would tell as much; nothing that waits could reach it any more.
  if ((events & (EPOLLHUP | EPOLLERR)) && c.is_open && !c.takes_requests())
    return close(fd);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !read(c))
    return;
  // A turn: what waits, or else a piece of the next tensor.
  if (!flush(c))
    return;
  if (c.is_open && !c.has_output() && (!produce(c) || !flush(c)))
    return;
  watch(c);
}

bool DataServer::Impl::read(Connection& c) {
  int fd = c.socket.get();
  if (!c.is_open)
    return open(c);
  if (!c.takes_requests())
    return true;
  std::byte buffer[64 * request_bytes];
  ssize_t got = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (got <= 0) {
    close(fd);
    return false;
  }
  c.in.insert(c.in.end(), buffer, buffer + got);
  c.record->moved(steady_micros());
  return take_requests(c);
}

bool DataServer::Impl::open(Connection& c) {
  int fd = c.socket.get();
  std::array<std::byte, opening_bytes> buffer;
  std::size_t missing = opening_bytes - c.in.size();
  ssize_t got = c.is_local ? receive_with_fd(fd, buffer.data(), missing, c.passed)
                           : ::recv(fd, buffer.data(), missing, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (got <= 0) {
    close(fd);
    return false;
  }
  c.in.insert(c.in.end(), buffer.begin(), buffer.begin() + got);
  if (c.in.size() < opening_bytes)
    return true;
  std::memcpy(buffer.data(), c.in.data(), opening_bytes);
  c.in.clear();
  auto opening = decode_opening(buffer);
  auto turn_away = [&](std::string_view why) {
    refused.add(1);
    close(fd, why);
    return false;
  };
  if (!opening)
    return turn_away("it does not speak as a node would");
  std::optional<Invited> invited;
  {
    std::scoped_lock guard(lock);
    for (auto it = invitations.begin(); it != invitations.end(); ++it)
      if (same(it->token, opening->token)) {
        if (it->until_us >= steady_micros())
          invited = std::move(*it);
        invitations.erase(it);
        break;
      }
  }
  if (!invited)
    return turn_away("its token is none of ours, or too old");
  if (c.is_local) {
    if (!c.passed)
      return turn_away("it passed no shared memory");
    auto region =
        ForeignRegion::adopt(c.passed.release(), opening->region_bytes, opening->lent_bytes);
    if (!region.ok())
      return turn_away(region.status().message());
    c.region = *std::move(region);
  } else if (opening->region_bytes != 0) {
    return turn_away("it wants shared memory on a stream");
  }
  c.is_open = true;
  c.moved_us = steady_micros();
  c.peer = invited->peer;
  c.task = invited->task;
  c.record = book->record(PathBook::Direction::to, invited->task);
  c.record->set_path(c.is_local ? TensorPath::shared_memory : TensorPath::stream);
  if (c.is_local && opening->lent_bytes != 0 && c.region->mapped()) {
    c.borrowed = std::make_shared<BorrowedSlots>(c.region, c.record);
    lent->borrow(c.peer, c.task, c.borrowed);
  }
  if (c.is_local)
    return accept_local(c, invited->proof);
  auto acceptance = encode(Acceptance{invited->proof, 0});
  c.out.insert(c.out.end(), acceptance.begin(), acceptance.end());
  return true;
}

// Clients are shown no variables: they may keep what they have fetched for ever.
bool DataServer::Impl::accept_local(Connection& c, const Token& proof) {
  auto shown = c.borrowed && c.task != "client" ? lent->shown() : nullptr;
  Fd memory(shown ? shown->read_only_fd() : -1);
  auto acceptance = encode(Acceptance{proof, memory ? shown->bytes() : 0});
  // Fits into the empty buffer of a new socket.
  if (send_with_fd(c.socket.get(), acceptance.data(), acceptance.size(), memory.get()) ==
      static_cast<std::ptrdiff_t>(acceptance.size()))
    return true;
  close(c.socket.get());
  return false;
}

bool DataServer::Impl::take_requests(Connection& c) {
  std::size_t at = 0;
  for (; c.in.size() - at >= request_bytes; at += request_bytes) {
    Serving serving{decode_request(c.in.data() + at), {}};
    const Request& r = serving.request;
    if (c.is_local && (r.offset > c.region->bytes() || r.bytes > c.region->bytes() - r.offset)) {
      close(c.socket.get(), "it asked for bytes outside of its shared memory");
      return false;
    }
    c.record->begin(steady_micros());
    look_up(c, serving);
    if (serving.parked != 0 || serving.tensor.has_value())
      c.queue.push_back(std::move(serving));
  }
  c.in.erase(c.in.begin(), c.in.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

// Finds the tensor; parks the request when it is not there the first time, refuses it the second.
void DataServer::Impl::look_up(Connection& c, Serving& serving) {
  auto tensor = offers->find(serving.request.ticket, steady_micros());
  if (!tensor && serving.parked == 0) {
    serving.parked = ++settles_asked;
    return settle();
  }
  serving.parked = 0;
  if (!tensor)
    return refuse(c, serving,
                  not_found("a tensor that a peer pulls is no longer offered: its step has ended, "
                            "or nobody pulled for too long"));
  if (tensor->bytes().size() != serving.request.bytes)
    return refuse(
        c, serving,
        out_of_range(str_cat(serving.request.bytes, " bytes were asked for of a tensor of ",
                             tensor->bytes().size())));
  serving.tensor = *std::move(tensor);
}

void DataServer::Impl::refuse(Connection& c, const Serving& serving, const Status& why) {
  auto frame = encode(Piece{serving.request.number, 0, static_cast<std::uint32_t>(why.code()), 1});
  // Frames go before the bytes of the piece that is under way only if none of it has been sent.
  if (c.payload.empty())
    c.out.insert(c.out.end(), frame.begin(), frame.end());
  else
    c.late.insert(c.late.end(), frame.begin(), frame.end());
  c.record->end(steady_micros(), 0, false);
}

// The next piece of the next tensor in turn.
bool DataServer::Impl::produce(Connection& c) {
  auto next =
      std::find_if(c.queue.begin(), c.queue.end(), [](const Serving& s) { return s.parked == 0; });
  if (next == c.queue.end())
    return true;
  Serving serving = std::move(*next);
  c.queue.erase(next);
  auto bytes = serving.tensor.bytes();
  std::uint64_t length = std::min<std::uint64_t>(piece_limit, bytes.size() - serving.done);
  bool is_last = serving.done + length == bytes.size();
  if (c.is_local) {
    Status written =
        c.region->write(serving.request.offset + serving.done, bytes.data() + serving.done, length);
    if (!written.ok()) {
      log_warning("a tensor for ", c.task, ": ", written.message());
      refuse(c, serving, written);
      return true;
    }
  }
  // Nobody holds a tensor any more when its receiver learns that it is there, where that can be.
  if (c.is_local && is_last) {
    serving.tensor = Tensor{};
    sent(c, serving.request.ticket, bytes.size());
  }
  auto frame = encode(Piece{serving.request.number, length, 0, is_last});
  c.out.insert(c.out.end(), frame.begin(), frame.end());
  if (!c.is_local) {
    c.payload = bytes.subspan(serving.done, length);
    c.held = serving.tensor;
  }
  serving.done += length;
  if (!is_last) {
    offers->touch(serving.request.ticket, steady_micros());
    c.queue.push_back(std::move(serving));
    return true;
  }
  if (!c.is_local) {
    c.finishing = serving.request.ticket;
    c.finishing_bytes = bytes.size();
  }
  return true;
}

void DataServer::Impl::sent(Connection& c, std::uint64_t ticket, std::uint64_t bytes) {
  offers->erase(ticket);
  c.record->end(steady_micros(), bytes, true);
}

bool DataServer::Impl::flush(Connection& c) {
  while (c.has_output()) {
    iovec pieces[2] = {{c.out.data() + c.out_sent, c.out.size() - c.out_sent},
                       {const_cast<std::byte*>(c.payload.data()), c.payload.size()}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    ssize_t sent = ::sendmsg(c.socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0 && errno == EAGAIN)
      return true;
    if (sent <= 0) {
      close(c.socket.get());
      return false;
    }
    c.moved_us = steady_micros();
    if (c.record && !c.is_local) // a stream stalls soon when nobody takes from it
      c.record->moved(c.moved_us);
    auto count = static_cast<std::size_t>(sent);
    std::size_t of_frames = std::min(count, c.out.size() - c.out_sent);
    c.out_sent += of_frames;
    c.payload = c.payload.subspan(count - of_frames);
    if (c.out_sent == c.out.size()) {
      c.out.clear();
      c.out_sent = 0;
    }
  }
  c.held = Tensor{};
  if (c.finishing) {
    sent(c, *c.finishing, c.finishing_bytes);
    c.finishing.reset();
  }
  c.out.swap(c.late);
  return c.out.empty() ? true : flush(c);
}

void DataServer::Impl::watch(Connection& c) {
  std::uint32_t wanted = (c.takes_requests() ? EPOLLIN : 0u) | (c.has_work() ? EPOLLOUT : 0u);
  if (wanted == c.events)
    return;
  c.events = wanted;
  loop->change(c.socket.get(), wanted);
}

void DataServer::Impl::close(int fd, std::string_view why) {
  auto it = connections.find(fd);
  if (it == connections.end())
    return;
  Connection& c = *it->second;
  if (!why.empty())
    log_warning("a data connection", c.task.empty() ? "" : str_cat(" of ", c.task),
                " was closed: ", why);
  loop->forget(fd);
  if (c.record)
    for (std::size_t i = 0; i < c.queue.size() + (c.finishing ? 1 : 0); ++i)
      c.record->end(steady_micros(), 0, false);
  if (c.borrowed)
    lent->give_up(c.peer, c.task, c.borrowed);
  counted.add(-1);
  connections.erase(it);
}

void DataServer::Impl::tick() {
  std::int64_t now = steady_micros();
  auto older = [&](std::int64_t since, std::chrono::milliseconds limit) {
    return now - since > std::chrono::microseconds(limit).count();
  };
  std::vector<std::pair<int, std::string_view>> ended;
  for (const auto& [fd, c] : connections) {
    // The kernel asks for more only when much of what it holds has gone.
    if (c->has_output() && !c->is_local)
      if (std::uint64_t taken = progress(fd).taken; std::exchange(c->taken, taken) != taken)
        c->moved_us = now;
    if (!c->is_open && older(c->since_us, options.handshake))
      ended.emplace_back(fd, "it showed no token in time");
    else if (c->has_output() && older(c->moved_us, options.stall))
      ended.emplace_back(fd, "its peer takes nothing");
  }
  for (auto [fd, why] : ended)
    close(fd, why);
  if (!is_listening)
    listen();
  if (older(swept_us, options.unclaimed)) {
    swept_us = now;
    for (const auto& [fd, c] : connections)
      if (c->borrowed)
        c->borrowed->withdraw_old();
    lent->tidy_shown();
  }
  std::scoped_lock guard(lock);
  invitations.remove_if([&](const Invited& i) { return i.until_us < now; });
}

DataServer::DataServer() : impl_(std::make_unique<Impl>()) {}
DataServer::~DataServer() = default;

Result<std::unique_ptr<DataServer>> DataServer::start(DataServerOptions options,
                                                      std::shared_ptr<OfferTable> offers,
                                                      std::shared_ptr<PathBook> book,
                                                      std::shared_ptr<LentMemory> lent,
                                                      std::function<void()> settle) {
  std::unique_ptr<DataServer> server(new DataServer);
  Impl& impl = *server->impl_;
  if (options.has_local_socket) {
    TROUPE_ASSIGN(impl.local, listen_local(impl.local_name));
  }
  if (!options.host.empty()) {
    TROUPE_ASSIGN(impl.stream, listen_tcp(options.host, impl.port));
  }
  impl.options = std::move(options);
  impl.offers = std::move(offers);
  impl.book = std::move(book);
  impl.lent = std::move(lent);
  impl.settle = std::move(settle);
  impl.loop = std::make_unique<EventLoop>("tensors out", tick_period, [&impl] { impl.tick(); });
  impl.loop->post([&impl] { impl.listen(); });
  return server;
}

const std::string& DataServer::local_name() const {
  return impl_->local_name;
}
std::uint16_t DataServer::port() const {
  return impl_->port;
}

DataServer::Invitation DataServer::invite(std::uint64_t peer, const std::string& task) {
  Invited invited{make_token(), make_token(), peer, task,
                  steady_micros() + std::chrono::microseconds(impl_->options.handshake).count()};
  Invitation out{invited.token, invited.proof};
  std::scoped_lock guard(impl_->lock);
  if (impl_->invitations.size() >= most_invitations)
    impl_->invitations.pop_front();
  impl_->invitations.push_back(std::move(invited));
  return out;
}

void DataServer::drop(std::uint64_t peer) {
  {
    std::scoped_lock guard(impl_->lock);
    impl_->invitations.remove_if([&](const Invited& i) { return i.peer == peer; });
  }
  impl_->loop->post([impl = impl_.get(), peer] {
    std::vector<int> ended;
    for (const auto& [fd, c] : impl->connections)
      if (c->is_open && c->peer == peer)
        ended.push_back(fd);
    for (int fd : ended)
      impl->close(fd);
  });
}

void DataServer::offers_settled() {
  impl_->loop->post([impl = impl_.get()] {
    // Requests that were parked later wait for their own turn.
    ++impl->settles_done;
    for (const auto& [fd, c] : impl->connections) {
      for (Serving& serving : c->queue)
        if (serving.parked != 0 && serving.parked <= impl->settles_done)
          impl->look_up(*c, serving);
      std::erase_if(c->queue,
                    [](const Serving& s) { return s.parked == 0 && !s.tensor.has_value(); });
      impl->watch(*c);
    }
  });
}

} // namespace troupe
