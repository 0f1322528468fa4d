// WhyRecords: finds a node, an edge, a task in what the tasks of a step have told of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/protocol/step_records.hpp"

namespace troupe {

/// The records have to outlive it.
class WhyRecords {
public:
  explicit WhyRecords(const std::vector<TaskRecord>& tasks);

  const std::vector<TaskRecord>& tasks() const { return tasks_; }
  /// By name; only those that told it.
  const std::map<std::string, const DeviceRecord*>& devices() const { return devices_; }
  /// Null for a task that has no part in the step.
  const TaskRecord* task(const std::string& name) const;
  /// Null for one that told nothing.
  const DeviceRecord* device(const std::string& name) const;
  /// Of several that a loop makes of a node, the one in the frame and round of `like`; else any.
  /// Null if there is none.
  const NodeRecord* find(const DeviceRecord& device, const std::string& name,
                         const NodeRecord* like = nullptr) const;
  /// The _Send nodes of an edge: one for each round of a loop; null if it has none.
  const std::vector<const NodeRecord*>* sends(const std::string& edge) const;
  /// Its value is there, and waits to be taken.
  bool lies(const std::string& edge) const { return lying_.contains(edge); }
  /// What the sender calls the value that `receive`, on device `here`, waits for.
  std::string sent_name(const NodeRecord& receive, const std::string& here) const;

  /// Incarnations and rounds of loops do not tell edges apart for people.
  static std::string edge_id(std::string_view edge, std::string_view from, std::string_view to);
  /// The node whose output travels along "edge_12_name".
  static std::string source_of_edge(const std::string& edge);
  /// The node of an input: "a" of "a:0" and of "^a".
  static std::string node_of(const std::string& input);
  static std::string task_of(const std::string& device);

private:
  void index(const DeviceRecord& device);

  const std::vector<TaskRecord>& tasks_;
  std::unordered_map<std::string, const TaskRecord*> task_;
  std::map<std::string, const DeviceRecord*> devices_;
  std::unordered_map<std::string, std::unordered_map<std::string, std::vector<const NodeRecord*>>>
      nodes_;                                                             ///< by device and name
  std::unordered_map<std::string, std::vector<const NodeRecord*>> sends_; ///< by edge
  std::set<std::string> lying_; ///< edges whose value waits to be taken
};

} // namespace troupe
