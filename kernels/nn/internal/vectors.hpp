// Vectors with a number for each channel, checked in TensorFlow's words.
#pragma once

#include "core/base/strings.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe::nn {

/// INVALID_ARGUMENT if `bias` cannot be added to the channels of a value of that shape, whose
/// channels are dimension `channel`.
inline Status check_bias(const Tensor& bias, const Shape& shape, int channel) {
  if (bias.shape().rank() != 1)
    return invalid_argument(str_cat("Biases must be 1D: ", bias.shape()));
  if (bias.shape()[0] != shape[channel])
    return invalid_argument( // "last" whichever it is
        str_cat("Must provide as many biases as the last dimension of the input tensor: ",
                bias.shape(), " vs. ", shape));
  return {};
}

/// INVALID_ARGUMENT if `vector`, "scale" and its like, has not an element for each channel; `when`
/// begins the sentence.
inline Status check_channels(const char* name, const Tensor& vector, std::int64_t channels,
                             const char* when = "") {
  if (vector.shape().rank() != 1)
    return invalid_argument(str_cat(name, " must be 1-dimensional", vector.shape()));
  if (vector.num_elements() != channels)
    return invalid_argument(str_cat(when, name,
                                    " must have the same number of elements as the channels of x, "
                                    "got ",
                                    vector.num_elements(), " and ", channels));
  return {};
}

} // namespace troupe::nn
