#include "tools/troupe/child_process.hpp"

#include <doctest/doctest.h>

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

} // namespace
} // namespace troupe
