// Tensors as TensorFlow's TensorProto messages, by hand: for files and for strings in graphs.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

/// How strings are written: one field each, or as other dtypes in one field: lengths, then text.
enum class Texts { fields, content };
/// TensorProto's bytes: dtype, shape, then the elements: of numbers the bytes that they are in
/// memory. UNIMPLEMENTED for a variant that cannot leave its process.
Result<std::string> tensor_message(const Tensor& tensor, Texts texts = Texts::fields);
/// The same back, from any form of the elements. INVALID_ARGUMENT for what is none,
/// RESOURCE_EXHAUSTED without room in `allocator`.
Result<Tensor> tensor_from_message(std::string_view message, Allocator& allocator);

/// The elements alone, in the typed fields that TensorProto has for their dtype, numbers packed.
/// UNIMPLEMENTED for resources and variants.
Result<std::string> elements_message(const Tensor& tensor);
/// The same back: exactly as many as the shape has. INVALID_ARGUMENT otherwise.
Result<Tensor> tensor_from_elements(std::string_view message, DType dtype, const Shape& shape,
                                    Allocator& allocator);

/// VariantTensorDataProto's bytes. UNIMPLEMENTED for one that cannot leave its process.
Result<std::string> variant_message(const Variant& variant);
/// INVALID_ARGUMENT for what is none or is nested too deep.
Result<Variant> variant_from_message(std::string_view message, Allocator& allocator);

} // namespace troupe
