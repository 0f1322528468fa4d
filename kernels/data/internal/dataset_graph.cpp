#include "kernels/data/internal/dataset_graph.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/strings.hpp"

namespace troupe::data {

namespace {

/// Each dataset once, whatever its places.
void collect(const Dataset& dataset, std::map<const Dataset*, int>& places) {
  if (++places[&dataset] > 1)
    return;
  for (const DatasetRef& source : dataset.sources())
    collect(*source, places);
}

class Orders {
public:
  explicit Orders(const std::map<const Dataset*, int>& places) : places_(places) {}
  /// Whether a SharedOrder within the dataset has several places, or is taken.
  bool take(const Dataset& dataset, bool is_shared) {
    is_shared = is_shared || places_.at(&dataset) > 1;
    if (!seen_.emplace(&dataset, is_shared).second)
      return false;
    bool twice = false;
    if (SharedOrder* order = dataset.shared_order())
      twice = !order->take() || is_shared;
    for (const DatasetRef& source : dataset.sources())
      twice |= take(*source, is_shared);
    return twice;
  }

private:
  const std::map<const Dataset*, int>& places_;
  std::set<std::pair<const Dataset*, bool>> seen_;
};

} // namespace

bool takes_order_twice(const Dataset& dataset) {
  std::map<const Dataset*, int> places;
  collect(dataset, places);
  return Orders(places).take(dataset, false);
}

/// Datasets that have their nodes, and which have a SharedOrder in them.
struct DatasetGraph::Known {
  const bool orders_apart;
  std::map<const Dataset*, std::string> names;
  std::map<const Dataset*, bool> have_order;

  bool has_order(const Dataset& dataset) {
    if (auto known = have_order.find(&dataset); known != have_order.end())
      return known->second;
    bool out = dataset.shared_order() != nullptr;
    for (const DatasetRef& source : dataset.sources())
      out |= has_order(*source);
    return have_order[&dataset] = out;
  }
};

Result<DatasetGraph> DatasetGraph::of(const Dataset& dataset) {
  return made(dataset, false);
}

Result<DatasetGraph> DatasetGraph::with_orders_apart(const Dataset& dataset) {
  return made(dataset, true);
}

Result<DatasetGraph> DatasetGraph::made(const Dataset& dataset, bool orders_apart) {
  DatasetGraph out;
  Known known{orders_apart, {}, {}};
  TROUPE_ASSIGN(std::string last, out.add_dataset(dataset, known));
  out.sink_ =
      out.add("_Retval", {{"T", DType::variant}, {"index", std::int64_t{0}}}, {std::move(last)});
  return out;
}

// As deep as datasets within datasets, max_dataset_depth.
Result<std::string> DatasetGraph::add_dataset(const Dataset& dataset, Known& known) {
  constexpr std::size_t most_nodes = 100'000; // a dataset that is joined with itself 15 times over
  if (auto name = known.names.find(&dataset); name != known.names.end())
    return name->second;
  if (known.orders_apart && nodes_.size() > most_nodes)
    return resource_exhausted(str_cat("the places of the shuffles in a dataset (",
                                      dataset.recipe().op, ") need more than ", most_nodes,
                                      " nodes"));
  const Recipe& recipe = dataset.recipe();
  if (recipe.attrs.empty() && recipe.inputs.empty())
    return unimplemented(str_cat("a dataset (", recipe.op,
                                 ") that no node has made, such as a "
                                 "window of another one, has no graph"));
  std::vector<std::string> inputs;
  for (const Tensor& input : recipe.inputs) {
    auto source = input.dtype() == DType::variant ? dataset_in(input)
                                                  : Result<DatasetRef>(invalid_argument(""));
    if (source.ok()) {
      TROUPE_ASSIGN(std::string name, add_dataset(**source, known));
      inputs.push_back(std::move(name));
    } else {
      inputs.push_back(add("Const", {{"dtype", input.dtype()}, {"value", TensorBox{input}}}, {}));
    }
  }
  AttrMap attrs;
  for (const auto& [name, value] : recipe.attrs)
    if (!name.starts_with('_'))
      attrs.set(name, value);
  std::string name = add(recipe.op, std::move(attrs), std::move(inputs));
  if (!known.orders_apart || !known.has_order(dataset))
    known.names.emplace(&dataset, name);
  return name;
}

WrittenNode* DatasetGraph::find(std::string_view name) {
  auto at = std::ranges::find(nodes_, name, &WrittenNode::name);
  return at == nodes_.end() ? nullptr : &*at;
}

std::string DatasetGraph::add(std::string_view op, AttrMap attrs, std::vector<std::string> inputs) {
  const std::string_view stem = op.starts_with('_') ? "dataset" : op;
  nodes_.push_back(
      {str_cat(stem, "/_", nodes_.size()), std::string(op), std::move(attrs), std::move(inputs)});
  return nodes_.back().name;
}

std::string DatasetGraph::add_scalar(std::int64_t value) {
  return add("Const", {{"dtype", DType::int64}, {"value", TensorBox{Tensor::scalar(value)}}}, {});
}

std::vector<std::string> DatasetGraph::names() const {
  std::vector<std::string> out;
  for (const WrittenNode& node : nodes_)
    out.push_back(node.name);
  return out;
}

std::vector<WrittenNode> DatasetGraph::in_order() const {
  std::map<std::string_view, const WrittenNode*> by_name;
  for (const WrittenNode& node : nodes_)
    by_name.emplace(node.name, &node);
  std::vector<WrittenNode> out;
  std::set<std::string_view> done;
  struct Place {
    const WrittenNode* node;
    std::size_t next_input = 0;
  };
  std::vector<Place> path{{by_name.at(sink_)}};
  while (!path.empty()) {
    Place& place = path.back();
    if (place.next_input < place.node->inputs.size()) {
      const std::string& input = place.node->inputs[place.next_input++];
      if (!done.contains(input))
        path.push_back({by_name.at(input)});
      continue;
    }
    if (done.insert(place.node->name).second)
      out.push_back(*place.node);
    path.pop_back();
  }
  return out;
}

Async<Result<DatasetRef>> dataset_of_graph(KernelContext& c, std::shared_ptr<Functions> functions,
                                           std::string graph_def) {
  TROUPE_CO_ASSIGN(const auto function, functions->read_graph(graph_def));
  if (function->result_types() != std::vector<DType>{DType::variant})
    co_return invalid_argument("the graph makes no dataset: it has no _Retval of dtype variant");
  Callback<Result<Tensors>> called(
      [&](FunctionDone done) { function->call(call_from(c, {}), std::move(done)); });
  TROUPE_CO_ASSIGN(const Tensors results, co_await called);
  co_return dataset_in(results[0]);
}

Async<Result<DatasetRef>> made_again(KernelContext& c, std::shared_ptr<Functions> functions,
                                     DatasetGraph graph) {
  TROUPE_CO_ASSIGN(std::string bytes, functions->write_graph(graph.in_order()));
  co_return co_await dataset_of_graph(c, functions, std::move(bytes));
}

} // namespace troupe::data
