// FolderLines: a graph in text form whose device may use one folder, which is there as long as the
// test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "devices/file_host.hpp"
#include "kernels/framework/files.hpp"
#include "tests/support/ops/graph_lines.hpp"

namespace troupe::testing {

/// "@" in the lines and in what is said stands for the folder.
struct FolderLines {
  std::filesystem::path path;
  GraphLines lines;

  FolderLines() {
    std::string pattern = (std::filesystem::temp_directory_path() / "troupe-ops-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    auto files = open_files({path.string()});
    REQUIRE(files.ok());
    allow_files(lines.interpreter.device().device(), *files);
  }
  FolderLines(const FolderLines&) = delete;
  ~FolderLines() { std::filesystem::remove_all(path); }

  void add(std::string_view text) { lines.add(replaced(std::string(text), "@", path.string())); }
  std::string run(const std::vector<std::string>& fetches) {
    return replaced(lines.run(fetches), path.string(), "@");
  }
  bool fails(const std::vector<std::string>& fetches, std::string_view text) {
    const std::string said = run(fetches);
    CAPTURE(said);
    const bool has = !said.starts_with("ok") && said.find(text) != std::string::npos;
    CHECK(has);
    return has;
  }

  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream out(path / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(out.good());
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path / name, std::ios::binary);
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>(in), {}};
  }

private:
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  }
};

} // namespace troupe::testing
