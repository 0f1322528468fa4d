#include "actors/node/shared.hpp"

#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace troupe {

namespace {

using Kind = std::tuple<int, std::int64_t, std::map<std::string, int>>;

/// Never destroyed: sessions of static storage end when they like. It keeps nothing alive.
struct Shared {
  std::mutex lock; // held while one is made, so that two sessions do not make two
  std::map<Kind, std::weak_ptr<ClusterNode>> local;
  std::weak_ptr<ClientNode> client;
};

Shared& shared() {
  static Shared& all = *new Shared;
  return all;
}

} // namespace

Result<std::shared_ptr<ClusterNode>> shared_local_node(const NodeOptions& options) {
  Shared& all = shared();
  std::scoped_lock guard(all.lock);
  std::erase_if(all.local, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ClusterNode>& known =
      all.local[{options.compute_threads, options.memory_limit, options.device_count}];
  // One that has ended, since its guardian was killed say, is left to those that have it.
  if (auto node = known.lock(); node && !node->wait_for(std::chrono::milliseconds(0)))
    return node;
  TROUPE_ASSIGN(std::unique_ptr<ClusterNode> made, ClusterNode::start(options));
  std::shared_ptr<ClusterNode> node = std::move(made);
  known = node;
  return node;
}

Result<std::shared_ptr<ClusterNode>> own_local_node(const NodeOptions& options) {
  TROUPE_ASSIGN(std::unique_ptr<ClusterNode> made, ClusterNode::start(options));
  return std::shared_ptr<ClusterNode>(std::move(made));
}

std::shared_ptr<ClientNode> shared_client_node() {
  Shared& all = shared();
  std::scoped_lock guard(all.lock);
  auto client = all.client.lock();
  if (!client)
    all.client = client = std::make_shared<ClientNode>();
  return client;
}

} // namespace troupe
