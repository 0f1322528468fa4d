#include "core/trace/counters.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace troupe {

namespace {

struct Registry {
  std::mutex lock;
  std::map<std::string, std::unique_ptr<Counter>, std::less<>> counters;
};

// Never destroyed: threads may count while the process ends.
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

} // namespace

Counter& counter(std::string_view name) {
  Registry& all = registry();
  std::scoped_lock guard(all.lock);
  auto it = all.counters.find(name);
  if (it == all.counters.end())
    it = all.counters.emplace(std::string(name), std::make_unique<Counter>()).first;
  return *it->second;
}

std::vector<std::pair<std::string, std::int64_t>> counter_snapshot() {
  Registry& all = registry();
  std::scoped_lock guard(all.lock);
  std::vector<std::pair<std::string, std::int64_t>> out;
  out.reserve(all.counters.size());
  for (const auto& [name, one] : all.counters)
    out.emplace_back(name, one->value());
  return out;
}

} // namespace troupe
