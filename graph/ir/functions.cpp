#include "graph/ir/functions.hpp"

#include "core/base/strings.hpp"

namespace troupe {

Status FunctionLibrary::add(FunctionDefinition function) {
  return add(std::make_shared<const FunctionDefinition>(std::move(function)));
}

Status FunctionLibrary::add(std::shared_ptr<const FunctionDefinition> function) {
  const std::string& name = function->signature.name;
  auto [at, is_new] = functions_.emplace(name, function);
  if (!is_new && at->second->bytes != function->bytes)
    return invalid_argument(str_cat("Cannot add function '", name,
                                    "' because a different function with the same name already "
                                    "exists."));
  return {};
}

bool FunctionLibrary::erase(std::string_view name) {
  auto at = functions_.find(name);
  if (at == functions_.end())
    return false;
  functions_.erase(at);
  return true;
}

Status FunctionLibrary::set_gradient(std::string_view function, std::string_view gradient) {
  auto [at, is_new] = gradients_.emplace(function, gradient);
  if (!is_new && at->second != gradient)
    return invalid_argument(str_cat("Cannot assign gradient function '", gradient, "' to '",
                                    function, "' because it already has gradient function '",
                                    at->second, "'"));
  return {};
}

Status FunctionLibrary::merge(const FunctionLibrary& other) {
  FunctionLibrary merged = *this;
  for (const auto& [name, function] : other.functions_)
    TROUPE_TRY(merged.add(function));
  for (const auto& [function, gradient] : other.gradients_)
    TROUPE_TRY(merged.set_gradient(function, gradient));
  *this = std::move(merged);
  return {};
}

} // namespace troupe
