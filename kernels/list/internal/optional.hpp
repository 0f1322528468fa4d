// Optional: tensors, or nothing.
#pragma once

#include <optional>
#include <vector>

#include "core/tensor/variant.hpp"

namespace troupe::list {

class Optional final : public VariantValue {
public:
  static constexpr auto type_name = "tensorflow::data::Optional";

  Optional() = default;
  explicit Optional(std::vector<Tensor> components) : components_(std::move(components)) {
    for (const Tensor& component : *components_)
      note_held(component);
  }
  bool has_value() const { return components_.has_value(); }
  /// Requires a value.
  const std::vector<Tensor>& components() const { return *components_; }
  /// Our own form, since TensorFlow's has none: "\1" and the components, or "\0".
  Result<VariantParts> parts() const override;

private:
  std::optional<std::vector<Tensor>> components_;
};

Variant make_optional(Optional value);
/// The optional in a variant, also in one that was read; null if it is none.
std::shared_ptr<const Optional> optional_in(const Variant& variant);

} // namespace troupe::list
