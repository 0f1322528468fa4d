#include "storage/files/internal/file_value.hpp"

#include "core/base/random.hpp"

namespace troupe {
namespace {

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
  LocalWriter(FileSystem& files, FilePlace to, std::string beside, std::unique_ptr<File> file)
      : files_(files), to_(std::move(to)), beside_(std::move(beside)), file_(std::move(file)) {}
  LocalWriter(const LocalWriter&) = delete;
  LocalWriter& operator=(const LocalWriter&) = delete;
  ~LocalWriter() override {
    file_.reset();
    if (!renamed_)
      (void)files_.remove(beside_); // else clear_unfinished does
  }

  Status append(std::span<const std::byte> bytes) override {
    is_synced_ = false;
    if (status_.ok())
      status_ = file_ ? file_->append(bytes) : done_already();
    return status_;
  }

  Status prepare() override {
    if (!file_)
      return done_already();
    if (status_.ok() && !is_synced_)
      status_ = file_->sync();
    is_synced_ = true;
    return status_;
  }

  Status commit() override {
    if (!file_)
      return done_already();
    (void)prepare();
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
  FilePlace to_;
  std::string beside_;
  std::unique_ptr<File> file_; ///< null once committed
  bool renamed_ = false, is_synced_ = false;
  Status status_;
};

} // namespace

Result<std::unique_ptr<StorageReader>> read_file_value(FileSystem& files, const std::string& path,
                                                       std::string name) {
  TROUPE_ASSIGN(auto file, files.open(path));
  TROUPE_ASSIGN(std::uint64_t size, file->size());
  return Result<std::unique_ptr<StorageReader>>(
      std::make_unique<LocalReader>(std::move(file), size, std::move(name)));
}

Result<std::unique_ptr<StorageWriter>> write_file_value(FileSystem& files, FilePlace to) {
  std::string beside = str_cat(to.folder, "/", unfinished_prefix, random_id());
  TROUPE_ASSIGN(auto file, files.create(beside));
  return Result<std::unique_ptr<StorageWriter>>(
      std::make_unique<LocalWriter>(files, std::move(to), std::move(beside), std::move(file)));
}

Status rename_file_value(FileSystem& files, const FilePlace& from, const FilePlace& to) {
  TROUPE_TRY(files.rename(from.path(), to.path()));
  TROUPE_TRY(files.sync_folder(to.folder));
  return from.folder == to.folder ? Status{} : files.sync_folder(from.folder);
}

} // namespace troupe
