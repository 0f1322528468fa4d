// TransferLog: what WorkerService's Logging tells of values that this task took from others. Plain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/strings.hpp"
#include "core/trace/step_stats.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

/// Any thread. Off at first. Keeps the last `most_steps` steps, and of each `most_values` values.
class TransferLog {
public:
  static constexpr std::size_t most_steps = 100, most_values = 10'000;

  void enable(bool on) {
    std::scoped_lock guard(lock_);
    enabled_ = on;
  }
  bool is_enabled() const {
    std::scoped_lock guard(lock_);
    return enabled_;
  }
  /// Times in microseconds since 1970.
  void took(std::uint64_t step_id, const std::string& key, std::int64_t bytes,
            std::int64_t start_us, std::int64_t end_us) {
    auto parsed = parse_rendezvous_key(key);
    if (!parsed.ok())
      return;
    std::scoped_lock guard(lock_);
    if (!enabled_)
      return;
    DeviceStats& device = device_of(step_of(step_id), std::string(parsed->dst_device));
    if (device.nodes.size() >= most_values)
      return;
    NodeStats& one = device.nodes.emplace_back();
    one.node = "RecvTensor";
    one.start_us = start_us;
    one.end_us = end_us;
    one.bytes = bytes;
    one.detail = str_cat("[", bytes, "B] ", parsed->edge, " from ", parsed->src_device, " to ",
                         parsed->dst_device);
  }
  /// Empty for a step of which nothing is kept.
  StepStats of_step(std::uint64_t step_id) const {
    std::scoped_lock guard(lock_);
    auto it = std::ranges::find(steps_, step_id, &Step::first);
    return it == steps_.end() ? StepStats() : it->second;
  }
  void clear() {
    std::scoped_lock guard(lock_);
    steps_.clear();
  }

private:
  using Step = std::pair<std::uint64_t, StepStats>;
  StepStats& step_of(std::uint64_t step_id) {
    if (auto it = std::ranges::find(steps_, step_id, &Step::first); it != steps_.end())
      return it->second;
    if (steps_.size() == most_steps)
      steps_.pop_front();
    return steps_.emplace_back(step_id, StepStats()).second;
  }
  static DeviceStats& device_of(StepStats& step, const std::string& name) {
    auto it = std::ranges::find(step.devices, name, &DeviceStats::device);
    return it != step.devices.end() ? *it : step.devices.emplace_back(DeviceStats{name, {}});
  }

  mutable std::mutex lock_; // guards what follows
  bool enabled_ = false;
  std::deque<Step> steps_; // oldest first
};

} // namespace troupe
