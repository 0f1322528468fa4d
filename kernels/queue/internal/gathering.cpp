#include "kernels/queue/internal/gathering.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe::batching {

std::int64_t Limits::padded(std::int64_t rows) const {
  const auto found = std::ranges::lower_bound(allowed, rows);
  return found == allowed.end() ? rows : *found;
}

Status Gathering::add(std::shared_ptr<Request> request, Time now) {
  if (request->rows > limits_.request)
    return invalid_argument(str_cat("Task size ", request->rows,
                                    " is larger than maximum input batch size ", limits_.request));
  const std::int64_t room = is_open() ? limits_.batch - batches_.back().rows : 0;
  const bool fits = request->rows <= room;
  const std::int64_t first = fits || limits_.splits ? std::min(room, request->rows) : 0;
  const std::int64_t rest = request->rows - first;
  const std::int64_t more = (rest + limits_.batch - 1) / limits_.batch;
  if (more > 0 && static_cast<std::int64_t>(batches_.size()) + more > limits_.waiting)
    return Status(Code::unavailable,
                  str_cat("The batch scheduling queue to which this task was submitted is full: ",
                          batches_.size(),
                          " batches wait. Raise max_enqueued_batches, or send "
                          "fewer requests at a time"));
  for (std::int64_t begin = 0; begin < request->rows;) {
    const bool here = begin < first;
    const std::int64_t rows = here ? first : std::min(limits_.batch, request->rows - begin);
    if (!here)
      batches_.push_back({.pieces = {}, .rows = 0, .opened = now});
    batches_.back().pieces.push_back({request, begin, rows});
    batches_.back().rows += rows;
    begin += rows;
  }
  return {};
}

void Gathering::withdraw(std::uint64_t ticket) {
  for (Batch& batch : batches_)
    std::erase_if(batch.pieces, [&](const Piece& piece) {
      const bool gone = piece.request->ticket == ticket;
      batch.rows -= gone ? piece.rows : 0;
      return gone;
    });
  std::erase_if(batches_, [](const Batch& batch) { return batch.pieces.empty(); });
}

std::optional<Time> Gathering::ready(Time now) const {
  if (batches_.empty())
    return std::nullopt;
  const Batch& next = batches_.front();
  if (batches_.size() > 1 || next.rows >= limits_.batch || now >= next.opened + limits_.timeout)
    return next.opened;
  return std::nullopt;
}

Batch Gathering::take() {
  Batch out = std::move(batches_.front());
  batches_.pop_front();
  return out;
}

std::optional<Time> Gathering::due() const {
  if (batches_.empty())
    return std::nullopt;
  return batches_.front().opened + limits_.timeout;
}

} // namespace troupe::batching
