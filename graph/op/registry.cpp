#include "graph/op/registry.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

// Letters to insert, delete or replace (swapping case is free), or `limit` when it takes more.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit)
    return limit;
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replaced = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return std::min(row[b.size()], limit);
}

} // namespace

const OpSchema& OpRegistry::add(OpSchema schema) {
  TROUPE_CHECK(!schema.name.empty(), "an op has a name");
  TROUPE_CHECK(schema.gradient || !schema.not_differentiable.empty(),
               str_cat("op ", schema.name,
                       " has neither a gradient nor a reason for having none; add .gradient(…) or "
                       ".not_differentiable(\"why\")"));
  auto owned = std::make_unique<const OpSchema>(std::move(schema));
  const OpSchema& added = *owned;
  bool is_new = schemas_.emplace(added.name, std::move(owned)).second;
  TROUPE_CHECK(is_new, "an op is registered twice");
  return added;
}

const OpSchema* OpRegistry::find(std::string_view name) const {
  auto at = schemas_.find(name);
  return at == schemas_.end() ? nullptr : at->second.get();
}

Result<const OpSchema*> OpRegistry::lookup(std::string_view name) const {
  if (const OpSchema* schema = find(name))
    return schema;
  std::string message = str_cat("Op type not registered '", name.substr(0, 200),
                                "' in this process. Make sure that the graph uses only ops that "
                                "this build has");
  constexpr std::size_t limit = 4;
  std::vector<std::pair<std::size_t, std::string_view>> near;
  if (name.size() <= 100)
    for (const auto& [known, schema] : schemas_)
      if (std::size_t distance = edit_distance(name, known, limit);
          distance < std::min(limit, std::max<std::size_t>(2, name.size() / 2)))
        near.emplace_back(distance, known);
  std::sort(near.begin(), near.end());
  if (near.empty())
    return not_found(message + '.');
  message += "; did you mean ";
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 3); ++i)
    str_append(message, i ? " or '" : "'", near[i].second, "'");
  return not_found(message + '?');
}

std::vector<const OpSchema*> OpRegistry::all() const {
  std::vector<const OpSchema*> out;
  out.reserve(schemas_.size());
  for (const auto& [name, schema] : schemas_)
    out.push_back(schema.get());
  std::sort(out.begin(), out.end(),
            [](const OpSchema* a, const OpSchema* b) { return a->name < b->name; });
  return out;
}

} // namespace troupe
