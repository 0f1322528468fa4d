// TFRecord files: texts one after the other, as TensorFlow and TensorBoard read and write them.
//
//   file   = record…, all of it compressed by zlib (RFC 1950) or gzip (RFC 1952), or not
//   record = 8 bytes: the length n of the text
//            4 bytes: the masked CRC32C of those 8 bytes
//            n bytes: the text
//            4 bytes: the masked CRC32C of the text
//
// Numbers are little-endian. The masked checksum is (crc >> 15 | crc << 17) + 0xa282ead8 modulo
// 2^32 (storage/checksum/crc32c.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "storage/streams/byte_source.hpp"
#include "storage/streams/deflate.hpp"

namespace troupe {

inline constexpr std::uint64_t record_header_bytes = 12, record_footer_bytes = 4;

/// Reads records in their order. One thread at a time.
///
/// A file may end in the midst of a header, as one does that somebody is still writing: then there
/// is no more record. One that ends later than that is damaged.
class RecordReader {
public:
  explicit RecordReader(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)) {}
  /// The next record; false behind the last one. DATA_LOSS in TensorFlow's words: "corrupted record
  /// at 12" for a checksum that does not match, "truncated record at 0' failed with …" for a text
  /// that is cut off; and what `room` says. After an error the reader is of no more use.
  Result<bool> next(std::string& record, Room room = any_room);
  /// Passes over up to `count` records without a look at their texts; how many there were.
  Result<std::uint64_t> skip(std::uint64_t count);
  /// Where the next record begins, in bytes that are not compressed.
  std::uint64_t offset() const { return offset_; }

private:
  /// The length of the next text; nothing behind the last one.
  Result<std::optional<std::uint64_t>> read_length();
  Status truncated() const;

  std::unique_ptr<ByteSource> bytes_;
  std::uint64_t offset_ = 0;
};

/// A record around the text, appended to `to`.
void append_record(std::string& to, std::string_view text);

/// Hands records to `to`, compressed or not. One thread at a time; after an error it is of no more
/// use.
class RecordWriter {
public:
  explicit RecordWriter(Append to, Compression how = Compression::none, int level = -1);
  Status write(std::string_view text);
  /// What was written can be read from what was handed on.
  Status flush();
  /// The end of the file. Once.
  Status finish();

private:
  Append to_;
  std::unique_ptr<Deflater> deflater_; ///< null: not compressed
};

} // namespace troupe
