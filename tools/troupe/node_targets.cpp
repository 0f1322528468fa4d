#include "tools/troupe/node_targets.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/strings.hpp"
#include "net/cluster/node_config.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/target.hpp"

namespace troupe {

void NodeTargets::declare(Options& options) {
  options.text("TARGET", target_, node_target_help);
  options.text("--config-file,--config", file_,
               "in place of TARGET: every task of this config file");
  options.text("--job", job_, "of a config file: only the tasks of this job");
  options.text("--timeout", timeout_, "the longest that a node may take; 5s without it");
}

Result<std::vector<NodeTarget>> NodeTargets::read(bool& in_file) const {
  in_file = false;
  if (target_.empty() == file_.empty())
    return invalid_argument("name one node, as caf://host:port, or a config file with --config");
  std::vector<NodeTarget> out;
  if (!target_.empty()) {
    if (!job_.empty())
      return invalid_argument("--job belongs to --config");
    TROUPE_ASSIGN(Address address, parse_node_target(target_));
    out.push_back({address.to_string(), address});
    return out;
  }
  auto config = read_cluster_config(file_);
  in_file = !config.ok();
  TROUPE_TRY(config.status());
  for (const NodeConfig& task : config->tasks)
    if (job_.empty() || task.job == job_)
      out.push_back({task.name(), task.address});
  if (out.empty())
    return invalid_argument(config->task(job_, 0).status().message());
  return out;
}

Result<std::chrono::milliseconds> NodeTargets::timeout() const {
  return read_duration("--timeout", timeout_);
}

void for_each_node(std::size_t count, const std::function<void(std::size_t)>& ask) {
  constexpr std::size_t most_at_once = 8;
  if (count == 1)
    return ask(0);
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(count, most_at_once); ++i)
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < count; at = next++)
        ask(at);
    });
  for (std::thread& thread : threads)
    thread.join();
}

} // namespace troupe
