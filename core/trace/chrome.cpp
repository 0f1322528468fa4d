#include "core/trace/chrome.hpp"

#include <algorithm>
#include <string_view>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

/// Bytes of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  std::size_t n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (n == 0 || first > 0xf4 || text.size() < n)
    return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f))
    return 0;
  return n;
}

void append_json(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    unsigned char c = static_cast<unsigned char>(text[0]);
    std::size_t n = utf8_length(text);
    if (n == 0) {
      out += "\\ufffd";
      n = 1;
    } else if (c < 0x20) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      if (c == '"' || c == '\\')
        out += '\\';
      out += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
  out += '"';
}

void append_span(std::string& out, const NodeStats& span, std::size_t process, std::size_t lane) {
  out += ",\n{\"ph\":\"X\",\"cat\":\"Op\",\"name\":";
  append_json(out, span.op);
  str_append(out, ",\"pid\":", process, ",\"tid\":", lane, ",\"ts\":", span.start_us,
             ",\"dur\":", std::max<std::int64_t>(span.end_us - span.start_us, 0),
             ",\"args\":{\"name\":");
  append_json(out, span.node);
  out += ",\"op\":";
  append_json(out, span.op);
  str_append(out, ",\"thread\":", span.thread_id, ",\"bytes\":", span.bytes);
  if (!span.detail.empty()) {
    out += ",\"detail\":";
    append_json(out, span.detail);
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
    append_json(out, device.device);
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
