#include "kernels/io/internal/media.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"

namespace troupe::io {
namespace {

std::string numbered(std::string_view tag, std::string_view kind, std::int64_t i,
                     std::int64_t most) {
  return most > 1 ? str_cat(tag, "/", kind, "/", i) : str_cat(tag, "/", kind);
}

template <class T>
float number(const T& value) {
  return static_cast<float>(value);
}

/// value * scale + offset, each rounded to T.
template <class T>
float scaled(const T& value, const T& scale, const T& offset) {
  if constexpr (std::is_same_v<T, Half>)
    return number(Half(number(Half(number(value) * number(scale))) + number(offset)));
  else
    return static_cast<float>(std::trunc(value * scale + offset));
}

/// Floats as bytes: positive ones so that the largest is 255, others so that 0 is 128. Pixels that
/// are not finite become the bad color.
template <class T>
void normalize(std::span<const T> from, int channels, std::span<const std::uint8_t> bad_color,
               std::vector<std::uint8_t>& to) {
  const auto depth = static_cast<std::size_t>(channels);
  float least = std::numeric_limits<float>::infinity(), most = -least;
  auto is_finite = [&](std::size_t pixel) {
    for (std::size_t i = 0; i < depth; ++i)
      if (!std::isfinite(number(from[pixel + i])))
        return false;
    return true;
  };
  for (std::size_t pixel = 0; pixel < from.size(); pixel += depth)
    if (is_finite(pixel))
      for (std::size_t i = 0; i < depth; ++i) {
        least = std::min(least, number(from[pixel + i]));
        most = std::max(most, number(from[pixel + i]));
      }
  constexpr float nothing = 1e-6F;
  const bool is_signed = least < 0;
  const float largest = is_signed ? std::max(std::abs(least), std::abs(most)) : most;
  const T scale(largest < nothing ? 0.0F : (is_signed ? 127.0F : 255.0F) / largest);
  const T offset(is_signed ? 128.0F : 0.0F);
  for (std::size_t pixel = 0; pixel < from.size(); pixel += depth) {
    const bool finite = is_finite(pixel);
    for (std::size_t i = 0; i < depth; ++i)
      to[pixel + i] =
          finite ? static_cast<std::uint8_t>(scaled(from[pixel + i], scale, offset)) : bad_color[i];
  }
}

Status check_image(const Tensor& tensor) {
  const Shape& s = tensor.shape();
  if (s.rank() != 4 || (s.dim(3) != 1 && s.dim(3) != 3 && s.dim(3) != 4))
    return invalid_argument(str_cat("Tensor must be 4-D with last dim 1, 3, or 4, not ", s));
  constexpr std::int64_t most = std::int64_t{1} << 31, most_pixels = std::int64_t{1} << 29;
  if (s.dim(0) >= most || s.dim(1) >= most || s.dim(2) >= most ||
      s.dim(1) * s.dim(2) >= most_pixels)
    return invalid_argument(str_cat("Tensor too large for summary ", s));
  if (s.dim(1) * s.dim(2) == 0)
    return invalid_argument(str_cat("input tensor must have non-zero dims. Found: [", s.dim(0),
                                    ", ", s.dim(1), ", ", s.dim(2), ", ", s.dim(3), "]."));
  return {};
}

Status check_bad_color(const Tensor& color, const Tensor& tensor, std::int64_t channels) {
  if (color.dtype() != DType::uint8)
    return invalid_argument(str_cat("bad_color must be uint8, got ", to_string(color.dtype())));
  if (color.shape().rank() != 1)
    return invalid_argument(str_cat("bad_color must be a vector, got shape ", color.shape()));
  if (tensor.dtype() != DType::uint8 && color.num_elements() < channels)
    return invalid_argument(str_cat("expected depth <= bad_color.size, got depth = ", channels,
                                    ", bad_color.size = ", color.num_elements()));
  return {};
}

} // namespace

Result<MessageWriter> picture_summary(KernelContext& c, const std::string& tag,
                                      const Tensor& tensor, std::int64_t most,
                                      const Tensor& bad_color) {
  TROUPE_TRY(check_image(tensor));
  const Shape& s = tensor.shape();
  const int height = static_cast<int>(s.dim(1)), width = static_cast<int>(s.dim(2)),
            channels = static_cast<int>(s.dim(3));
  TROUPE_TRY(check_bad_color(bad_color, tensor, channels));
  const auto size = static_cast<std::size_t>(s.dim(1) * s.dim(2) * s.dim(3));
  std::vector<std::uint8_t> pixels(size);
  MessageWriter summary;
  for (std::int64_t i = 0; i < std::min(most, s.dim(0)); ++i) {
    c.stop_if_cancelled();
    const std::size_t at = static_cast<std::size_t>(i) * size;
    TROUPE_TRY(dispatch(Types<std::uint8_t, float, Half, double>{}, tensor.dtype(),
                        [&]<class T>() -> Status {
                          const auto from = tensor.data<T>().subspan(at, size);
                          if constexpr (std::is_same_v<T, std::uint8_t>)
                            std::ranges::copy(from, pixels.begin());
                          else
                            normalize<T>(from, channels, bad_color.data<std::uint8_t>(), pixels);
                          return {};
                        }));
    TROUPE_ASSIGN(const std::string file, png_file(pixels.data(), height, width, channels));
    MessageWriter picture, value;
    picture.signed_integer(1, height).signed_integer(2, width).signed_integer(3, channels);
    picture.bytes(4, file);
    value.bytes(1, numbered(tag, "image", i, most)).message(4, picture);
    add_value(summary, value);
  }
  return summary;
}

Result<MessageWriter> sound_summary(KernelContext& c, const std::string& tag, const Tensor& tensor,
                                    std::int64_t most, float rate) {
  const Shape& s = tensor.shape();
  if (s.rank() != 2 && s.rank() != 3)
    return invalid_argument(str_cat("Tensor must be 3-D or 2-D, got: ", s));
  if (!(rate > 0))
    return invalid_argument("sample_rate must be > 0");
  if (rate > 4e9F)
    return invalid_argument(str_cat("sample_rate must be less than 4e9, got ", rate));
  const std::int64_t channels = s.rank() == 2 ? 1 : s.dim(2), length = s.dim(1);
  constexpr std::int64_t most_bytes = std::int64_t{1} << 31, most_channels = 1 << 15;
  if (channels == 0 && s.dim(0) > 0)
    return invalid_argument(length > 0 ? "audio is null"
                                       : "num_channels must be in (0, 2^16), got: 0");
  if (channels >= most_channels || (channels > 0 && length >= most_bytes / (2 * channels)))
    return invalid_argument(str_cat("Tensor too large for summary: ", s));
  const auto size = static_cast<std::size_t>(length * channels);
  const auto whole_rate = std::max<std::int64_t>(std::llrint(rate), 1);
  MessageWriter summary;
  for (std::int64_t i = 0; i < std::min(most, s.dim(0)); ++i) {
    c.stop_if_cancelled();
    const auto samples = tensor.data<float>().subspan(static_cast<std::size_t>(i) * size, size);
    MessageWriter sound, value;
    sound.real(1, rate).signed_integer(2, channels).signed_integer(3, length);
    sound.bytes(
        4, wav_file(samples, static_cast<std::uint32_t>(whole_rate), static_cast<int>(channels)));
    sound.bytes(5, "audio/wav");
    value.bytes(1, numbered(tag, "audio", i, most)).message(6, sound);
    add_value(summary, value);
  }
  return summary;
}

} // namespace troupe::io
