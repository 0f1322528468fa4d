// Comparing computed tensors with expected ones, within the tolerances of one table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor/tensor.hpp"

namespace troupe::testing {

/// |actual - expected| may be up to absolute + relative * |expected|.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
/// The only table of tolerances; 0 for what must be equal.
Tolerance tolerance_of(DType dtype);

/// What differs, in a sentence; nothing if dtype and shape are equal and every element is within
/// the tolerance. NaN equals NaN, an infinity only itself.
std::optional<std::string> difference(const Tensor& actual, const Tensor& expected,
                                      Tolerance tolerance);

/// Elements of a real or boolean number dtype as doubles. INVALID_ARGUMENT for another.
Result<std::vector<double>> to_doubles(const Tensor& tensor);
/// A tensor of a floating dtype from doubles.
Tensor from_doubles(DType dtype, const Shape& shape, const std::vector<double>& values);

} // namespace troupe::testing
