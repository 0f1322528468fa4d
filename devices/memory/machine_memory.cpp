#include "devices/memory/machine_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include <unistd.h>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

// "max", and whatever else is no number, bounds nothing. Version 1 says the same with a number near
// 2^63.
void narrow(std::int64_t& bytes, const std::string& file) {
  std::ifstream in(file);
  std::string line;
  if (std::getline(in, line))
    if (auto limit = parse_int(str_trim(line)); limit && *limit > 0)
      bytes = std::min(bytes, *limit);
}

// A group's own file and those of the groups above it. In a container the path may be the host's;
// then only the hierarchy's root is there.
void narrow_by_group(std::int64_t& bytes, const std::string& hierarchy, std::string path,
                     std::string_view file) {
  for (;;) {
    narrow(bytes, str_cat(hierarchy, path, path.ends_with('/') ? "" : "/", file));
    auto slash = path.rfind('/');
    if (path.size() <= 1 || slash == std::string::npos)
      return;
    path.resize(std::max<std::size_t>(slash, 1));
  }
}

} // namespace

std::int64_t machine_memory(const std::string& root) {
  auto bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  const std::string groups = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup"); // "0::/path", "9:memory:/path"
  for (std::string line; std::getline(file, line);) {
    auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (controllers.empty())
      narrow_by_group(bytes, groups, path, "memory.max");
    else if (str_cat(",", controllers, ",").find(",memory,") != std::string::npos)
      narrow_by_group(bytes, groups + "/memory", path, "memory.limit_in_bytes");
  }
  return bytes;
}

} // namespace troupe
