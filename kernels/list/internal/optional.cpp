#include "kernels/list/internal/optional.hpp"

namespace troupe::list {
namespace {

const std::string nothing("\0", 1), something("\1", 1);

} // namespace

Result<VariantParts> Optional::parts() const {
  if (!components_)
    return VariantParts{.metadata = nothing, .tensors = {}};
  return VariantParts{.metadata = something, .tensors = *components_};
}

Variant make_optional(Optional value) {
  return {.type_name = Optional::type_name,
          .metadata = {},
          .value = std::make_shared<Optional>(std::move(value))};
}

std::shared_ptr<const Optional> optional_in(const Variant& variant) {
  if (auto value = std::dynamic_pointer_cast<const Optional>(variant.value))
    return value;
  if (variant.type_name != Optional::type_name)
    return nullptr;
  auto parts = parts_of(variant);
  if (!parts.ok() || (parts->metadata != something && parts->metadata != nothing))
    return nullptr;
  if (parts->metadata == nothing)
    return std::make_shared<Optional>();
  return std::make_shared<Optional>(std::move(parts->tensors));
}

} // namespace troupe::list
