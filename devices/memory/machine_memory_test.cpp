#include "devices/memory/machine_memory.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace troupe;

namespace {

// A folder with the files of /proc and /sys that are looked at.
struct Files {
  std::filesystem::path root = std::filesystem::temp_directory_path() /
                               ("machine_memory_test." + std::to_string(::getpid()));
  ~Files() { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  std::int64_t memory() const { return machine_memory(root.string()); }
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
