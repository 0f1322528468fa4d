#include "devices/cuda/cuda_stream.hpp"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <utility>

#include "core/base/strings.hpp"
#include "devices/cuda/cuda_trace.hpp"
#include "devices/cuda/event_waiter.hpp"
#include "devices/cuda/gpu.hpp"

namespace troupe::cuda {

namespace {

Address address(const void* memory) {
  return reinterpret_cast<Address>(memory);
}

} // namespace

Result<std::unique_ptr<CudaStream>> CudaStream::make(Gpu& gpu, std::string name) {
  StreamHandle handle = nullptr;
  if (Outcome outcome = gpu.driver().cuStreamCreate(&handle, stream_non_blocking);
      outcome != success)
    return failure(gpu.driver(), "making a stream", outcome);
  return std::unique_ptr<CudaStream>(new CudaStream(gpu, std::move(name), handle));
}

CudaStream::CudaStream(Gpu& gpu, std::string name, StreamHandle handle)
    : gpu_(gpu), name_(std::move(name)), handle_(handle),
      waiter_(std::make_unique<EventWaiter>(gpu)) {}

void CudaStream::end_waiting() {
  if (!waiter_)
    return;
  (void)synchronize();
  waiter_ = nullptr;
}

CudaStream::~CudaStream() {
  waiter_ = nullptr;
  if (gpu_.activate().ok())
    gpu_.driver().cuStreamDestroy_v2(handle_);
}

// An error may be that of earlier work, which the driver tells whoever calls it next.
Status CudaStream::check(std::string_view what, Outcome outcome) {
  if (outcome == success)
    return {};
  Status status = failure(gpu_.driver(), str_cat(what, " on ", name_), outcome);
  return gpu_.is_lost_by(status, outcome) ? gpu_.lost() : status;
}

std::string CudaStream::suspects() const {
  std::scoped_lock guard(noted_lock_);
  std::string names;
  int count = 0;
  for (std::uint64_t n = last_noted_; n > last_finished_ && last_noted_ - n < noted_.size(); --n) {
    const Suspect& noted = noted_[n % noted_.size()];
    names = str_cat("'", noted.node, "' (", noted.op, ")", count++ > 0 ? ", " : "", names);
  }
  if (count == 0)
    return "";
  return str_cat(count == 1 ? "; it comes from "
                            : "; it comes from one of these nodes, which ran last: ",
                 names);
}

CudaStream::Noted::Noted(CudaStream& stream, std::string_view node, std::string_view op)
    : stream_(stream) {
  {
    std::scoped_lock guard(stream.noted_lock_);
    Suspect& noted = stream.noted_[++stream.last_noted_ % stream.noted_.size()];
    noted.node.assign(node);
    noted.op.assign(op);
  }
  if (!stream.is_traced_.load(std::memory_order_acquire)) [[likely]]
    return;
  std::scoped_lock guard(stream.traces_lock_);
  for (CudaTrace* trace : stream.traces_)
    traces_.emplace_back(trace, trace->begin(node, op));
}

CudaStream::Noted::~Noted() {
  if (traces_.empty()) [[likely]]
    return;
  std::scoped_lock guard(stream_.traces_lock_);
  for (auto& [trace, place] : traces_)
    if (std::ranges::find(stream_.traces_, trace) != stream_.traces_.end())
      trace->end(place);
}

std::unique_ptr<StreamTrace> CudaStream::trace() {
  auto out = std::make_unique<CudaTrace>(*this);
  std::scoped_lock guard(traces_lock_);
  traces_.push_back(out.get());
  is_traced_.store(true, std::memory_order_release);
  return out;
}

void CudaStream::end_trace(CudaTrace* trace) {
  std::scoped_lock guard(traces_lock_);
  std::erase(traces_, trace);
  is_traced_.store(!traces_.empty(), std::memory_order_release);
}

void CudaStream::finished(std::uint64_t number) {
  std::scoped_lock guard(noted_lock_);
  last_finished_ = std::max(last_finished_, number);
}

Status CudaStream::launch(Function function, const Grid& grid, void** arguments,
                          std::string_view node, std::string_view op) {
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  const Noted noted(*this, node, op);
  return check("starting a kernel",
               gpu_.driver().cuLaunchKernel(function, grid.blocks, grid.rows_of_blocks, 1,
                                            grid.threads, 1, 1, 0, handle_, arguments, nullptr));
}

Result<EventHandle> CudaStream::record() {
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  const Driver& driver = gpu_.driver();
  EventHandle event = nullptr;
  TROUPE_TRY(check("making an event",
                   driver.cuEventCreate(&event, event_blocking_sync | event_disable_timing)));
  if (Status recorded = check("recording an event", driver.cuEventRecord(event, handle_));
      !recorded.ok()) {
    driver.cuEventDestroy_v2(event);
    return recorded;
  }
  return event;
}

Status CudaStream::wait_for(CudaStream& other) {
  TROUPE_ASSIGN(EventHandle event, other.record());
  const Status status =
      check("waiting for a stream", gpu_.driver().cuStreamWaitEvent(handle_, event, 0));
  gpu_.driver().cuEventDestroy_v2(event); // which the driver keeps for as long as it needs it
  return status;
}

void CudaStream::when_done(std::function<void(Status)> done) {
  std::uint64_t number;
  {
    std::scoped_lock guard(noted_lock_);
    number = last_noted_;
  }
  auto event = record();
  if (!event.ok()) {
    done(event.status());
    return;
  }
  waiter_->add(*event, [this, number, done = std::move(done)](Outcome outcome) {
    Status status = check("work", outcome);
    if (status.ok())
      finished(number);
    done(std::move(status));
  });
}

Status CudaStream::synchronize() {
  struct Answer {
    std::mutex lock;
    std::condition_variable there;
    std::optional<Status> status;
  } answer;
  when_done([&](Status status) {
    std::scoped_lock guard(answer.lock);
    answer.status = std::move(status);
    answer.there.notify_one();
  });
  std::unique_lock guard(answer.lock);
  answer.there.wait(guard, [&] { return answer.status.has_value(); });
  return *answer.status;
}

void CudaStream::enqueue(std::function<void()> work) {
  auto* kept = new std::function<void()>(std::move(work));
  auto run = [](void* argument) {
    auto* function = static_cast<std::function<void()>*>(argument);
    (*function)();
    delete function;
  };
  Status status = gpu_.lost();
  if (status.ok())
    status = gpu_.activate();
  if (status.ok())
    status = check("enqueueing", gpu_.driver().cuLaunchHostFunc(handle_, run, kept));
  if (!status.ok())
    run(kept); // whoever waits for it gets the stream's error where it asks for one
}

Status CudaStream::fill(void* to, unsigned char byte, std::size_t bytes) {
  if (bytes == 0)
    return {};
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  return check("filling memory", gpu_.driver().cuMemsetD8Async(address(to), byte, bytes, handle_));
}

Status CudaStream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0)
    return {};
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  return check("copying within the device",
               gpu_.driver().cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, handle_));
}

Status CudaStream::copy_in(void* to, const void* from, std::size_t bytes) {
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  return check("copying to the device",
               gpu_.driver().cuMemcpyHtoDAsync_v2(address(to), from, bytes, handle_));
}

Status CudaStream::copy_out(void* to, const void* from, std::size_t bytes) {
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  return check("copying to the host",
               gpu_.driver().cuMemcpyDtoHAsync_v2(to, address(from), bytes, handle_));
}

} // namespace troupe::cuda
