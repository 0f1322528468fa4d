// Tensors as bytes of a tensorflow.TensorProto.
#pragma once

#include <string>
#include <string_view>

#include "core/tensor/tensor.hpp"
#include "graph/convert/limits.hpp"

namespace troupe {

enum class TensorEncoding {
  content, ///< everything in tensor_content, strings too: what sessions and workers exchange
  graph,   ///< typed fields for scalars, strings, resources and variants; else tensor_content
  fields,  ///< typed fields always; a run of equal values at the end is written once
};

/// INVALID_ARGUMENT for bytes that are no TensorProto, an unknown or reference dtype, a bad shape,
/// content of the wrong size, too many variants within variants; RESOURCE_EXHAUSTED for more
/// filling than the limit allows. Variants keep what was read: their kernels look into it.
Result<Tensor> tensor_from_bytes(std::string_view bytes, DecodeLimits limits = {});
/// Requires a value in host memory.
std::string tensor_to_bytes(const Tensor& tensor,
                            TensorEncoding encoding = TensorEncoding::content);

} // namespace troupe
