// PathBook: how many bytes have moved between this node and its peers, over which path and how
// fast. Read by status, and by membership as a sign of life.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/data/tensor_path.hpp"

namespace troupe {

/// One direction of one peer. Any thread; relaxed, each number by itself.
class PathRecord {
public:
  /// A tensor begins or ends to move; the time between counts as busy while any does.
  void begin(std::int64_t now_us);
  void end(std::int64_t now_us, std::uint64_t bytes, bool arrived);
  /// The peer is alive: bytes arrived, or it has read some of ours. That the kernel took some says
  /// nothing of it.
  void moved(std::int64_t now_us) { last_us_.store(now_us, std::memory_order_relaxed); }
  void set_path(TensorPath path, std::string remark = {});

  std::int64_t last_us() const { return last_us_.load(std::memory_order_relaxed); }
  /// "shared-memory, 40 tensors, 1.2 GiB, 5.10 GB/s, 2 under way"; empty when nothing has moved and
  /// no path was chosen.
  std::string sentence() const;

private:
  mutable std::mutex lock_;
  bool has_path_ = false;
  TensorPath path_ = TensorPath::messages;
  std::string remark_;
  std::uint64_t tensors_ = 0, bytes_ = 0, failed_ = 0;
  std::int64_t busy_us_ = 0, since_us_ = 0;
  int under_way_ = 0;
  std::atomic<std::int64_t> last_us_{0};
};

/// Any thread. Records live as long as the book, one for each peer and direction.
class PathBook {
public:
  enum class Direction { from, to };
  std::shared_ptr<PathRecord> record(Direction direction, const std::string& peer);
  /// Microseconds since a byte moved to or from `peer`; -1 when none has.
  std::int64_t silent_us(const std::string& peer, std::int64_t now_us) const;
  /// "from /job:ps/replica:0/task:0: shared-memory, …", in order.
  std::vector<std::string> sentences() const;

private:
  mutable std::mutex lock_;
  std::map<std::pair<std::string, Direction>, std::shared_ptr<PathRecord>> records_;
};

} // namespace troupe
