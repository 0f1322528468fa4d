#include "devices/cuda/cuda_trace.hpp"

#include <utility>

#include "core/base/clock.hpp"
#include "devices/cuda/cuda_stream.hpp"
#include "devices/cuda/gpu.hpp"

namespace troupe::cuda {

CudaTrace::~CudaTrace() {
  stream_.end_trace(this);
  if (!stream_.gpu().activate().ok())
    return;
  for (const Timed& timed : work_)
    for (EventHandle event : {timed.begin, timed.end})
      if (event)
        stream_.gpu().driver().cuEventDestroy_v2(event);
}

// A failed call leaves a span out: whoever enqueues the work is told what is wrong with the GPU.
EventHandle CudaTrace::record() {
  const Driver& driver = stream_.gpu().driver();
  EventHandle event = nullptr;
  if (!stream_.gpu().activate().ok() || driver.cuEventCreate(&event, 0) != success)
    return nullptr;
  if (driver.cuEventRecord(event, stream_.handle()) == success)
    return event;
  driver.cuEventDestroy_v2(event);
  return nullptr;
}

std::size_t CudaTrace::begin(std::string_view node, std::string_view op) {
  std::scoped_lock guard(lock_);
  work_.push_back({std::string(node), std::string(op), record()});
  return work_.size() - 1;
}

void CudaTrace::end(std::size_t place) {
  std::scoped_lock guard(lock_);
  work_[place].end = record();
}

// GPU and host have different clocks: spans are dated relative to an event at the end.
std::vector<StreamSpan> CudaTrace::take() {
  stream_.end_trace(this);
  std::scoped_lock guard(lock_);
  const Driver& driver = stream_.gpu().driver();
  std::vector<StreamSpan> out;
  EventHandle now = record();
  if (!now)
    return out;
  if (driver.cuEventSynchronize(now) == success) {
    const std::int64_t now_us = wall_micros();
    const auto at = [&](EventHandle event, std::int64_t& micros) {
      float milliseconds = 0;
      if (!event || driver.cuEventElapsedTime(&milliseconds, event, now) != success)
        return false;
      micros = now_us - static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e3);
      return true;
    };
    for (const Timed& timed : work_)
      if (StreamSpan span{timed.node, timed.op};
          at(timed.begin, span.start_us) && at(timed.end, span.end_us))
        out.push_back(std::move(span));
  }
  driver.cuEventDestroy_v2(now);
  return out;
}

} // namespace troupe::cuda
