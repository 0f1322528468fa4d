// DatasetGraph: a dataset as the nodes that make it, to be written, changed and made again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/data/internal/dataset.hpp"

namespace troupe::data {

/// Nodes by name. The last dataset goes into the sink, a `_Retval`.
class DatasetGraph {
public:
  /// The nodes that have made the dataset, and constants of their other inputs. UNIMPLEMENTED for a
  /// dataset that no node has made, such as a window.
  static Result<DatasetGraph> of(const Dataset& dataset);
  /// The same with nodes of its own for each place of a dataset that has a SharedOrder, or is made
  /// of one. RESOURCE_EXHAUSTED beyond 100 000 nodes.
  static Result<DatasetGraph> with_orders_apart(const Dataset& dataset);
  /// The last one is the sink.
  explicit DatasetGraph(std::vector<WrittenNode> nodes)
      : nodes_(std::move(nodes)), sink_(nodes_.back().name) {}

  /// Null if there is none of that name. Valid until a node is added.
  WrittenNode* find(std::string_view name);
  WrittenNode& sink() { return *find(sink_); }
  /// Returns its name.
  std::string add(std::string_view op, AttrMap attrs, std::vector<std::string> inputs);
  std::string add_scalar(std::int64_t value);
  std::vector<std::string> names() const;
  /// Those that the sink needs, each after its inputs.
  std::vector<WrittenNode> in_order() const;

private:
  DatasetGraph() = default;
  struct Known;
  static Result<DatasetGraph> made(const Dataset& dataset, bool orders_apart);
  Result<std::string> add_dataset(const Dataset& dataset, Known& known);

  std::vector<WrittenNode> nodes_;
  std::string sink_;
};

/// Whether a further way through the dataset needs one that is made again, with_orders_apart: a
/// SharedOrder has several places in it, or is taken. Takes those that there are.
bool takes_order_twice(const Dataset& dataset);

/// The dataset that a GraphDef of such nodes makes. INVALID_ARGUMENT if it makes none.
Async<Result<DatasetRef>> dataset_of_graph(KernelContext& c, std::shared_ptr<Functions> functions,
                                           std::string graph_def);
/// The dataset that the nodes make.
Async<Result<DatasetRef>> made_again(KernelContext& c, std::shared_ptr<Functions> functions,
                                     DatasetGraph graph);

} // namespace troupe::data
