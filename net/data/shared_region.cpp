#include "net/data/shared_region.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

namespace {

/// What fstatfs says of ordinary shared memory (linux/magic.h). In one of huge pages a write to a
/// hole ends the process when the system has none of them left.
constexpr long tmpfs = 0x01021994;
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Counter& regions() {
  static Counter& counted = counter("shared_regions");
  return counted;
}
Counter& bytes_in_use() {
  static Counter& counted = counter("shared_bytes");
  return counted;
}

/// A peer's descriptor: memory of `bytes` bytes that nobody can take away, opened for `access`.
Status check(int fd, std::uint64_t bytes, int access) {
  struct stat info {};
  struct statfs kind {};
  int present = ::fcntl(fd, F_GET_SEALS);
  int mode = ::fcntl(fd, F_GETFL);
  if (present < 0 || ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      ::fstatfs(fd, &kind) != 0 || kind.f_type != tmpfs)
    return failed_precondition("what it passed for shared memory is none");
  if ((present & F_SEAL_SHRINK) == 0 || (present & F_SEAL_GROW) == 0 ||
      (present & F_SEAL_WRITE) != 0 || (mode & O_ACCMODE) != access)
    return failed_precondition("its shared memory is not sealed as it should be");
  if (static_cast<std::uint64_t>(info.st_size) != bytes)
    return failed_precondition(
        str_cat("its shared memory has ", info.st_size, " bytes where it claims ", bytes));
  return {};
}

} // namespace

Result<std::shared_ptr<SharedRegion>> SharedRegion::make(std::uint64_t bytes, bool lends) {
  bytes = bytes / RangePool::page * RangePool::page;
  int fd = ::memfd_create("troupe-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return unavailable(str_cat("no shared memory can be made: ", std::strerror(errno)));
  void* base = MAP_FAILED;
  if (::ftruncate(fd, static_cast<off_t>(bytes)) == 0 && ::fcntl(fd, F_ADD_SEALS, seals) == 0)
    base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) {
    int why = errno;
    ::close(fd);
    return unavailable(str_cat(bytes, " bytes of shared memory cannot be had: ", std::strerror(why),
                               "; is `ulimit -v` or `ulimit -f` set?"));
  }
  std::uint64_t lent_bytes = lends && bytes > LentSlots::bytes ? LentSlots::bytes : 0;
  return std::shared_ptr<SharedRegion>(
      new SharedRegion(fd, static_cast<std::byte*>(base), bytes, lent_bytes));
}

std::uint64_t SharedRegion::default_bytes() {
  auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L << 18));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

SharedRegion::SharedRegion(int fd, std::byte* base, std::uint64_t bytes, std::uint64_t lent_bytes)
    : fd_(fd), base_(base), bytes_(bytes), lent_bytes_(lent_bytes), ranges_(bytes - lent_bytes) {
  regions().add(1);
}

SharedRegion::~SharedRegion() {
  if (const std::byte* seen = seen_.load(std::memory_order_acquire))
    ::munmap(const_cast<std::byte*>(seen), seen_bytes_);
  if (seeing_fd_ >= 0)
    ::close(seeing_fd_); // the lock goes with it, or with the process
  ::munmap(base_, bytes_);
  ::close(fd_);
  regions().add(-1);
}

Status SharedRegion::charge(std::uint64_t bytes, const std::shared_ptr<MemoryLimit>& limit) {
  if (limit && !limit->charge(bytes))
    return resource_exhausted(
        str_cat("a tensor of ", bytes, " bytes cannot be taken in: ", limit->refusal()));
  return {};
}

Result<BufferRef> SharedRegion::claim(std::uint64_t number, std::uint64_t bytes,
                                      const std::shared_ptr<MemoryLimit>& limit) {
  LentSlots slots(base_);
  if (lent_bytes_ == 0 || !slots.claim(number, bytes))
    return aborted("a value that a peer had written into the memory lent to it is no longer "
                   "there: its step has ended, or the path that it came by has broken");
  if (Status charged = charge(bytes, limit); !charged.ok()) {
    slots.release(number);
    return charged;
  }
  bytes_in_use().add(static_cast<std::int64_t>(bytes));
  auto release = [self = shared_from_this(), slots, number, bytes, limit](void*) mutable {
    slots.release(number);
    if (limit)
      limit->discharge(bytes);
    bytes_in_use().add(-static_cast<std::int64_t>(bytes));
  };
  return Buffer::wrap(base_ + LentSlots::offset_of(number), bytes, std::move(release));
}

Result<SharedRegion::Range> SharedRegion::allocate(std::uint64_t bytes,
                                                   const std::shared_ptr<MemoryLimit>& limit) {
  TROUPE_TRY(charge(bytes, limit));
  std::optional<std::uint64_t> offset;
  {
    std::scoped_lock guard(lock_);
    offset = ranges_.take(bytes);
  }
  if (!offset) {
    if (limit)
      limit->discharge(bytes);
    return resource_exhausted(str_cat("a tensor of ", bytes,
                                      " bytes cannot be taken in: ", in_use(), " of the ", bytes_,
                                      " bytes for its sender are in use"));
  }
  bytes_in_use().add(static_cast<std::int64_t>(bytes));
  auto release = [self = shared_from_this(), offset = *offset, bytes, limit](void*) {
    {
      std::scoped_lock guard(self->lock_);
      self->ranges_.give_back(offset, bytes);
    }
    if (limit)
      limit->discharge(bytes);
    bytes_in_use().add(-static_cast<std::int64_t>(bytes));
  };
  std::uint64_t at = lent_bytes_ + *offset;
  return Range{at, Buffer::wrap(base_ + at, bytes, std::move(release))};
}

Status SharedRegion::see(int fd, std::uint64_t bytes) {
  // It is on our machine, and needs no more of our addresses than one of ours of its.
  Status checked = bytes <= default_bytes()
                       ? check(fd, bytes, O_RDONLY)
                       : failed_precondition(str_cat("it claims ", bytes, " bytes of memory"));
  void* base = MAP_FAILED;
  if (checked.ok())
    base = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (checked.ok() && base == MAP_FAILED)
    checked = unavailable(str_cat(bytes, " bytes of a peer's memory cannot be mapped: ",
                                  std::strerror(errno), "; is `ulimit -v` set?"));
  ::close(fd); // a mapping needs it no longer
  TROUPE_TRY(checked);
  // A lock goes with its holder, however that ends. On a description of its own: the peer has the
  // region's.
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  seeing_fd_ = ::open(str_cat("/proc/self/fd/", fd_).c_str(), O_RDWR | O_CLOEXEC);
  if (seeing_fd_ < 0 || ::fcntl(seeing_fd_, F_OFD_SETLK, &lock) != 0) {
    ::munmap(base, bytes);
    return unavailable(
        str_cat("a peer cannot be told what is read of its memory: ", std::strerror(errno)));
  }
  seen_bytes_ = bytes;
  seen_.store(static_cast<const std::byte*>(base), std::memory_order_release);
  LentSlots(base_).see_sender();
  return {};
}

int SharedRegion::read_only_fd() const {
  return ::open(str_cat("/proc/self/fd/", fd_).c_str(), O_RDONLY | O_CLOEXEC);
}

Result<BufferRef> SharedRegion::claim_shown(std::uint64_t number, std::uint64_t offset,
                                            std::uint64_t bytes) {
  LentSlots slots(base_);
  const std::byte* seen = seen_.load(std::memory_order_acquire);
  // Kernels count on a tensor's alignment, whoever says where it lies.
  if (!seen || offset % Allocator::alignment != 0 || offset > seen_bytes_ ||
      bytes > seen_bytes_ - offset || !slots.claim(number, 1))
    return aborted("a variable's value that a peer had shown in its memory is no longer there: its "
                   "step has ended, or the path that it came by has broken");
  auto release = [self = shared_from_this(), slots, number](void*) mutable {
    slots.release(number);
  };
  return Buffer::wrap_read_only(seen + offset, bytes, std::move(release));
}

void SharedRegion::trim() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> cold;
  std::scoped_lock guard(lock_); // nobody may take what is being dropped
  std::uint64_t peak = ranges_.take_peak();
  std::uint64_t wanted = std::max(peak, std::exchange(last_peak_, peak));
  cold = ranges_.cool(wanted - std::min(wanted, ranges_.in_use()));
  for (auto [offset, length] : cold)
    drop_pages(lent_bytes_ + offset, length);
  if (lent_bytes_ > 0)
    LentSlots(base_).trim(seen_slots_, [this](std::uint64_t offset, std::uint64_t length) {
      drop_pages(offset, length);
    });
}

void SharedRegion::drop_pages(std::uint64_t offset, std::uint64_t length) const {
  ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(length));
}

std::uint64_t SharedRegion::in_use() const {
  std::scoped_lock guard(lock_);
  return ranges_.in_use();
}

std::uint64_t SharedRegion::kept() const {
  std::scoped_lock guard(lock_);
  return ranges_.warm();
}

Result<std::shared_ptr<ForeignRegion>> ForeignRegion::adopt(int fd, std::uint64_t bytes,
                                                            std::uint64_t lent_bytes) {
  std::shared_ptr<ForeignRegion> out(new ForeignRegion(fd, bytes));
  TROUPE_TRY(check(fd, bytes, O_RDWR));
  if (lent_bytes != 0 && (lent_bytes != LentSlots::bytes || lent_bytes > bytes))
    return failed_precondition(
        str_cat("it lends ", lent_bytes, " of the ", bytes, " bytes of its shared memory"));
  std::uint64_t length = std::min(bytes, lent_bytes + window);
  void* mapped = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (mapped != MAP_FAILED) { // without it everything goes through the descriptor
    out->mapped_ = static_cast<std::byte*>(mapped);
    out->mapped_bytes_ = length;
  }
  return out;
}

ForeignRegion::~ForeignRegion() {
  if (mapped_)
    ::munmap(mapped_, mapped_bytes_);
  ::close(fd_);
}

bool ForeignRegion::is_seeing() const {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

Status ForeignRegion::write(std::uint64_t offset, const void* from, std::uint64_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    if (offset < mapped_bytes_) {
      std::uint64_t length = std::min(bytes, mapped_bytes_ - offset);
      std::memcpy(mapped_ + offset, at, length);
      at += length;
      offset += length;
      bytes -= length;
      continue;
    }
    ssize_t done = ::pwrite(fd_, at, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return resource_exhausted(str_cat("writing into a peer's shared memory: ",
                                        done < 0 ? std::strerror(errno) : "its end"));
    at += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
  return {};
}

} // namespace troupe
