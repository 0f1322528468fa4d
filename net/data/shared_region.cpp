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

void* map(int fd, std::uint64_t offset, std::uint64_t length, int access) {
  return ::mmap(nullptr, length, access, MAP_SHARED | MAP_NORESERVE, fd,
                static_cast<off_t>(offset));
}

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + RangePool::page - 1) / RangePool::page * RangePool::page;
}

} // namespace

// Of a chunk of the sender's memory of `bytes` bytes: what begins in it is in its mapping.
std::uint64_t SharedRegion::seen_length(std::uint64_t begin, std::uint64_t bytes) {
  return std::min(seen_chunk + LentSlots::max_value, bytes - begin);
}

Result<std::shared_ptr<SharedRegion>> SharedRegion::make(std::uint64_t bytes, bool lends) {
  bytes = bytes / RangePool::page * RangePool::page;
  int fd = ::memfd_create("troupe-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return unavailable(str_cat("no shared memory can be made: ", std::strerror(errno)));
  const std::uint64_t length = std::min(bytes, first_segment);
  void* base = MAP_FAILED;
  if (::ftruncate(fd, static_cast<off_t>(bytes)) == 0 && ::fcntl(fd, F_ADD_SEALS, seals) == 0)
    base = map(fd, 0, length, PROT_READ | PROT_WRITE);
  if (base == MAP_FAILED) {
    int why = errno;
    ::close(fd);
    return unavailable(str_cat(bytes, " bytes of shared memory cannot be had: ", std::strerror(why),
                               "; is `ulimit -v` or `ulimit -f` set?"));
  }
  std::uint64_t lent_bytes = lends && bytes > LentSlots::bytes ? LentSlots::bytes : 0;
  return std::shared_ptr<SharedRegion>(
      new SharedRegion(fd, {static_cast<std::byte*>(base), 0, length}, bytes, lent_bytes));
}

std::uint64_t SharedRegion::default_bytes() {
  auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L << 18));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

SharedRegion::SharedRegion(int fd, Segment first, std::uint64_t bytes, std::uint64_t lent_bytes)
    : fd_(fd), bytes_(bytes), lent_bytes_(lent_bytes), ranges_(first.length - lent_bytes) {
  segments_[0] = first;
  regions().add(1);
}

SharedRegion::~SharedRegion() {
  for (std::uint64_t at = 0; at < seen_bytes_; at += seen_chunk)
    if (const std::byte* chunk = seen_[at / seen_chunk])
      ::munmap(const_cast<std::byte*>(chunk), seen_length(at, seen_bytes_));
  for (int fd : {seen_fd_, seeing_fd_}) // the lock goes with it, or with the process
    if (fd >= 0)
      ::close(fd);
  for (std::size_t i = 0; i < num_segments_; ++i)
    ::munmap(segments_[i].base, segments_[i].length);
  ::close(fd_);
  regions().add(-1);
}

// Room for `bytes` more in one piece; false when the file or the addresses end. With the lock.
bool SharedRegion::grow(std::uint64_t bytes) {
  const std::size_t count = num_segments_.load(std::memory_order_relaxed);
  const Segment& last = segments_[count - 1];
  const std::uint64_t offset = last.offset + last.length + RangePool::page;
  const std::uint64_t wanted = whole_pages(bytes), left = bytes_ - std::min(bytes_, offset);
  if (count == max_segments || wanted < bytes || wanted > left)
    return false;
  std::uint64_t length =
      std::min(std::max(wanted, whole_pages((last.offset + last.length) / 2)), left);
  void* base = map(fd_, offset, length, PROT_READ | PROT_WRITE);
  if (base == MAP_FAILED && length > wanted)
    base = map(fd_, offset, length = wanted, PROT_READ | PROT_WRITE);
  if (base == MAP_FAILED)
    return false;
  segments_[count] = {static_cast<std::byte*>(base), offset, length};
  num_segments_.store(count + 1, std::memory_order_release);
  ranges_.add(offset - lent_bytes_, length);
  return true;
}

// Those at the end, for one that is larger than each of them. With the lock.
void SharedRegion::drop_free_segments() {
  for (std::size_t count = num_segments_; count > 1; --count) {
    const Segment& last = segments_[count - 1];
    if (!ranges_.remove(last.offset - lent_bytes_, last.length))
      return;
    num_segments_.store(count - 1, std::memory_order_release);
    drop_pages(last.offset, last.length);
    ::munmap(last.base, last.length);
  }
}

std::optional<std::uint64_t> SharedRegion::offset_of(const void* data) const {
  const std::size_t count = num_segments_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    if (auto distance = reinterpret_cast<std::uintptr_t>(data) -
                        reinterpret_cast<std::uintptr_t>(segments_[i].base);
        distance < segments_[i].length)
      return segments_[i].offset + distance;
  return std::nullopt;
}

std::uint64_t SharedRegion::mapped() const {
  std::scoped_lock guard(lock_);
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < num_segments_; ++i)
    out += segments_[i].length;
  const std::uint64_t seen_bytes = seen_bytes_.load(std::memory_order_acquire);
  for (std::uint64_t at = 0; at < seen_bytes; at += seen_chunk)
    out += seen_[at / seen_chunk] ? seen_length(at, seen_bytes) : 0;
  return out;
}

Status SharedRegion::charge(std::uint64_t bytes, const std::shared_ptr<MemoryLimit>& limit) {
  if (limit && !limit->charge(bytes))
    return resource_exhausted(
        str_cat("a tensor of ", bytes, " bytes cannot be taken in: ", limit->refusal()));
  return {};
}

Result<BufferRef> SharedRegion::claim(std::uint64_t number, std::uint64_t bytes,
                                      const std::shared_ptr<MemoryLimit>& limit) {
  LentSlots slots(base());
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
  return Buffer::wrap(base() + LentSlots::offset_of(number), bytes, std::move(release));
}

Result<SharedRegion::Range> SharedRegion::allocate(std::uint64_t bytes,
                                                   const std::shared_ptr<MemoryLimit>& limit) {
  TROUPE_TRY(charge(bytes, limit));
  std::optional<std::uint64_t> offset;
  std::byte* memory = nullptr;
  {
    std::scoped_lock guard(lock_);
    offset = ranges_.take(bytes);
    if (!offset && bytes <= bytes_) {
      // Of memory that peers see, where all values are small, no segment goes: offset_of() reads
      // them.
      if (!grow(bytes) && bytes > LentSlots::max_value) {
        drop_free_segments();
        grow(bytes);
      }
      offset = ranges_.take(bytes);
    }
    const std::uint64_t at = lent_bytes_ + offset.value_or(0);
    for (std::size_t i = num_segments_; offset && !memory; --i)
      if (const Segment& segment = segments_[i - 1]; segment.offset <= at)
        memory = segment.base + (at - segment.offset);
  }
  if (!offset) {
    if (limit)
      limit->discharge(bytes);
    return resource_exhausted(str_cat("a tensor of ", bytes,
                                      " bytes cannot be taken in: ", in_use(), " of the ", bytes_,
                                      " bytes for its sender are in use, or `ulimit -v` leaves no "
                                      "addresses for it"));
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
  return Range{lent_bytes_ + *offset, Buffer::wrap(memory, bytes, std::move(release))};
}

Status SharedRegion::see(int fd, std::uint64_t bytes) {
  // It is on our machine, and no larger than one of ours.
  Status checked = bytes <= default_bytes()
                       ? check(fd, bytes, O_RDONLY)
                       : failed_precondition(str_cat("it claims ", bytes, " bytes of memory"));
  if (!checked.ok()) {
    ::close(fd);
    return checked;
  }
  seen_fd_ = fd;
  // A lock goes with its holder, however that ends. On a description of its own: the peer has the
  // region's.
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  seeing_fd_ = ::open(str_cat("/proc/self/fd/", fd_).c_str(), O_RDWR | O_CLOEXEC);
  if (seeing_fd_ < 0 || ::fcntl(seeing_fd_, F_OFD_SETLK, &lock) != 0)
    return unavailable(
        str_cat("a peer cannot be told what is read of its memory: ", std::strerror(errno)));
  seen_.reset(new std::atomic<const std::byte*>[(bytes + seen_chunk - 1) / seen_chunk]());
  seen_bytes_.store(bytes, std::memory_order_release);
  LentSlots(base()).see_sender();
  return {};
}

// Where the sender's byte at `offset` lies here; null when there are no addresses for it.
const std::byte* SharedRegion::map_seen(std::uint64_t offset) {
  const std::uint64_t begin = offset / seen_chunk * seen_chunk;
  std::atomic<const std::byte*>& chunk = seen_[offset / seen_chunk];
  const std::byte* base = chunk.load(std::memory_order_acquire);
  if (!base) {
    std::scoped_lock guard(lock_);
    base = chunk.load(std::memory_order_relaxed);
    if (!base) {
      void* mapped = map(seen_fd_, begin, seen_length(begin, seen_bytes_), PROT_READ);
      if (mapped == MAP_FAILED)
        return nullptr;
      base = static_cast<const std::byte*>(mapped);
      chunk.store(base, std::memory_order_release);
    }
  }
  return base + (offset - begin);
}

int SharedRegion::read_only_fd() const {
  return ::open(str_cat("/proc/self/fd/", fd_).c_str(), O_RDONLY | O_CLOEXEC);
}

Result<BufferRef> SharedRegion::claim_shown(std::uint64_t number, std::uint64_t offset,
                                            std::uint64_t bytes) {
  LentSlots slots(base());
  const std::uint64_t seen_bytes = seen_bytes_.load(std::memory_order_acquire);
  // Kernels count on a tensor's alignment, whoever says where it lies.
  if (offset % Allocator::alignment != 0 || offset >= seen_bytes || bytes > seen_bytes - offset ||
      bytes > LentSlots::max_value || !slots.claim(number, 1))
    return aborted("a variable's value that a peer had shown in its memory is no longer there: its "
                   "step has ended, or the path that it came by has broken");
  const std::byte* value = map_seen(offset);
  if (!value) {
    slots.release(number);
    return resource_exhausted("a variable's value in a peer's memory cannot be mapped: no more "
                              "addresses are to be had; is `ulimit -v` set?");
  }
  auto release = [self = shared_from_this(), slots, number](void*) mutable {
    slots.release(number);
  };
  return Buffer::wrap_read_only(value, bytes, std::move(release));
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
    LentSlots(base()).trim(seen_slots_, [this](std::uint64_t offset, std::uint64_t length) {
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
