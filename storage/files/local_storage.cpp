#include "core/base/strings.hpp"
#include "storage/files/file_system.hpp"
#include "storage/files/internal/file_value.hpp"
#include "storage/files/storage.hpp"

namespace troupe {

Result<std::string> Storage::get(std::string_view name, std::uint64_t most) {
  TROUPE_ASSIGN(auto reader, open(name));
  if (reader->size() > most)
    return Status(Code::resource_exhausted,
                  str_cat("'", name, "' has ", reader->size(), " bytes, more than the ", most,
                          " that are wanted of it"));
  std::string out(static_cast<std::size_t>(reader->size()), '\0');
  TROUPE_TRY(reader->read(0, std::as_writable_bytes(std::span(out))));
  return out;
}

Status Storage::put(std::string_view name, std::string_view value) {
  TROUPE_ASSIGN(auto writer, write(name));
  TROUPE_TRY(writer->append(std::as_bytes(std::span(value))));
  return writer->commit();
}

namespace {

constexpr std::size_t longest_name = 512;

Status check_name(std::string_view name) {
  auto is_plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  bool good = !name.empty() && name.size() <= longest_name;
  for (std::string_view part : str_split(name, '/')) {
    good = good && !part.empty() && part[0] != '.';
    for (char c : part)
      good = good && is_plain(static_cast<unsigned char>(c));
  }
  if (good)
    return {};
  return invalid_argument(
      str_cat("'", name.substr(0, longest_name),
              "' is no name for a value; use letters, digits, '.', '_', '-' and '/', at most ",
              longest_name, " bytes, and no part that begins with '.'"));
}

class LocalStorage final : public Storage {
public:
  LocalStorage(std::string root, FileSystem& files) : root_(std::move(root)), files_(files) {}

  Result<std::unique_ptr<StorageReader>> open(std::string_view name) override {
    TROUPE_ASSIGN(const FilePlace place, place_of(name));
    return read_file_value(files_, place.path(), std::string(name));
  }

  Result<std::unique_ptr<StorageWriter>> write(std::string_view name) override {
    TROUPE_ASSIGN(FilePlace place, place_of(name));
    TROUPE_TRY(make_folders(name));
    return write_file_value(files_, std::move(place));
  }

  Status rename(std::string_view from, std::string_view to) override {
    TROUPE_ASSIGN(const FilePlace old, place_of(from));
    TROUPE_ASSIGN(const FilePlace place, place_of(to));
    TROUPE_TRY(make_folders(to));
    return rename_file_value(files_, old, place);
  }

  Status remove(std::string_view name) override {
    TROUPE_ASSIGN(const FilePlace place, place_of(name));
    TROUPE_TRY(files_.remove(place.path()));
    return files_.sync_folder(place.folder);
  }

  Result<std::vector<std::string>> list(std::string_view folder) override {
    if (!folder.empty())
      TROUPE_TRY(check_name(folder));
    TROUPE_ASSIGN(auto names, files_.list(path_of(folder)));
    std::erase_if(names, [](const std::string& name) { return !check_name(name).ok(); });
    return names;
  }

  Status clear_unfinished(std::string_view folder) override {
    if (!folder.empty())
      TROUPE_TRY(check_name(folder));
    TROUPE_ASSIGN(auto names, files_.list(path_of(folder)));
    for (const std::string& name : names)
      if (name.starts_with(unfinished_prefix))
        TROUPE_TRY(files_.remove(str_cat(path_of(folder), "/", name)));
    return {};
  }

private:
  std::string path_of(std::string_view folder) const {
    return folder.empty() ? root_ : str_cat(root_, "/", folder);
  }

  Result<FilePlace> place_of(std::string_view name) const {
    TROUPE_TRY(check_name(name));
    const std::size_t slash = name.rfind('/');
    if (slash == std::string_view::npos)
      return FilePlace{root_, std::string(name)};
    return FilePlace{str_cat(root_, "/", name.substr(0, slash)),
                     std::string(name.substr(slash + 1))};
  }

  // A new folder's name is part of the folder above.
  Status make_folders(std::string_view name) {
    for (std::size_t slash = name.find('/'); slash != std::string_view::npos;
         slash = name.find('/', slash + 1)) {
      const std::string folder = str_cat(root_, "/", name.substr(0, slash));
      TROUPE_TRY(files_.make_folder(folder));
      TROUPE_TRY(files_.sync_folder(folder.substr(0, folder.rfind('/'))));
    }
    return {};
  }

  std::string root_;
  FileSystem& files_;
};

} // namespace

std::unique_ptr<Storage> make_local_storage(std::string root, FileSystem& files) {
  return std::make_unique<LocalStorage>(std::move(root), files);
}

} // namespace troupe
