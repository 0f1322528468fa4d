#include "actors/step/why_tree.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "actors/step/internal/why_items.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using End = NodeRecord::End;
using State = NodeRecord::State;
using enum WhyRank;

/// How deep the search goes before it takes what it has for a leaf.
constexpr int max_search = 400;

class WhyTree {
public:
  WhyTree(const std::vector<TaskRecord>& tasks, const WhyLimits& limits)
      : records_(tasks), limits_(limits), items_(records_) {}

  Why run() {
    std::vector<int> roots = find_roots();
    sort(roots);
    Why out;
    std::vector<std::vector<std::string>> blocks;
    for (std::size_t i = 0; i < roots.size(); ++i) {
      if (i >= 2 * limits_.branches || lines_ >= limits_.lines) {
        blocks.push_back({str_cat("… ", roots.size() - i, " more that wait")});
        break;
      }
      blocks.push_back(render(roots[i], true, 0));
    }
    stack_blocks(blocks, out.tree);
    if (roots.empty()) {
      out.cause = "every part has ended; its answer is on the way";
      out.tree.push_back("└─ " + out.cause);
      return out;
    }
    out.cause = clause(items_[items_[roots[0]].best]);
    return out;
  }

private:
  // -- search

  bool is_better(int a, int b) const {
    const WhyItem& x = items_[items_[a].best];
    const WhyItem& y = items_[items_[b].best];
    if (x.rank != y.rank)
      return x.rank > y.rank;
    if (x.weight != y.weight)
      return x.weight > y.weight;
    int far_a = items_[a].distance, far_b = items_[b].distance;
    return far_a != far_b ? far_a < far_b : a < b;
  }
  void sort(std::vector<int>& items) const {
    std::sort(items.begin(), items.end(), [&](int a, int b) { return is_better(a, b); });
  }

  // Finds the best leaf below; items_ may move.
  void explore(int id, int depth) {
    if (items_[id].state != WhyItem::fresh)
      return;
    items_[id].state = WhyItem::open;
    items_.describe(id);
    std::vector<int> children = items_[id].children;
    if (depth >= max_search)
      children.clear();
    std::erase(children, id);
    bool closes = false;
    std::vector<int> kept;
    for (int child : children) {
      explore(child, depth + 1);
      if (items_[child].state == WhyItem::open)
        closes = true;
      else
        kept.push_back(child);
    }
    sort(kept);
    WhyItem& item = items_[id];
    if (kept.empty()) {
      item.best = id;
      if (closes) {
        item.said += ", in a circle";
        item.rank = circle;
      }
    } else {
      item.best = items_[kept[0]].best;
      item.distance = items_[kept[0]].distance + 1;
    }
    item.children = std::move(kept);
    item.state = WhyItem::done;
  }

  // Nodes that nothing listed waits for; then tasks and devices that no branch has reached.
  std::vector<int> find_roots() {
    std::set<const NodeRecord*> awaited;
    std::set<std::string> received;
    for (const auto& [name, device] : records_.devices())
      for (const NodeRecord& node : device->nodes) {
        for (const std::string& input : node.missing)
          if (const NodeRecord* from = records_.find(*device, WhyRecords::node_of(input), &node))
            awaited.insert(from);
        if (node.end == End::receive)
          received.insert(WhyRecords::edge_id(node.edge, node.peer, name));
      }
    std::vector<int> out;
    std::set<int> seen;
    auto root = [&](int id) {
      explore(id, 0);
      if (seen.insert(id).second)
        out.push_back(id);
    };
    auto start_at = [&](const DeviceRecord& device, const NodeRecord& node) {
      bool is_fetch = node.end == End::fetch && node.state == State::waiting && node.skipped == 0;
      bool is_known = false;
      for (const std::string& input : node.missing)
        if (const NodeRecord* from = records_.find(device, WhyRecords::node_of(input), &node);
            is_fetch && from) {
          is_known = true;
          root(items_.of_node(device, *from));
        }
      if (!is_known)
        root(items_.of_node(device, node));
    };
    for (bool is_waiting : {true, false}) // what they wait for may be told on the way
      for (const auto& [name, device] : records_.devices())
        for (const NodeRecord& node : device->nodes)
          if ((node.state == State::waiting) == is_waiting && !awaited.contains(&node) &&
              !items_.is_told(node) &&
              !(node.end == End::send &&
                received.contains(WhyRecords::edge_id(node.edge, name, node.peer))))
            start_at(*device, node);
    if (out.empty()) // everything waits for something
      for (const auto& [name, device] : records_.devices())
        if (!device->nodes.empty())
          start_at(*device, device->nodes.front());
    for (const TaskRecord& task : records_.tasks())
      add_task_root(task, root);
    return out;
  }

  template <class Root>
  void add_task_root(const TaskRecord& task, Root& root) {
    if (task.has_ended)
      return;
    bool is_told = items_.is_reported(task.task);
    if (!task.answered) {
      if (!is_told)
        root(items_.leaf(task.task, WhyItems::silence(task), silent));
      return;
    }
    if (!task.has_begun && !is_told)
      root(items_.leaf(task.task, WhyItems::absence(task), unclear_task));
    for (const DeviceRecord& device : task.devices)
      if (!device.answered && device.nodes.empty() && !is_told &&
          !items_.is_reported(device.device))
        root(items_.leaf(device.device.empty() ? str_cat("a device of ", task.task) : device.device,
                         " does not answer: a kernel holds its thread", running));
  }

  // -- text

  static std::string line(const WhyItem& item, bool with_place) {
    return str_cat(item.subject, with_place ? item.where : "", item.said);
  }
  static std::string clause(const WhyItem& item) {
    return item.is_edge ? "waiting for " + line(item, true) : line(item, true);
  }

  // The first of the blocks comes last.
  static void stack_blocks(std::vector<std::vector<std::string>>& blocks,
                           std::vector<std::string>& out) {
    for (std::size_t i = blocks.size(); i-- > 0;)
      for (std::size_t j = 0; j < blocks[i].size(); ++j)
        out.push_back((j > 0 ? (i > 0 ? "│  " : "   ") : (i > 0 ? "├─ " : "└─ ")) + blocks[i][j]);
  }

  std::vector<std::string> render(int id, bool with_place, std::size_t depth) {
    const WhyItem& item = items_[id];
    ++lines_;
    if (!rendered_.insert(id).second && !item.children.empty())
      return {str_cat(line(item, with_place), " (see below)")};
    std::vector<std::string> out{line(item, with_place)};
    if (item.children.empty())
      return out;
    if (depth + 1 >= limits_.depth) {
      out.push_back("└─ … further down: " + line(items_[item.best], true));
      return out;
    }
    std::vector<std::vector<std::string>> blocks;
    for (std::size_t i = 0; i < item.children.size(); ++i) {
      if (i > 0 && (i >= limits_.branches || lines_ >= limits_.lines)) {
        blocks.push_back({str_cat("… ", item.children.size() - i, " more")});
        break;
      }
      blocks.push_back(render(item.children[i], false, depth + 1));
    }
    stack_blocks(blocks, out);
    return out;
  }

  const WhyRecords records_;
  const WhyLimits& limits_;
  WhyItems items_;
  std::set<int> rendered_;
  std::size_t lines_ = 0;
};

} // namespace

Why explain_step(const std::vector<TaskRecord>& tasks, const WhyLimits& limits) {
  return WhyTree(tasks, limits).run();
}

} // namespace troupe
