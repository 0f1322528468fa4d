#include "graph/functions/internal/implementations.hpp"

#include <algorithm>
#include <utility>

#include "graph/convert/function_body.hpp"

namespace troupe::functions {

namespace {

bool have_same_types(const FunctionDefinition& one, const FunctionDefinition& other) {
  auto types = resolve_types(one.signature, {}), others = resolve_types(other.signature, {});
  return types.ok() && others.ok() && types->inputs == others->inputs &&
         types->outputs == others->outputs;
}

} // namespace

void Implementations::read() {
  if (std::exchange(is_read_, true) || !library_)
    return;
  for (const auto& [name, definition] : library_->functions())
    if (auto found = implementation_of(*definition)) {
      kinds_.emplace(name, found->kind);
      by_kind_[found->kind].push_back({name, found->device});
    }
}

const std::string& Implementations::choose(const std::string& function,
                                           std::string_view device_type) {
  read();
  auto kind = kinds_.find(function);
  if (kind == kinds_.end())
    return function;
  const std::vector<One>& all = by_kind_[kind->second];
  auto is_for = [&](const One& one) { return one.device == device_type; };
  if (std::ranges::any_of(all,
                          [&](const One& one) { return one.function == function && is_for(one); }))
    return function;
  auto found = std::ranges::find_if(all, [&](const One& one) {
    return is_for(one) && have_same_types(*library_->find(function), *library_->find(one.function));
  });
  return found == all.end() ? function : found->function;
}

} // namespace troupe::functions
