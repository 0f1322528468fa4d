// DecodeJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeAndCropJpeg and DecodeImage: pixels of files
// of pictures. As TensorFlow's, the first three read each other's formats.
#include <algorithm>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/image/internal/picture.hpp"

namespace troupe::image_decode_image {
namespace {

using image::PictureFormat;
using image::PictureSize;

struct Attrs {
  std::string op;
  image::JpegReading jpeg;
  int channels = 0;
  bool expands_animations = true;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  out.op = c.schema().name;
  const std::int64_t channels =
      c.attrs().get_or("channels", std::int64_t{out.op == "DecodeGif" ? 3 : 0});
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
    return invalid_argument(str_cat("`channels` must be 0, 1, 3 or 4 but got ", channels));
  out.channels = static_cast<int>(channels);
  out.expands_animations = c.attrs().get_or("expand_animations", true);
  if (out.op == "DecodeJpeg" || out.op == "DecodeAndCropJpeg") {
    TROUPE_ASSIGN(const auto ratio, c.attr<std::int64_t>("ratio"));
    if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
      return invalid_argument(str_cat("ratio must be 1, 2, 4, or 8, got ", ratio));
    out.jpeg.ratio = static_cast<int>(ratio);
    TROUPE_ASSIGN(out.jpeg.fancy_upscaling, c.attr<bool>("fancy_upscaling"));
    TROUPE_ASSIGN(out.jpeg.recovers, c.attr<bool>("try_recover_truncated"));
    TROUPE_ASSIGN(out.jpeg.acceptable_fraction, c.attr<float>("acceptable_fraction"));
    TROUPE_ASSIGN(const auto method, c.attr<std::string>("dct_method"));
    if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE")
      return invalid_argument("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
    out.jpeg.accurate = method == "INTEGER_ACCURATE";
  }
  return prepared(std::move(out));
}

/// Where a reader puts its numbers: the output itself, or memory of which the output is made.
class Pixels {
public:
  Pixels(KernelContext& c, DType read_as) : c_(c), read_as_(read_as) {}

  Result<void*> allocate(const Shape& shape) {
    TROUPE_ASSIGN(out_, c_.allocate_output(0, shape));
    raw_ = out_;
    if (out_.dtype() != read_as_) {
      TROUPE_ASSIGN(raw_, c_.allocate_temp(read_as_, shape));
    }
    return raw_.mutable_raw();
  }

  /// Bytes become numbers of 16 bits, or floats from 0 to 1.
  Status finish() {
    if (out_.dtype() == read_as_)
      return {};
    const auto convert = [&](auto from, auto to, auto each) {
      c_.parallel_for(out_.num_elements(), 1, [&](std::int64_t begin, std::int64_t end) {
        std::transform(from.begin() + begin, from.begin() + end, to.begin() + begin, each);
      });
    };
    if (out_.dtype() == DType::uint16)
      convert(raw_.data<std::uint8_t>(), out_.mutable_data<std::uint16_t>(),
              [](std::uint8_t x) { return static_cast<std::uint16_t>(x * 256); });
    else if (read_as_ == DType::uint8)
      convert(raw_.data<std::uint8_t>(), out_.mutable_data<float>(),
              [](std::uint8_t x) { return static_cast<float>(x) * static_cast<float>(1.0 / 255); });
    else
      convert(raw_.data<std::uint16_t>(), out_.mutable_data<float>(), [](std::uint16_t x) {
        return static_cast<float>(x) * static_cast<float>(1.0 / 65535);
      });
    return {};
  }

private:
  KernelContext& c_;
  DType read_as_;
  Tensor out_, raw_;
};

/// Of one picture; DecodeGif gives a dimension of frames whatever it reads.
Result<Shape> one_picture(const Attrs& attrs, const PictureSize& size) {
  if (attrs.op == "DecodeGif")
    return Shape::make(std::array{std::int64_t{1}, size.height, size.width, size.channels});
  return Shape::make(std::array{size.height, size.width, size.channels});
}

Result<Shape> animation(const Attrs& attrs, const PictureSize& size) {
  if (attrs.op == "DecodePng" || attrs.op == "DecodeJpeg") {
    if (size.frames != 1)
      return invalid_argument(str_cat("Got ", size.frames,
                                      " frames, but animated gifs can only be decoded by "
                                      "tf.io.decode_gif or tf.io.decode_image"));
    return Shape::make(std::array{size.height, size.width, size.channels});
  }
  if (attrs.op == "DecodeGif" || attrs.expands_animations)
    return Shape::make(std::array{size.frames, size.height, size.width, size.channels});
  return Shape::make(std::array{size.height, size.width, size.channels});
}

Status decode_jpeg(KernelContext& c, const Attrs& attrs, std::string_view file) {
  if (attrs.op == "DecodeBmp")
    return invalid_argument("Trying to decode JPEG format using DecodeBmp op. Use `decode_jpeg` or "
                            "`decode_image` instead.");
  if (attrs.channels == 4)
    return invalid_argument("JPEG does not support 4 channels");
  image::JpegReading reading = attrs.jpeg;
  reading.channels = attrs.channels;
  if (attrs.op == "DecodeAndCropJpeg") {
    const Tensor& window = c.input(1);
    if (window.shape().rank() != 1)
      return invalid_argument(str_cat("crop_window must be 1-D, got shape ", window.shape()));
    if (window.num_elements() != 4)
      return invalid_argument(str_cat("crop_size must have four elements ", window.shape()));
    const auto values = window.data<std::int32_t>();
    reading.crops = true;
    reading.crop_y = values[0];
    reading.crop_x = values[1];
    reading.crop_height = values[2];
    reading.crop_width = values[3];
  }
  Pixels pixels(c, DType::uint8);
  TROUPE_TRY(image::read_jpeg(
      file, reading,
      [&](const PictureSize& size) -> Result<void*> {
        TROUPE_ASSIGN(const Shape shape, one_picture(attrs, size));
        return pixels.allocate(shape);
      },
      [&] { c.stop_if_cancelled(); }));
  return pixels.finish();
}

Status check_not_of_one_format(const Attrs& attrs, std::string_view format, std::string_view op) {
  if (attrs.op == "DecodeBmp")
    return invalid_argument(str_cat("Trying to decode ", format,
                                    " format using DecodeBmp op. Use `", op,
                                    "` or `decode_image` instead."));
  if (attrs.op == "DecodeAndCropJpeg")
    return invalid_argument(
        str_cat("DecodeAndCropJpeg operation can run on JPEG only, but detected ", format, "."));
  return {};
}

Status decode_png(KernelContext& c, const Attrs& attrs, std::string_view file) {
  TROUPE_TRY(check_not_of_one_format(attrs, "PNG", "decode_png"));
  const bool is_narrow = c.output_type(0) == DType::uint8;
  Pixels pixels(c, is_narrow ? DType::uint8 : DType::uint16);
  TROUPE_TRY(image::read_png(
      file, attrs.channels, is_narrow ? 8 : 16,
      [&](const PictureSize& size) -> Result<void*> {
        TROUPE_ASSIGN(const Shape shape, one_picture(attrs, size));
        return pixels.allocate(shape);
      },
      [&] { c.stop_if_cancelled(); }));
  return pixels.finish();
}

Status decode_gif(KernelContext& c, const Attrs& attrs, std::string_view file) {
  if (attrs.channels != 0 && attrs.channels != 3)
    return invalid_argument(str_cat("channels must be 0 or 3 for GIF, got ", attrs.channels));
  TROUPE_TRY(check_not_of_one_format(attrs, "GIF", "decode_gif"));
  Pixels pixels(c, DType::uint8);
  TROUPE_TRY(image::read_gif(
      file, attrs.expands_animations,
      [&](const PictureSize& size) -> Result<void*> {
        TROUPE_ASSIGN(const Shape shape, animation(attrs, size));
        return pixels.allocate(shape);
      },
      [&] { c.stop_if_cancelled(); }));
  return pixels.finish();
}

Status decode_bmp(KernelContext& c, const Attrs& attrs, std::string_view file) {
  if (attrs.op == "DecodeAndCropJpeg")
    return check_not_of_one_format(attrs, "BMP", "decode_bmp");
  if (attrs.channels == 1)
    return invalid_argument("`channels` must be 0, 3 or 4 for BMP, but got 1");
  if (attrs.op != "DecodeBmp" && attrs.op != "DecodeImage")
    return invalid_argument(str_cat("Trying to decode BMP format using a wrong op. Use "
                                    "`decode_bmp` or `decode_image` instead. Op used: ",
                                    attrs.op));
  Pixels pixels(c, DType::uint8);
  TROUPE_TRY(image::read_bmp(file, attrs.channels, [&](const PictureSize& size) -> Result<void*> {
    TROUPE_ASSIGN(const Shape shape, one_picture(attrs, size));
    return pixels.allocate(shape);
  }));
  return pixels.finish();
}

Status compute(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(str_cat("`contents` must be scalar but got shape", c.input(0).shape()));
  const std::string& file = c.input(0).value<std::string>();
  if (file.empty())
    return invalid_argument("Input is empty.");
  if (file.size() > INT32_MAX)
    return invalid_argument(str_cat("Input contents are too large for int: ", file.size()));
  const auto& attrs = c.prepared<Attrs>();
  switch (image::format_of(file)) {
  case PictureFormat::jpeg:
    return decode_jpeg(c, attrs, file);
  case PictureFormat::png:
    return decode_png(c, attrs, file);
  case PictureFormat::gif:
    return decode_gif(c, attrs, file);
  case PictureFormat::bmp:
    return decode_bmp(c, attrs, file);
  case PictureFormat::unknown:
    break;
  }
  return invalid_argument("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
}

Status compute_jpeg_shape(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(str_cat("contents must be scalar, got shape ", c.input(0).shape()));
  TROUPE_ASSIGN(const PictureSize size, image::jpeg_size(c.input(0).value<std::string>()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{3}));
  return dispatch(Types<std::int32_t, std::int64_t>{}, out.dtype(), [&]<class T>() -> Status {
    const auto to = out.mutable_data<T>();
    to[0] = static_cast<T>(size.height);
    to[1] = static_cast<T>(size.width);
    to[2] = static_cast<T>(size.channels);
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  if (c.schema().name == "DecodeGif")
    return c.set_output(0, {-1, -1, -1, 3});
  const std::int64_t channels = c.attrs().get_or("channels", std::int64_t{0});
  if (channels < 0)
    return invalid_argument(str_cat("channels must be non-negative, got ", channels));
  if (c.attrs().get_or("expand_animations", false))
    return c.set_output(0, PartialShape());
  std::vector<std::int64_t> out = {-1, -1, channels == 0 ? -1 : channels};
  if (c.num_inputs() > 1) {
    TROUPE_ASSIGN(const auto size, shape_rules::dims_of_rank(c, 1, 1));
    TROUPE_TRY(shape_rules::merge_dims(size[0], 4).status());
    if (const auto window = c.input_as_ints(1)) {
      out[0] = std::max<std::int64_t>((*window)[2], -1);
      out[1] = std::max<std::int64_t>((*window)[3], -1);
    }
  }
  return c.set_output(0, PartialShape(std::move(out)));
}

Status infer_shape_of(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return c.set_output(0, {3});
}

KernelOptions options(PrepareFn prepare) {
  KernelOptions out;
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

constexpr auto from_files = "files are read, not computed with";
constexpr auto jpeg_attrs =
    "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool "
    "= false; acceptable_fraction: float = 1; dct_method: string = ''";

} // namespace

void register_ops(OpLibrary& library) {
  auto decoder = [&](const char* name, const char* inputs, const char* output, const char* attrs,
                     const char* doc) {
    auto builder = library.op(name);
    builder.input(inputs).output(output);
    if (*attrs)
      builder.attr(attrs);
    builder.shape_fn(infer)
        .not_differentiable(from_files)
        .cpu_kernel(compute, options(prepare))
        .doc(doc);
  };
  decoder("DecodeJpeg", "contents: string", "image: uint8", jpeg_attrs,
          "The pixels of a JPEG file, [height, width, channels].");
  decoder("DecodeAndCropJpeg", "contents: string; crop_window: int32", "image: uint8", jpeg_attrs,
          "The pixels of a part of a JPEG file: top, left, height, width.");
  decoder("DecodePng", "contents: string", "image: dtype",
          "channels: int = 0; dtype: {uint8, uint16} = DT_UINT8",
          "The pixels of a PNG file, [height, width, channels].");
  decoder("DecodeBmp", "contents: string", "image: uint8", "channels: int = 0",
          "The pixels of a BMP file, [height, width, channels].");
  decoder("DecodeGif", "contents: string", "image: uint8", "",
          "The frames of a GIF file, [frames, height, width, 3].");
  decoder("DecodeImage", "contents: string", "image: dtype",
          "channels: int = 0; dtype: {uint8, uint16, float} = DT_UINT8; expand_animations: bool = "
          "true",
          "The pixels of a file in any of these formats.");
  KernelOptions shape_options;
  shape_options.types = {{"output_type", {DType::int32, DType::int64}}};
  library.op("ExtractJpegShape")
      .input("contents: string")
      .output("image_shape: output_type")
      .attr("output_type: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape_of)
      .not_differentiable(from_files)
      .cpu_kernel(compute_jpeg_shape, shape_options)
      .doc("Height, width and channels of a JPEG file, which is not decoded.");
}

} // namespace troupe::image_decode_image
