#include "core/tensor/buffer.hpp"

#include <cstdint>
#include <cstdlib>
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

} // namespace

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

BufferRef Buffer::objects(DType dtype, std::size_t count) {
  void* elements = nullptr;
  std::size_t bytes = 0;
  with_object_type(dtype, [&]<class T>(T*) {
    if (count > 0 && count < PTRDIFF_MAX / sizeof(T))
      elements = new (std::nothrow) T[count];
    bytes = count * sizeof(T);
  });
  if (count > 0 && !elements)
    return {};
  Buffer* buffer = new Buffer;
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

void Buffer::destroy() noexcept {
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
