// Pictures and sounds in Summary messages.
#pragma once

#include <string>

#include "kernels/framework/context.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe::io {

/// A Summary with up to `most` pictures of a tensor [batch, height, width, channels] of uint8,
/// half, float or double, under the tags "TAG/image/0" and on, or "TAG/image" if `most` is 1.
/// Numbers that are not bytes are scaled, and pixels that are not finite are of `bad_color`.
/// INVALID_ARGUMENT in TensorFlow's words.
Result<MessageWriter> picture_summary(KernelContext& c, const std::string& tag,
                                      const Tensor& tensor, std::int64_t most,
                                      const Tensor& bad_color);
/// A Summary with up to `most` sounds of a float tensor [batch, frames] or [batch, frames,
/// channels], under the tags "TAG/audio/0" and on, or "TAG/audio" if `most` is 1. INVALID_ARGUMENT
/// in TensorFlow's words.
Result<MessageWriter> sound_summary(KernelContext& c, const std::string& tag, const Tensor& tensor,
                                    std::int64_t most, float rate);

} // namespace troupe::io
