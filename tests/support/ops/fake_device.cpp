#include "tests/support/ops/fake_device.hpp"

#include <future>

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

FakeDevice::FakeDevice(const std::string& name, Runs runs)
    : Device({.name = name,
              .type = "GPU",
              .memory_limit = 1 << 20,
              .incarnation = random_id(),
              .description = "simulated"}),
      resources_(*parsed_name().job), stream_(runs) {}

void* FakeDevice::Memory::allocate(std::size_t bytes) {
  in_use += static_cast<std::int64_t>(bytes);
  return host_allocator().allocate(bytes);
}

void FakeDevice::Memory::deallocate(void* memory, std::size_t bytes) {
  in_use -= static_cast<std::int64_t>(bytes);
  host_allocator().deallocate(memory, bytes);
}

FakeDevice::Queue::Queue(Runs runs) {
  if (runs == Runs::on_a_thread)
    thread_ = std::thread([this] {
      std::unique_lock guard(lock_);
      for (;;) {
        changed_.wait(guard, [this] { return ending_ || !work_.empty(); });
        if (work_.empty())
          return;
        auto next = std::move(work_.front());
        work_.pop_front();
        guard.unlock();
        next();
        next = nullptr; // what it holds may be the last of its step
        guard.lock();
      }
    });
}

FakeDevice::Queue::~Queue() {
  {
    std::scoped_lock guard(lock_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable())
    thread_.join();
}

void FakeDevice::Queue::enqueue(std::function<void()> work) {
  std::scoped_lock guard(lock_);
  work_.push_back(std::move(work));
  changed_.notify_one();
}

Status FakeDevice::Queue::synchronize() {
  if (!thread_.joinable()) {
    run();
    return {};
  }
  std::promise<void> reached;
  enqueue([&] { reached.set_value(); });
  reached.get_future().wait();
  return {};
}

int FakeDevice::Queue::run() {
  for (int count = 0;; ++count) {
    std::unique_lock guard(lock_);
    if (work_.empty())
      return count;
    auto next = std::move(work_.front());
    work_.pop_front();
    guard.unlock();
    next();
  }
}

void FakeDevice::copy_to_device(const Tensor& host, Stream& stream, CopyDone done) {
  stream.enqueue([this, host, done = std::move(done)] { done(copy(host, memory_)); });
}

void FakeDevice::copy_to_host(const Tensor& device, Stream& stream, CopyDone done) {
  stream.enqueue([device, done = std::move(done)] { done(copy(device, host_allocator())); });
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
