// AllowedFiles: the machine's files as graphs see them: below the folders that the node's owner
// allowed, and nowhere else.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "storage/files/storage.hpp"

namespace troupe {

class File;

/// A Storage whose names are paths: absolute, or relative to the process's working folder, with
/// "file://" before them or not. Every call looks first where the path leads: one that leads out
/// of the allowed folders, by parts ".." or through a link, is PERMISSION_DENIED with the remedy;
/// one of another scheme, such as "gs://", UNIMPLEMENTED. Whoever may make links in an allowed
/// folder may change one between the look and the use. Any thread.
class AllowedFiles final : public Storage {
public:
  /// `folders` are absolute or relative to the working folder. NOT_FOUND for one that is not there.
  /// `files` outlives it.
  static Result<std::shared_ptr<AllowedFiles>> make(const std::vector<std::string>& folders,
                                                    FileSystem& files);

  /// Files of any size, read where they are.
  Result<std::unique_ptr<StorageReader>> open(std::string_view path) override;
  /// Its folder has to be there.
  Result<std::unique_ptr<StorageWriter>> write(std::string_view path) override;
  Status rename(std::string_view from, std::string_view to) override;
  Status remove(std::string_view path) override;
  Result<std::vector<std::string>> list(std::string_view folder) override;
  Status clear_unfinished(std::string_view folder) override;

  /// A new file that is seen while it grows, such as a log. ALREADY_EXISTS.
  Result<std::unique_ptr<File>> create(std::string_view path);
  /// What is there stays, and `bytes` come behind it, in one piece; a new file if there was none.
  Status append_to(std::string_view path, std::string_view bytes);
  /// With the folders above it, as far as they are missing.
  Status make_folders(std::string_view path);
  /// Only if it is empty.
  Status remove_folder(std::string_view path);
  /// Whether a file or folder is there.
  Result<bool> exists(std::string_view path);
  /// False for what is not there, too.
  Result<bool> is_folder(std::string_view path);
  /// Paths of files and folders that match: '*', '?', '[a-z]' and '[^a]' within a part, '\' before
  /// a character that is meant. Sorted. At most `most` of them: then RESOURCE_EXHAUSTED.
  Result<std::vector<std::string>> match(std::string_view pattern, std::size_t most);

  const std::vector<std::string>& folders() const { return folders_; }

private:
  AllowedFiles(std::vector<std::string> folders, FileSystem& files)
      : folders_(std::move(folders)), files_(files) {}
  /// The path that it leads to.
  Result<std::string> resolve(std::string_view path) const;
  Status refuse(std::string_view path, std::string_view why) const;

  std::vector<std::string> folders_; ///< absolute, without links
  FileSystem& files_;
};

/// The part of a path before its last '/'; "." where there is none.
std::string folder_of_path(std::string_view path);
/// Whether a name of one part matches a pattern of one part.
bool matches_pattern(std::string_view name, std::string_view pattern);

} // namespace troupe
