#include "core/base/machine.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

// The numbers of a file's first line; nothing if there is another word, such as "max".
std::vector<std::int64_t> numbers_of(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::vector<std::int64_t> numbers;
  if (std::getline(in, line))
    for (std::string_view word : str_split(str_trim(line), ' ')) {
      auto number = parse_int(word);
      if (!number)
        return {};
      numbers.push_back(*number);
    }
  return numbers;
}

// Visits the folders of a group and of those above it. In a container the path may be the host's;
// then only the hierarchy's root is there.
template <class Visit>
void for_each_group(const std::string& hierarchy, std::string path, Visit visit) {
  for (;;) {
    visit(str_cat(hierarchy, path, path.ends_with('/') ? "" : "/"));
    auto slash = path.rfind('/');
    if (path.size() <= 1 || slash == std::string::npos)
      return;
    path.resize(std::max<std::size_t>(slash, 1));
  }
}

// Calls visit(folder, is_version_2) for all groups that hold this process and have the controller.
template <class Visit>
void for_each_group_with(std::string_view controller, const std::string& root, Visit visit) {
  const std::string groups = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup"); // "0::/path", "9:memory:/path"
  for (std::string line; std::getline(file, line);) {
    auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty())
      for_each_group(groups, path, [&](const std::string& folder) { visit(folder, true); });
    else if (str_cat(",", controllers, ",").find(str_cat(",", controller, ",")) !=
             std::string::npos)
      for_each_group(str_cat(groups, "/", controller), path,
                     [&](const std::string& folder) { visit(folder, false); });
  }
}

} // namespace

// Version 1 says that nothing is bounded with a number near 2^63.
std::int64_t machine_memory(const std::string& root) {
  auto bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  for_each_group_with("memory", root, [&bytes](const std::string& folder, bool is_version_2) {
    const auto limit = numbers_of(folder + (is_version_2 ? "memory.max" : "memory.limit_in_bytes"));
    if (limit.size() == 1 && limit[0] > 0)
      bytes = std::min(bytes, limit[0]);
  });
  return bytes;
}

// Version 2 has "QUOTA PERIOD" in one file, version 1 a file each; a quota of -1 bounds nothing.
int machine_processors(const std::string& root) {
  std::int64_t processors = std::max(1U, std::thread::hardware_concurrency());
  for_each_group_with("cpu", root, [&processors](const std::string& folder, bool is_version_2) {
    std::vector<std::int64_t> time;
    if (is_version_2) {
      time = numbers_of(folder + "cpu.max");
    } else {
      time = numbers_of(folder + "cpu.cfs_quota_us");
      std::ranges::copy(numbers_of(folder + "cpu.cfs_period_us"), std::back_inserter(time));
    }
    if (time.size() == 2 && time[0] > 0 && time[1] > 0)
      processors = std::min(processors, (time[0] - 1) / time[1] + 1);
  });
  return static_cast<int>(processors);
}

} // namespace troupe
