// Gathering: requests become batches. Decides only; Batcher (batcher.hpp) has the time and the
// thread.
//
//              fits                     does not fit, or full, or the time is over
//   request ─────────▶ open batch ─────────────────────────────────────────────▶ ready ──▶ taken
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/status.hpp"

namespace troupe::batching {

using Time = std::chrono::steady_clock::time_point;

/// What a node says of its batches.
struct Limits {
  std::int64_t request = 1; ///< rows of a request, at most
  std::int64_t batch = 1;   ///< rows of a batch, at most
  std::chrono::microseconds timeout{0};
  std::int64_t waiting = 10;              ///< batches that wait, the open one among them
  bool splits = false;                    ///< a request may lie in several batches
  std::vector<std::int64_t> allowed = {}; ///< what batches are padded to, ascending; empty: nothing

  /// The rows that a batch of so many is padded to.
  std::int64_t padded(std::int64_t rows) const;
};

struct Request {
  virtual ~Request() = default;
  std::uint64_t ticket = 0;
  std::int64_t rows = 0; ///< at least one
};

/// Rows of a request.
struct Piece {
  std::shared_ptr<Request> request;
  std::int64_t begin = 0, rows = 0;
};
struct Batch {
  std::vector<Piece> pieces; ///< never none
  std::int64_t rows = 0;
  Time opened;
};

class Gathering {
public:
  explicit Gathering(Limits limits) : limits_(std::move(limits)) {}

  /// INVALID_ARGUMENT for one that is too large, UNAVAILABLE where too many batches wait.
  Status add(std::shared_ptr<Request> request, Time now);
  /// Takes a request out of all batches that wait.
  void withdraw(std::uint64_t ticket);
  /// Since when the next batch that is ready has been gathered; nothing while none is.
  std::optional<Time> ready(Time now) const;
  /// The next batch; requires ready(now).
  Batch take();
  /// When the open batch will be ready; nothing while there is none.
  std::optional<Time> due() const;

private:
  bool is_open() const { return !batches_.empty() && batches_.back().rows < limits_.batch; }

  const Limits limits_;
  // Each but the last is ready; the last is the open one unless it is full. A batch that the next
  // request did not fit in is followed by another.
  std::deque<Batch> batches_;
};

} // namespace troupe::batching
