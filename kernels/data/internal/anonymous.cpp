#include "kernels/data/internal/anonymous.hpp"

#include <atomic>

#include "core/base/strings.hpp"

namespace troupe::data {

Result<AnonymousPlace> anonymous_place(const KernelContext& c) {
  static std::atomic<std::uint64_t> next{0};
  ResourceManager& manager = c.resources();
  const auto make = [&]() -> Result<std::shared_ptr<ResourcesAnchor>> {
    return std::make_shared<ResourcesAnchor>(std::make_shared<ResourcesLink>(manager));
  };
  TROUPE_ASSIGN(const auto anchor, manager.lookup_or_create<ResourcesAnchor>("", "", make));
  AnonymousPlace out;
  out.link = anchor->link();
  out.name.container = manager.default_container();
  out.name.name = str_cat("_anonymous_", next++, "_", c.node_name());
  return out;
}

} // namespace troupe::data
