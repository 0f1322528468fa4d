#include "net/transport/wire_stream.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <sys/uio.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/defaults.hpp>

namespace troupe {

namespace {

namespace network = caf::io::network;

} // namespace

WireStream::WireStream(network::default_multiplexer& loop, network::native_socket socket,
                       std::unique_ptr<data::ByteStream> bytes)
    : event_handler(loop, socket),
      bytes_(bytes ? std::move(bytes) : std::make_unique<data::SocketStream>(socket)),
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
    // The loop does not say that it has forgotten what it has not heard of yet. What it has heard
    // of (one of the two, or there would be no error) holds the manager, and so this, until it says
    // so.
    if (!(eventbf() & network::input_mask))
      reader_ = nullptr;
    if (!(eventbf() & network::output_mask))
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
    const data::Moved got = bytes_->receive(
        room[0].iov_len > 0 ? std::span<const iovec>(room) : std::span<const iovec>(room + 1, 1));
    if (got.is_later())
      return;
    if (got.is_over()) {
      manager->io_failure(&backend(), network::operation::read);
      return passivate();
    }
    const std::size_t bytes = got.bytes;
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
  const std::size_t sent = bytes_->send(pending_.data(), pending_.size()).bytes;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(sent));
}

void WireStream::send_waiting() {
  if (!state_.writing)
    return;
  const data::Moved sent = bytes_->send(sending_.data() + sent_, sending_.size() - sent_);
  if (sent.is_later())
    return;
  if (sent.is_over()) {
    writer_->io_failure(&backend(), network::operation::write);
    backend().del(network::operation::write, fd(), this);
    return;
  }
  sent_ += sent.bytes;
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
    bytes_->finish();
}

void WireStream::graceful_shutdown() {
  if (state_.shutting_down)
    return;
  state_.shutting_down = true;
  if (!state_.writing)
    bytes_->finish();
}

} // namespace troupe
