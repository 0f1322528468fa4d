#include "graph/op/registry.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"
#include "graph/op/known_ops.hpp"

namespace troupe {

namespace {
std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
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
  if (const OpSchema* known = find_known_op(name))
    return known;
  // Only for what differs in case alone: ops of similar names compute different things.
  std::string hint;
  for (const OpSchema* known : all())
    if (known->name.size() == name.size() && edit_distance(known->name, name) == 0)
      hint = str_cat("; did you mean '", known->name, "'?");
  return not_found(str_cat("Op type not registered '", name.substr(0, 200),
                           "' in binary running on ", host_name(),
                           ". Make sure the Op and Kernel are registered in the binary running in "
                           "this process",
                           hint.empty() ? "." : hint));
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
