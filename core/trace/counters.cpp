#include "core/trace/counters.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace troupe {

namespace {

// Those of a node, so that its status has them before they were ever used. A test compares them
// with what the sources count (tests/e2e/status_test.py).
constexpr std::string_view counters_of_a_node[] = {
    "compilations",
    "data_connections_in",
    "data_connections_out",
    "dials",
    "executors",
    "graphs",
    "master_sessions",
    "master_steps",
    "refused_connections",
    "refused_data_connections",
    "rendezvous",
    "shared_bytes",
    "shared_regions",
    "steps",
    "stray_messages",
    "transport_offers",
    "transport_pulls",
    "worker_sessions",
};

struct Registry {
  std::mutex lock;
  std::map<std::string, std::unique_ptr<Counter>, std::less<>> counters;
};

// Never destroyed: threads may count while the process ends.
Registry& registry() {
  static Registry& all = *[] {
    auto* made = new Registry;
    for (std::string_view name : counters_of_a_node)
      made->counters.emplace(name, std::make_unique<Counter>());
    return made;
  }();
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
