// WhyItems: one line of the tree for each node, edge or task that a step waits for, in words.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/step/internal/why_records.hpp"

namespace troupe {

/// How likely a leaf is the cause of what waits for it.
enum class WhyRank { circle, unknown, on_its_way, queued, unclear_task, running, silent };

/// A node, an edge, a task: one line of the tree.
struct WhyItem {
  std::string subject; ///< "'y' (Neg)"
  std::string where;   ///< " on /job:…", said where the line above does not say it
  std::string said;    ///< " waits for 'b:0'"
  bool is_edge = false;
  std::vector<int> children; ///< once explored, the best one first
  std::size_t more = 0;      ///< inputs that nobody listed
  int best = -1;             ///< the leaf; itself if it is one
  WhyRank rank = WhyRank::unknown;
  std::int64_t weight = 0; ///< among leaves of one rank
  int distance = 0;        ///< to the best leaf
  enum { fresh, open, done } state = fresh;
};

/// Made when something is found to wait for them, described when the search comes to them.
class WhyItems {
public:
  explicit WhyItems(const WhyRecords& records) : records_(records) {}

  WhyItem& operator[](int id) { return items_[static_cast<std::size_t>(id)]; }
  const WhyItem& operator[](int id) const { return items_[static_cast<std::size_t>(id)]; }
  /// The line of a node; of a _Recv that waits, the edge's.
  int of_node(const DeviceRecord& device, const NodeRecord& node);
  /// A line that waits for nothing listed.
  int leaf(std::string subject, std::string said, WhyRank rank);
  /// Says what it waits for, the first time; makes items for that, so references end.
  void describe(int id);

  /// Is part of an edge's line.
  bool is_told(const NodeRecord& node) const { return told_.contains(&node); }
  /// Some line ends in the silence of that task or device.
  bool is_reported(const std::string& name) const { return reported_.contains(name); }

  /// Whoever is silent is not called alive.
  static std::string silence(const TaskRecord& task);
  static std::string absence(const TaskRecord& task);

private:
  struct Place {
    const DeviceRecord* device = nullptr;
    const NodeRecord* node = nullptr;
  };

  int add(WhyItem item);
  int of_edge(const DeviceRecord& here, const NodeRecord& receive);
  std::string name_of_input(const DeviceRecord& device, const NodeRecord& node,
                            const std::string& input) const;
  std::string waits_for(const DeviceRecord& device, const NodeRecord& node) const;
  void describe_node(const DeviceRecord& device, const NodeRecord& node, WhyItem& item);
  void describe_edge(const DeviceRecord& here, const NodeRecord& receive, WhyItem& item);
  void describe_hidden(const TaskRecord& there, const std::string& source, WhyItem& item);
  void describe_busy(const DeviceRecord& sender, const std::string& source, WhyItem& item);
  void describe_unsent(const DeviceRecord& sender, const std::string& source, WhyItem& item);
  void describe_send(const DeviceRecord& sender, const NodeRecord& send, const std::string& source,
                     WhyItem& item);
  void continue_with(const DeviceRecord& device, const NodeRecord& node, WhyItem& item);

  const WhyRecords& records_;
  std::vector<WhyItem> items_;
  std::unordered_map<const NodeRecord*, int> by_node_;
  std::unordered_map<std::string, int> by_edge_;
  std::unordered_map<int, Place> pending_; ///< items that are not described yet
  std::set<std::string> reported_;         ///< tasks and devices whose silence some line ends in
  std::set<const NodeRecord*> told_;
};

} // namespace troupe
