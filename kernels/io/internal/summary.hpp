// Summary messages, as TensorBoard reads them: one or more values, each with a tag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "storage/message/message.hpp"

namespace troupe::io {

/// Dtypes that a message may hold: all but resources and variants.
std::vector<DType> message_dtypes();
/// TensorProto's bytes: dtype, shape, then the elements, of strings one field each.
/// UNIMPLEMENTED for resources and variants.
Result<std::string> tensor_message(const Tensor& tensor);
/// The same back, from either form of the elements. INVALID_ARGUMENT for what is none.
Result<Tensor> tensor_from_message(std::string_view message, Allocator& allocator);

/// A Summary with one more value.
inline void add_value(MessageWriter& summary, const MessageWriter& value) {
  summary.message(1, value);
}
/// HistogramProto of the values. INVALID_ARGUMENT for NaN and infinity, naming `node`.
Result<MessageWriter> histogram_message(const Tensor& values, std::string_view node);
/// A PNG file of 1 to 4 channels of 8 or 16 bits, compressed by zlib's `level`. `pixels` has height *
/// width * channels numbers, those of 16 bits with the upper byte first.
Result<std::string> png_file(const std::uint8_t* pixels, int height, int width, int channels,
                             int bits = 8, int level = -1);
/// A WAV file of 16 bits for each sample, frame by frame.
std::string wav_file(std::span<const float> samples, std::uint32_t rate, int channels);

} // namespace troupe::io
