#include "core/trace/chrome.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

void append_span(std::string& out, const NodeStats& span, std::size_t process, std::size_t lane) {
  out += ",\n{\"ph\":\"X\",\"cat\":\"Op\",\"name\":";
  append_json_text(out, span.op);
  str_append(out, ",\"pid\":", process, ",\"tid\":", lane, ",\"ts\":", span.start_us,
             ",\"dur\":", std::max<std::int64_t>(span.end_us - span.start_us, 0),
             ",\"args\":{\"name\":");
  append_json_text(out, span.node);
  out += ",\"op\":";
  append_json_text(out, span.op);
  str_append(out, ",\"thread\":", span.thread_id, ",\"bytes\":", span.bytes);
  if (!span.detail.empty()) {
    out += ",\"detail\":";
    append_json_text(out, span.detail);
  }
  out += "}}";
}

} // namespace

std::string to_chrome_trace(const StepStats& stats) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  for (std::size_t process = 0; process < stats.devices.size(); ++process) {
    const DeviceStats& device = stats.devices[process];
    if (process)
      out += ',';
    str_append(out, "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":", process,
               ",\"args\":{\"name\":");
    append_json_text(out, device.device);
    out += "}}";

    std::vector<const NodeStats*> spans;
    for (const NodeStats& span : device.nodes)
      spans.push_back(&span);
    std::stable_sort(spans.begin(), spans.end(), [](const NodeStats* a, const NodeStats* b) {
      return a->start_us < b->start_us;
    });
    std::vector<std::int64_t> free_from; // of each lane
    for (const NodeStats* span : spans) {
      auto lane = std::find_if(free_from.begin(), free_from.end(),
                               [&](std::int64_t t) { return t <= span->start_us; });
      if (lane == free_from.end())
        lane = free_from.insert(lane, 0);
      *lane = std::max(span->end_us, span->start_us);
      append_span(out, *span, process, static_cast<std::size_t>(lane - free_from.begin()));
    }
  }
  return out + "\n]}\n";
}

} // namespace troupe
