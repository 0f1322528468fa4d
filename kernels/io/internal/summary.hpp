// Summary messages, as TensorBoard reads them: one or more values, each with a tag.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "storage/message/message.hpp"
#include "storage/message/tensor_message.hpp"

namespace troupe::io {

/// Dtypes whose values are numbers in summaries.
using SummaryNumbers =
    Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t, std::int64_t,
          BFloat16, std::uint16_t, Half, std::uint32_t, std::uint64_t, bool>;

/// A Summary with one more value.
inline void add_value(MessageWriter& summary, const MessageWriter& value) {
  summary.message(1, value);
}
/// HistogramProto of the values. INVALID_ARGUMENT for NaN and infinity, naming `node`.
Result<MessageWriter> histogram_message(const Tensor& values, std::string_view node);
/// A PNG file of 1 to 4 channels of 8 or 16 bits, compressed by zlib's `level`. `pixels` has height
/// * width * channels numbers, those of 16 bits with the upper byte first.
Result<std::string> png_file(const std::uint8_t* pixels, int height, int width, int channels,
                             int bits = 8, int level = -1);
/// A WAV file of 16 bits for each sample, frame by frame.
std::string wav_file(std::span<const float> samples, std::uint32_t rate, int channels);

} // namespace troupe::io
