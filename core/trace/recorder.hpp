// StepRecorder: collects the spans of a traced step from whichever threads run its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "core/trace/step_stats.hpp"

namespace troupe {

/// A small number of the calling thread, 1, 2, 3, … in the order of first asking; what
/// NodeStats::thread_id holds.
std::uint32_t thread_number();

/// Any thread. Made for the steps that are traced; the others pay nothing.
class StepRecorder {
public:
  /// `device` is a full name.
  void record(std::string_view device, NodeStats span);
  /// Everything so far, devices by name, the nodes of each by their start; empties the recorder.
  StepStats take();

private:
  std::mutex lock_;
  std::map<std::string, std::vector<NodeStats>, std::less<>> devices_;
};

/// Adds `from` to `into`: spans of a device that both know join its list.
void merge(StepStats& into, StepStats from);

} // namespace troupe
