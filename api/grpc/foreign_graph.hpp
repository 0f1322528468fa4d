// Graphs that TensorFlow's rewriting has changed, as plain ones: ops that only its own kernels know
// become those that they stand for. Bytes in, bytes out.
#pragma once

#include <string>

#include "core/base/status.hpp"

namespace troupe {

/// A GraphDef with `_FusedMatMul`, `_FusedConv2D`, `_FusedDepthwiseConv2dNative`,
/// `_FusedBatchNormEx` and `_UnaryOpsComposition` written out. Names of nodes stay; new ones begin
/// with that of the node that they come of. Other nodes stay as they are, byte for byte.
/// INVALID_ARGUMENT for bytes that are no GraphDef; UNIMPLEMENTED naming node and op where a fusion
/// is not known.
Result<std::string> without_fused_ops(std::string graph_def);

} // namespace troupe
