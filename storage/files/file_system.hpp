// FileSystem: the few calls that files are made of, so that a test can stand in for the system and
// fail any of them. For whoever implements a Storage; others use that (storage/files/storage.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// An open file. Closed by its destructor, which neither syncs nor fails. One thread at a time.
class File {
public:
  virtual ~File() = default;
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Fills `out` from `offset` on, or as far as the file goes; how many bytes that were.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> out) = 0;
  virtual Result<std::uint64_t> size() = 0;
  /// What was appended outlives the machine's sudden end.
  virtual Status sync() = 0;
};

/// Paths are the system's. Errors carry the path and the system's reason: NOT_FOUND,
/// PERMISSION_DENIED, RESOURCE_EXHAUSTED (no room), ALREADY_EXISTS, FAILED_PRECONDITION (a folder
/// where a file should be, or the reverse), else UNAVAILABLE. Any thread.
class FileSystem {
public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<File>> open(const std::string& path) = 0;
  /// A new, empty file. ALREADY_EXISTS.
  virtual Result<std::unique_ptr<File>> create(const std::string& path) = 0;
  /// A file that is there or not yet, to put more behind what it has.
  virtual Result<std::unique_ptr<File>> open_to_append(const std::string& path) = 0;
  /// At once for whoever looks; a file at `to` is replaced. Outlives the machine's sudden end only
  /// after sync_folder.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Names that were made, renamed or removed in the folder outlive the machine's sudden end.
  virtual Status sync_folder(const std::string& path) = 0;
  /// ok if it is there already.
  virtual Status make_folder(const std::string& path) = 0;
  /// Only if it is empty.
  virtual Status remove_folder(const std::string& path) = 0;
  /// Names of the files in the folder, sorted; without folders.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  /// Names of the folders in the folder, sorted.
  virtual Result<std::vector<std::string>> list_folders(const std::string& path) = 0;
  virtual bool is_folder(const std::string& path) = 0;
  /// The absolute path without links and dots; what is not there is taken as it is written.
  virtual Result<std::string> resolve(const std::string& path) = 0;
};

/// Of the machine.
FileSystem& local_files();

} // namespace troupe
