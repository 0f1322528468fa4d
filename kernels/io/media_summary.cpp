// ImageSummary, AudioSummary, AudioSummaryV2: pictures as PNG, sound as WAV, in Summary messages.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe {
namespace {

std::string numbered(std::string_view tag, std::string_view kind, std::int64_t i,
                     std::int64_t most) {
  return most > 1 ? str_cat(tag, "/", kind, "/", i) : str_cat(tag, "/", kind);
}

template <class T>
float number(const T& value) {
  return static_cast<float>(value);
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
  const float scale = largest < nothing ? 0.0F : (is_signed ? 127.0F : 255.0F) / largest;
  const float offset = is_signed ? 128.0F : 0.0F;
  for (std::size_t pixel = 0; pixel < from.size(); pixel += depth) {
    const bool finite = is_finite(pixel);
    for (std::size_t i = 0; i < depth; ++i)
      to[pixel + i] = finite ? static_cast<std::uint8_t>(number(from[pixel + i]) * scale + offset)
                             : bad_color[i];
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

Result<Tensor> bad_color(const KernelContext& c, std::int64_t channels) {
  TROUPE_ASSIGN(const TensorBox box, c.attr<TensorBox>("bad_color"));
  if (box.tensor.dtype() != DType::uint8)
    return invalid_argument(
        str_cat("bad_color must be uint8, got ", to_string(box.tensor.dtype())));
  if (box.tensor.shape().rank() != 1)
    return invalid_argument(str_cat("bad_color must be a vector, got shape ", box.tensor.shape()));
  if (c.input(1).dtype() != DType::uint8 && box.tensor.num_elements() < channels)
    return invalid_argument(str_cat("expected depth <= bad_color.size, got depth = ", channels,
                                    ", bad_color.size = ", box.tensor.num_elements()));
  return box.tensor;
}

Status image(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("Tags must be a scalar");
  const Tensor& tensor = c.input(1);
  TROUPE_TRY(check_image(tensor));
  const Shape& s = tensor.shape();
  const int height = static_cast<int>(s.dim(1)), width = static_cast<int>(s.dim(2)),
            channels = static_cast<int>(s.dim(3));
  TROUPE_ASSIGN(const Tensor bad, bad_color(c, channels));
  const auto most = c.attrs().get_or<std::int64_t>("max_images", 3);
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
                            normalize<T>(from, channels, bad.data<std::uint8_t>(), pixels);
                          return {};
                        }));
    TROUPE_ASSIGN(const std::string file, io::png_file(pixels.data(), height, width, channels));
    MessageWriter picture, value;
    picture.signed_integer(1, height).signed_integer(2, width).signed_integer(3, channels);
    picture.bytes(4, file);
    value.bytes(1, numbered(c.input(0).value<std::string>(), "image", i, most)).message(4, picture);
    io::add_value(summary, value);
  }
  return c.set_output(0, Tensor::scalar(summary.take()));
}

Status audio(KernelContext& c, float rate) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("Tag must be a scalar");
  const Shape& s = c.input(1).shape();
  if (s.rank() != 2 && s.rank() != 3)
    return invalid_argument(str_cat("Tensor must be 3-D or 2-D, got: ", s));
  const std::int64_t channels = s.rank() == 2 ? 1 : s.dim(2), length = s.dim(1);
  constexpr std::int64_t most_bytes = std::int64_t{1} << 31, most_channels = 1 << 15;
  if (!(rate > 0) || rate > 4e9F)
    return invalid_argument(str_cat("sample_rate must be > 0, and less than 4e9, got ", rate));
  if (channels == 0 || channels >= most_channels || length >= most_bytes / (2 * channels))
    return invalid_argument(str_cat("Tensor too large for summary, or without channels: ", s));
  const auto most = c.attrs().get_or<std::int64_t>("max_outputs", 3);
  const auto size = static_cast<std::size_t>(length * channels);
  MessageWriter summary;
  for (std::int64_t i = 0; i < std::min(most, s.dim(0)); ++i) {
    c.stop_if_cancelled();
    const auto samples = c.input(1).data<float>().subspan(static_cast<std::size_t>(i) * size, size);
    MessageWriter sound, value;
    sound.real(1, rate).signed_integer(2, channels).signed_integer(3, length);
    sound.bytes(
        4, io::wav_file(samples, static_cast<std::uint32_t>(rate), static_cast<int>(channels)));
    sound.bytes(5, "audio/wav");
    value.bytes(1, numbered(c.input(0).value<std::string>(), "audio", i, most)).message(6, sound);
    io::add_value(summary, value);
  }
  return c.set_output(0, Tensor::scalar(summary.take()));
}

Status audio_v1(KernelContext& c) {
  TROUPE_ASSIGN(const float rate, c.attr<float>("sample_rate"));
  return audio(c, rate);
}

Status audio_v2(KernelContext& c) {
  if (!c.input(2).shape().is_scalar())
    return invalid_argument("sample_rate must be a scalar");
  return audio(c, c.input(2).value<float>());
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

constexpr auto is_text = "its value is a message";

} // namespace

void register_io_media_summary(OpLibrary& library) {
  library.op("ImageSummary")
      .input("tag: string; tensor: T")
      .output("summary: string")
      .attr("max_images: int >= 1 = 3; T: {uint8, float, half, double} = DT_FLOAT; "
            "bad_color: tensor = u8[4] 255 0 0 255")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(image, options())
      .doc("A Summary message with up to `max_images` pictures; pixels that are not finite are of "
           "`bad_color`.");
  library.op("AudioSummary")
      .input("tag: string; tensor: float")
      .output("summary: string")
      .attr("sample_rate: float; max_outputs: int >= 1 = 3")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(audio_v1, options())
      .doc("A Summary message with up to `max_outputs` sounds.");
  library.op("AudioSummaryV2")
      .input("tag: string; tensor: float; sample_rate: float")
      .output("summary: string")
      .attr("max_outputs: int >= 1 = 3")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(audio_v2, options())
      .doc("A Summary message with up to `max_outputs` sounds.");
}

} // namespace troupe
