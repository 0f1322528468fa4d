// Values in files: written beside their place, synced, renamed, and their folder synced.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/strings.hpp"
#include "storage/files/file_system.hpp"
#include "storage/files/storage.hpp"

namespace troupe {

/// What a value's file is called until it is committed: no value's name begins with a dot.
inline constexpr std::string_view unfinished_prefix = ".unfinished-";

struct FilePlace {
  std::string folder, file;
  std::string path() const { return str_cat(folder, "/", file); }
};

/// `name` is what errors call it.
Result<std::unique_ptr<StorageReader>> read_file_value(FileSystem& files, const std::string& path,
                                                       std::string name);
/// The folder is there.
Result<std::unique_ptr<StorageWriter>> write_file_value(FileSystem& files, FilePlace to);
Status rename_file_value(FileSystem& files, const FilePlace& from, const FilePlace& to);

} // namespace troupe
