// Common subexpressions: of two free nodes with the same op, attributes, device, inputs and control
// inputs, the later one's consumers read the earlier one. One walk in topological order, by
// hashing.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <vector>

#include "graph/passes/pass.hpp"

namespace troupe {
namespace {

// Of a constant; comparison is over all of it.
constexpr std::size_t hashed_bytes = 256;
constexpr std::size_t hashed_texts = 16;

void mix(std::size_t& seed, std::size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15U + (seed << 6) + (seed >> 2);
}
void mix(std::size_t& seed, std::string_view text) {
  mix(seed, std::hash<std::string_view>{}(text));
}

std::size_t hash_attr(const AttrValue& value) {
  if (const auto* box = std::get_if<TensorBox>(&value)) {
    const Tensor& tensor = box->tensor;
    std::size_t seed = static_cast<std::size_t>(tensor.dtype());
    for (std::int64_t dim : tensor.shape().dims())
      mix(seed, static_cast<std::size_t>(dim));
    if (tensor.has_value() && !is_object(tensor.dtype())) {
      auto bytes = tensor.bytes();
      bytes = bytes.first(std::min(bytes.size(), hashed_bytes));
      mix(seed, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    if (tensor.dtype() == DType::string)
      for (const std::string& text : tensor.data<std::string>().first(
               std::min(tensor.data<std::string>().size(), hashed_texts)))
        mix(seed, text);
    return seed;
  }
  if (const auto* type = std::get_if<DType>(&value))
    return static_cast<std::size_t>(*type);
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return static_cast<std::size_t>(*number);
  if (const auto* text = std::get_if<std::string>(&value))
    return std::hash<std::string>{}(*text);
  if (const auto* flag = std::get_if<bool>(&value))
    return *flag;
  return std::hash<std::string>{}(to_string(value));
}

// Sees nodes with their inputs' representatives in place of the inputs.
class Equality {
public:
  explicit Equality(const Graph& graph) : like_(static_cast<std::size_t>(graph.capacity())) {
    std::iota(like_.begin(), like_.end(), 0);
  }
  void set_representative(NodeId id, NodeId of) { like_[static_cast<std::size_t>(id)] = of; }

  std::size_t hash(const Node& node) const {
    std::size_t seed = std::hash<const void*>{}(node.op);
    mix(seed, node.device);
    mix(seed, node.assigned_device);
    bool is_swapped = is_sorted_pair(node) && like(node.inputs[1]) < like(node.inputs[0]);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      Endpoint e = like(node.inputs[is_swapped ? 1 - i : i]);
      mix(seed, static_cast<std::size_t>(e.node));
      mix(seed, static_cast<std::size_t>(e.slot));
    }
    if (!node.control_inputs.empty())
      for (NodeId id : controls(node))
        mix(seed, static_cast<std::size_t>(id));
    for (const auto& [name, value] : node.attrs) {
      mix(seed, name);
      mix(seed, hash_attr(value));
    }
    return seed;
  }

  bool holds(const Node& a, const Node& b) const {
    return a.op == b.op && a.device == b.device && a.assigned_device == b.assigned_device &&
           reads_same(a, b) &&
           (a.control_inputs == b.control_inputs || controls(a) == controls(b)) &&
           a.attrs == b.attrs;
  }

private:
  Endpoint like(Endpoint e) const {
    return e.node < 0 ? e : Endpoint{like_[static_cast<std::size_t>(e.node)], e.slot};
  }
  // Order of two arguments does not matter to a commutative op; of more it may, by rounding.
  static bool is_sorted_pair(const Node& node) {
    return node.op->is_commutative && node.inputs.size() == 2;
  }
  bool reads_same(const Node& a, const Node& b) const {
    if (a.inputs.size() != b.inputs.size())
      return false;
    auto same = [&](std::size_t i, std::size_t j) {
      return like(a.inputs[i]) == like(b.inputs[j]);
    };
    if (is_sorted_pair(a))
      return (same(0, 0) && same(1, 1)) || (same(0, 1) && same(1, 0));
    for (std::size_t i = 0; i < a.inputs.size(); ++i)
      if (!same(i, i))
        return false;
    return true;
  }
  static std::vector<NodeId> controls(const Node& node) {
    std::vector<NodeId> out = node.control_inputs;
    std::ranges::sort(out);
    return out;
  }

  std::vector<NodeId> like_; // by node
};

// The first node of each kind, by hash; open addressing, at most half full.
class Seen {
public:
  explicit Seen(std::size_t nodes) : slots_(std::bit_ceil(2 * nodes + 2)) {}

  // The node that is the same, or `id`, which is the first of its kind then.
  template <class IsSame>
  NodeId find_or_add(std::size_t hash, NodeId id, IsSame is_same) {
    std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      if (slots_[i].id < 0) {
        slots_[i] = {hash, id};
        return id;
      }
      if (slots_[i].hash == hash && is_same(slots_[i].id))
        return slots_[i].id;
    }
  }

private:
  struct Slot {
    std::size_t hash = 0;
    NodeId id = -1;
  };
  std::vector<Slot> slots_; // a power of two
};

bool may_be_shared(const Node& node) {
  return may_be_replaced(node) && node.num_outputs() > 0;
}

Status merge_equal_nodes(Graph& graph, PassContext& context) {
  TROUPE_ASSIGN(auto order, graph.topological_order());
  Equality equality(graph);
  Seen seen(order.size());
  for (NodeId id : order) {
    const Node& node = *graph.node(id);
    if (!may_be_shared(node))
      continue;
    context.looked_at();
    NodeId same = seen.find_or_add(equality.hash(node), id, [&](NodeId other) {
      context.looked_at();
      return equality.holds(*graph.node(other), node);
    });
    if (same == id)
      continue;
    if (node.has_role(Role::constant) && node.assigned_device.empty()) {
      equality.set_representative(id, same);
    } else if (is_free(node, context)) {
      graph.replace_node(id, same);
      graph.remove(id);
      context.changed();
    }
  }
  return {};
}

} // namespace

Pass pass_merge_equal_nodes() {
  return {"merge_equal_nodes", 30, merge_equal_nodes};
}

} // namespace troupe
