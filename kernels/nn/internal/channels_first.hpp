// Kernels written for images [batch, rows, columns, channels] (NHWC) or volumes (NDHWC), for those
// whose channels come before the rows (NCHW) or planes (NCDHW) too: what they read and write is
// transposed. TensorFlow's users have both on the CPU: its rewriting transposes some, oneDNN takes
// the others.
#pragma once

#include "kernels/framework/context.hpp"

namespace troupe::nn {

/// Which of an op's arguments are images or volumes, or the sizes of some, in its data format: bit
/// i is input i. Other inputs, filters for one, have the same layout in both formats.
struct ImageArgs {
  unsigned images = 0;
  unsigned sizes = 0; ///< vectors of int32 or int64 in host memory
  bool makes_image = true;
};

bool is_channels_first(const AttrMap& attrs);

/// What `prepare` makes of the attributes with channels last, for compute_channels_first.
Result<std::shared_ptr<const void>> prepare_channels_first(PrepareContext& c, PrepareFn prepare);
/// Transposes the images, runs `compute` with channels last and transposes the result back. What is
/// not of rank 4 (5: volumes) stays as it is, for `compute` to refuse.
Status compute_channels_first(KernelContext& c, KernelFn compute, ImageArgs args);

/// Both as they are registered: channels last go straight to the kernel.
template <PrepareFn prepare>
Result<std::shared_ptr<const void>> prepare_any_format(PrepareContext& c) {
  return is_channels_first(c.attrs()) ? prepare_channels_first(c, prepare) : prepare(c);
}
template <KernelFn compute, ImageArgs args>
Status any_format(KernelContext& c) {
  return is_channels_first(c.attrs()) ? compute_channels_first(c, compute, args) : compute(c);
}

} // namespace troupe::nn
