#include "net/data/data_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/no_thread.hpp"
#include "core/base/strings.hpp"
#include "net/data/event_loop.hpp"
#include "net/data/internal/served_connection.hpp"
#include "net/data/shared_region.hpp"
#include "net/data/sockets.hpp"

namespace troupe {

using namespace data;

namespace {

constexpr std::size_t most_invitations = 4096;
constexpr std::chrono::milliseconds server_tick{250};
/// No more is believed to be lent on one stream.
constexpr std::uint64_t most_lent = std::uint64_t{1} << 30;

using Connection = ServedConnection;

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
  std::shared_ptr<PushLanes> lanes;
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
  std::optional<Invited> invited_with(const Token& token);
  bool greeted(Connection& c, const Opening& opening);
  bool accept_local(Connection& c, const Token& proof);
  void meet(Connection& c, const Token& proof);
  void turn(int fd);
  void open_lane(Connection& c, const Opening& opening);
  bool take_requests(Connection& c);
  void look_up(Connection& c, Serving& serving);
  void push(int fd, const std::weak_ptr<PushLane>& lane, std::uint64_t ticket, Tensor tensor);
  void take_back(int fd, const std::weak_ptr<PushLane>& lane, std::uint64_t ticket);
  Connection* connection_of(int fd, const std::weak_ptr<PushLane>& lane);
  bool go_on(Connection& c);
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
  c->stream = make_stream(std::move(socket), options.wrap);
  c->offers = offers;
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
    close(oldest->stream->fd(), "others without a token came after it");
}

void DataServer::Impl::on_event(int fd, std::uint32_t events) {
  Connection& c = *connections.at(fd);
  // Reading would tell as much; nothing that waits could reach it any more.
  if ((events & (EPOLLHUP | EPOLLERR)) && c.is_open && !c.takes_requests())
    return close(fd);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !read(c))
    return;
  if (go_on(c))
    watch(c);
}

// A turn: what waits, or else a piece of the next tensor. False when the connection has ended.
bool DataServer::Impl::go_on(Connection& c) {
  bool lives = c.flush();
  if (lives && c.is_open && !c.has_output()) {
    c.produce();
    lives = c.flush();
  }
  if (lives && c.worker) {
    if (c.worker->turn())
      loop->post([this, fd = c.stream->fd()] { turn(fd); });
    if (Status broken = c.worker->broken(); !broken.ok()) {
      close(c.stream->fd(), broken.message());
      return false;
    }
    lives = c.flush();
  }
  if (!lives)
    close(c.stream->fd());
  return lives;
}

bool DataServer::Impl::read(Connection& c) {
  if (!c.is_open)
    return open(c);
  if (!c.takes_requests())
    return true;
  std::byte buffer[64 * request_bytes];
  const Moved got = c.stream->receive(buffer, sizeof buffer);
  if (got.is_later())
    return true;
  if (got.is_over()) {
    close(c.stream->fd());
    return false;
  }
  c.in.insert(c.in.end(), buffer, buffer + got.bytes);
  c.record->moved(steady_micros());
  return take_requests(c);
}

// Reads the opening, then the address of the peer's UCX worker if it has one.
bool DataServer::Impl::open(Connection& c) {
  std::array<std::byte, longest_address> buffer;
  const std::size_t wanted = c.opening ? c.opening->worker_bytes : opening_bytes;
  const std::span<std::byte> missing(buffer.data(), wanted - c.in.size());
  const Moved got = c.is_local ? c.stream->receive_passing(missing, c.passed)
                               : c.stream->receive(missing.data(), missing.size());
  if (got.is_later())
    return true;
  if (got.is_over()) {
    close(c.stream->fd());
    return false;
  }
  c.in.insert(c.in.end(), buffer.data(), buffer.data() + got.bytes);
  if (c.in.size() < wanted)
    return true;
  if (c.opening)
    return greeted(c, *c.opening);
  c.opening = decode_opening(std::span(c.in).first<opening_bytes>());
  c.in.clear();
  if (c.opening && c.opening->worker_bytes <= longest_address)
    return c.opening->worker_bytes == 0 ? greeted(c, *c.opening) : true;
  refused.add(1);
  close(c.stream->fd(), "it does not speak as a node would");
  return false;
}

std::optional<Invited> DataServer::Impl::invited_with(const Token& token) {
  std::scoped_lock guard(lock);
  for (auto it = invitations.begin(); it != invitations.end(); ++it)
    if (same(it->token, token)) {
      std::optional<Invited> out;
      if (it->until_us >= steady_micros())
        out = std::move(*it);
      invitations.erase(it);
      return out;
    }
  return std::nullopt;
}

// False when it was turned away.
bool DataServer::Impl::greeted(Connection& c, const Opening& opening) {
  auto turn_away = [&](std::string_view why) {
    refused.add(1);
    close(c.stream->fd(), why);
    return false;
  };
  auto invited = invited_with(opening.token);
  if (!invited)
    return turn_away("its token is none of ours, or too old");
  if (c.is_local) {
    if (!c.passed)
      return turn_away("it passed no shared memory");
    auto region =
        ForeignRegion::adopt(c.passed.release(), opening.region_bytes, opening.lent_bytes);
    if (!region.ok())
      return turn_away(region.status().message());
    c.region = *std::move(region);
  } else if (opening.region_bytes != 0) {
    return turn_away("it wants shared memory on a stream");
  }
  const bool by_ucx = opening.worker_bytes != 0;
  if (by_ucx && (c.is_local || !options.ucx))
    return turn_away("it wants tensors by ucx, which are not to be had here");
  c.is_open = true;
  c.moved_us = steady_micros();
  c.peer = invited->peer;
  c.task = invited->task;
  c.record = book->record(PathBook::Direction::to, invited->task);
  c.record->set_path(c.is_local ? TensorPath::shared_memory
                     : by_ucx   ? TensorPath::ucx
                                : TensorPath::stream);
  if (c.is_local && opening.lent_bytes != 0 && c.region->mapped()) {
    c.borrowed = std::make_shared<BorrowedSlots>(c.region, c.record);
    lent->borrow(c.peer, c.task, c.borrowed);
  }
  if (c.is_local)
    return accept_local(c, invited->proof);
  c.say(Acceptance{invited->proof, 0});
  if (by_ucx)
    meet(c, invited->proof);
  else
    open_lane(c, opening);
  return true;
}

void DataServer::Impl::meet(Connection& c, const Token& proof) {
  const std::string address(reinterpret_cast<const char*>(c.in.data()), c.in.size());
  c.in.clear();
  c.meet(proof, address, *options.ucx);
  const int fd = c.stream->fd();
  if (c.worker)
    loop->watch(c.worker->fd(), EPOLLIN, [this, fd](std::uint32_t) { turn(fd); });
}

// Of the worker of a connection that may have ended.
void DataServer::Impl::turn(int fd) {
  auto found = connections.find(fd);
  if (found == connections.end() || !found->second->worker)
    return;
  if (go_on(*found->second))
    watch(*found->second);
}

// Clients are shown no variables: they may keep what they have fetched for ever.
bool DataServer::Impl::accept_local(Connection& c, const Token& proof) {
  auto shown = c.borrowed && c.task != "client" ? lent->shown() : nullptr;
  Fd memory(shown ? shown->read_only_fd() : -1);
  auto acceptance = encode(Acceptance{proof, memory ? shown->bytes() : 0});
  // Fits into the empty buffer of a new socket.
  if (c.stream->send_passing(acceptance, memory.get()).bytes == acceptance.size())
    return true;
  close(c.stream->fd());
  return false;
}

// What the peer lends may be sent to it from now on, behind the acceptance.
void DataServer::Impl::open_lane(Connection& c, const Opening& opening) {
  if (opening.lent_bytes == 0)
    return;
  const int fd = c.stream->fd();
  auto self = std::make_shared<std::weak_ptr<PushLane>>();
  PushLane::Out out;
  out.send = [this, fd, self, peer = c.peer](std::uint64_t ticket, const Tensor& tensor) {
    // Whoever ends in order waits until nothing is offered.
    offers->put(ticket, tensor, {0, peer}, steady_micros());
    loop->post([=, this] { push(fd, *self, ticket, tensor); });
  };
  out.take_back = [this, fd, self](std::uint64_t ticket) {
    loop->post([=, this] { take_back(fd, *self, ticket); });
  };
  c.lane = std::make_shared<PushLane>(lane_of(opening.token),
                                      std::min(opening.lent_bytes, most_lent), std::move(out));
  *self = c.lane;
  lanes->add(c.peer, c.lane);
}

Connection* DataServer::Impl::connection_of(int fd, const std::weak_ptr<PushLane>& lane) {
  auto found = connections.find(fd);
  return found != connections.end() && found->second->lane && found->second->lane == lane.lock()
             ? found->second.get()
             : nullptr;
}

void DataServer::Impl::push(int fd, const std::weak_ptr<PushLane>& lane, std::uint64_t ticket,
                            Tensor tensor) {
  Connection* c = connection_of(fd, lane);
  if (!c)
    return offers->erase(ticket);
  c->record->begin(steady_micros());
  const std::uint64_t bytes = tensor.bytes().size();
  c->queue.push_back({Request{ticket, ticket, bytes, 0}, std::move(tensor)});
  // At once when nothing is under way: no other turn comes before it.
  if (c->has_output() || go_on(*c))
    watch(*c);
}

void DataServer::Impl::take_back(int fd, const std::weak_ptr<PushLane>& lane,
                                 std::uint64_t ticket) {
  if (Connection* c = connection_of(fd, lane)) {
    c->take_back(ticket);
    if (c->has_output() || go_on(*c))
      watch(*c);
  }
}

bool DataServer::Impl::take_requests(Connection& c) {
  std::size_t at = 0;
  for (; c.in.size() - at >= request_bytes; at += request_bytes) {
    Serving serving{decode_request(c.in.data() + at), {}};
    const Request& r = serving.request;
    if (r.number == 0 && c.lane) {
      c.lane->done(r.ticket);
      continue;
    }
    if (c.is_local && (r.offset > c.region->bytes() || r.bytes > c.region->bytes() - r.offset)) {
      close(c.stream->fd(), "it asked for bytes outside of its shared memory");
      return false;
    }
    if ((r.number & unasked) != 0 || r.number == of_worker) {
      close(c.stream->fd(), "it asked under a number that is not its own");
      return false;
    }
    c.record->begin(steady_micros());
    look_up(c, serving);
    if (serving.parked != 0 || serving.tensor.has_value())
      c.queue.push_back(std::move(serving));
  }
  c.in.erase(c.in.begin(), c.in.begin() + static_cast<std::ptrdiff_t>(at));
  if (c.lane) { // what was sent before has been taken
    const Progress seen = c.stream->progress();
    c.lane->measured(seen.rate, seen.round_trip_us);
  }
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
    return c.refuse(serving, Code::not_found);
  if (tensor->bytes().size() != serving.request.bytes)
    return c.refuse(serving, Code::out_of_range);
  serving.tensor = *std::move(tensor);
}

void DataServer::Impl::watch(Connection& c) {
  std::uint32_t wanted = (c.takes_requests() ? EPOLLIN : 0u) | (c.has_work() ? EPOLLOUT : 0u);
  if (wanted == c.events)
    return;
  c.events = wanted;
  loop->change(c.stream->fd(), wanted);
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
  if (c.worker)
    loop->forget(c.worker->fd());
  if (c.record)
    for (std::size_t i = 0; i < c.under_way(); ++i)
      c.record->end(steady_micros(), 0, false);
  c.drop_unasked();
  if (c.lane)
    lanes->remove(c.peer, c.lane);
  if (c.borrowed)
    lent->give_up(c.peer, c.task, c.borrowed);
  connections.erase(it);
  counted.add(-1); // once it holds nothing more
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
      if (std::uint64_t taken = c->stream->progress().taken;
          std::exchange(c->taken, taken) != taken)
        c->moved_us = now;
    if (!c->is_open && older(c->since_us, options.handshake))
      ended.emplace_back(fd, "it showed no token in time");
    else if ((c->has_output() || c->has_pieces()) && older(c->moved_us, options.stall))
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

Result<std::unique_ptr<DataServer>>
DataServer::start(DataServerOptions options, std::shared_ptr<OfferTable> offers,
                  std::shared_ptr<PathBook> book, std::shared_ptr<LentMemory> lent,
                  std::shared_ptr<PushLanes> lanes, std::function<void()> settle) {
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
  impl.lanes = std::move(lanes);
  impl.settle = std::move(settle);
  try {
    impl.loop = std::make_unique<EventLoop>("tensors out", server_tick, [&impl] { impl.tick(); });
  } catch (const std::system_error& refused) {
    return no_thread(refused, "that sends tensors");
  }
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
