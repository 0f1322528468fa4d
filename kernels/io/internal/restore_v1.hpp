// Tensors out of checkpoints of the first format, for the ops that read them.
#pragma once

#include <string>
#include <string_view>

#include "kernels/framework/context.hpp"

namespace troupe::io {

/// What output `output` is to be: a slice of a tensor in the files that match a pattern.
struct WantedV1 {
  int output = 0;
  std::string pattern, name;
  std::string slice;  ///< "4 16 0,2:-"; empty: the whole tensor
  int preferred = -1; ///< the file to look in first
};

/// Restores it. The files stay open until the step ends, for its other nodes. In TensorFlow's
/// words: NOT_FOUND "Tensor name \"w\" not found in checkpoint files …", INVALID_ARGUMENT "Expected
/// to restore a tensor of type float, got a tensor of type int32 instead: …" or "Shape in
/// shape_and_slice spec does not match the shape in the save file: …".
Status restore_v1(KernelContext& c, const WantedV1& wanted);

} // namespace troupe::io
