// Tables: sorted keys with values in one file, in LevelDB's format; TensorFlow's checkpoints have
// their index in one.
//
//   file   = block… metaindex-block index-block footer
//   block  = entry… restart-offsets count; then one byte (0: plain, 1: snappy) and a masked CRC32C
//   entry  = varint shared, varint unshared, varint value size; the key's rest; the value
//   footer = handles of metaindex and index block, padded to 40 bytes; 8 bytes of a magic number
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/function_view.hpp"
#include "core/base/status.hpp"
#include "storage/files/storage.hpp"
#include "storage/streams/byte_source.hpp"

namespace troupe {

/// Makes a table, in memory or block by block. Blocks are not compressed.
class TableWriter {
public:
  TableWriter() = default;
  /// Blocks go to `to` as they are full.
  explicit TableWriter(Append to) : to_(std::move(to)) {}
  /// Keys ascend bytewise.
  void add(std::string_view key, std::string_view value);
  /// The whole file, unless its blocks went elsewhere; the writer is of no more use.
  std::string finish();
  /// The first error of where blocks go; nothing is written after it.
  const Status& status() const { return status_; }

private:
  struct Block {
    std::string text;
    std::vector<std::uint32_t> restarts;
    int since_restart = 0;
    void add(std::string_view last, std::string_view key, std::string_view value, int interval);
  };
  /// Where a block lies, as the index and the footer have it.
  std::string write(Block& block);
  void end_block(const std::string_view* next_key);
  void put(std::string_view text);

  Append to_;
  Status status_;
  std::uint64_t size_ = 0; ///< of what was put
  std::string file_;
  Block block_, index_;
  std::string last_key_, last_index_key_;
};

/// A table in memory, which any thread may read, or in a file, whose blocks are read as they are
/// asked for, by one thread at a time.
class TableReader {
public:
  /// `name` is what errors call it. DATA_LOSS where the bytes are no table.
  static Result<TableReader> parse(std::string bytes, std::string name);
  static Result<TableReader> open(std::shared_ptr<StorageReader> file, std::string name);

  using Visit = FunctionView<Status(std::string_view key, std::string_view value)>;
  /// Entries from `key` on, in order, until `visit` fails. DATA_LOSS for a block that is damaged.
  Status for_each_from(std::string_view key, Visit visit) const;
  Status for_each(Visit visit) const { return for_each_from("", visit); }
  /// Nothing if the key is not there. `room` is asked before a block is read.
  Result<std::optional<std::string>> find(std::string_view key, Room room = any_room) const;

private:
  struct BlockPlace {
    std::string last_key; ///< at least that of its last entry
    std::uint64_t offset = 0, size = 0;
  };
  Status lost(std::string_view what) const;
  Status read_index();
  Result<std::string> bytes_at(std::uint64_t offset, std::uint64_t size) const;
  Result<std::string> block(std::uint64_t offset, std::uint64_t size, Room room = any_room) const;
  Status visit_block(std::string_view block, Visit visit) const;

  std::shared_ptr<StorageReader> file_; ///< null: in memory
  std::string bytes_, name_;
  std::uint64_t size_ = 0;
  std::vector<BlockPlace> blocks_;
};

} // namespace troupe
