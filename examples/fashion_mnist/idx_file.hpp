// IDX, the format of MNIST and its kin: two zero bytes, a type (8: unsigned bytes), the number of
// dimensions, each dimension as 32 bits with the high byte first, then the elements. Compressed
// with gzip or not.
#pragma once

#include <string>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe::fashion_mnist {

/// A uint8 tensor. NOT_FOUND if there is no such file, INVALID_ARGUMENT if it is not IDX or too
/// short.
Result<Tensor> read_idx(const std::string& path);

} // namespace troupe::fashion_mnist
