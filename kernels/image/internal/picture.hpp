// Files of pictures: JPEG, PNG, GIF and BMP. What comes from outside may be anything: sizes are
// checked before memory is asked for, and errors of the libraries are answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/function_view.hpp"
#include "core/base/status.hpp"

namespace troupe::image {

struct PictureSize {
  std::int64_t frames = 1, height = 0, width = 0, channels = 0;
  std::int64_t samples() const { return frames * height * width * channels; }
};
/// Where the pixels go, once their number is known; samples() of 1 byte, or of 2 where the reader
/// was asked for 16 bits.
using PictureMemory = FunctionView<Result<void*>(const PictureSize&)>;
/// Called now and then in long loops; may throw.
using PictureCheck = FunctionView<void()>;

enum class PictureFormat : std::uint8_t { unknown, jpeg, png, gif, bmp };
/// By the first bytes.
PictureFormat format_of(std::string_view file);

struct JpegReading {
  int channels = 0; ///< 0: those of the file, without the fourth
  int ratio = 1;
  bool fancy_upscaling = true, recovers = false, accurate = false;
  float acceptable_fraction = 1;
  bool crops = false;
  std::int64_t crop_y = 0, crop_x = 0, crop_height = 0, crop_width = 0;
};
/// INVALID_ARGUMENT "jpeg::Uncompress failed. Invalid JPEG data or crop window." and why.
Status read_jpeg(std::string_view file, const JpegReading& reading, PictureMemory memory,
                 PictureCheck check);
/// Without decoding it.
Result<PictureSize> jpeg_size(std::string_view file);

struct JpegWriting {
  int quality = 95;
  bool progressive = false, optimizes = false, downsamples_chroma = true;
  int density_unit = 1, x_density = 300, y_density = 300;
  std::string xmp = {};
};
/// `size` has one frame, and 1 or 3 channels.
Result<std::string> write_jpeg(const std::uint8_t* pixels, const PictureSize& size,
                               const JpegWriting& writing);

/// `channels` 0: those of the file. `bits` is 8 or 16.
Status read_png(std::string_view file, int channels, int bits, PictureMemory memory,
                PictureCheck check);
/// Always RGB; only the first frame if `all_frames` is false.
Status read_gif(std::string_view file, bool all_frames, PictureMemory memory, PictureCheck check);
/// `channels` 0: those of the file, 1, 3 or 4.
Status read_bmp(std::string_view file, int channels, PictureMemory memory);

} // namespace troupe::image
