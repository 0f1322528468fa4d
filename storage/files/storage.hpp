// Storage: named bytes that outlive the process, in whole values. Local files first; an object
// store can stand behind the same interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

class FileSystem;

/// A value that is being read. One thread at a time.
class StorageReader {
public:
  virtual ~StorageReader() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills `out` from `offset` on. DATA_LOSS, naming the value, if it is shorter.
  virtual Status read(std::uint64_t offset, std::span<std::byte> out) = 0;
};

/// A value that is being written. Nobody sees it before `commit`; without one it never was.
///
///   open ──append──▶ open ──commit──▶ done
///     └──── an error, or the end of the writer ────▶ nothing was written
class StorageWriter {
public:
  virtual ~StorageWriter() = default;
  /// After an error the writer is of no more use, and `commit` gives that error.
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Once ok, what was appended is on the disk, so that `commit` does not fail for lack of room.
  virtual Status prepare() = 0;
  /// Once ok, the name has the new value, also after the machine's sudden end. Before, and after an
  /// error, it has the old one or the new one, whole. Once only: then FAILED_PRECONDITION.
  virtual Status commit() = 0;
};

/// Names are of letters, digits, '.', '_', '-', and '/' between parts, none of which begins with a
/// '.'; at most 512 bytes. Others are INVALID_ARGUMENT. Any thread; of two writers of one name the
/// later commit stays.
class Storage {
public:
  virtual ~Storage() = default;
  /// NOT_FOUND.
  virtual Result<std::unique_ptr<StorageReader>> open(std::string_view name) = 0;
  virtual Result<std::unique_ptr<StorageWriter>> write(std::string_view name) = 0;
  /// The value of `from` becomes that of `to`, which had none or loses its own. Once ok, for good.
  /// NOT_FOUND.
  virtual Status rename(std::string_view from, std::string_view to) = 0;
  /// Once ok, for good. NOT_FOUND.
  virtual Status remove(std::string_view name) = 0;
  /// Names of the values directly below `folder` (empty: at the top), sorted.
  virtual Result<std::vector<std::string>> list(std::string_view folder) = 0;
  /// Frees what writers of values directly below `folder` left when they were cut short. Nobody may
  /// be writing there.
  virtual Status clear_unfinished(std::string_view folder) = 0;

  /// The whole value. RESOURCE_EXHAUSTED if it has more than `most` bytes, before memory is taken.
  Result<std::string> get(std::string_view name, std::uint64_t most);
  /// Writes and commits.
  Status put(std::string_view name, std::string_view value);
};

/// Below the folder `root`, which must be there. A value is written beside its place, synced,
/// renamed, and its folder synced. `files` outlives it.
std::unique_ptr<Storage> make_local_storage(std::string root, FileSystem& files);

} // namespace troupe
