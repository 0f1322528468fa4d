#include "net/transport/wire_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/defaults.hpp>

namespace troupe {

namespace {

namespace network = caf::io::network;

bool comes_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

} // namespace

WireStream::WireStream(network::default_multiplexer& loop, network::native_socket socket)
    : event_handler(loop, socket),
      max_reads_(std::max<std::size_t>(
          1, caf::get_or(loop.system().config(), "middleman.max-consecutive-reads",
                         caf::defaults::middleman::max_consecutive_reads))) {}

void WireStream::start(Manager& manager) {
  if (reader_)
    return;
  reader_.reset(&manager);
  activate();
}

void WireStream::handle_event(network::operation operation) {
  switch (operation) {
  case network::operation::read:
    return read();
  case network::operation::write:
    return send_waiting();
  case network::operation::propagate_error:
    if (reader_)
      reader_->io_failure(&backend(), network::operation::read);
    if (writer_)
      writer_->io_failure(&backend(), network::operation::write);
    // The loop may not have heard yet that we write, and would not say that it has forgotten it.
    if (reader_)
      writer_ = nullptr;
  }
}

void WireStream::removed_from_loop(network::operation operation) {
  // The last reference to the manager is the last to this.
  auto last = std::move(operation == network::operation::write ? writer_ : reader_);
}

void WireStream::read() {
  auto manager = reader_;
  if (!manager)
    return;
  if (!ahead_)
    ahead_ = std::make_unique_for_overwrite<char[]>(ahead_bytes);
  for (std::size_t more = max_reads_; more > 0; --more) {
    // Nothing is left ahead here.
    iovec room[2] = {{nullptr, 0}, {ahead_.get(), ahead_bytes}};
    if (collected_ > 0 || wanted_ > ahead_bytes) {
      piece_.resize(wanted_);
      room[0] = {piece_.data() + collected_, wanted_ - collected_};
    }
    ssize_t got = ::readv(fd(), room, 2);
    if (got < 0 && comes_later(errno))
      return;
    if (got <= 0) {
      manager->io_failure(&backend(), network::operation::read);
      return passivate();
    }
    auto bytes = static_cast<std::size_t>(got);
    std::size_t direct = std::min(bytes, room[0].iov_len);
    collected_ += direct;
    first_ = 0;
    last_ = bytes - direct;
    if (!deliver(*manager))
      return passivate();
    if (bytes < room[0].iov_len + ahead_bytes)
      return; // that was all
  }
}

bool WireStream::deliver(Manager& manager) {
  while (collected_ > 0 || first_ < last_) {
    std::size_t bytes = std::min(wanted_ - collected_, last_ - first_);
    piece_.resize(wanted_);
    if (bytes > 0)
      std::memcpy(piece_.data() + collected_, ahead_.get() + first_, bytes);
    collected_ += bytes;
    first_ += bytes;
    if (collected_ < wanted_)
      return true;
    collected_ = 0;
    if (!manager.consume(&backend(), piece_.data(), wanted_))
      return false;
  }
  return true;
}

void WireStream::flush(Manager& manager) {
  if (state_.writing)
    return;
  // What comes before the connection is known to the loop, waits for it.
  if (reader_)
    send_now();
  if (pending_.empty())
    return;
  sending_.swap(pending_);
  sent_ = 0;
  state_.writing = true;
  writer_.reset(&manager);
  backend().add(network::operation::write, fd(), this);
}

// Saves three system calls. Errors are left to the event loop.
void WireStream::send_now() {
  if (pending_.empty() || pending_.size() > at_once_bytes)
    return;
  ssize_t sent = ::send(fd(), pending_.data(), pending_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0)
    pending_.erase(pending_.begin(), pending_.begin() + sent);
}

void WireStream::send_waiting() {
  if (!state_.writing)
    return;
  ssize_t sent =
      ::send(fd(), sending_.data() + sent_, sending_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && comes_later(errno))
    return;
  if (sent < 0) {
    writer_->io_failure(&backend(), network::operation::write);
    backend().del(network::operation::write, fd(), this);
    return;
  }
  sent_ += static_cast<std::size_t>(sent);
  if (sent_ < sending_.size())
    return;
  sending_.clear();
  if (sending_.capacity() > kept_bytes)
    std::vector<char>().swap(sending_);
  sent_ = 0;
  if (!pending_.empty())
    return sending_.swap(pending_);
  state_.writing = false;
  backend().del(network::operation::write, fd(), this);
  if (state_.shutting_down)
    ::shutdown(fd(), SHUT_WR);
}

void WireStream::graceful_shutdown() {
  if (state_.shutting_down)
    return;
  state_.shutting_down = true;
  if (!state_.writing)
    ::shutdown(fd(), SHUT_WR);
}

} // namespace troupe
