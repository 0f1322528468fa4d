// Which ops the tests beside the kernels run in graphs, for the tests of the whole library.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace troupe::testing {

/// The ops that TROUPE_OPS_IN_GRAPHS names in the tests below the folder `kernels`.
inline std::set<std::string> ops_in_graphs(const std::string& kernels) {
  static const std::regex list(R"re(TROUPE_OPS_IN_GRAPHS\(([^)]*)\))re"), name(R"re(\w+)re");
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kernels)) {
    if (!entry.path().string().ends_with("_test.cpp"))
      continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator it(text.begin(), text.end(), list), end; it != end; ++it) {
      const std::string names = (*it)[1];
      for (std::sregex_iterator op(names.begin(), names.end(), name); op != end; ++op)
        out.insert(op->str());
    }
  }
  return out;
}

} // namespace troupe::testing
