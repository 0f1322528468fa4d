#include "net/data/internal/served_connection.hpp"

#include <algorithm>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"

namespace troupe::data {

std::deque<Serving>::iterator ServedConnection::next_turn() {
  return std::find_if(queue.begin(), queue.end(), [](const Serving& s) { return s.parked == 0; });
}

bool ServedConnection::has_turn() const {
  return (!worker || pieces_ < most_pieces) &&
         std::any_of(queue.begin(), queue.end(), [](const Serving& s) { return s.parked == 0; });
}

bool ServedConnection::has_work() const {
  return has_output() || has_turn();
}

// Frames go before the bytes of the piece that is under way only if none of it has been sent.
void ServedConnection::say_between(const Piece& piece) {
  auto frame = encode(piece);
  auto& to = out_.payload.empty() ? out_.frames : out_.late;
  to.insert(to.end(), frame.begin(), frame.end());
}

void ServedConnection::refuse(const Serving& serving, Code code) {
  say_between({serving.request.number, 0, static_cast<std::uint32_t>(code), Piece::last});
  record->end(steady_micros(), 0, false);
}

void ServedConnection::take_back(std::uint64_t ticket) {
  auto waiting = std::find_if(queue.begin(), queue.end(),
                              [=](const Serving& s) { return s.request.number == ticket; });
  if (waiting != queue.end()) {
    const Serving serving = std::move(*waiting);
    queue.erase(waiting);
    offers->erase(ticket);
    return refuse(serving, Code::not_found);
  }
  say_between({ticket, 0, static_cast<std::uint32_t>(Code::not_found), Piece::last});
}

void ServedConnection::drop_unasked() {
  for (const Serving& serving : queue)
    if (serving.is_unasked())
      offers->erase(serving.request.ticket);
  if (finishing_ && finishing_->is_unasked)
    offers->erase(finishing_->ticket);
}

// The next bytes of a tensor into the peer's memory; false when that has no room, which the peer is
// told.
bool ServedConnection::write(Serving& serving, std::uint64_t length) {
  Status written = region->write(serving.request.offset + serving.done,
                                 serving.tensor.bytes().data() + serving.done, length);
  if (written.ok())
    return true;
  log_warning("a tensor for ", task, ": ", written.message());
  refuse(serving, written.code());
  return false;
}

void ServedConnection::meet(const Token& proof, const std::string& address,
                            const UcxChoice& choice) {
  auto made = UcxWorker::make(
      choice, [](std::string_view, std::uint64_t) { return std::nullopt; }); // we only send
  Status met = made.ok() ? (*made)->connect(address) : made.status();
  if (!met.ok()) {
    log_warning("no tensors by ucx for ", task, ": ", met.message());
    return say(Piece{of_worker, 0, static_cast<std::uint32_t>(met.code()), Piece::last});
  }
  worker = *std::move(made);
  proof_ = proof;
  const std::string& own = worker->address();
  say(Piece{of_worker, own.size(), 0, 0});
  const auto* bytes = reinterpret_cast<const std::byte*>(own.data());
  out_.frames.insert(out_.frames.end(), bytes, bytes + own.size());
  worker->send(encode(UcxMark{proof_, of_worker, 0}), {}, {}, [](const Status&) {});
}

void ServedConnection::send_by_ucx(Serving serving, std::uint64_t length) {
  const std::uint64_t number = serving.request.number, bytes = serving.tensor.bytes().size();
  ++pieces_;
  worker->send(encode(UcxMark{proof_, number, serving.done}),
               serving.tensor.bytes().subspan(serving.done, length), serving.tensor.buffer(),
               [=, this](const Status& status) {
                 --pieces_;
                 if (status.ok()) // else the worker is broken, and ends the connection
                   taken_by_ucx(number, length);
               });
  serving.done += length;
  if (serving.done < bytes)
    queue.push_back(std::move(serving));
  else
    handed_over_[number] = {serving.request.ticket, bytes};
}

void ServedConnection::taken_by_ucx(std::uint64_t number, std::uint64_t bytes) {
  moved_us = steady_micros();
  record->moved(moved_us);
  const std::uint64_t taken = taken_[number] += bytes;
  auto whole = handed_over_.find(number);
  if (whole == handed_over_.end() || taken < whole->second.bytes)
    return;
  sent(whole->second.ticket, whole->second.bytes);
  handed_over_.erase(whole);
  taken_.erase(number);
  say(Piece{number, 0, 0, Piece::last});
}

void ServedConnection::produce() {
  auto next = next_turn();
  if (next == queue.end() || !has_turn())
    return;
  Serving serving = std::move(*next);
  queue.erase(next);
  const auto bytes = serving.tensor.bytes();
  const std::uint64_t length = std::min<std::uint64_t>(piece_limit, bytes.size() - serving.done);
  const bool is_last = serving.done + length == bytes.size();
  if (worker) {
    offers->touch(serving.request.ticket, steady_micros());
    return send_by_ucx(std::move(serving), length);
  }
  if (is_local && !write(serving, length))
    return;
  // Nobody holds a tensor any more when its receiver learns that it is there, where that can be.
  if (is_local && is_last) {
    serving.tensor = Tensor{};
    sent(serving.request.ticket, bytes.size());
  }
  if (serving.is_unasked() && serving.done == 0)
    say(Piece{serving.request.number, bytes.size(), 0, Piece::announced});
  say(Piece{serving.request.number, length, 0, is_last ? Piece::last : 0});
  if (!is_local) {
    out_.payload = bytes.subspan(serving.done, length);
    out_.held = serving.tensor;
  }
  serving.done += length;
  if (!is_last) {
    offers->touch(serving.request.ticket, steady_micros());
    queue.push_back(std::move(serving));
  } else if (!is_local) {
    finishing_ = {serving.request.ticket, bytes.size(), serving.is_unasked()};
  }
}

void ServedConnection::sent(std::uint64_t ticket, std::uint64_t bytes) {
  offers->erase(ticket);
  record->end(steady_micros(), bytes, true);
}

bool ServedConnection::flush() {
  do {
    while (has_output()) {
      const iovec pieces[2] = {{out_.frames.data() + out_.sent, out_.frames.size() - out_.sent},
                               {const_cast<std::byte*>(out_.payload.data()), out_.payload.size()}};
      const Moved moved = stream->send(pieces);
      if (moved.is_over())
        return false;
      if (moved.is_later()) {
        is_full_ = true;
        return true;
      }
      moved_us = steady_micros();
      // The kernel takes what there is room for, though the peer be frozen; of room that there is
      // again after there was none, the peer has read.
      if (std::exchange(is_full_, false) && record && !is_local)
        record->moved(moved_us);
      const std::size_t of_frames = std::min(moved.bytes, out_.frames.size() - out_.sent);
      out_.sent += of_frames;
      out_.payload = out_.payload.subspan(moved.bytes - of_frames);
      if (out_.sent == out_.frames.size()) {
        out_.frames.clear();
        out_.sent = 0;
      }
    }
    out_.held = Tensor{};
    if (const auto whole = std::exchange(finishing_, std::nullopt))
      sent(whole->ticket, whole->bytes);
    out_.frames.swap(out_.late);
  } while (!out_.frames.empty());
  return true;
}

} // namespace troupe::data
