#include "tests/support/cuda/internal/machine.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "tests/support/cuda/fibres.hpp"

namespace troupe::testing {
namespace {

using cuda::Outcome;

CudaDouble::Machine* the_machine = nullptr;

std::map<std::string, gpu::HostKernel>& host_kernels() {
  static std::map<std::string, gpu::HostKernel> kernels;
  return kernels;
}

} // namespace

cuda::Driver driver_of_double();                   // double_driver.cpp
Result<const cuda::BlasLibrary*> blas_of_double(); // double_blas.cpp
Result<const cuda::DnnLibrary*> dnn_of_double();   // double_dnn.cpp

CudaDouble::Machine& machine() {
  TROUPE_CHECK(the_machine != nullptr, "the driver's double is used after its end");
  return *the_machine;
}

const gpu::HostKernel* find_host_kernel(const std::string& name) {
  auto found = host_kernels().find(name);
  return found == host_kernels().end() ? nullptr : &found->second;
}

CudaDouble::Machine::Machine(const Options& given)
    : options(given), driver(driver_of_double()), random(given.seed),
      sticky(static_cast<std::size_t>(given.gpus), cuda::success),
      in_use(static_cast<std::size_t>(given.gpus), 0) {
  TROUPE_CHECK(the_machine == nullptr, "one double of the driver at a time");
  the_machine = this;
  thread = std::thread([this] { run(); });
}

CudaDouble::Machine::~Machine() {
  {
    std::scoped_lock guard(lock);
    is_ending = true;
  }
  changed.notify_all();
  thread.join();
  the_machine = nullptr;
  for (void* block : blocks)
    std::free(block);
  for (const auto& [memory, bytes] : pinned)
    std::free(const_cast<char*>(memory));
}

std::optional<Outcome> CudaDouble::Machine::injected(const std::string& function) {
  auto found = failing_calls.find(function);
  if (found == failing_calls.end() || found->second.first-- > 0)
    return {};
  const Outcome outcome = found->second.second;
  failing_calls.erase(found);
  return outcome;
}

void CudaDouble::Machine::enqueue(DoubleStream& stream, StreamWork work) {
  stream.work.push_back(std::move(work));
  changed.notify_all();
}

Outcome CudaDouble::Machine::wait_for(const std::shared_ptr<Mark>& mark) {
  std::unique_lock guard(lock);
  ++waiting;
  changed.notify_all();
  changed.wait(guard, [&] { return mark->is_reached; });
  --waiting;
  checker.host_waited(mark->clock);
  return mark->outcome;
}

// While somebody waits; at the end, everything.
void CudaDouble::Machine::run() {
  std::unique_lock guard(lock);
  for (;;) {
    std::vector<DoubleStream*> ready;
    for (const auto& stream : streams)
      if (!stream->work.empty() &&
          (!stream->work.front().awaited || stream->work.front().awaited->is_reached))
        ready.push_back(stream.get());
    if (ready.empty() && is_ending)
      return;
    if (ready.empty() || (waiting == 0 && !is_ending)) {
      changed.wait(guard);
      continue;
    }
    std::ranges::sort(ready, {}, &DoubleStream::number);
    DoubleStream& stream = *ready[random() % ready.size()];
    StreamWork work = std::move(stream.work.front());
    stream.work.pop_front();
    Outcome& broken = sticky[static_cast<std::size_t>(stream.gpu)];
    if (work.run && broken == cuda::success) {
      guard.unlock();
      const Outcome outcome = work.run();
      work.run = nullptr;
      guard.lock();
      if (outcome != cuda::success)
        broken = outcome;
    }
    if (work.reached) {
      work.reached->is_reached = true;
      work.reached->outcome = broken;
      work.reached->time = std::chrono::steady_clock::now();
      changed.notify_all();
    }
  }
}

Outcome CudaDouble::Machine::run_kernel(const gpu::HostKernel& kernel, int, unsigned blocks,
                                        unsigned rows, unsigned threads,
                                        std::vector<std::vector<unsigned char>>& arguments) {
  {
    std::scoped_lock guard(lock);
    if (auto failing = failing_kernels.find(kernel.name); failing != failing_kernels.end()) {
      const Outcome outcome = failing->second;
      failing_kernels.erase(failing);
      return outcome;
    }
  }
  std::vector<void*> pointers;
  for (auto& argument : arguments)
    pointers.push_back(argument.data());
  auto thread_of = [&] { kernel.run(pointers.data()); };
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned block = 0; block < blocks; ++block) {
      gpu::host_thread = {
          .thread = 0, .threads = threads, .block = block, .blocks = blocks, .row = row};
      if (kernel.is_cooperative) {
        if (std::string wrong = run_block(threads, thread_of); !wrong.empty()) {
          std::scoped_lock guard(lock);
          checker.report(str_cat(kernel.name, ": ", wrong));
        }
        continue;
      }
      for (gpu::host_thread.thread = 0; gpu::host_thread.thread < threads;
           ++gpu::host_thread.thread)
        thread_of();
    }
  return cuda::success;
}

namespace {
CudaDouble* the_double = nullptr;
} // namespace

CudaDouble::CudaDouble(const Options& options)
    : machine_(std::make_unique<Machine>(options)), gpus_(static_cast<std::size_t>(options.gpus)) {
  the_double = this;
}

void CudaDouble::settle() {
  for (const auto& gpu : gpus_)
    if (gpu)
      gpu->end_waiting();
}

CudaDouble::~CudaDouble() {
  settle();
  the_double = nullptr;
  gpus_.clear();
}

CudaDouble* CudaDouble::current() {
  return the_double;
}

std::shared_ptr<cuda::Gpu> CudaDouble::gpu(int ordinal) {
  auto& gpu = gpus_[static_cast<std::size_t>(ordinal)];
  if (!gpu) {
    auto opened = cuda::Gpu::open(libraries(), ordinal);
    TROUPE_CHECK(opened.ok(), opened.status().message());
    gpu = *std::move(opened);
  }
  return gpu;
}

cuda::Libraries CudaDouble::libraries() const {
  return {&machine_->driver, blas_of_double, dnn_of_double};
}

void CudaDouble::fail_call(const std::string& function, Outcome outcome, int after) {
  std::scoped_lock guard(machine_->lock);
  machine_->failing_calls[function] = {after, outcome};
}

void CudaDouble::fail_kernel(const std::string& name, Outcome outcome) {
  std::scoped_lock guard(machine_->lock);
  machine_->failing_kernels[name] = outcome;
}

std::vector<std::string> CudaDouble::problems() const {
  std::scoped_lock guard(machine_->lock);
  return machine_->checker.problems();
}

std::int64_t CudaDouble::bytes_in_use() const {
  std::scoped_lock guard(machine_->lock);
  std::int64_t sum = 0;
  for (std::int64_t bytes : machine_->in_use)
    sum += bytes;
  return sum;
}

int CudaDouble::launches(const std::string& name) const {
  std::scoped_lock guard(machine_->lock);
  auto found = machine_->launches.find(name);
  return found == machine_->launches.end() ? 0 : found->second;
}

} // namespace troupe::testing

namespace troupe::gpu {

bool add_host_kernel(const HostKernel& kernel) {
  TROUPE_CHECK(testing::host_kernels().emplace(kernel.name, kernel).second,
               str_cat("there are two kernels ", kernel.name));
  return true;
}

} // namespace troupe::gpu
