#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "core/trace/chrome.hpp"
#include "core/trace/counters.hpp"
#include "core/trace/recorder.hpp"

using namespace troupe;

namespace {

std::int64_t in_snapshot(std::string_view name) {
  for (auto& [n, value] : counter_snapshot())
    if (n == name)
      return value;
  return -1;
}

NodeStats span(std::string node, std::int64_t start, std::int64_t end) {
  NodeStats out;
  out.node = std::move(node);
  out.op = "Op";
  out.start_us = start;
  out.end_us = end;
  return out;
}

int count(const std::string& text, std::string_view part) {
  int n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

} // namespace

TEST_CASE("counters: those of a node are there before they were used") {
  auto all = counter_snapshot();
  auto worker_sessions = std::find_if(all.begin(), all.end(),
                                      [](const auto& c) { return c.first == "worker_sessions"; });
  REQUIRE(worker_sessions != all.end());
  CHECK(worker_sessions->second == 0);
}

TEST_CASE("counters: one number for each name, from every thread") {
  Counter& c = counter("test_adds");
  CHECK(&c == &counter("test_adds"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i)
        counter("test_adds").add(1);
    });
  for (auto& t : threads)
    t.join();
  CHECK(c.value() == 4000);
  CHECK(in_snapshot("test_adds") == 4000);
  c.add(-4000);
  CHECK(in_snapshot("test_adds") == 0);
  counter("test_gauge").set(7);
  CHECK(in_snapshot("test_gauge") == 7);
  auto all = counter_snapshot();
  CHECK(std::is_sorted(all.begin(), all.end()));
}

TEST_CASE("counted: follows the lives of its owners") {
  Counter& c = counter("test_counted");
  {
    Counted a(c);
    Counted b = a;
    CHECK(c.value() == 2);
    b = a;
    CHECK(c.value() == 2);
    std::vector<Counted> more(3, a);
    CHECK(c.value() == 5);
  }
  CHECK(c.value() == 0);
}

TEST_CASE("thread_number: one for each thread") {
  std::uint32_t mine = thread_number(), other = 0;
  CHECK(mine == thread_number());
  std::thread([&] { other = thread_number(); }).join();
  CHECK(other != mine);
  CHECK(other != 0);
}

TEST_CASE("recorder: spans by device and start, then empty") {
  StepRecorder recorder;
  recorder.record("/device:CPU:1", span("c", 5, 6));
  recorder.record("/device:CPU:0", span("b", 9, 10));
  recorder.record("/device:CPU:0", span("a", 1, 2));
  StepStats stats = recorder.take();
  REQUIRE(stats.devices.size() == 2);
  CHECK(stats.devices[0].device == "/device:CPU:0");
  REQUIRE(stats.devices[0].nodes.size() == 2);
  CHECK(stats.devices[0].nodes[0].node == "a");
  CHECK(stats.devices[1].nodes[0].node == "c");
  CHECK(recorder.take().devices.empty());
}

TEST_CASE("recorder: many threads lose nothing") {
  StepRecorder recorder;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        recorder.record("d", span("n", i, i + 1));
    });
  for (auto& t : threads)
    t.join();
  CHECK(recorder.take().devices.at(0).nodes.size() == 800);
}

TEST_CASE("merge: devices that both know join their spans") {
  StepStats a{{{"x", {span("1", 0, 1)}}}};
  merge(a, {{{"x", {span("2", 0, 1)}}, {"y", {span("3", 0, 1)}}}});
  REQUIRE(a.devices.size() == 2);
  CHECK(a.devices[0].nodes.size() == 2);
  CHECK(a.devices[1].device == "y");
}

TEST_CASE("chrome: no steps, no events") {
  CHECK(to_chrome_trace({}) == "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n]}\n");
}

TEST_CASE("chrome: a process for each device, an event for each span") {
  NodeStats one = span("layer/w", 100, 130);
  one.op = "MatMul";
  one.thread_id = 3;
  one.bytes = 64;
  one.detail = "shm 7 GB/s";
  StepStats stats{{{"/device:CPU:0", {one}}, {"/device:CPU:1", {span("b", 1, 2)}}}};
  std::string json = to_chrome_trace(stats);
  CHECK(json.find(R"({"ph":"M","name":"process_name","pid":0,"args":{"name":"/device:CPU:0"}})") !=
        std::string::npos);
  CHECK(json.find(R"({"ph":"X","cat":"Op","name":"MatMul","pid":0,"tid":0,"ts":100,"dur":30,)"
                  R"("args":{"name":"layer/w","op":"MatMul","thread":3,"bytes":64,)"
                  R"("detail":"shm 7 GB/s"}})") != std::string::npos);
  CHECK(count(json, "\"ph\":\"X\"") == 2);
  CHECK(count(json, "\"pid\":1") == 2);
}

TEST_CASE("chrome: spans that overlap lie in lanes of their own") {
  StepStats stats{{{"d", {span("late", 20, 30), span("long", 0, 25), span("next", 25, 26)}}}};
  std::string json = to_chrome_trace(stats);
  CHECK(json.find(R"("tid":0,"ts":0)") != std::string::npos);
  CHECK(json.find(R"("tid":1,"ts":20)") != std::string::npos);
  CHECK(json.find(R"("tid":0,"ts":25)") != std::string::npos);
}

TEST_CASE("chrome: text is escaped, and repaired where it is not UTF-8") {
  StepStats stats{{{"d", {span("a\"\\\n\x01 é \xff \xc3 \xed\xa0\x80 end", 0, 1)}}}};
  std::string json = to_chrome_trace(stats);
  CHECK(json.find("\"name\":\"a\\\"\\\\\\u000a\\u0001 é \\ufffd \\ufffd \\ufffd\\ufffd\\ufffd "
                  "end\"") != std::string::npos);
}
