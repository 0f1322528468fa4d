// Tables: sorted keys with values in one file, in LevelDB's format; TensorFlow's checkpoints have
// their index in one.
//
//   file   = block… metaindex-block index-block footer
//   block  = entry… restart-offsets count; then one byte (0: plain, 1: snappy) and a masked CRC32C
//   entry  = varint shared, varint unshared, varint value size; the key's rest; the value
//   footer = handles of metaindex and index block, padded to 40 bytes; 8 bytes of a magic number
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/function_view.hpp"
#include "core/base/status.hpp"

namespace troupe {

/// Makes a table in memory. Blocks are not compressed.
class TableWriter {
public:
  /// Keys ascend bytewise.
  void add(std::string_view key, std::string_view value);
  /// The whole file; the writer is of no more use.
  std::string finish();

private:
  struct Block {
    std::string text;
    std::vector<std::uint32_t> restarts;
    int since_restart = 0;
    void add(std::string_view last, std::string_view key, std::string_view value, int interval);
  };
  /// Where a block lies, as the index and the footer have it.
  std::string write(Block& block);
  void end_block();

  std::string file_;
  Block block_, index_;
  std::string last_key_, last_index_key_;
};

/// A table in memory. Any thread may read it.
class TableReader {
public:
  /// `name` is what errors call it. DATA_LOSS where the bytes are no table.
  static Result<TableReader> parse(std::string bytes, std::string name);

  using Visit = FunctionView<Status(std::string_view key, std::string_view value)>;
  /// Entries from `key` on, in order, until `visit` fails. DATA_LOSS for a block that is damaged.
  Status for_each_from(std::string_view key, Visit visit) const;
  Status for_each(Visit visit) const { return for_each_from("", visit); }
  /// Nothing if the key is not there.
  Result<std::optional<std::string>> find(std::string_view key) const;

private:
  struct BlockPlace {
    std::string last_key; ///< at least that of its last entry
    std::uint64_t offset = 0, size = 0;
  };
  Status lost(std::string_view what) const;
  Result<std::string> block(std::uint64_t offset, std::uint64_t size) const;
  Status visit_block(std::string_view block, Visit visit) const;

  std::string bytes_, name_;
  std::vector<BlockPlace> blocks_;
};

} // namespace troupe
