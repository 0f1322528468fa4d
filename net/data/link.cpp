#include "net/data/internal/link.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/epoll.h>

#include "core/base/log.hpp"

namespace troupe::data {

namespace {

/// Bytes read from one peer in a turn.
constexpr std::uint64_t turn_limit = std::uint64_t{8} << 20;
/// Buffer for bytes that are read and dropped, where a tensor has no memory.
constexpr std::size_t drop_bytes = 64 << 10;

Code known_code(std::uint32_t code) {
  return code <= static_cast<std::uint32_t>(Code::unauthenticated) ? static_cast<Code>(code)
                                                                   : Code::unknown;
}

} // namespace

// Requires the lock. Writes at once what the socket takes, which wakes no other thread. True if the
// loop must send the rest.
bool Link::say(const Request& request) {
  auto frame = encode(request);
  std::size_t sent = 0;
  if (phase_ == Phase::open && out_.empty())
    sent = stream_->send(frame.data(), frame.size()).bytes;
  if (sent == frame.size())
    return false;
  out_.insert(out_.end(), frame.begin() + static_cast<std::ptrdiff_t>(sent), frame.end());
  return phase_ == Phase::open;
}

void Link::flush_soon() {
  client_.loop->post([self = shared_from_this()] { self->flush(); });
}

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
  if (!is_owed())
    moved_us_ = now;
  pulls_.emplace(request.number, PendingPull{std::move(into), bytes, 0, now, std::move(done)});
  if (say(request))
    flush_soon();
}

void Link::claim(std::uint64_t ticket, std::uint64_t bytes, Claimed done) {
  std::unique_lock guard(lock_);
  if (phase_ == Phase::ended) {
    Status why = ended_;
    guard.unlock();
    return done(why, 0);
  }
  const std::int64_t now = steady_micros();
  if (!is_owed())
    moved_us_ = now;
  auto effect = unasked_.claim(ticket, bytes, std::move(done), now);
  guard.unlock();
  do_as(std::move(effect), ticket);
}

// Outside of the lock.
void Link::do_as(UnaskedTensors::Effect effect, std::uint64_t ticket) {
  if (effect.is_done) {
    std::unique_lock guard(lock_);
    if (phase_ != Phase::ended && say(Request{0, ticket, 0, 0}))
      flush_soon();
  }
  if (effect.is_broken_off)
    record_->end(steady_micros(), 0, false);
  if (effect.answer)
    effect.answer->to(std::move(effect.answer->result), effect.answer->micros);
}

void Link::close(Status why) {
  client_.loop->post([self = shared_from_this(), why = std::move(why)] { self->end(why, true); });
}

void Link::start() {
  if (by_ucx())
    if (Status there = make_worker(); !there.ok())
      return end(there);
  auto made = is_local() ? connect_local(endpoint_.local_name)
                         : connect_tcp(endpoint_.host, endpoint_.port);
  if (!made.ok())
    return end(made.status());
  {
    std::scoped_lock guard(lock_);
    if (phase_ == Phase::ended)
      return;
    stream_ = make_stream(*std::move(made), client_.options.wrap);
  }
  client_.links.insert(shared_from_this());
  client_.counted.add(1);
  events_ = EPOLLOUT;
  std::weak_ptr<Link> weak = weak_from_this();
  if (!client_.loop->watch(stream_->fd(), events_, [weak](std::uint32_t events) {
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
    if (!greeting_.is_said)
      return say_greeting();
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
  if (Status connected = connect_outcome(stream_->fd()); !connected.ok())
    return end(unavailable(str_cat("no connection: ", connected.message())));
  if (!is_local())
    tune_stream(stream_->fd());
  const auto opening = encode(Opening{region_ ? region_->bytes() : 0, endpoint_.token,
                                      region_ ? region_->lent_bytes() : endpoint_.lent,
                                      worker_ ? worker_->address().size() : 0});
  {
    std::scoped_lock guard(lock_);
    phase_ = Phase::greeting;
  }
  greeting_.bytes.assign(opening.begin(), opening.end());
  if (worker_) {
    const auto* address = reinterpret_cast<const std::byte*>(worker_->address().data());
    greeting_.bytes.insert(greeting_.bytes.end(), address, address + worker_->address().size());
  }
  say_greeting();
}

// The acceptance is waited for once the opening is out.
void Link::say_greeting() {
  const bool passes = region_ && greeting_.bytes.size() == opening_bytes;
  const Moved sent = passes ? stream_->send_passing(greeting_.bytes, region_->fd())
                            : stream_->send(greeting_.bytes.data(), greeting_.bytes.size());
  if (sent.is_over())
    return end(unavailable(str_cat("it takes no greeting: ", std::strerror(sent.error))));
  greeting_.bytes.erase(greeting_.bytes.begin(),
                        greeting_.bytes.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
  greeting_.is_said = greeting_.bytes.empty();
  update_watch();
}

void Link::read_acceptance() {
  std::array<std::byte, acceptance_bytes> buffer;
  const std::span<std::byte> missing(buffer.data(), acceptance_bytes - greeting_.bytes.size());
  const Moved got = is_local() ? stream_->receive_passing(missing, greeting_.passed)
                               : stream_->receive(missing.data(), missing.size());
  if (got.is_later())
    return;
  if (got.is_over())
    return end(unavailable("it closed the connection instead of accepting it"));
  greeting_.bytes.insert(greeting_.bytes.end(), buffer.data(), buffer.data() + got.bytes);
  if (greeting_.bytes.size() < acceptance_bytes)
    return;
  std::copy(greeting_.bytes.begin(), greeting_.bytes.end(), buffer.begin());
  auto acceptance = decode_acceptance(buffer);
  if (!acceptance || !same(acceptance->proof, endpoint_.proof))
    return end(permission_denied("who answers there is not the peer that we were told of"));
  // If the peer's memory cannot be mapped, its variables are copied instead.
  if (region_ && greeting_.passed && acceptance->shown_bytes != 0)
    if (Status seen = region_->see(greeting_.passed.release(), acceptance->shown_bytes); !seen.ok())
      log_warning("variables of ", endpoint_.task, " will be copied: ", seen.message());
  {
    std::scoped_lock guard(lock_);
    phase_ = Phase::open;
  }
  if (!by_ucx())
    stands();
  flush();
}

void Link::stands() {
  record_->set_path(endpoint_.path);
  if (auto opened = std::exchange(opened_, nullptr))
    opened(Status{});
}

void Link::flush() {
  std::optional<int> error;
  {
    std::scoped_lock guard(lock_);
    if (phase_ != Phase::open)
      return;
    while (!out_.empty()) {
      const Moved sent = stream_->send(out_.data(), out_.size());
      if (sent.is_over())
        error = sent.error;
      if (!sent.is_some())
        break;
      out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
    }
  }
  if (error)
    return end(lost(*error));
  update_watch();
}

void Link::update_watch() {
  std::uint32_t wanted = EPOLLIN;
  {
    std::scoped_lock guard(lock_);
    if (phase_ == Phase::greeting ? !greeting_.is_said : !out_.empty())
      wanted |= EPOLLOUT;
  }
  if (wanted != events_) {
    events_ = wanted;
    client_.loop->change(stream_->fd(), wanted);
  }
}

std::size_t PieceReader::parts(std::array<iovec, 2>& parts) {
  const iovec frame{frame_.data() + frame_have_, frame_.size() - frame_have_};
  if (left_ == 0) {
    parts[0] = frame;
    return 1;
  }
  if (at_) {
    parts = {iovec{at_, left_}, frame};
    return 2;
  }
  dropped_.resize(drop_bytes);
  parts[0] = {dropped_.data(), std::min<std::uint64_t>(drop_bytes, left_)};
  return 1;
}

void PieceReader::took(std::uint64_t bytes) {
  const std::uint64_t of_piece = std::min(bytes, left_);
  if (at_)
    at_ += of_piece;
  left_ -= of_piece;
  frame_have_ += bytes - of_piece;
}

std::optional<Piece> PieceReader::take_frame() {
  if (frame_have_ < frame_.size())
    return std::nullopt;
  frame_have_ = 0;
  return decode_piece(frame_.data());
}

void Link::read_pieces() {
  auto self = shared_from_this();
  for (std::uint64_t taken = 0; taken < turn_limit && phase_ == Phase::open;) {
    std::array<iovec, 2> parts;
    const std::size_t count = reader_.parts(parts);
    const Moved got = stream_->receive(std::span<const iovec>(parts.data(), count));
    if (got.is_later())
      return;
    if (got.is_over())
      return end(lost(got.error));
    taken += got.bytes;
    moved_us_ = steady_micros();
    record_->moved(moved_us_);
    reader_.took(got.bytes);
    if (const std::uint64_t number = reader_.take_finished())
      piece_ended(number);
    if (const std::optional<Piece> piece = reader_.take_frame(); piece && !take_piece(*piece))
      return end(broke("it sent what nobody asked for"));
  }
}

// The last piece of a tensor is here.
void Link::piece_ended(std::uint64_t number) {
  if (by_ucx())
    return meet();
  if ((number & unasked) == 0)
    return finish(number, Status{});
  UnaskedTensors::Effect effect;
  {
    std::scoped_lock guard(lock_);
    effect = unasked_.whole(number, steady_micros());
  }
  record_->end(steady_micros(), effect.bytes, true);
  do_as(std::move(effect), number);
}

// False when it does not fit what was announced, or is more than was lent.
bool Link::take_unasked(const Piece& piece) {
  if (endpoint_.path != TensorPath::stream)
    return false;
  UnaskedTensors::Effect effect;
  const std::int64_t now = steady_micros();
  {
    std::scoped_lock guard(lock_);
    if (piece.code != 0) {
      effect = unasked_.taken_back(piece.number, refusal(known_code(piece.code)), now);
    } else if (piece.kind == Piece::announced) {
      record_->begin(now);
      effect = unasked_.announced(piece.number, piece.bytes, client_.options.allocate, now);
    } else {
      const bool is_last = piece.kind == Piece::last;
      auto to = unasked_.piece(piece.number, piece.bytes, is_last);
      if (!to)
        return false;
      reader_.expect(*to, piece.bytes, is_last ? piece.number : 0);
    }
  }
  if (effect.is_wrong)
    return false;
  do_as(std::move(effect), piece.number);
  return true;
}

// False when it does not fit what we asked for.
bool Link::take_piece(const Piece& piece) {
  if ((piece.number & unasked) != 0)
    return take_unasked(piece);
  if (by_ucx() && (piece.code == 0 || piece.number == of_worker))
    return take_piece_by_ucx(piece);
  std::unique_lock guard(lock_);
  auto it = pulls_.find(piece.number);
  if (it == pulls_.end())
    return false;
  PendingPull& pull = it->second;
  if (piece.code != 0) {
    guard.unlock();
    finish(piece.number, refusal(known_code(piece.code)));
    return true;
  }
  std::byte* at = static_cast<std::byte*>(pull.into->data()) + pull.arrived;
  bool is_last = piece.kind == Piece::last;
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
  reader_.expect(at, piece.bytes, is_last ? piece.number : 0);
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
  std::optional<PendingPull> pull;
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
  pull->into = {}; // release before the callback: it may start the next pull into the same memory
  pull->done(status, now - pull->since_us);
}

void Link::end(const Status& why, bool by_us) {
  auto self = shared_from_this();
  std::map<std::uint64_t, PendingPull> pulls;
  std::vector<Claimed> claims;
  {
    std::scoped_lock guard(lock_);
    if (phase_ == Phase::ended)
      return;
    phase_ = Phase::ended;
    ended_ = why;
    pulls.swap(pulls_);
    for (std::size_t left = unasked_.num_coming(); left > 0; --left)
      record_->end(steady_micros(), 0, false);
    claims = unasked_.end();
    out_.clear();
    if (stream_)
      client_.loop->forget(stream_->fd());
    stream_.reset();
  }
  if (worker_)
    client_.loop->forget(worker_->fd());
  worker_.reset(); // the worker itself lives until its current turn ends
  if (client_.links.erase(self))
    client_.counted.add(-1);
  // Tensors may keep the region alive; give its free pages back now.
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
  for (const Claimed& claim : claims)
    claim(why, 0);
  if (opened)
    opened(why);
  else if (broken && !by_us)
    broken(why);
}

void Link::check(std::int64_t now_us) {
  drop_unclaimed(now_us);
  bool is_open = phase_ == Phase::open;
  bool is_waited_for = false;
  {
    std::scoped_lock guard(lock_);
    is_waited_for = is_owed();
    if (is_open && is_waited_for && !is_local()) {
      Progress now = stream_->progress();
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
  const bool is_standing = is_open && (!by_ucx() || !opened_);
  if (!is_standing && now_us - since_us_ > micros(client_.options.opening))
    end(unavailable(str_cat("no answer within ", client_.options.opening.count(), " ms")));
  else if (is_open && is_waited_for && now_us - moved_us_ > micros(client_.options.stall))
    end(broke(str_cat("no byte came for ", client_.options.stall.count(), " ms")));
}

void Link::drop_unclaimed(std::int64_t now_us) {
  std::unique_lock guard(lock_);
  if (phase_ != Phase::open)
    return;
  const auto unclaimed = std::chrono::microseconds(client_.options.unclaimed);
  bool is_left = false;
  for (std::uint64_t ticket : unasked_.drop_unclaimed(now_us - unclaimed.count()))
    is_left = say(Request{0, ticket, 0, 0}) || is_left;
  guard.unlock();
  if (is_left)
    flush();
}

} // namespace troupe::data
