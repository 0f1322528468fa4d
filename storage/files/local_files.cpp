// FileSystem over POSIX calls.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/strings.hpp"
#include "storage/files/file_system.hpp"

namespace troupe {
namespace {

Code code_of(int error) {
  switch (error) {
  case ENOENT:
    return Code::not_found;
  case EACCES:
  case EPERM:
  case EROFS:
    return Code::permission_denied;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return Code::resource_exhausted;
  case EEXIST:
    return Code::already_exists;
  case EISDIR:
  case ENOTDIR:
  case ENAMETOOLONG:
  case ELOOP:
    return Code::failed_precondition;
  default:
    return Code::unavailable;
  }
}

Status failed(std::string_view what, const std::string& path, int error = errno) {
  return Status(code_of(error), str_cat("cannot ", what, " '", path, "': ", std::strerror(error)));
}

template <class Call>
auto retried(Call call) {
  auto out = call();
  while (out < 0 && errno == EINTR)
    out = call();
  return out;
}

class LocalFile final : public File {
public:
  LocalFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;
  ~LocalFile() override { ::close(fd_); }

  Status append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = retried([&] { return ::write(fd_, bytes.data(), bytes.size()); });
      if (written < 0)
        return failed("write", path_);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      unstarted_ += written;
      if (unstarted_ >= write_back_bytes)
        start_write_back();
    }
    return {};
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = retried([&] {
        return ::pread(fd_, out.data() + done, out.size() - done,
                       static_cast<off_t>(offset + done));
      });
      if (got < 0)
        return failed("read", path_);
      if (got == 0)
        break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Result<std::uint64_t> size() override {
    struct stat info {};
    if (::fstat(fd_, &info) < 0)
      return failed("look at", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }

  Status sync() override {
    return retried([&] { return ::fsync(fd_); }) < 0 ? failed("sync", path_) : Status{};
  }

private:
  static constexpr std::int64_t write_back_bytes = std::int64_t{16} << 20;

  // The disk works while more is computed, so that sync() finds little left. A hint: it may do
  // nothing.
  void start_write_back() {
    const off_t end = ::lseek(fd_, 0, SEEK_CUR);
    if (end >= unstarted_)
      (void)::sync_file_range(fd_, end - unstarted_, unstarted_, SYNC_FILE_RANGE_WRITE);
    unstarted_ = 0;
  }

  int fd_;
  std::string path_;
  std::int64_t unstarted_ = 0; ///< bytes written last, of which the disk has not been told
};

Result<std::unique_ptr<File>> open_file(const std::string& path, int flags, std::string_view what) {
  const int fd = retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (fd < 0)
    return failed(what, path);
  auto file = std::make_unique<LocalFile>(fd, path);
  struct stat info {};
  if (::fstat(fd, &info) < 0)
    return failed("look at", path);
  if (S_ISDIR(info.st_mode))
    return failed(what, path, EISDIR);
  return Result<std::unique_ptr<File>>(std::move(file));
}

class LocalFiles final : public FileSystem {
public:
  Result<std::unique_ptr<File>> open(const std::string& path) override {
    return open_file(path, O_RDONLY, "open");
  }

  Result<std::unique_ptr<File>> create(const std::string& path) override {
    return open_file(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, "create");
  }

  Result<std::unique_ptr<File>> open_to_append(const std::string& path) override {
    return open_file(path, O_RDWR | O_CREAT | O_APPEND, "append to");
  }

  Status rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) < 0 ? failed(str_cat("rename '", from, "' to"), to)
                                                  : Status{};
  }

  Status remove(const std::string& path) override {
    return ::unlink(path.c_str()) < 0 ? failed("remove", path) : Status{};
  }

  Status sync_folder(const std::string& path) override {
    const int fd =
        retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (fd < 0)
      return failed("open the folder", path);
    Status out;
    if (retried([&] { return ::fsync(fd); }) < 0)
      out = failed("sync the folder", path);
    ::close(fd);
    return out;
  }

  Status make_folder(const std::string& path) override {
    if (::mkdir(path.c_str(), 0777) == 0)
      return {};
    const int error = errno;
    struct stat info {};
    if (error == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      return {};
    return failed("make the folder", path, error == EEXIST ? ENOTDIR : error);
  }

  Status remove_folder(const std::string& path) override {
    return ::rmdir(path.c_str()) < 0 ? failed("remove the folder", path) : Status{};
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    return names(path, S_IFREG);
  }

  Result<std::vector<std::string>> list_folders(const std::string& path) override {
    return names(path, S_IFDIR);
  }

  bool is_folder(const std::string& path) override {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }

  Result<std::string> resolve(const std::string& path) override {
    std::error_code error;
    // Of a relative path nothing of which is there, weakly_canonical makes no absolute one.
    const auto absolute = std::filesystem::absolute(path, error);
    const auto out = error ? absolute : std::filesystem::weakly_canonical(absolute, error);
    if (error)
      return failed("resolve", path, error.value());
    return out.string();
  }

private:
  static Result<std::vector<std::string>> names(const std::string& path, mode_t kind) {
    std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
    if (!folder)
      return failed("list the folder", path);
    std::vector<std::string> out;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(folder.get());
      if (!entry)
        break;
      const std::string_view name = entry->d_name;
      struct stat info {};
      if (name != "." && name != ".." &&
          ::fstatat(::dirfd(folder.get()), entry->d_name, &info, 0) == 0 &&
          (info.st_mode & S_IFMT) == kind)
        out.emplace_back(name);
    }
    if (errno != 0)
      return failed("list the folder", path);
    std::ranges::sort(out);
    return out;
  }
};

} // namespace

FileSystem& local_files() {
  static LocalFiles files;
  return files;
}

} // namespace troupe
