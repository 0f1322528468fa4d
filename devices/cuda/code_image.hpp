// CodeImage: what a .cu file was compiled to. Also included by .cu files.
#pragma once

namespace troupe::cuda {

/// Compiled code of one .cu file for every kind of GPU, in NVIDIA's "fat binary" format; lives for
/// ever. Null data: this build has none, because there was no nvcc.
struct CodeImage {
  const char* name = "";      ///< the file's, for errors
  const void* data = nullptr; ///< what cuModuleLoadData takes
};

} // namespace troupe::cuda
