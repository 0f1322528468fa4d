#include "actors/step/why_tree.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

namespace {

using End = NodeRecord::End;
using State = NodeRecord::State;

/// How likely a leaf is the cause of what waits for it.
enum Rank { circle, unknown, on_its_way, queued, unclear_task, running, silent };

/// How deep the search goes before it takes what it has for a leaf.
constexpr int max_search = 400;

std::string seconds(std::int64_t us) {
  std::int64_t ms = us / 1000;
  if (ms < 1000)
    return str_cat(ms, " ms");
  if (ms < 60'000)
    return str_cat(ms / 1000, ".", ms % 1000 / 100, " s");
  std::int64_t minutes = ms / 60'000;
  if (minutes < 60)
    return str_cat(minutes, " min ", ms / 1000 % 60, " s");
  return str_cat(minutes / 60, " h ", minutes % 60, " min");
}

/// The node whose output travels along "edge_12_name".
std::string source_of_edge(const std::string& edge) {
  std::string_view rest = edge;
  if (!rest.starts_with("edge_"))
    return edge;
  rest.remove_prefix(5);
  std::size_t digits = 0;
  while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])))
    ++digits;
  if (digits == 0 || digits + 1 >= rest.size() || rest[digits] != '_')
    return edge;
  return std::string(rest.substr(digits + 1));
}

std::string node_of(const std::string& input) {
  if (input.starts_with('^'))
    return input.substr(1);
  return input.substr(0, input.rfind(':'));
}

std::string task_of(const std::string& device) {
  return device.substr(0, device.find("/device:"));
}

/// A node, an edge, a task: one line of the tree.
struct Item {
  std::string subject; ///< "'y' (Neg)"
  std::string where;   ///< " on /job:…", said where the line above does not say it
  std::string said;    ///< " waits for 'b:0'"
  bool is_edge = false;
  std::vector<int> children; ///< once explored, the best one first
  std::size_t more = 0;      ///< inputs that nobody listed
  int best = -1;             ///< the leaf; itself if it is one
  int rank = unknown;
  std::int64_t weight = 0; ///< among leaves of one rank
  int distance = 0;        ///< to the best leaf
  enum { fresh, open, done } state = fresh;
};

class WhyTree {
public:
  WhyTree(const std::vector<TaskRecord>& tasks, const WhyLimits& limits)
      : tasks_(tasks), limits_(limits) {
    for (const TaskRecord& task : tasks_) {
      task_[task.task] = &task;
      for (const DeviceRecord& device : task.devices)
        index(device);
      for (const EdgeRecord& edge : task.edges)
        if (edge.state == EdgeRecord::State::lies_here)
          lying_.insert(strip(edge.key));
    }
  }

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
    out.cause = clause(items_[static_cast<std::size_t>(items_[at(roots[0])].best)]);
    return out;
  }

private:
  struct Found {
    const DeviceRecord* device = nullptr;
    const NodeRecord* node = nullptr;
  };

  static std::size_t at(int item) { return static_cast<std::size_t>(item); }

  // Incarnations and rounds of loops do not tell edges apart for people.
  static std::string strip(const std::string& key) {
    auto parsed = parse_rendezvous_key(key);
    return parsed.ok() ? edge_id(parsed->edge, parsed->src_device, parsed->dst_device) : key;
  }
  static std::string edge_id(std::string_view edge, std::string_view from, std::string_view to) {
    return str_cat(edge, ";", from, ";", to);
  }

  void index(const DeviceRecord& device) {
    if (!device.device.empty())
      device_[device.device] = &device;
    auto& names = nodes_[device.device];
    for (const NodeRecord& node : device.nodes) {
      names[node.node].push_back(&node);
      if (node.end == End::send)
        sends_[edge_id(node.edge, device.device, node.peer)].push_back(&node);
    }
  }

  const NodeRecord* find(const DeviceRecord& device, const std::string& name,
                         const NodeRecord* like = nullptr) const {
    auto names = nodes_.find(device.device);
    if (names == nodes_.end())
      return nullptr;
    auto it = names->second.find(name);
    if (it == names->second.end())
      return nullptr;
    for (const NodeRecord* node : it->second)
      if (like && node->frame == like->frame && node->iteration == like->iteration)
        return node;
    return it->second.front();
  }

  // -- items

  int add(Item item) {
    items_.push_back(std::move(item));
    return static_cast<int>(items_.size()) - 1;
  }
  int leaf(std::string subject, std::string where, std::string said, Rank rank,
           std::int64_t weight = 0) {
    Item item;
    item.subject = std::move(subject);
    item.where = std::move(where);
    item.said = std::move(said);
    item.rank = rank;
    item.weight = weight;
    int id = add(std::move(item));
    items_[at(id)].best = id;
    items_[at(id)].state = Item::done;
    return id;
  }

  static std::string quoted(const NodeRecord& node) {
    return str_cat("'", node.node, "' (", node.op, ")");
  }

  // The value that an input stands for: of a receive, what the sender calls it.
  std::string name_of_input(const DeviceRecord& device, const NodeRecord& node,
                            const std::string& input) const {
    const NodeRecord* from = find(device, node_of(input), &node);
    if (from && from->end == End::receive)
      return str_cat("'", sent_name(*from, device.device), "'");
    return str_cat("'", input, "'");
  }
  std::string sent_name(const NodeRecord& receive, const std::string& here) const {
    auto it = sends_.find(edge_id(receive.edge, receive.peer, here));
    if (it != sends_.end())
      for (const std::string& input : it->second.front()->missing)
        if (!input.starts_with('^') && it->second.front()->skipped == 0)
          return input;
    return source_of_edge(receive.edge);
  }

  static std::string running_for(const NodeRecord& node) {
    std::string said = node.running_us < 0
                           ? " is running"
                           : str_cat(" has been running for ", seconds(node.running_us));
    return node.is_async ? said + ", asynchronously: it waits for something outside the graph"
                         : said;
  }

  std::string waits_for(const DeviceRecord& device, const NodeRecord& node) const {
    if (node.missing.empty())
      return " waits for its inputs";
    std::vector<std::string> names;
    for (const std::string& input : node.missing)
      names.push_back(name_of_input(device, node, input));
    std::string out = " waits ";
    if (node.skipped > 0)
      str_append(out, "through ", node.skipped, " more nodes ");
    str_append(out, "for ", str_join(names, ", "));
    if (node.more_missing > 0)
      str_append(out, " and ", node.more_missing, " more");
    return out;
  }

  // What a node does, and what it waits for.
  void describe(const DeviceRecord& device, const NodeRecord& node, Item& item) {
    switch (node.state) {
    case State::running:
      item.said = running_for(node);
      item.rank = running;
      item.weight = node.running_us;
      break;
    case State::queued:
      item.said = node.frame == 0
                      ? " is ready, and waits for its turn on the device"
                      : str_cat(" is about to run in round ", node.iteration + 1, " of its loop");
      item.rank = queued;
      break;
    case State::waiting:
      item.said = waits_for(device, node);
      item.more = node.more_missing;
      std::size_t unlisted = 0;
      for (const std::string& input : node.missing)
        if (const NodeRecord* from = find(device, node_of(input), &node)) {
          int child = node_item(device, *from);
          if (std::find(item.children.begin(), item.children.end(), child) == item.children.end())
            item.children.push_back(child);
        } else {
          ++unlisted;
        }
      if (item.children.empty() && unlisted > 0)
        str_append(item.said, ", one of ", device.unfinished, " unfinished nodes there");
      break;
    }
  }

  int node_item(const DeviceRecord& device, const NodeRecord& node) {
    if (node.end == End::receive && node.state != State::waiting)
      return edge_item(device, node);
    auto known = by_node_.find(&node);
    if (known != by_node_.end())
      return known->second;
    Item item;
    item.subject = quoted(node);
    item.where = " on " + device.device;
    int id = add(std::move(item));
    by_node_[&node] = id;
    pending_[id] = {&device, &node};
    return id;
  }

  // The value that a receive waits for.
  int edge_item(const DeviceRecord& here, const NodeRecord& receive) {
    std::string edge = edge_id(receive.edge, receive.peer, here.device);
    auto known = by_edge_.find(edge);
    if (known != by_edge_.end())
      return known->second;
    Item item;
    item.is_edge = true;
    item.subject = str_cat("'", sent_name(receive, here.device), "' from ", receive.peer, ":");
    int id = add(std::move(item));
    by_edge_[edge] = id;
    pending_[id] = {&here, &receive};
    return id;
  }

  void settle(Item& item, std::string said, Rank rank, std::int64_t weight = 0) {
    item.said = std::move(said);
    item.rank = rank;
    item.weight = weight;
  }

  // Whoever is silent is not called alive.
  static std::string words_of(const SilenceRecord& silence) {
    switch (silence.kind) {
    case SilenceRecord::Kind::busy:
      return "its graph manager is busy";
    case SilenceRecord::Kind::heard:
      return str_cat("last heard of ", silence.silent_us / 1000, " ms ago");
    case SilenceRecord::Kind::lost:
      return str_cat("not connected (lost: ", silence.loss, ")");
    case SilenceRecord::Kind::unreached:
      return "not dialled yet";
    case SilenceRecord::Kind::unknown:
      break;
    }
    return {};
  }
  static std::string silence(const TaskRecord& task) {
    std::string words = words_of(task.silence);
    return words.empty() ? " does not answer" : str_cat(" does not answer (", words, ")");
  }
  static std::string absence(const TaskRecord& task) {
    std::string words = words_of(task.silence);
    return str_cat(" does not run its part of the step: ",
                   words.empty() ? "its start or its fed values are on the way there, or its "
                                   "answer is on the way back"
                                 : words);
  }

  void describe_edge(const DeviceRecord& here, const NodeRecord& receive, Item& item) {
    std::string source = source_of_edge(receive.edge);
    std::string edge = edge_id(receive.edge, receive.peer, here.device);
    auto task = task_.find(task_of(receive.peer));
    if (task == task_.end())
      return settle(item, str_cat(" task ", task_of(receive.peer), " has no part in the step"),
                    unclear_task);
    const TaskRecord& there = *task->second;
    if (!there.answered) {
      reported_.insert(there.task);
      return settle(item, str_cat(" ", there.task, silence(there)), silent);
    }
    if (lying_.contains(edge))
      return settle(
          item, str_cat(" its op '", source, "' has run, its value waits there to be asked for"),
          on_its_way);
    if (there.has_ended)
      return settle(item, str_cat(" its op '", source, "' has run, its value is on the way"),
                    on_its_way);
    if (!there.has_begun) {
      reported_.insert(there.task);
      return settle(item, str_cat(" ", there.task, absence(there)), unclear_task);
    }
    auto device = device_.find(receive.peer);
    if (device == device_.end()) {
      auto nameless = std::find_if(there.devices.begin(), there.devices.end(),
                                   [](const DeviceRecord& d) { return !d.answered; });
      if (nameless != there.devices.end()) {
        reported_.insert(nameless->device.empty() ? there.task : nameless->device);
        return settle(item, " its device does not answer: a kernel holds its thread", running);
      }
      return settle(item, str_cat(" its op '", source, "' has run, its value is on the way"),
                    on_its_way);
    }
    const DeviceRecord& sender = *device->second;
    if (!sender.answered) {
      for (const NodeRecord& node : sender.nodes) {
        std::string who = node.node == source
                              ? str_cat(" its op ", quoted(node))
                              : str_cat(" its device is taken by ", quoted(node), ", which");
        told_.insert(&node);
        return settle(item, who + running_for(node), running, node.running_us);
      }
      reported_.insert(sender.device);
      return settle(item, " its device does not answer: a kernel holds its thread", running);
    }
    auto sends = sends_.find(edge);
    if (sends == sends_.end())
      return describe_unsent(sender, source, item);
    const NodeRecord* send = sends->second.front();
    for (const NodeRecord* other : sends->second)
      if (other->iteration == receive.iteration)
        send = other;
    describe_send(sender, *send, source, item);
  }

  void describe_unsent(const DeviceRecord& sender, const std::string& source, Item& item) {
    if (const NodeRecord* op = find(sender, source)) {
      item.said = str_cat(" its op ", quoted(*op));
      continue_with(sender, *op, item);
    } else if (sender.nodes.size() < sender.unfinished) {
      settle(item,
             str_cat(" its op '", source, "' is not among the ", sender.nodes.size(),
                     " nodes listed of ", sender.unfinished, " unfinished ones there"),
             unknown);
    } else {
      settle(item, str_cat(" its op '", source, "' has run, its value is on the way"), on_its_way);
    }
  }

  void describe_send(const DeviceRecord& sender, const NodeRecord& send, const std::string& source,
                     Item& item) {
    if (send.state != State::waiting)
      return settle(item, str_cat(" its op '", source, "' has run, its value is about to be sent"),
                    queued);
    for (const std::string& input : send.missing)
      if (const NodeRecord* op = find(sender, node_of(input), &send);
          op && !input.starts_with('^')) {
        if (op->end == End::receive && op->state != State::waiting) {
          item.said = " it has not come there itself";
          item.children.push_back(edge_item(sender, *op));
          return;
        }
        item.said = str_cat(" its op ", quoted(*op));
        return continue_with(sender, *op, item);
      }
    item.said = str_cat(" its op '", source, "'", waits_for(sender, send));
    for (const std::string& input : send.missing)
      if (const NodeRecord* op = find(sender, node_of(input), &send))
        item.children.push_back(node_item(sender, *op));
  }

  // The line goes on with what the node does.
  void continue_with(const DeviceRecord& device, const NodeRecord& node, Item& item) {
    told_.insert(&node);
    Item inner;
    describe(device, node, inner);
    item.said += inner.said;
    item.children = std::move(inner.children);
    item.more = inner.more;
    item.rank = inner.rank;
    item.weight = inner.weight;
  }

  // -- search

  bool is_better(int a, int b) const {
    const Item& x = items_[at(items_[at(a)].best)];
    const Item& y = items_[at(items_[at(b)].best)];
    if (x.rank != y.rank)
      return x.rank > y.rank;
    if (x.weight != y.weight)
      return x.weight > y.weight;
    int far_a = items_[at(a)].distance, far_b = items_[at(b)].distance;
    return far_a != far_b ? far_a < far_b : a < b;
  }
  void sort(std::vector<int>& items) const {
    std::sort(items.begin(), items.end(), [&](int a, int b) { return is_better(a, b); });
  }

  // Finds the best leaf below; items_ may move.
  void explore(int id, int depth) {
    if (items_[at(id)].state != Item::fresh)
      return;
    items_[at(id)].state = Item::open;
    if (auto found = pending_.find(id); found != pending_.end()) {
      Found place = found->second;
      pending_.erase(found);
      Item item = items_[at(id)];
      if (item.is_edge)
        describe_edge(*place.device, *place.node, item);
      else
        describe(*place.device, *place.node, item);
      items_[at(id)] = std::move(item);
    }
    std::vector<int> children = items_[at(id)].children;
    if (depth >= max_search)
      children.clear();
    std::erase(children, id);
    bool closes = false;
    std::vector<int> kept;
    for (int child : children) {
      explore(child, depth + 1);
      if (items_[at(child)].state == Item::open)
        closes = true;
      else
        kept.push_back(child);
    }
    sort(kept);
    Item& item = items_[at(id)];
    if (kept.empty()) {
      item.best = id;
      if (closes) {
        item.said += ", in a circle";
        item.rank = circle;
      }
    } else {
      item.best = items_[at(kept[0])].best;
      item.distance = items_[at(kept[0])].distance + 1;
    }
    item.children = std::move(kept);
    item.state = Item::done;
  }

  // Nodes that nothing listed waits for; then tasks and devices that no branch has reached.
  std::vector<int> find_roots() {
    std::set<const NodeRecord*> awaited;
    std::set<std::string> received;
    for (const auto& [name, device] : device_)
      for (const NodeRecord& node : device->nodes) {
        for (const std::string& input : node.missing)
          if (const NodeRecord* from = find(*device, node_of(input), &node))
            awaited.insert(from);
        if (node.end == End::receive)
          received.insert(edge_id(node.edge, node.peer, name));
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
        if (const NodeRecord* from = find(device, node_of(input), &node); is_fetch && from) {
          is_known = true;
          root(node_item(device, *from));
        }
      if (!is_known)
        root(node_item(device, node));
    };
    for (bool is_waiting : {true, false}) // what they wait for may be told on the way
      for (const auto& [name, device] : device_)
        for (const NodeRecord& node : device->nodes)
          if ((node.state == State::waiting) == is_waiting && !awaited.contains(&node) &&
              !told_.contains(&node) &&
              !(node.end == End::send && received.contains(edge_id(node.edge, name, node.peer))))
            start_at(*device, node);
    if (out.empty()) // everything waits for something
      for (const auto& [name, device] : device_)
        if (!device->nodes.empty())
          start_at(*device, device->nodes.front());
    for (const TaskRecord& task : tasks_)
      add_task_root(task, root);
    return out;
  }

  template <class Root>
  void add_task_root(const TaskRecord& task, Root& root) {
    if (task.has_ended)
      return;
    bool is_told = reported_.contains(task.task);
    if (!task.answered) {
      if (!is_told)
        root(leaf(task.task, "", silence(task), silent));
      return;
    }
    if (!task.has_begun && !is_told)
      root(leaf(task.task, "", absence(task), unclear_task));
    for (const DeviceRecord& device : task.devices)
      if (!device.answered && device.nodes.empty() && !is_told &&
          !reported_.contains(device.device))
        root(leaf(device.device.empty() ? str_cat("a device of ", task.task) : device.device, "",
                  " does not answer: a kernel holds its thread", running));
  }

  // -- text

  static std::string line(const Item& item, bool with_place) {
    return str_cat(item.subject, with_place ? item.where : "", item.said);
  }
  static std::string clause(const Item& item) {
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
    const Item& item = items_[at(id)];
    ++lines_;
    if (!rendered_.insert(id).second && !item.children.empty())
      return {str_cat(line(item, with_place), " (see below)")};
    std::vector<std::string> out{line(item, with_place)};
    if (item.children.empty())
      return out;
    if (depth + 1 >= limits_.depth) {
      out.push_back("└─ … further down: " + line(items_[at(item.best)], true));
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

  const std::vector<TaskRecord>& tasks_;
  const WhyLimits& limits_;
  std::unordered_map<std::string, const TaskRecord*> task_;
  std::map<std::string, const DeviceRecord*> device_;
  std::unordered_map<std::string, std::unordered_map<std::string, std::vector<const NodeRecord*>>>
      nodes_;                                                             ///< by device and name
  std::unordered_map<std::string, std::vector<const NodeRecord*>> sends_; ///< by edge
  std::set<std::string> lying_; ///< edges whose value waits to be taken
  std::vector<Item> items_;
  std::unordered_map<const NodeRecord*, int> by_node_;
  std::unordered_map<std::string, int> by_edge_;
  std::unordered_map<int, Found> pending_; ///< items that are not described yet
  std::set<std::string> reported_;         ///< tasks and devices whose silence some branch ends in
  std::set<const NodeRecord*> told_;       ///< nodes that are part of an edge's line
  std::set<int> rendered_;
  std::size_t lines_ = 0;
};

} // namespace

Why explain_step(const std::vector<TaskRecord>& tasks, const WhyLimits& limits) {
  return WhyTree(tasks, limits).run();
}

} // namespace troupe
