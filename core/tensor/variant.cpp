#include "core/tensor/variant.hpp"

#include <algorithm>
#include <atomic>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool same(const VariantParts& a, const VariantParts& b) {
  if (a.metadata != b.metadata || a.tensors.size() != b.tensors.size())
    return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i)
    if (!equal(a.tensors[i], b.tensors[i]))
      return false;
  return true;
}

} // namespace

Variant make_variant(std::string type_name, VariantParts parts) {
  Variant out{.type_name = std::move(type_name), .metadata = {}, .value = nullptr};
  if (parts.tensors.empty())
    out.metadata = std::move(parts.metadata);
  else
    out.value = std::make_shared<VariantTensors>(std::move(parts));
  return out;
}

Result<VariantParts> parts_of(const Variant& variant) {
  if (variant.value)
    return variant.value->parts();
  return VariantParts{.metadata = variant.metadata, .tensors = {}};
}

Status check_writable(const Tensor& tensor) {
  if (tensor.dtype() != DType::variant)
    return {};
  for (const Variant& variant : tensor.data<Variant>()) {
    TROUPE_ASSIGN(const VariantParts parts, parts_of(variant));
    for (const Tensor& inner : parts.tensors)
      TROUPE_TRY(check_writable(inner));
  }
  return {};
}

int nesting_of(const Tensor& tensor) {
  int deepest = 0;
  if (tensor.dtype() == DType::variant)
    for (const Variant& variant : tensor.data<Variant>())
      if (variant.value)
        deepest = std::max(deepest, variant.value->nesting());
  return deepest;
}

Status check_nesting(const Tensor& tensor) {
  if (nesting_of(tensor) >= max_variant_nesting)
    return invalid_argument(
        str_cat("variants are nested more than ", max_variant_nesting, " levels deep"));
  return {};
}

void VariantValue::note_held(const Tensor& tensor) {
  nesting_ = std::max(nesting_, 1 + nesting_of(tensor));
}

bool is_sole_holder(const Variant& variant) {
  if (variant.value.use_count() != 1)
    return false;
  // The others' last uses happened before they let go of it.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

bool operator==(const Variant& a, const Variant& b) {
  if (a.type_name != b.type_name)
    return false;
  if (a.value == b.value)
    return a.metadata == b.metadata;
  const auto left = parts_of(a), right = parts_of(b);
  return left.ok() && right.ok() && same(*left, *right);
}

} // namespace troupe
