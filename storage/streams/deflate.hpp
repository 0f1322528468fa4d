// Deflater: bytes compressed as they come.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/status.hpp"
#include "storage/streams/byte_source.hpp"

namespace troupe {

/// Hands what it is given to `to`, compressed. One thread at a time; after an error it is of no more
/// use.
class Deflater {
public:
  /// `how` is not none; `level` is zlib's, -1 its usual one.
  Deflater(Append to, Compression how, int level = -1);
  ~Deflater();
  Deflater(Deflater&&) noexcept;
  Deflater& operator=(Deflater&&) noexcept;

  Status append(std::span<const std::byte> bytes);
  /// What was appended can be read from what was handed on so far.
  Status flush();
  /// The end of the data. Once.
  Status finish();

private:
  struct State;
  Status run(int mode);
  std::unique_ptr<State> state_;
};

} // namespace troupe
