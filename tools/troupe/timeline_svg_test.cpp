#include "tools/troupe/timeline_svg.hpp"

#include <doctest/doctest.h>

#include "core/trace/chrome.hpp"
#include "tools/troupe/trace_file.hpp"

using namespace troupe;

namespace {

NodeStats span(const char* node, const char* op, std::int64_t start, std::int64_t end) {
  NodeStats out;
  out.node = node;
  out.op = op;
  out.start_us = start;
  out.end_us = end;
  out.bytes = 8;
  return out;
}

StepStats two_devices() {
  return {{{"client", {span("step", "Session::run", 1000, 2000)}},
           {"/job:worker/task:0",
            {span("product", "MatMul", 1100, 1500), span("a<b", "Less", 1200, 1300)}}}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

} // namespace

TEST_CASE("timeline: what is written as a trace reads back") {
  auto back = parse_chrome_trace(to_chrome_trace(two_devices()));
  REQUIRE_MESSAGE(back.ok(), back.status().to_string());
  REQUIRE(back->devices.size() == 2);
  CHECK(back->devices[1].device == "/job:worker/task:0");
  REQUIRE(back->devices[1].nodes.size() == 2);
  const NodeStats& node = back->devices[1].nodes[0];
  CHECK(node.node == "product");
  CHECK(node.op == "MatMul");
  CHECK(node.start_us == 1100);
  CHECK(node.end_us == 1500);
  CHECK(node.bytes == 8);
}

TEST_CASE("timeline: what is no trace is refused") {
  for (const char* text : {"", "hello", "[1, {\"ph\": \"X\"", "{\"traceEvents\": 3}"}) {
    CAPTURE(text);
    auto stats = parse_chrome_trace(text);
    CHECK(stats.status().code() == Code::invalid_argument);
  }
}

TEST_CASE("timeline: events without fields are taken as nothing") {
  auto stats = parse_chrome_trace(R"([7, {}, {"ph": "X"}, {"ph": "X", "ts": "soon", "args": 3}])");
  REQUIRE(stats.ok());
  REQUIRE(stats->devices.size() == 1);
  CHECK(stats->devices[0].nodes.size() == 2);
  CHECK(to_svg(*stats, "nothing").find("</svg>") != std::string::npos);
}

TEST_CASE("timeline: a bar for each span, under its device, with names made safe") {
  std::string svg = to_svg(two_devices(), "a & b");
  CHECK(count(svg, "<title>") == 3);
  CHECK(svg.find("a &amp; b") != std::string::npos);
  CHECK(svg.find("a&lt;b (Less) at 200 us for 100 us") != std::string::npos);
  CHECK(svg.find("/job:worker/task:0: 2 spans, something runs for 400 us") != std::string::npos);
  CHECK(svg.find("a<b") == std::string::npos);
}
