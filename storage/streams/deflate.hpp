// Deflater: bytes compressed as they come.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/status.hpp"
#include "storage/streams/byte_source.hpp"

namespace troupe {

/// Compresses into `to`. One thread at a time; unusable after an error.
class Deflater {
public:
  /// `how` is not none; `level` is zlib's, -1 its usual one.
  Deflater(Append to, Compression how, int level = -1);
  ~Deflater();
  Deflater(Deflater&&) noexcept;
  Deflater& operator=(Deflater&&) noexcept;

  Status append(std::span<const std::byte> bytes);
  /// Everything appended so far can then be decompressed from what `to` has received.
  Status flush();
  /// The end of the data. Once.
  Status finish();

private:
  struct State;
  Status run(int mode);
  std::unique_ptr<State> state_;
};

} // namespace troupe
