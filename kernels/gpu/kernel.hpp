// Kernel: the name and the signature of code in a .cu file, declared once, in a header that the .cu
// file and whoever launches it include.
#pragma once

#include <cstdint>

#include "devices/cuda/code_image.hpp"

namespace troupe::gpu {

/// A kernel for several dtypes: its instances are called NAME_f32, NAME_i64 …, by the literal names
/// of dtypes. Signature: void(arguments…), in which elements are void. A pointer to const is read,
/// any other one written.
template <class Signature>
struct Kernel {
  const cuda::CodeImage& image;
  const char* name;
};

/// The signature of the kernel's instance whose elements are T: the same, since elements are void.
template <class K>
struct SignatureOf;
template <class S>
struct SignatureOf<Kernel<S>> {
  using type = S;
};

/// Up to so many inputs of one kernel.
inline constexpr int max_listed = 16;
struct InputList {
  const void* data[max_listed] = {};
  std::int64_t extent[max_listed] = {}; ///< what the kernel makes of it
  int count = 0;
};
struct OutputList {
  void* data[max_listed] = {};
  std::int64_t extent[max_listed] = {};
  int count = 0;
};

/// How up to three inputs broadcast to an output: see kernels/arith/broadcast.hpp.
struct Broadcast {
  static constexpr int max_rank = 8;
  int rank = 0;
  std::int64_t dims[max_rank] = {};
  std::int64_t strides[3][max_rank] = {};
};

} // namespace troupe::gpu
