// A cluster's config file.
#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "net/cluster/node_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  auto config = parse_cluster_config({reinterpret_cast<const char*>(data), size}, "fuzz.conf");
  if (config.ok())
    TROUPE_CHECK(!config->tasks.empty(), "a cluster has tasks");
  else
    TROUPE_CHECK(config.status().message().starts_with("fuzz.conf"), "a refusal names the file");
  return 0;
}
