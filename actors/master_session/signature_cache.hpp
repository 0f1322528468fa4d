// SignatureCache: which client graph a run needs. The order of names does not matter; asking again
// in the same order is quick.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/step/step.hpp"
#include "graph/convert/options.hpp"
#include "graph/passes/prune.hpp"

namespace troupe {

/// What a client graph is for. One that shows its parts is kept as bytes, for runs that ask to see
/// them; one of partial runs has its feeds and fetches come and go while it runs.
enum class GraphUse : std::uint8_t { runs, shown_runs, partial_runs };

using DebugWatches = std::shared_ptr<const std::vector<DebugWatch>>;

/// What a client graph is besides its feeds, fetches and targets.
struct GraphVariant {
  GraphUse use = GraphUse::runs;
  std::vector<TensorConnection> connections = {};
  DebugWatches watches = nullptr;                         ///< null: none
  GraphVariant(GraphUse of = GraphUse::runs) : use(of) {} // NOLINT: a use is a variant
  bool is_plain() const { return connections.empty() && !watches; }
};

/// A signature on its way to being run: building, ready or failed.
struct ClientGraph {
  Signature signature;                  ///< sorted, without duplicates
  std::shared_ptr<const StepPlan> plan; ///< null until every task has registered its part
  std::vector<DType> feed_types;
  std::vector<PartialShape> feed_shapes;
  GraphUse use = GraphUse::runs;
  DebugWatches watches;        ///< null: none
  std::size_t num_nodes = 0;   ///< of all parts, once it is built
  std::uint64_t last_use = 0;  ///< SignatureCache's
  std::int64_t executions = 0; ///< steps that have begun
};

/// A client graph as one caller names it.
struct BoundSignature {
  std::shared_ptr<ClientGraph> graph;
  std::vector<int> feed_index; ///< the caller's feed i is the graph's feed feed_index[i]
  std::vector<int> fetch_index;
  std::shared_ptr<const std::vector<FetchName>> fetches; ///< in the graph's order
};

class SignatureCache {
public:
  /// What `bind` has given for the same names in the same order, or null; copies no name. `feeds`
  /// are names, or pairs of a name and anything.
  template <class Feeds>
  std::shared_ptr<const BoundSignature>
  recall(const Feeds& feeds, const std::vector<std::string>& fetches,
         const std::vector<std::string>& targets, GraphUse use) const {
    auto found = as_given_.find(
        Given<const Feeds&, const std::vector<std::string>&>{feeds, fetches, targets, use});
    return found == as_given_.end() ? nullptr : found->second;
  }
  /// The client graph for these names, made (without plan) if it is new. INVALID_ARGUMENT for a
  /// feed given twice. Each variant has a graph of its own.
  Result<std::shared_ptr<const BoundSignature>> bind(const std::vector<std::string>& feeds,
                                                     const std::vector<std::string>& fetches,
                                                     const std::vector<std::string>& targets,
                                                     const GraphVariant& variant = {});
  /// A run of it begins: it is the last that would be forgotten.
  void touch(ClientGraph& graph) { graph.last_use = ++uses_; }
  /// Forgets one that could not be built, so that the next run tries again.
  void drop(const std::shared_ptr<ClientGraph>& graph);
  /// As many of those that were not run for longest as make room for `most` graphs of `most_nodes`
  /// nodes together, but for those that anybody else holds. They are forgotten.
  std::vector<std::shared_ptr<ClientGraph>> take_unused(std::size_t most, std::size_t most_nodes);
  std::size_t size() const { return graphs_.size(); }

private:
  /// What a run asks for, as its client has written it.
  template <class Feeds, class Names>
  struct Given {
    Feeds feeds;
    Names fetches, targets;
    GraphUse use;
  };
  static const std::string& name_of(const std::string& name) { return name; }
  template <class T>
  static const std::string& name_of(const std::pair<std::string, T>& feed) {
    return feed.first;
  }
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const auto& given) const {
      auto hash = static_cast<std::size_t>(given.use);
      auto add = [&](const auto& names) {
        for (const auto& name : names)
          hash = hash * 31 + std::hash<std::string>{}(name_of(name));
        hash = hash * 31 + names.size();
      };
      add(given.feeds);
      add(given.fetches);
      add(given.targets);
      return hash;
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const {
      auto same = [](const auto& x, const auto& y) { return name_of(x) == name_of(y); };
      return a.use == b.use && a.fetches == b.fetches && a.targets == b.targets &&
             std::equal(a.feeds.begin(), a.feeds.end(), b.feeds.begin(), b.feeds.end(), same);
    }
  };
  using Names = std::vector<std::string>;
  std::unordered_map<Given<Names, Names>, std::shared_ptr<const BoundSignature>, Hash, Equal>
      as_given_;
  std::unordered_map<std::string, std::shared_ptr<ClientGraph>> graphs_; ///< by canonical key
  std::uint64_t uses_ = 0;
};

/// "x:0" and "x" are one tensor.
std::string canonical_tensor_name(const std::string& name);

} // namespace troupe
