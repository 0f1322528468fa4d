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

/// An error names the file that is to be, not the one beside it that its writer fills.
Status told_of(Status status, std::string_view beside, const FilePlace& to) {
  if (status.ok())
    return status;
  std::string text = status.message();
  if (const std::size_t at = text.find(beside); at != text.npos)
    text.replace(at, beside.size(), to.path());
  return Status(status.code(), std::move(text));
}

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
      status_ = file_ ? told_of(file_->append(bytes), beside_, to_) : done_already();
    return status_;
  }

  Status prepare() override {
    if (!file_)
      return done_already();
    if (status_.ok() && !is_synced_)
      status_ = told_of(file_->sync(), beside_, to_);
    is_synced_ = true;
    return status_;
  }

  Status commit() override {
    if (!file_)
      return done_already();
    (void)prepare();
    file_.reset();
    if (status_.ok())
      status_ = told_of(files_.rename(beside_, to_.path()), beside_, to_);
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
  auto file = files.create(beside);
  if (!file.ok())
    return told_of(file.status(), beside, to);
  return Result<std::unique_ptr<StorageWriter>>(
      std::make_unique<LocalWriter>(files, std::move(to), std::move(beside), *std::move(file)));
}

Status rename_file_value(FileSystem& files, const FilePlace& from, const FilePlace& to) {
  TROUPE_TRY(files.rename(from.path(), to.path()));
  TROUPE_TRY(files.sync_folder(to.folder));
  return from.folder == to.folder ? Status{} : files.sync_folder(from.folder);
}

} // namespace troupe
