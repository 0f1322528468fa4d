// Buffer: reference-counted memory behind tensors; Allocator: where it comes from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "core/base/status.hpp"
#include "core/tensor/dtype.hpp"

namespace troupe {

/// What a program may do with an allocator's memory.
enum class MemoryKind : std::uint8_t {
  host,   ///< plain memory
  pinned, ///< host memory a device can copy from and to asynchronously
  device, ///< a device's own; the host must not touch it
};

/// A source of memory, 64-byte aligned. Implementations are safe for any thread and outlive every
/// buffer they gave.
class Allocator {
public:
  static constexpr std::size_t alignment = 64;
  virtual ~Allocator() = default;
  virtual const char* name() const = 0;
  virtual MemoryKind kind() const { return MemoryKind::host; }
  /// At least `bytes` (≥ 1) bytes, or nullptr when there is no room; never throws.
  virtual void* allocate(std::size_t bytes) = 0;
  /// `bytes` as asked for in `allocate`.
  virtual void deallocate(void* memory, std::size_t bytes) = 0;
  /// Copies bytes of this allocator's memory to another place in it, which does not overlap. On a
  /// device in the order of its work, so perhaps later; INTERNAL etc. where the device refuses.
  virtual Status copy(void* to, const void* from, std::size_t bytes);
  /// Counts bytes that lie elsewhere, such as the text of strings, as if they were allocated here;
  /// false, and nothing counted, when there is no room for them.
  virtual bool charge(std::size_t bytes) {
    (void)bytes;
    return true;
  }
  /// `bytes` as charged, all or part.
  virtual void discharge(std::size_t bytes) { (void)bytes; }
  /// Why `allocate` has just refused, with the remedy: the end of an error's sentence.
  virtual std::string refusal() const { return "the system has no more memory to give"; }
};

/// The C library's memory; for tensors made outside a step.
Allocator& host_allocator();

class BufferRef;

/// Shared bytes, or shared C++ objects (string, resource, variant) which it destroys at the end.
/// Only its maker writes it, before it is shared; afterwards it is immutable (variables write
/// theirs under the rules of devices/resource).
class Buffer {
public:
  /// Null when the allocator has no room.
  static BufferRef allocate(Allocator& allocator, std::size_t bytes);
  /// `count` default-constructed objects of an object dtype, in host memory, charged to `account`
  /// if one is given. Null when there is no room.
  static BufferRef objects(DType dtype, std::size_t count, Allocator* account = nullptr);
  /// Foreign memory, kept until `release` is called with it.
  static BufferRef wrap(void* memory, std::size_t bytes, std::function<void(void*)> release);
  /// The same, which nobody may write.
  static BufferRef wrap_read_only(const void* memory, std::size_t bytes,
                                  std::function<void(void*)> release);

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  MemoryKind kind() const noexcept { return allocator_ ? allocator_->kind() : MemoryKind::host; }
  /// Where its memory came from; null for objects and for foreign memory.
  Allocator* allocator() const noexcept { return allocator_; }
  /// The allocator that objects are charged to; null if there is none, and for other buffers.
  Allocator* account() const noexcept { return account_.load(std::memory_order_acquire); }
  /// Charges `bytes` more to the account of objects, for text that is about to be written. False,
  /// and nothing charged, when there is no room. For the maker, before the buffer is shared.
  [[nodiscard]] bool charge(std::size_t bytes);
  /// Objects with all their text are charged for what they take: to their account, or, if they have
  /// none, to `account` from now on, unless that is the C library's. Does nothing to objects of an
  /// account that others hold too: their maker has settled them. False when there is no room, and
  /// nothing changed. Safe for several holders at a time.
  [[nodiscard]] bool settle(Allocator& account);
  /// True when the asking reference is the only one, so that its holder may write.
  bool is_unique() const noexcept {
    return refs_.load(std::memory_order_acquire) == 1 && !is_read_only_;
  }

private:
  friend class BufferRef;
  Buffer() = default;
  void ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // The last one sees all writes of the others before it frees.
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }
  void destroy() noexcept;

  std::atomic<std::int32_t> refs_{1};
  DType objects_ = DType::invalid; // of its elements, if they need destroying
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Allocator* allocator_ = nullptr; // null: objects or foreign memory
  std::function<void(void*)>* release_ = nullptr;
  std::atomic<Allocator*> account_{nullptr};
  std::size_t charged_ = 0; // bytes; written by the maker or by who has set the account
  bool is_read_only_ = false;
  bool in_block_ = false; // this header is the first 64 bytes of the block itself
};

/// One reference to a Buffer, or none.
class BufferRef {
public:
  BufferRef() noexcept = default;
  BufferRef(const BufferRef& other) noexcept : buffer_(other.buffer_) {
    if (buffer_)
      buffer_->ref();
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_)
      buffer_->unref();
  }
  Buffer* get() const noexcept { return buffer_; }
  Buffer* operator->() const noexcept { return buffer_; }
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  friend bool operator==(const BufferRef&, const BufferRef&) = default;

private:
  friend class Buffer;
  explicit BufferRef(Buffer* adopted) noexcept : buffer_(adopted) {}
  Buffer* buffer_ = nullptr;
};

} // namespace troupe
