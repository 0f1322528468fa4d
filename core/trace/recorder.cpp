#include "core/trace/recorder.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace troupe {

std::uint32_t thread_number() {
  static std::atomic<std::uint32_t> last{0};
  thread_local const std::uint32_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

void StepRecorder::record(std::string_view device, NodeStats span) {
  std::scoped_lock guard(lock_);
  auto it = devices_.find(device);
  if (it == devices_.end())
    it = devices_.emplace(std::string(device), std::vector<NodeStats>{}).first;
  it->second.push_back(std::move(span));
}

StepStats StepRecorder::take() {
  std::map<std::string, std::vector<NodeStats>, std::less<>> taken;
  {
    std::scoped_lock guard(lock_);
    taken.swap(devices_);
  }
  StepStats out;
  for (auto& [device, nodes] : taken) {
    std::stable_sort(nodes.begin(), nodes.end(), [](const NodeStats& a, const NodeStats& b) {
      return a.start_us < b.start_us;
    });
    out.devices.push_back({device, std::move(nodes)});
  }
  return out;
}

void merge(StepStats& into, StepStats from) {
  for (DeviceStats& device : from.devices) {
    auto same = [&](const DeviceStats& d) { return d.device == device.device; };
    auto it = std::find_if(into.devices.begin(), into.devices.end(), same);
    if (it == into.devices.end())
      into.devices.push_back(std::move(device));
    else
      std::move(device.nodes.begin(), device.nodes.end(), std::back_inserter(it->nodes));
  }
}

} // namespace troupe
