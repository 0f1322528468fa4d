#include "tools/troupe/child_process.hpp"

#include <doctest/doctest.h>

#include "tools/troupe/json.hpp"
#include "tools/troupe/restart_budget.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

TEST_CASE("line cutter: lines come out whole, however the bytes arrive") {
  std::string text = "first\n\nsecond line\nrest";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    LineCutter cutter;
    std::vector<std::string> lines;
    auto keep = [&](std::string_view line) { lines.emplace_back(line); };
    for (std::size_t i = 0; i < text.size(); i += piece)
      cutter.feed(std::string_view(text).substr(i, piece), keep);
    CHECK(lines == std::vector<std::string>{"first", "", "second line"});
    cutter.finish(keep);
    CHECK(lines.back() == "rest");
  }
}

TEST_CASE("line cutter: a line without end is cut") {
  LineCutter cutter;
  std::vector<std::size_t> sizes;
  auto keep = [&](std::string_view line) { sizes.push_back(line.size()); };
  cutter.feed(std::string(20000, 'x') + "\n", keep);
  CHECK(sizes == std::vector<std::size_t>{8192, 8192, 3616});
}

TEST_CASE("restart budget: so many within a window, and again when it has passed") {
  using namespace std::chrono_literals;
  RestartBudget::Time start{};
  RestartBudget budget(2, 10s);
  CHECK(budget.take(start));
  CHECK(budget.take(start + 1s));
  CHECK(!budget.take(start + 9s));
  CHECK(budget.take(start + 10s)); // the first has left the window
  CHECK(!budget.take(start + 10s));
  CHECK(!RestartBudget(0, 10s).take(start));
}

TEST_CASE("json: commas and escapes come by themselves") {
  JsonWriter w;
  w.open('{')
      .key("a")
      .value(1)
      .key("b")
      .open('[')
      .value("x\"\\\n")
      .value(true)
      .value(1.5)
      .open('[')
      .close(']')
      .close(']')
      .key("c")
      .open('{')
      .close('}')
      .close('}');
  CHECK(w.text() == R"({"a":1,"b":["x\"\\\u000a",true,1.5,[]],"c":{}})");
}

TEST_CASE("table: columns line up and lines end without blanks") {
  CHECK(format_table({{"a", "bb", ""}, {"ccc", "d", "e"}}, " ") == " a    bb\n ccc  d   e\n");
}

} // namespace
} // namespace troupe
