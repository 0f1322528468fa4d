#include "tests/support/ops/fake_device.hpp"

#include "core/base/random.hpp"

namespace troupe::testing {
namespace {

void copy_inverted(const Tensor& from, Tensor& to) {
  const auto* source = static_cast<const unsigned char*>(from.raw());
  auto* target = static_cast<unsigned char*>(to.mutable_raw());
  for (std::size_t i = 0; i < from.bytes().size(); ++i)
    target[i] = static_cast<unsigned char>(~source[i]);
}

Result<Tensor> copy(const Tensor& from, Allocator& allocator) {
  if (is_object(from.dtype()))
    return invalid_argument("objects stay in host memory");
  TROUPE_ASSIGN(Tensor to, Tensor::allocate(allocator, from.dtype(), from.shape()));
  copy_inverted(from, to);
  return to;
}

} // namespace

FakeDevice::FakeDevice(const std::string& name)
    : Device({.name = name,
              .type = "GPU",
              .memory_limit = 1 << 20,
              .incarnation = random_id(),
              .description = "simulated"}) {}

void* FakeDevice::Memory::allocate(std::size_t bytes) {
  in_use += static_cast<std::int64_t>(bytes);
  return host_allocator().allocate(bytes);
}

void FakeDevice::Memory::deallocate(void* memory, std::size_t bytes) {
  in_use -= static_cast<std::int64_t>(bytes);
  host_allocator().deallocate(memory, bytes);
}

int FakeDevice::Queue::run() {
  int count = 0;
  for (; !work_.empty(); ++count) {
    auto next = std::move(work_.front());
    work_.pop_front();
    next();
  }
  return count;
}

void FakeDevice::copy_to_device(const Tensor& host, std::function<void(Result<Tensor>)> done) {
  stream_.enqueue([this, host, done = std::move(done)] { done(copy(host, memory_)); });
}

void FakeDevice::copy_to_host(const Tensor& device, std::function<void(Result<Tensor>)> done) {
  stream_.enqueue([device, done = std::move(done)] { done(copy(device, host_allocator())); });
}

Tensor FakeDevice::upload(const Tensor& host) {
  auto out = copy(host, memory_);
  TROUPE_CHECK(out.ok(), "a plain tensor");
  return *out;
}

Tensor FakeDevice::download(const Tensor& device) {
  auto out = copy(device, host_allocator());
  TROUPE_CHECK(out.ok(), "a plain tensor");
  return *out;
}

} // namespace troupe::testing
