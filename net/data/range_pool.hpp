// RangePool: which parts of a region of memory are in use. Decides; touches no memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

/// Ranges of [0, size) and of what was added, in whole pages. The lowest that fits is taken first,
/// so that steps that ask for the same sizes get the same pages again. A free range is warm when
/// its pages may still be there from its last use.
/// Invariant: free ranges are disjoint, neighbours differ in warmth, and together with those in use
/// they cover all.
class RangePool {
public:
  static constexpr std::uint64_t page = 4096;
  explicit RangePool(std::uint64_t size);

  /// Offset of a range of at least `bytes` (≥ 1); nothing when there is no room in one piece.
  std::optional<std::uint64_t> take(std::uint64_t bytes);
  /// Gives back what `take(bytes)` gave.
  void give_back(std::uint64_t offset, std::uint64_t bytes);

  /// Adds [offset, offset + length), whole pages that were not part of it: free and cold. What does
  /// not touch the others is never taken in one piece with them.
  void add(std::uint64_t offset, std::uint64_t length);
  /// Takes [offset, offset + length) out again, if all of it is free and it touches no others.
  bool remove(std::uint64_t offset, std::uint64_t length);

  /// Free warm ranges from the top, whose pages must be dropped now so that at most `keep` warm
  /// bytes stay; they count as cold from here on.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> cool(std::uint64_t keep);

  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t warm() const { return warm_; } ///< bytes free and warm
  /// The most that was in use at once since the last call.
  std::uint64_t take_peak();

private:
  struct Free {
    std::uint64_t length = 0;
    bool is_warm = false;
  };
  void add_free(std::uint64_t offset, Free range);

  std::map<std::uint64_t, Free> free_; // by offset
  std::uint64_t in_use_ = 0, warm_ = 0, peak_ = 0;
};

} // namespace troupe
