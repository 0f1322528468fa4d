// Random graphs over several devices: cut and joined again along their pairs, each node still sees
// the same inputs, and waits for the same nodes.
#include <map>
#include <random>

#include "graph/partition/partition.hpp"
#include "graph/passes/internal/test_text.hpp"

using namespace troupe;

namespace {

using Random = std::mt19937;

int below(Random& random, int limit) {
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

std::string device(int task, int id) {
  return str_cat("/job:w/replica:0/task:", task, "/device:CPU:", id);
}

Graph random_graph(const OpRegistry& ops, Random& random, int size) {
  Graph graph(ops);
  for (int i = 0; i < size; ++i) {
    std::vector<NodeId> controls;
    for (int k = below(random, 3); i > 0 && k > 0; --k)
      if (NodeId from = below(random, i); std::ranges::find(controls, from) == controls.end())
        controls.push_back(from);
    std::vector<Endpoint> in;
    for (int k = i == 0 ? 0 : below(random, 4); k > 0; --k)
      in.push_back({below(random, i), 0});
    bool source = in.empty();
    AttrMap attrs;
    if (source)
      attrs.set("dtype", DType::float32);
    auto node = graph.add(str_cat("n", i), source ? "Placeholder" : "AddN", std::move(in),
                          std::move(attrs), std::move(controls));
    REQUIRE_MESSAGE(node.ok(), node.status().to_string());
    (*node)->assigned_device = device(below(random, 3), below(random, 2));
  }
  return graph;
}

// The partitions as one graph again, where a _Recv reads its _Send.
class Joined {
public:
  explicit Joined(std::vector<const Graph*> parts) : parts_(std::move(parts)) {
    for (const Graph* part : parts_)
      for (const Node* node : part->nodes()) {
        part_of_[node] = part;
        if (node->is_op("_Send"))
          CHECK_MESSAGE(sends_.emplace(key(*node), node).second, "a key is sent once");
      }
  }

  // The original nodes that a value comes from: itself, or through pairs and casts.
  std::string origin(const Graph& part, Endpoint e) {
    const Node& node = *part.node(e.node);
    if (!node.is_op("_Recv"))
      return node.name;
    auto send = sends_.find(key(node));
    REQUIRE_MESSAGE(send != sends_.end(), "a _Recv has its _Send");
    return origin(*part_of_.at(send->second), send->second->inputs[0]);
  }

  // Names of all that a node waits for.
  const std::vector<std::string>& waits(const Graph& part, const Node& node) {
    auto [entry, is_new] = waits_.try_emplace(&node);
    std::vector<std::string>& names = entry->second;
    if (!is_new)
      return names;
    std::vector<std::string> all = {node.name};
    auto take = [&](const Graph& from, NodeId id) {
      const auto& more = waits(from, *from.node(id));
      all.insert(all.end(), more.begin(), more.end());
    };
    for (Endpoint e : node.inputs)
      take(part, e.node);
    for (NodeId id : node.control_inputs)
      take(part, id);
    if (node.is_op("_Recv")) {
      const Node* send = sends_.at(key(node));
      take(*part_of_.at(send), send->id);
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return waits_[&node] = all;
  }

private:
  static std::string key(const Node& node) {
    return str_cat(*node.attrs.get<std::string>("send_device"), ";",
                   *node.attrs.get<std::string>("recv_device"), ";",
                   *node.attrs.get<std::string>("tensor_name"));
  }
  std::vector<const Graph*> parts_;
  std::map<const Node*, const Graph*> part_of_;
  std::map<std::string, const Node*> sends_;
  std::map<const Node*, std::vector<std::string>> waits_;
};

} // namespace

TEST_CASE("partition: random graphs cut twice still join into the same graph") {
  OpRegistry ops = rewriting_test_ops();
  for (unsigned seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Graph whole = random_graph(ops, random, 30);
    Joined expected({&whole});
    PartitionOptions by_task;
    by_task.location = task_location;
    auto tasks = partition(whole.clone(), by_task);
    REQUIRE_MESSAGE(tasks.ok(), tasks.status().to_string());
    std::vector<Graph> devices;
    for (auto& [task, graph] : *tasks) {
      PartitionOptions by_device;
      by_device.control_flow_added = true;
      auto parts = partition(std::move(graph), by_device);
      REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
      for (auto& [name, part] : *parts) {
        CHECK(name.starts_with(task));
        Status sound = verify(part);
        CHECK_MESSAGE(sound.ok(), sound.to_string());
        devices.push_back(std::move(part));
      }
    }
    std::vector<const Graph*> parts;
    for (const Graph& part : devices)
      parts.push_back(&part);
    Joined joined(parts);
    std::size_t found = 0;
    for (const Graph* part : parts)
      for (const Node* node : part->nodes()) {
        CHECK(node->assigned_device == part->nodes()[0]->assigned_device);
        const Node* original = whole.find(node->name);
        if (!original)
          continue;
        ++found;
        CAPTURE(node->name);
        REQUIRE(node->num_inputs() == original->num_inputs());
        for (std::size_t i = 0; i < node->inputs.size(); ++i)
          CHECK(joined.origin(*part, node->inputs[i]) ==
                whole.node(original->inputs[i].node)->name);
        std::vector<std::string> waits;
        for (const std::string& name : joined.waits(*part, *node))
          if (whole.find(name))
            waits.push_back(name);
        CHECK(waits == expected.waits(whole, *original));
      }
    CHECK(found == whole.num_nodes());
  }
}
