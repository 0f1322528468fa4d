#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "storage/files/file_system.hpp"
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
/// What a value is called until it is committed: no name begins with a dot.
constexpr std::string_view unfinished = ".unfinished-";

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

struct Place {
  std::string folder, file;
  std::string path() const { return str_cat(folder, "/", file); }
};

class LocalReader final : public StorageReader {
public:
  LocalReader(std::unique_ptr<File> file, std::uint64_t size, std::string name)
      : file_(std::move(file)), size_(size), name_(std::move(name)) {}
  std::uint64_t size() const override { return size_; }
  Status read(std::uint64_t offset, std::span<std::byte> out) override {
    TROUPE_ASSIGN(std::size_t got, file_->read_at(offset, out));
    if (got == out.size())
      return {};
    return Status(Code::data_loss,
                  str_cat("'", name_, "' ends after ", offset + got, " bytes; bytes up to ",
                          offset + out.size(), " are wanted of it"));
  }

private:
  std::unique_ptr<File> file_;
  std::uint64_t size_;
  std::string name_;
};

class LocalWriter final : public StorageWriter {
public:
  LocalWriter(FileSystem& files, Place to, std::string beside, std::unique_ptr<File> file)
      : files_(files), to_(std::move(to)), beside_(std::move(beside)), file_(std::move(file)) {}
  LocalWriter(const LocalWriter&) = delete;
  LocalWriter& operator=(const LocalWriter&) = delete;
  ~LocalWriter() override {
    file_.reset();
    if (!renamed_)
      (void)files_.remove(beside_); // else clear_unfinished does
  }

  Status append(std::span<const std::byte> bytes) override {
    if (status_.ok())
      status_ = file_ ? file_->append(bytes) : done_already();
    return status_;
  }

  Status commit() override {
    if (!file_)
      return done_already();
    if (status_.ok())
      status_ = file_->sync();
    file_.reset();
    if (status_.ok())
      status_ = files_.rename(beside_, to_.path());
    if (!status_.ok())
      return status_;
    renamed_ = true;
    return status_ = files_.sync_folder(to_.folder);
  }

private:
  Status done_already() const {
    return failed_precondition(str_cat("the writer of '", to_.path(), "' is done"));
  }

  FileSystem& files_;
  Place to_;
  std::string beside_;
  std::unique_ptr<File> file_; ///< null once committed
  bool renamed_ = false;
  Status status_;
};

class LocalStorage final : public Storage {
public:
  LocalStorage(std::string root, FileSystem& files) : root_(std::move(root)), files_(files) {}

  Result<std::unique_ptr<StorageReader>> open(std::string_view name) override {
    TROUPE_ASSIGN(Place place, place_of(name));
    TROUPE_ASSIGN(auto file, files_.open(place.path()));
    TROUPE_ASSIGN(std::uint64_t size, file->size());
    return Result<std::unique_ptr<StorageReader>>(
        std::make_unique<LocalReader>(std::move(file), size, std::string(name)));
  }

  Result<std::unique_ptr<StorageWriter>> write(std::string_view name) override {
    TROUPE_ASSIGN(Place place, place_of(name));
    TROUPE_TRY(make_folders(name));
    std::string beside = str_cat(place.folder, "/", unfinished, random_id());
    TROUPE_ASSIGN(auto file, files_.create(beside));
    return Result<std::unique_ptr<StorageWriter>>(std::make_unique<LocalWriter>(
        files_, std::move(place), std::move(beside), std::move(file)));
  }

  Status remove(std::string_view name) override {
    TROUPE_ASSIGN(Place place, place_of(name));
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
      if (name.starts_with(unfinished))
        TROUPE_TRY(files_.remove(str_cat(path_of(folder), "/", name)));
    return {};
  }

private:
  std::string path_of(std::string_view folder) const {
    return folder.empty() ? root_ : str_cat(root_, "/", folder);
  }

  Result<Place> place_of(std::string_view name) const {
    TROUPE_TRY(check_name(name));
    const std::size_t slash = name.rfind('/');
    if (slash == std::string_view::npos)
      return Place{root_, std::string(name)};
    return Place{str_cat(root_, "/", name.substr(0, slash)), std::string(name.substr(slash + 1))};
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
