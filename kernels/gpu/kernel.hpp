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

/// A number of 1 and more to divide by. Boards have no instruction for it, so numbers below 2^31
/// are divided by a multiplication: n / divisor = (high half of n * multiplier + n) >> shift. See
/// Granlund and Montgomery, "Division by Invariant Integers using Multiplication".
struct Divider {
  std::int64_t divisor = 1;
  std::uint32_t multiplier = 1, shift = 0;
  constexpr Divider() = default;
  /// by 0, of what is empty, is as good as 1.
  constexpr explicit Divider(std::int64_t by) : divisor(by > 0 ? by : 1) {
    if (by < 2 || by >= std::int64_t{1} << 31)
      return; // where it is that large, what is below 2^31 has the quotient 0
    while ((std::int64_t{1} << shift) < by)
      ++shift;
    const std::uint64_t beyond = (std::uint64_t{1} << shift) - static_cast<std::uint64_t>(by);
    multiplier = static_cast<std::uint32_t>((beyond << 32) / static_cast<std::uint64_t>(by) + 1);
  }
};

/// How up to three inputs broadcast to an output: see kernels/arith/broadcast.hpp. `complete`
/// (kernels/gpu/launch.hpp) fills what follows from dims and strides.
struct Broadcast {
  static constexpr int max_rank = 8;
  int rank = 0;
  /// So many elements of an output from a multiple of it on (1, 2, 4, 8 or 16) are one in each
  /// input, or lie beside each other there, also from a multiple of it on.
  int run = 1;
  std::int64_t dims[max_rank] = {};
  std::int64_t strides[3][max_rank] = {};
  Divider by[max_rank] = {}; ///< dims
};

} // namespace troupe::gpu
