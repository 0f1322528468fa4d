#include "core/base/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace troupe;

namespace {

// A folder with the files of /proc and /sys that are looked at.
struct Files {
  std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("machine_test." + std::to_string(::getpid()));
  ~Files() { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  std::int64_t memory() const { return machine_memory(root.string()); }
  int processors() const { return machine_processors(root.string()); }
};

constexpr std::int64_t mib = 1 << 20;

} // namespace

TEST_CASE("machine memory: without control groups it is the machine's") {
  Files files;
  CHECK(files.memory() ==
        static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE));
}

TEST_CASE("machine memory: the narrowest group on the way to the root counts") {
  Files files;
  const std::int64_t machine = files.memory();
  files.write("proc/self/cgroup", "0::/system.slice/troupe.service");
  files.write("sys/fs/cgroup/system.slice/troupe.service/memory.max", "max");
  CHECK(files.memory() == machine);
  files.write("sys/fs/cgroup/system.slice/memory.max", std::to_string(64 * mib));
  CHECK(files.memory() == 64 * mib);
  files.write("sys/fs/cgroup/system.slice/troupe.service/memory.max", std::to_string(48 * mib));
  CHECK(files.memory() == 48 * mib);
  files.write("sys/fs/cgroup/memory.max", std::to_string(32 * mib)); // a container's own
  CHECK(files.memory() == 32 * mib);
}

TEST_CASE("machine memory: groups of version 1 count too") {
  Files files;
  const std::int64_t machine = files.memory();
  files.write("proc/self/cgroup", "9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc");
  files.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  CHECK(files.memory() == machine);
  files.write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", std::to_string(16 * mib));
  CHECK(files.memory() == 16 * mib);
}

TEST_CASE("machine processors: without a quota they are those of the process") {
  Files files;
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  CHECK(files.processors() == all);
  files.write("proc/self/cgroup", "0::/a/b\n4:cpu,cpuacct:/docker/abc");
  files.write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  files.write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1");
  files.write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000");
  CHECK(files.processors() == all);
  files.write("sys/fs/cgroup/a/b/cpu.max", "100000000 100000"); // a thousand processors
  CHECK(files.processors() == all);
}

TEST_CASE("machine processors: a quota counts, rounded up, and what is no quota does not") {
  Files files;
  const int all = files.processors();
  files.write("proc/self/cgroup", "0::/a/b");
  files.write("sys/fs/cgroup/a/cpu.max", "100001 100000");
  CHECK(files.processors() == std::min(all, 2));
  files.write("sys/fs/cgroup/a/b/cpu.max", "100000 100000");
  CHECK(files.processors() == 1);
  files.write("sys/fs/cgroup/a/b/cpu.max", "1000 100000");
  CHECK(files.processors() == 1);
  for (const char* odd : {"", "x y", "0 0", "5", "-5 100000", "100000 0"}) {
    files.write("sys/fs/cgroup/a/b/cpu.max", odd);
    CHECK(files.processors() == std::min(all, 2));
  }
}

TEST_CASE("machine processors: quotas of groups of version 1 count too") {
  Files files;
  files.write("proc/self/cgroup", "4:cpu,cpuacct:/docker/abc");
  files.write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "50000");
  files.write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000");
  CHECK(files.processors() == 1);
}
