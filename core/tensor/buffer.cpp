#include "core/tensor/buffer.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "core/base/check.hpp"

namespace troupe {

namespace {

class HostAllocator final : public Allocator {
public:
  const char* name() const override { return "host"; }
  void* allocate(std::size_t bytes) override {
    std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  }
  void deallocate(void* memory, std::size_t) override { std::free(memory); }
};

template <class F>
void with_object_type(DType dtype, F&& f) {
  switch (dtype) {
  case DType::string:
    f(static_cast<std::string*>(nullptr));
    return;
  case DType::resource:
    f(static_cast<ResourceHandle*>(nullptr));
    return;
  case DType::variant:
    f(static_cast<Variant*>(nullptr));
    return;
  default:
    TROUPE_CHECK(false, "only string, resource and variant are objects");
  }
}

/// What a string takes beside itself.
std::size_t text_bytes(const std::string& text) {
  static const std::size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 : 0;
}
std::size_t text_bytes(const ResourceHandle& handle) {
  return text_bytes(handle.device) + text_bytes(handle.container) + text_bytes(handle.name) +
         text_bytes(handle.maybe_type_name);
}
std::size_t text_bytes(const Variant& variant) {
  return text_bytes(variant.type_name) + text_bytes(variant.metadata);
}

} // namespace

Status Allocator::copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return {};
}

Allocator& host_allocator() {
  // Never destroyed: tensors in static storage may outlive any order of destruction.
  static HostAllocator& allocator = *new HostAllocator;
  return allocator;
}

BufferRef Buffer::allocate(Allocator& allocator, std::size_t bytes) {
  static_assert(sizeof(Buffer) <= Allocator::alignment);
  bool in_block = allocator.kind() != MemoryKind::device;
  std::size_t wanted = bytes + (in_block ? Allocator::alignment : 0);
  if (wanted < bytes)
    return {};
  void* block = allocator.allocate(wanted ? wanted : 1);
  if (!block)
    return {};
  Buffer* buffer = in_block ? new (block) Buffer : new Buffer;
  buffer->data_ = in_block ? static_cast<std::byte*>(block) + Allocator::alignment : block;
  buffer->bytes_ = bytes;
  buffer->allocator_ = &allocator;
  buffer->in_block_ = in_block;
  return BufferRef(buffer);
}

BufferRef Buffer::objects(DType dtype, std::size_t count, Allocator* account) {
  void* elements = nullptr;
  std::size_t bytes = 0;
  with_object_type(dtype, [&]<class T>(T*) {
    if (count == 0 || count >= PTRDIFF_MAX / sizeof(T))
      return;
    bytes = count * sizeof(T);
    if (account && !account->charge(bytes))
      return;
    elements = new (std::nothrow) T[count];
    if (account && !elements)
      account->discharge(bytes);
  });
  if (count > 0 && !elements)
    return {};
  Buffer* buffer = new Buffer;
  buffer->account_.store(account, std::memory_order_relaxed);
  buffer->charged_ = account ? bytes : 0;
  buffer->objects_ = dtype;
  buffer->data_ = elements;
  buffer->bytes_ = bytes;
  return BufferRef(buffer);
}

BufferRef Buffer::wrap(void* memory, std::size_t bytes, std::function<void(void*)> release) {
  Buffer* buffer = new Buffer;
  buffer->data_ = memory;
  buffer->bytes_ = bytes;
  buffer->release_ = new std::function<void(void*)>(std::move(release));
  return BufferRef(buffer);
}

BufferRef Buffer::wrap_read_only(const void* memory, std::size_t bytes,
                                 std::function<void(void*)> release) {
  BufferRef out = wrap(const_cast<void*>(memory), bytes, std::move(release));
  out->is_read_only_ = true;
  return out;
}

bool Buffer::charge(std::size_t bytes) {
  Allocator* account = account_.load(std::memory_order_relaxed);
  if (account && !account->charge(bytes))
    return false;
  charged_ += account ? bytes : 0;
  return true;
}

bool Buffer::settle(Allocator& account) {
  if (objects_ == DType::invalid || !data_)
    return true;
  // The holder that sets the account counts; others that share the buffer meanwhile do nothing. The
  // destruction of the buffer reads what was counted, after this reference is gone.
  Allocator* present = nullptr;
  const bool taken_on =
      &account != &host_allocator() &&
      account_.compare_exchange_strong(present, &account, std::memory_order_acq_rel);
  if (taken_on)
    present = &account;
  else if (!present || !is_unique())
    return true;
  std::size_t total = bytes_;
  with_object_type(objects_, [&]<class T>(T*) {
    const T* elements = static_cast<const T*>(data_);
    for (std::size_t i = 0; i < bytes_ / sizeof(T); ++i)
      total += text_bytes(elements[i]);
  });
  if (total > charged_) {
    if (!present->charge(total - charged_)) {
      if (taken_on)
        account_.store(nullptr, std::memory_order_release);
      return false;
    }
  } else if (total < charged_) {
    present->discharge(charged_ - total);
  }
  charged_ = total;
  return true;
}

void Buffer::destroy() noexcept {
  if (Allocator* account = account_.load(std::memory_order_relaxed); account && charged_)
    account->discharge(charged_);
  if (allocator_) {
    Allocator* allocator = allocator_;
    std::size_t bytes = bytes_;
    if (in_block_) {
      this->~Buffer();
      allocator->deallocate(this, bytes + Allocator::alignment);
      return;
    }
    allocator->deallocate(data_, bytes ? bytes : 1);
  } else if (release_) {
    (*release_)(data_);
    delete release_;
  } else if (data_) {
    with_object_type(objects_, [&]<class T>(T*) { delete[] static_cast<T*>(data_); });
  }
  delete this;
}

} // namespace troupe
