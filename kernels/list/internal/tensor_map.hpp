// TensorMap: the value of a map's handle, a scalar variant.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/tensor/variant.hpp"
#include "kernels/list/internal/held_tensors.hpp"

namespace troupe::list {

/// Tensors by tensors: keys are equal if dtype, shape and elements are. Like a TensorList it is
/// changed in place while nobody else holds it.
class TensorMap final : public VariantValue {
public:
  static constexpr auto type_name = "tensorflow::TensorMap";
  struct Item {
    Tensor key, value;
  };

  /// From its written form. INVALID_ARGUMENT if that is none.
  static Result<std::shared_ptr<TensorMap>> read(const VariantParts& parts, Allocator& account);
  /// TensorFlow's form: keys and values in turn.
  Result<VariantParts> parts() const override;
  Result<std::shared_ptr<TensorMap>> copy(Allocator& account) const;

  std::size_t size() const { return items_.size(); }
  const std::map<std::string, Item>& items() const { return items_; }
  /// Null if there is none. INVALID_ARGUMENT for a key that cannot be compared.
  Result<const Item*> find(const Tensor& key) const;
  /// Adds or replaces. RESOURCE_EXHAUSTED; INVALID_ARGUMENT as above and for variants nested too
  /// deep.
  Status insert(Tensor key, Tensor value, Allocator& account);
  /// Requires that it is there.
  Status erase(const Tensor& key);

private:
  std::map<std::string, Item> items_; // by the key's dtype, shape and elements as bytes
  std::size_t bytes_ = 0;             // that the items' places take, about
  MemoryCharge charge_;
};

/// The map in a variant, also in one that was read; null if it is none.
Result<std::shared_ptr<const TensorMap>> map_in(const Variant& variant, Allocator& account);
Variant variant_of(std::shared_ptr<TensorMap> map);

} // namespace troupe::list
