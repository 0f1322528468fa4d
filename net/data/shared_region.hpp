// SharedRegion: memory in which the tensors of one peer arrive. The receiver makes it, and the
// sender writes into it through a file descriptor. The bytes that arrive are the tensor's own
// memory: nothing is copied.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/status.hpp"
#include "core/tensor/buffer.hpp"
#include "net/data/lent_slots.hpp"
#include "net/data/range_pool.hpp"

namespace troupe {

/// A bound on the memory of tensors. Any thread; outlives every tensor that was charged to it.
class MemoryLimit {
public:
  virtual ~MemoryLimit() = default;
  /// False when there is no room for `bytes` more.
  virtual bool charge(std::size_t bytes) = 0;
  virtual void discharge(std::size_t bytes) = 0;
  /// Why there was none, with the remedy: the end of a sentence.
  virtual std::string refusal() const = 0;
};

/// An anonymous file (memfd), sealed so that nobody can shrink or grow it. It is sparse: only pages
/// that were written take memory, and they are gone with the last process that holds it. It takes
/// addresses as it is used: one mapping at first, another half as large as all before, or as the
/// tensor that asks, when there is no room. Any thread.
class SharedRegion : public std::enable_shared_from_this<SharedRegion> {
public:
  /// A file of `bytes` bytes; with `lends` they begin with LentSlots, which the sender fills
  /// unasked. UNAVAILABLE with the system's reason.
  static Result<std::shared_ptr<SharedRegion>> make(std::uint64_t bytes, bool lends = false);
  /// As large as the machine's memory, which one peer's tensors can never exceed.
  static std::uint64_t default_bytes();
  ~SharedRegion();

  int fd() const { return fd_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t lent_bytes() const { return lent_bytes_; } ///< 0 or LentSlots::bytes

  struct Range {
    std::uint64_t offset = 0;
    BufferRef buffer; ///< gives the range back when its last reference goes
  };
  /// Memory for a tensor, counted against `limit`, if there is one, as long as it lives.
  /// RESOURCE_EXHAUSTED with the reason when the limit or the region has no room.
  Result<Range> allocate(std::uint64_t bytes, const std::shared_ptr<MemoryLimit>& limit = nullptr);
  /// The value that the sender has placed under `number`; its last reference gives the slots back.
  /// ABORTED when there is none of `bytes` bytes (any more).
  Result<BufferRef> claim(std::uint64_t number, std::uint64_t bytes,
                          const std::shared_ptr<MemoryLimit>& limit = nullptr);

  /// A value that the sender shows in its own memory, at `offset`, under `number`; its last
  /// reference tells the sender that it is no longer read. ABORTED when it is no longer there.
  Result<BufferRef> claim_shown(std::uint64_t number, std::uint64_t offset, std::uint64_t bytes);
  /// The sender's own memory, to be read; takes `fd`. From now on the sender may show values in it.
  /// FAILED_PRECONDITION unless it is memory of `bytes` bytes that nobody can take away;
  /// UNAVAILABLE when it cannot be mapped. Once.
  Status see(int fd, std::uint64_t bytes);
  /// The lent bytes.
  std::byte* base() const { return segments_[0].base; }
  /// Where in the file a tensor of this region lies; nothing for other memory.
  std::optional<std::uint64_t> offset_of(const void* data) const;
  std::uint64_t mapped() const; ///< bytes of address space that it takes, the sender's memory too
  /// A descriptor that can only read; -1 when the system gives none. The caller's.
  int read_only_fd() const;

  /// Gives back to the system the pages that were not needed at the peaks before the last two
  /// calls. To be called every few seconds.
  void trim();
  std::uint64_t in_use() const;
  std::uint64_t kept() const; ///< free, with their pages

  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

private:
  /// A mapped part of the file. Between two lies a page that nobody takes, so that each tensor lies
  /// in one.
  struct Segment {
    std::byte* base = nullptr;
    std::uint64_t offset = 0, length = 0;
  };
  static constexpr std::uint64_t first_segment = std::uint64_t{64} << 20;
  /// Each is half as large as all before, but for the last.
  static constexpr std::size_t max_segments = 64;
  /// What is mapped of the sender's memory for a value there: where it begins, and a value more.
  static constexpr std::uint64_t seen_chunk = std::uint64_t{64} << 20;

  SharedRegion(int fd, Segment first, std::uint64_t bytes, std::uint64_t lent_bytes);
  static std::uint64_t seen_length(std::uint64_t begin, std::uint64_t bytes);
  bool grow(std::uint64_t bytes);
  void drop_free_segments();
  const std::byte* map_seen(std::uint64_t offset);
  static Status charge(std::uint64_t bytes, const std::shared_ptr<MemoryLimit>& limit);
  void drop_pages(std::uint64_t offset, std::uint64_t length) const;

  int fd_;
  std::uint64_t bytes_;
  std::uint64_t lent_bytes_;
  mutable std::mutex lock_;
  RangePool ranges_; // of what is mapped above the lent bytes, counted from there
  std::array<Segment, max_segments> segments_; // written before num_segments_ says so
  std::atomic<std::size_t> num_segments_ = 1;
  LentSlots::Seen seen_slots_{};
  std::uint64_t last_peak_ = 0;
  // The sender's own memory: by chunk, null where nothing was read yet.
  std::unique_ptr<std::atomic<const std::byte*>[]> seen_;
  std::atomic<std::uint64_t> seen_bytes_ = 0; // written after seen_ and seen_fd_; 0: it is not seen
  int seen_fd_ = -1;
  int seeing_fd_ = -1; // its lock tells the sender that we may still read there
};

/// The sender's side of a region. One thread, except for the lent bytes.
///
/// The lent bytes and the next `window` bytes, where tensors that come again and again lie, are
/// written through a mapping, at the speed of memory. The bytes above are written through the file
/// descriptor, at half that speed, because a page that is mapped counts as ours as well.
class ForeignRegion {
public:
  static constexpr std::uint64_t window = std::uint64_t{32} << 20;

  /// Takes `fd`, which came from a peer, and closes it at the end. FAILED_PRECONDITION unless it is
  /// memory of `bytes` bytes that can be written and that nobody can take away: no write of ours
  /// can fault.
  static Result<std::shared_ptr<ForeignRegion>> adopt(int fd, std::uint64_t bytes,
                                                      std::uint64_t lent_bytes = 0);
  ~ForeignRegion();
  std::uint64_t bytes() const { return bytes_; }
  /// The lent bytes and the window; null when no mapping could be had.
  std::byte* mapped() const { return mapped_; }
  /// Whether the peer's process, even if its connection has ended, may still read our memory.
  bool is_seeing() const;
  /// Requires offset + bytes ≤ bytes(). RESOURCE_EXHAUSTED when the system has no memory for it.
  Status write(std::uint64_t offset, const void* from, std::uint64_t bytes);

  ForeignRegion(const ForeignRegion&) = delete;
  ForeignRegion& operator=(const ForeignRegion&) = delete;

private:
  ForeignRegion(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes) {}

  int fd_;
  std::uint64_t bytes_;
  std::byte* mapped_ = nullptr; // the window, or nothing
  std::uint64_t mapped_bytes_ = 0;
};

} // namespace troupe
