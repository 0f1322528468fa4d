// SignatureCache: which client graph a run needs. The order of names does not matter; asking again
// in the same order is quick.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/step/step.hpp"
#include "graph/passes/prune.hpp"

namespace troupe {

/// A signature on its way to being run: building, ready or failed.
struct ClientGraph {
  Signature signature;                  ///< sorted, without duplicates
  std::shared_ptr<const StepPlan> plan; ///< null until every task has registered its part
  std::vector<DType> feed_types;
  std::vector<PartialShape> feed_shapes;
  bool shows_parts = false; ///< its parts are kept as bytes, for runs that ask to see them
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
  /// What `bind` has lately given for the same names in the same order, or null; without a key to
  /// be made. `feeds` are pairs of a name and anything.
  template <class Feeds>
  std::shared_ptr<const BoundSignature>
  recall(const Feeds& feeds, const std::vector<std::string>& fetches,
         const std::vector<std::string>& targets, bool shows_parts) const {
    auto is_name = [](const auto& feed, const std::string& name) { return feed.first == name; };
    for (const Lately& entry : lately_)
      if (entry.bound && entry.shows_parts == shows_parts && entry.fetches == fetches &&
          entry.targets == targets &&
          std::equal(feeds.begin(), feeds.end(), entry.feeds.begin(), entry.feeds.end(), is_name))
        return entry.bound;
    return nullptr;
  }
  /// The client graph for these names, made (without plan) if it is new. INVALID_ARGUMENT for a
  /// feed given twice. One that shows its parts is another than one that does not.
  Result<std::shared_ptr<const BoundSignature>> bind(const std::vector<std::string>& feeds,
                                                     const std::vector<std::string>& fetches,
                                                     const std::vector<std::string>& targets,
                                                     bool shows_parts = false);
  /// Forgets one that could not be built, so that the next run tries again.
  void drop(const std::shared_ptr<ClientGraph>& graph);
  std::size_t size() const { return graphs_.size(); }

private:
  struct Lately {
    std::vector<std::string> feeds, fetches, targets;
    bool shows_parts = false;
    std::shared_ptr<const BoundSignature> bound;
  };
  std::array<Lately, 4> lately_; // a ring
  std::size_t num_lately_ = 0;
  std::unordered_map<std::string, std::shared_ptr<const BoundSignature>> as_given_;
  std::unordered_map<std::string, std::shared_ptr<ClientGraph>> graphs_; ///< by canonical key
};

/// "x:0" and "x" are one tensor.
std::string canonical_tensor_name(const std::string& name);

} // namespace troupe
