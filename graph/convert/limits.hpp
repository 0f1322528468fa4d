// What decoding a message may cost.
#pragma once

#include <cstddef>

#include "core/tensor/buffer.hpp"

namespace troupe {

/// Decoding takes memory in proportion to the bytes read, with one exception: a constant may repeat
/// one value, or zero, over its whole shape. Such bytes are limited to `filled_bytes` for each
/// message (1 GiB by default).
struct DecodeLimits {
  std::size_t filled_bytes = std::size_t{1} << 30;
  Allocator* memory = nullptr; ///< whence tensors take it, which may refuse; null: host_allocator()

  /// Those of a task whose memory is bounded: what is filled counts against that, too.
  static DecodeLimits bounded_by(Allocator* memory) {
    return {.filled_bytes = std::size_t{4} << 30, .memory = memory};
  }
};

/// The part of the limits that is left.
class DecodeBudget {
public:
  explicit DecodeBudget(DecodeLimits limits = {})
      : limit_(limits.filled_bytes), left_(limit_), memory_(limits.memory) {}
  /// False, and nothing taken, if it is not left.
  bool take(std::size_t bytes) {
    if (bytes > left_)
      return false;
    left_ -= bytes;
    return true;
  }
  std::size_t limit() const { return limit_; }
  Allocator& memory() const { return memory_ ? *memory_ : host_allocator(); }
  int nesting = 0; ///< how many variants lie around what is being read

private:
  std::size_t limit_;
  std::size_t left_;
  Allocator* memory_;
};

} // namespace troupe
