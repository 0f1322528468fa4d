// Tensors in words, as TensorFlow's messages and its Print show them.
#pragma once

#include <cstdint>
#include <string>

#include "core/tensor/tensor.hpp"

namespace troupe {

/// A float in the fewest digits that tell it from others: 6 or 9, of a double 15 or 17.
std::string shortest(float value);
std::string shortest(double value);

/// The first and last elements of each dimension in brackets, as PrintV2 and StringFormat show
/// them; `most` negative: all.
std::string summarize_nested(const Tensor& tensor, std::int64_t most);
/// The first elements, rows in brackets, as Print shows them.
std::string summarize_first(const Tensor& tensor, std::int64_t most);
/// "Tensor<type: float shape: [2,0] values: >", with the first three values: how error messages
/// name a tensor.
std::string debug_string(const Tensor& tensor);

} // namespace troupe
