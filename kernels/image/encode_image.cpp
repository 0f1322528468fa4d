// EncodePng, EncodeJpeg and EncodeJpegVariableQuality: pixels as files.
#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/image/internal/picture.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe::image_encode_image {
namespace {

Result<std::shared_ptr<const void>> prepare_png(PrepareContext& c) {
  TROUPE_ASSIGN(const auto level, c.attr<std::int64_t>("compression"));
  if (level < -1 || level > 9)
    return invalid_argument(str_cat("compression should be in [-1,9], got ", level));
  return prepared(static_cast<int>(level));
}

/// Numbers of 16 bits with the upper byte first.
std::string big_endian(std::span<const std::uint16_t> from) {
  std::string out;
  out.reserve(from.size() * 2);
  for (const std::uint16_t x : from) {
    out += static_cast<char>(x >> 8);
    out += static_cast<char>(x & 0xFF);
  }
  return out;
}

/// Each picture of a tensor [..., height, width, channels] is a file.
Status compute_png(KernelContext& c) {
  const Tensor& image = c.input(0);
  const Shape& shape = image.shape();
  const int rank = shape.rank();
  if (rank < 3)
    return invalid_argument(str_cat("images must be at least rank 3", shape));
  if (image.num_elements() >= INT32_MAX)
    return invalid_argument("image cannot have >= int32 max elements");
  const auto height = static_cast<int>(shape[rank - 3]), width = static_cast<int>(shape[rank - 2]);
  const std::int64_t channels = shape[rank - 1];
  if (width * channels >= INT32_MAX / 2)
    return invalid_argument("image too wide to encode");
  if (channels < 1 || channels > 4)
    return invalid_argument(str_cat("image must have 1, 2, 3, or 4 channels, got ", channels));
  std::vector<std::int64_t> dims;
  for (int i = 0; i < rank - 3; ++i)
    dims.push_back(shape[i]);
  TROUPE_ASSIGN(const Shape files_shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor files, c.allocate_output(0, files_shape));
  if (files.num_elements() == 0)
    return {};
  if (image.num_elements() == 0)
    return internal("PNG encoding failed: the pictures have no pixels");
  const auto size = static_cast<std::size_t>(height * width * channels);
  const auto to = files.mutable_data<std::string>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    c.stop_if_cancelled();
    std::string wide;
    const std::uint8_t* pixels = nullptr;
    if (image.dtype() == DType::uint16) {
      wide = big_endian(image.data<std::uint16_t>().subspan(i * size, size));
      pixels = reinterpret_cast<const std::uint8_t*>(wide.data());
    } else {
      pixels = image.data<std::uint8_t>().data() + i * size;
    }
    TROUPE_ASSIGN(to[i], io::png_file(pixels, height, width, static_cast<int>(channels),
                                      wide.empty() ? 8 : 16, c.prepared<int>()));
  }
  return {};
}

struct JpegAttrs {
  std::string format;
  image::JpegWriting writing;
};

Status check_quality(std::int64_t quality) {
  if (quality < 0 || quality > 100)
    return invalid_argument(str_cat("quality must be in [0,100], got ", quality));
  return {};
}

Result<std::shared_ptr<const void>> prepare_jpeg(PrepareContext& c) {
  JpegAttrs out;
  TROUPE_ASSIGN(out.format, c.attr<std::string>("format"));
  TROUPE_ASSIGN(const auto quality, c.attr<std::int64_t>("quality"));
  TROUPE_TRY(check_quality(quality));
  image::JpegWriting& writing = out.writing;
  writing.quality = static_cast<int>(quality);
  TROUPE_ASSIGN(writing.progressive, c.attr<bool>("progressive"));
  TROUPE_ASSIGN(writing.optimizes, c.attr<bool>("optimize_size"));
  TROUPE_ASSIGN(writing.downsamples_chroma, c.attr<bool>("chroma_downsampling"));
  TROUPE_ASSIGN(const auto unit, c.attr<std::string>("density_unit"));
  writing.density_unit = unit == "cm" ? 2 : 1;
  TROUPE_ASSIGN(const auto x, c.attr<std::int64_t>("x_density"));
  TROUPE_ASSIGN(const auto y, c.attr<std::int64_t>("y_density"));
  writing.x_density = static_cast<int>(x & 0xFFFF);
  writing.y_density = static_cast<int>(y & 0xFFFF);
  TROUPE_ASSIGN(writing.xmp, c.attr<std::string>("xmp_metadata"));
  return prepared(std::move(out));
}

Status encode_jpeg(KernelContext& c, std::string_view format, const image::JpegWriting& writing) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() != 3)
    return invalid_argument(str_cat("image must be 3-dimensional", shape));
  if (c.input(0).num_elements() >= INT32_MAX)
    return invalid_argument("Cannot encode images with >= max int32 elements");
  if (format.empty() && shape[2] != 1 && shape[2] != 3)
    return invalid_argument(str_cat("image must have 1 or 3 channels, got ", shape));
  const std::int64_t expected = format == "grayscale" ? 1 : format == "rgb" ? 3 : shape[2];
  if (shape[2] != expected)
    return invalid_argument(
        str_cat("format ", format, " expects ", expected, " channels, got ", shape));
  TROUPE_ASSIGN(std::string file, image::write_jpeg(c.input(0).data<std::uint8_t>().data(),
                                                    {1, shape[0], shape[1], shape[2]}, writing));
  return c.set_output(0, Tensor::scalar(std::move(file)));
}

Status compute_jpeg(KernelContext& c) {
  const auto& attrs = c.prepared<JpegAttrs>();
  return encode_jpeg(c, attrs.format, attrs.writing);
}

Status compute_jpeg_of_quality(KernelContext& c) {
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat("quality must be scalar: ", c.input(1).shape()));
  image::JpegWriting writing;
  writing.quality = c.input(1).value<std::int32_t>();
  TROUPE_TRY(check_quality(writing.quality));
  return encode_jpeg(c, "", writing);
}

Status infer_png(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 3));
  if (!c.input(0).has_rank())
    return c.set_output(0, PartialShape());
  auto dims = c.input(0).dims();
  dims.resize(dims.size() - 3);
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_jpeg(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 3));
  if (c.num_inputs() > 1)
    TROUPE_TRY(c.require_rank(1, 0));
  return c.set_output(0, PartialShape(Shape{}));
}

constexpr auto files = "files are written, not computed";

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  KernelOptions png = options, jpeg = options;
  png.types = {{"T", {DType::uint8, DType::uint16}}};
  png.prepare = prepare_png;
  jpeg.prepare = prepare_jpeg;
  library.op("EncodePng")
      .input("image: T")
      .output("contents: string")
      .attr("compression: int = -1; T: {uint8, uint16} = DT_UINT8")
      .shape_fn(infer_png)
      .not_differentiable(files)
      .cpu_kernel(compute_png, png)
      .doc("PNG files of pictures [height, width, channels] of 1 to 4 channels.");
  library.op("EncodeJpeg")
      .input("image: uint8")
      .output("contents: string")
      .attr("format: {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; "
            "optimize_size: bool = false; chroma_downsampling: bool = true; density_unit: {'in', "
            "'cm'} = 'in'; x_density: int = 300; y_density: int = 300; xmp_metadata: string = ''")
      .shape_fn(infer_jpeg)
      .not_differentiable(files)
      .cpu_kernel(compute_jpeg, jpeg)
      .doc("A JPEG file of a picture [height, width, channels] of 1 or 3 channels.");
  library.op("EncodeJpegVariableQuality")
      .input("images: uint8; quality: int32")
      .output("contents: string")
      .shape_fn(infer_jpeg)
      .not_differentiable(files)
      .cpu_kernel(compute_jpeg_of_quality, options)
      .doc("The same with a quality that a step computes.");
}

} // namespace troupe::image_encode_image
