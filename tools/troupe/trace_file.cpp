#include "tools/troupe/trace_file.hpp"

#include <fstream>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::int64_t number_of(const Json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<std::int64_t>() : 0;
}

NodeStats span_of(const Json& event) {
  NodeStats span;
  span.op = text_of(event, "name");
  span.node = span.op;
  span.start_us = number_of(event, "ts");
  span.end_us = span.start_us + number_of(event, "dur");
  auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object())
    return span;
  span.node = text_of(*arguments, "name");
  span.thread_id = static_cast<std::uint32_t>(number_of(*arguments, "thread"));
  span.bytes = number_of(*arguments, "bytes");
  span.detail = text_of(*arguments, "detail");
  return span;
}

} // namespace

Result<StepStats> parse_chrome_trace(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  const Json* events = nullptr;
  if (json.is_array())
    events = &json;
  else if (json.is_object() && json.contains("traceEvents"))
    events = &json["traceEvents"];
  if (!events || !events->is_array())
    return invalid_argument("this is no trace: it should be JSON with a list traceEvents, as "
                            "`troupe run --trace FILE` writes it");
  std::map<std::int64_t, DeviceStats> processes;
  for (const Json& event : *events) {
    if (!event.is_object())
      continue;
    DeviceStats& process = processes[number_of(event, "pid")];
    std::string kind = text_of(event, "ph");
    if (kind == "M" && text_of(event, "name") == "process_name" && event.contains("args"))
      process.device = text_of(event["args"], "name");
    if (kind == "X")
      process.nodes.push_back(span_of(event));
  }
  StepStats out;
  for (auto& [pid, process] : processes)
    if (!process.nodes.empty())
      out.devices.push_back(std::move(process));
  return out;
}

Result<StepStats> read_trace_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return not_found(str_cat(path, ": cannot be read; `troupe run … --trace FILE` writes a trace"));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  auto stats = parse_chrome_trace(text);
  return stats.ok() ? stats : stats.status().with_context(path);
}

} // namespace troupe
