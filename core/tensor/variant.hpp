// What a variant holds in memory: a list, a map, an optional; and its form as bytes and tensors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "core/tensor/types.hpp"

namespace troupe {

/// A variant as it is written: TensorFlow's VariantTensorDataProto without the name of its type.
struct VariantParts {
  std::string metadata;
  std::vector<Tensor> tensors;
};

/// A value that only its own kernels understand. Copies of a variant share it: it is immutable
/// unless its holder holds the only reference (`sole_value`).
class VariantValue {
public:
  virtual ~VariantValue() = default;
  /// Its written form. UNIMPLEMENTED, with what and why, of one that cannot leave its process.
  virtual Result<VariantParts> parts() const = 0;
  /// 1 plus that of the deepest variant in it.
  int nesting() const { return nesting_; }

protected:
  /// To be told of every tensor that is put into it.
  void note_held(const Tensor& tensor);

private:
  int nesting_ = 1;
};

/// No honest graph nests lists as deep. The bound keeps what recurses into them off the stack's
/// end.
inline constexpr int max_variant_nesting = 32;
/// That of the deepest element; 0 if the tensor holds no variant with a value.
int nesting_of(const Tensor& tensor);
/// INVALID_ARGUMENT if a variant that holds the tensor would be nested too deep.
Status check_nesting(const Tensor& tensor);

/// Parts as they were read: kernels make their own value of them when they first meet it.
class VariantTensors final : public VariantValue {
public:
  explicit VariantTensors(VariantParts parts) : parts_(std::move(parts)) {
    for (const Tensor& tensor : parts_.tensors)
      note_held(tensor);
  }
  Result<VariantParts> parts() const override { return parts_; }
  const VariantParts& stored() const { return parts_; }

private:
  VariantParts parts_;
};

/// A variant that was read.
Variant make_variant(std::string type_name, VariantParts parts);
/// The written form of a variant; what VariantValue::parts returns.
Result<VariantParts> parts_of(const Variant& variant);
/// OK if every element of a tensor of variants (or of another dtype) has a written form, also those
/// within it. What VariantValue::parts returns otherwise.
Status check_writable(const Tensor& tensor);

/// The value itself if nobody else holds it, so that its holder may change it; null otherwise.
template <class T>
T* sole_value(Variant& variant) {
  auto* value = dynamic_cast<const T*>(variant.value.get());
  if (!value || !is_sole_holder(variant))
    return nullptr;
  return const_cast<T*>(value); // was made by make_shared<T>, which is not const
}

} // namespace troupe
