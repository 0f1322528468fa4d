// FileLines: datasets of a graph in text form that read and write files of a folder of their own.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "devices/file_host.hpp"
#include "kernels/framework/files.hpp"
#include "tests/support/ops/dataset_lines.hpp"

namespace troupe::data::testing {

/// The folder goes with it.
struct FileLines : troupe::testing::DatasetLines {
  FileLines() {
    std::string pattern = (std::filesystem::temp_directory_path() / "troupe-data-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    auto opened = open_files({path.string()});
    REQUIRE(opened.ok());
    files = *opened;
    allow_files(device().device(), files);
    for (const char* n : {"0", "1", "2", "3", "4"})
      add(troupe::testing::constant(str_cat("n", n), str_cat("i64[] ", n)));
    add(troupe::testing::constant("plain", R"(str[] "")"));
    add(troupe::testing::constant("gzip", R"(str[] "GZIP")"));
    add(troupe::testing::constant("zlib", R"(str[] "ZLIB")"));
    add(troupe::testing::constant("odd", R"(str[] "LZ4")"));
    add(troupe::testing::constant("buffer", "i64[] 0"));
    add(troupe::testing::constant("less", "i64[] -2"));
  }
  ~FileLines() { std::filesystem::remove_all(path); }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream out(path / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(out.good());
  }
  /// A constant of these files' names.
  void names(std::string_view constant, std::initializer_list<std::string_view> all) {
    std::string text = str_cat("str[", all.size(), "]");
    for (std::string_view name : all)
      str_append(text, " \"", (path / name).string(), "\"");
    add(troupe::testing::constant(constant, text));
  }

  std::filesystem::path path;
  std::shared_ptr<AllowedFiles> files;
};

/// Elements that are these texts.
inline std::vector<std::string> texts(std::initializer_list<std::string_view> all) {
  std::vector<std::string> out;
  for (std::string_view text : all)
    out.push_back(str_cat("str[] \"", text, "\""));
  return out;
}

/// What is known of a dataset of files.
inline const troupe::testing::DatasetFacts of_files{.cardinality = "-2"};

} // namespace troupe::data::testing
