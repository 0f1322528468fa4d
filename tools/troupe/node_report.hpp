// What `troupe status` tells of a node, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "tools/troupe/node_targets.hpp"
#include "tools/troupe/node_watch.hpp"

namespace troupe {

struct SessionReport {
  SessionInfo info;
  std::vector<StepInfo> steps;
};
struct NodeReport {
  Welcome welcome;
  NodeStatus node;
  std::vector<SessionReport> sessions;
};
Result<NodeReport> ask_for_report(NodeWatch& watch);
std::string format_report(const NodeReport& report, const Address& address);
/// One object.
void write_report(JsonWriter& out, const NodeReport& report, const Address& address);

/// Why the running steps of a node's sessions do not end.
struct SessionWhy {
  std::string handle;
  StepsExplained explained;
};
struct WhyReport {
  Welcome welcome;
  std::vector<SessionWhy> sessions;
};
Result<WhyReport> ask_for_why(NodeWatch& watch);
std::string format_why(const WhyReport& report);
void write_why(JsonWriter& out, const WhyReport& report);

} // namespace troupe
