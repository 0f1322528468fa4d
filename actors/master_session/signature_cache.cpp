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

std::string key_of(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                   const std::vector<std::string>& targets, GraphUse use) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(use)));
  append(key, feeds);
  append(key, fetches);
  append(key, targets);
  return key;
}

std::vector<std::string> sorted_unique(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> canonical(const std::vector<std::string>& names) {
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
                     const std::vector<std::string>& targets, GraphUse use) {
  if (auto known = recall(feeds, fetches, targets, use))
    return known;
  std::vector<std::string> feed_names = canonical(feeds), fetch_names = canonical(fetches);
  Signature signature{sorted_unique(feed_names), sorted_unique(fetch_names),
                      sorted_unique(targets)};
  if (signature.feeds.size() != feed_names.size())
    return invalid_argument(
        str_cat("a tensor is fed twice; the feeds are ", str_join(feeds, ", ")));
  auto& graph = graphs_[key_of(signature.feeds, signature.fetches, signature.targets, use)];
  if (!graph) {
    graph = std::make_shared<ClientGraph>();
    graph->signature = signature;
    graph->use = use;
  }
  std::vector<int> fetch_index = positions(fetch_names, signature.fetches);
  auto written = std::make_shared<std::vector<FetchName>>(signature.fetches.size());
  for (std::size_t i = fetches.size(); i-- > 0;) // of a fetch given twice the first counts
    (*written)[static_cast<std::size_t>(fetch_index[i])] = {fetches[i], i};
  auto bound = std::make_shared<const BoundSignature>(BoundSignature{
      graph, positions(feed_names, signature.feeds), std::move(fetch_index), std::move(written)});
  as_given_.emplace(Given<Names, Names>{feeds, fetches, targets, use}, bound);
  return bound;
}

void SignatureCache::drop(const std::shared_ptr<ClientGraph>& graph) {
  std::erase_if(as_given_, [&](auto& entry) { return entry.second->graph == graph; });
  std::erase_if(graphs_, [&](auto& entry) { return entry.second == graph; });
}

} // namespace troupe
