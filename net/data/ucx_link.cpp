// What a Link does where tensors come by UCX.
#include <algorithm>

#include <sys/epoll.h>

#include "net/data/internal/link.hpp"

namespace troupe::data {

Status Link::make_worker() {
  TROUPE_ASSIGN(auto made, UcxWorker::make(client_.options.ucx,
                                           [this](std::string_view header, std::uint64_t bytes) {
                                             return arriving(header, bytes);
                                           }));
  worker_ = std::move(made);
  std::weak_ptr<Link> weak = weak_from_this();
  if (!client_.loop->watch(worker_->fd(), EPOLLIN, [weak](std::uint32_t) {
        if (auto self = weak.lock())
          self->turn();
      }))
    return unavailable("the process has no room for one more connection");
  return {};
}

// False when it is not what a sender says here.
bool Link::take_piece_by_ucx(const Piece& piece) {
  if (piece.number == of_worker) {
    if (piece.code != 0) {
      end(failed_precondition(str_cat(endpoint_.task, " cannot send by ucx; its log says why")));
      return true;
    }
    if (piece.bytes == 0 || piece.bytes > longest_address || !peers_worker_.empty())
      return false;
    peers_worker_.assign(piece.bytes, '\0');
    reader_.expect(reinterpret_cast<std::byte*>(peers_worker_.data()), piece.bytes, of_worker);
    return true;
  }
  std::unique_lock guard(lock_);
  auto it = pulls_.find(piece.number);
  if (it == pulls_.end() || piece.kind != Piece::last || piece.bytes != 0)
    return false;
  it->second.is_confirmed = true;
  const bool is_whole = it->second.arrived == it->second.bytes;
  guard.unlock();
  if (is_whole)
    finish(piece.number, Status{});
  return true;
}

// The sender's address is whole.
void Link::meet() {
  if (Status met = worker_->connect(peers_worker_); !met.ok())
    return end(met);
  turn();
}

// Where a message belongs that somebody has sent us.
std::optional<UcxWorker::Arrival> Link::arriving(std::string_view header, std::uint64_t bytes) {
  const auto mark = decode_mark(header);
  if (!mark || !same(mark->proof, endpoint_.proof))
    return std::nullopt;
  if (mark->number == of_worker)
    return UcxWorker::Arrival{{}, {}, [this](const Status&) { stands(); }};
  std::scoped_lock guard(lock_);
  auto it = pulls_.find(mark->number);
  if (it == pulls_.end())
    return std::nullopt;
  PendingPull& pull = it->second;
  if (bytes == 0 || bytes > pull.bytes - pull.begun || mark->offset > pull.bytes - bytes)
    return std::nullopt;
  pull.begun += bytes;
  return UcxWorker::Arrival{{static_cast<std::byte*>(pull.into->data()) + mark->offset, bytes},
                            pull.into,
                            [this, number = mark->number, bytes](const Status& status) {
                              arrived(number, bytes, status);
                            }};
}

void Link::arrived(std::uint64_t number, std::uint64_t bytes, const Status& status) {
  if (phase_ == Phase::ended)
    return;
  if (!status.ok())
    return end(lost(status.message()));
  moved_us_ = steady_micros();
  record_->moved(moved_us_);
  std::unique_lock guard(lock_);
  auto it = pulls_.find(number);
  if (it == pulls_.end())
    return;
  it->second.arrived += bytes;
  const bool is_whole = it->second.arrived == it->second.bytes && it->second.is_confirmed;
  guard.unlock();
  if (is_whole)
    finish(number, Status{});
}

void Link::turn() {
  auto self = shared_from_this();
  auto worker = worker_; // what it calls may end us
  if (!worker)
    return;
  if (worker->turn())
    client_.loop->post([self] { self->turn(); });
  if (phase_ != Phase::ended && !worker->broken().ok())
    end(opened_ ? worker->broken() : lost(worker->broken().message()));
}

} // namespace troupe::data
