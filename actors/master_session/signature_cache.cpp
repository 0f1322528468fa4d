#include "actors/master_session/signature_cache.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

void append(std::string& key, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    key += name;
    key += '\n';
  }
  key += '\0';
}

std::string key_of(const Signature& signature, const GraphVariant& variant) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(variant.use)));
  append(key, signature.feeds);
  append(key, signature.fetches);
  append(key, signature.targets);
  for (const TensorConnection& connection : signature.connections)
    append(key, {connection.from, connection.to});
  if (variant.watches)
    for (const DebugWatch& watch : *variant.watches) {
      append(key, {watch.node, std::to_string(watch.slot), watch.tolerates_failures ? "1" : "0"});
      append(key, watch.ops);
      append(key, watch.urls);
    }
  return key;
}

std::vector<std::string> sorted_unique(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> canonical_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names)
    out.push_back(canonical_tensor_name(name));
  return out;
}

std::vector<int> positions(const std::vector<std::string>& names,
                           const std::vector<std::string>& sorted) {
  std::vector<int> out;
  for (const std::string& name : names)
    out.push_back(
        static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), name) - sorted.begin()));
  return out;
}

} // namespace

std::string canonical_tensor_name(const std::string& name) {
  return name.find(':') == std::string::npos && !name.starts_with('^') ? name + ":0" : name;
}

Result<std::shared_ptr<const BoundSignature>>
SignatureCache::bind(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                     const std::vector<std::string>& targets, const GraphVariant& variant) {
  if (variant.is_plain())
    if (auto known = recall(feeds, fetches, targets, variant.use))
      return known;
  std::vector<std::string> feed_names = canonical_names(feeds),
                           fetch_names = canonical_names(fetches);
  Signature signature{
      sorted_unique(feed_names), sorted_unique(fetch_names), sorted_unique(targets), {}};
  for (const TensorConnection& connection : variant.connections)
    signature.connections.push_back(
        {canonical_tensor_name(connection.from), canonical_tensor_name(connection.to)});
  if (signature.feeds.size() != feed_names.size()) {
    std::sort(feed_names.begin(), feed_names.end());
    return invalid_argument(str_cat("Endpoint \"",
                                    *std::adjacent_find(feed_names.begin(), feed_names.end()),
                                    "\" fed more than once."));
  }
  auto& graph = graphs_[key_of(signature, variant)];
  if (!graph) {
    graph = std::make_shared<ClientGraph>();
    graph->signature = signature;
    graph->use = variant.use;
    graph->watches = variant.watches;
    touch(*graph);
  }
  std::vector<int> fetch_index = positions(fetch_names, signature.fetches);
  auto written = std::make_shared<std::vector<FetchName>>(signature.fetches.size());
  for (std::size_t i = fetches.size(); i-- > 0;) // of a fetch given twice the first counts
    (*written)[static_cast<std::size_t>(fetch_index[i])] = {fetches[i], i};
  auto bound = std::make_shared<const BoundSignature>(BoundSignature{
      graph, positions(feed_names, signature.feeds), std::move(fetch_index), std::move(written)});
  if (variant.is_plain())
    as_given_.emplace(Given<Names, Names>{feeds, fetches, targets, variant.use}, bound);
  return bound;
}

std::vector<std::shared_ptr<ClientGraph>> SignatureCache::take_unused(std::size_t most,
                                                                      std::size_t most_nodes) {
  std::vector<std::shared_ptr<ClientGraph>> out;
  std::size_t nodes = 0;
  for (const auto& [key, graph] : graphs_)
    nodes += graph->num_nodes;
  if (graphs_.size() <= most && nodes <= most_nodes)
    return out;
  std::unordered_map<const ClientGraph*, long>
      held; // by us; -1: a signature of it is held elsewhere
  for (const auto& [given, bound] : as_given_) {
    long& count = held[bound->graph.get()];
    count = count < 0 || bound.use_count() > 1 ? -1 : count + 1;
  }
  std::vector<std::shared_ptr<ClientGraph>> unused;
  for (const auto& [key, graph] : graphs_)
    if (auto ours = held.find(graph.get());
        graph.use_count() == 1 + (ours == held.end() ? 0 : ours->second))
      unused.push_back(graph);
  std::ranges::sort(unused, {}, [](const auto& graph) { return graph->last_use; });
  std::size_t left = graphs_.size();
  for (auto& graph : unused) {
    if (left <= most && nodes <= most_nodes)
      break;
    --left;
    nodes -= graph->num_nodes;
    out.push_back(std::move(graph));
  }
  std::unordered_map<const ClientGraph*, bool> goes;
  for (const auto& graph : out)
    goes[graph.get()] = true;
  std::erase_if(as_given_, [&](auto& entry) { return goes.contains(entry.second->graph.get()); });
  std::erase_if(graphs_, [&](auto& entry) { return goes.contains(entry.second.get()); });
  return out;
}

void SignatureCache::drop(const std::shared_ptr<ClientGraph>& graph) {
  std::erase_if(as_given_, [&](auto& entry) { return entry.second->graph == graph; });
  std::erase_if(graphs_, [&](auto& entry) { return entry.second == graph; });
}

} // namespace troupe
