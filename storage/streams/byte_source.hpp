// ByteSource: the bytes of a file one after the other, as they lie there or decompressed; and lines
// of text from one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/function_view.hpp"
#include "core/base/status.hpp"
#include "storage/files/storage.hpp"

namespace troupe {

/// One thread at a time. After an error a source is of no more use.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// Fills `out` as far as there are bytes, and gives how many those were: fewer only at the end.
  virtual Result<std::size_t> read(std::span<std::byte> out) = 0;
  /// Passes over `count` bytes, and gives how many there were: fewer only at the end.
  virtual Result<std::uint64_t> skip(std::uint64_t count);
  /// How many bytes are left, where that is known without reading them.
  virtual std::optional<std::uint64_t> left() const { return {}; }
};

/// How a file is compressed, in TensorFlow's names: "" and "NONE", "ZLIB" (RFC 1950), "GZIP"
/// (RFC 1952).
enum class Compression { none, zlib, gzip };
/// INVALID_ARGUMENT for another name.
Result<Compression> parse_compression(std::string_view name);

/// The bytes of a file, read in pieces of 256 KiB.
std::unique_ptr<ByteSource> read_in_order(std::unique_ptr<StorageReader> file);
/// Bytes in memory, which outlive it.
std::unique_ptr<ByteSource> read_in_order(std::string_view bytes);
/// What was compressed into `bytes`. Of GZIP several members follow one another; what comes after
/// the end of ZLIB's data is passed over. DATA_LOSS "inflate() failed with error -3: …" for what is
/// not compressed so; data that are cut off just end.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> bytes, Compression how);
/// The two together.
std::unique_ptr<ByteSource> read_in_order(std::unique_ptr<StorageReader> file, Compression how);

/// Asked before a text that is being read takes that many more bytes of memory; its failure ends
/// the reading. Kernels charge their device here, so that no file takes more memory than there is.
using Room = FunctionView<Status(std::size_t bytes)>;
/// For texts whose size is bounded elsewhere.
inline constexpr auto any_room = [](std::size_t) { return Status{}; };

/// Takes bytes that are to be written.
using Append = std::function<Status(std::span<const std::byte>)>;

/// Appends the next `count` bytes to `to`, and gives how many there were: fewer only at the end.
/// The text grows no faster than bytes are there.
Result<std::uint64_t> append_bytes(ByteSource& from, std::uint64_t count, std::string& to,
                                   Room room);

/// Lines, which end in "\n" or "\r\n"; the last one may have no end.
class LineReader {
public:
  /// Which "\r" belong to no line: one before its end, or each, as in lines of TensorFlow's
  /// datasets.
  enum class Dropped { at_end, everywhere };
  explicit LineReader(std::unique_ptr<ByteSource> bytes, Dropped dropped = Dropped::at_end);
  /// The next line without its end; false behind the last one.
  Result<bool> next(std::string& line, Room room = any_room);
  /// Bytes up to the end of the last line.
  std::uint64_t position() const { return position_; }

private:
  std::unique_ptr<ByteSource> bytes_;
  Dropped dropped_;
  std::string buffer_;
  std::size_t at_ = 0; ///< what of the buffer was taken
  bool is_over_ = false;
  std::uint64_t position_ = 0;
};

} // namespace troupe
