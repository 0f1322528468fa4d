// PNG through libpng. Its errors jump: the functions that it jumps into hold nothing that would
// have to be destroyed.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/image/internal/picture.hpp"

namespace troupe::image {
namespace {

struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view rest;
  png_uint_32 width = 0, height = 0;
  int bit_depth = 0, color_type = 0, channels = 0, bits = 8, passes = 1;
  bool has_transparency = false;
  png_byte channels_in_file = 0;
  png_size_t row_bytes = 0;

  PngReader() = default;
  PngReader(const PngReader&) = delete;
  ~PngReader() {
    if (png)
      png_destroy_read_struct(&png, info ? &info : nullptr, nullptr);
  }
};

void on_png_error(png_structp png, png_const_charp) {
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, png_size_t size) {
  auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (size > reader.rest.size())
    png_error(png, "the file ends early");
  std::memcpy(to, reader.rest.data(), size);
  reader.rest.remove_prefix(size);
}

bool open_png(PngReader& r) {
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, on_png_error, on_warning);
  if (!r.png)
    return false;
  if (setjmp(png_jmpbuf(r.png)))
    return false;
  r.info = png_create_info_struct(r.png);
  if (!r.info)
    return false;
  png_set_user_limits(r.png, (1U << 27) - 1, (1U << 27) - 1);
  png_set_read_fn(r.png, &r, read_bytes);
  png_read_info(r.png, r.info);
  png_get_IHDR(r.png, r.info, &r.width, &r.height, &r.bit_depth, &r.color_type, nullptr, nullptr,
               nullptr);
  r.has_transparency = png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0;
  r.channels_in_file = png_get_channels(r.png, r.info);
  r.row_bytes = png_get_rowbytes(r.png, r.info);
  return true;
}

/// Asks libpng for `channels` of `bits`.
bool set_transformations(PngReader& r) {
  if (setjmp(png_jmpbuf(r.png)))
    return false;
  const bool is_palette = r.color_type == PNG_COLOR_TYPE_PALETTE;
  if (r.channels == 0)
    r.channels = !is_palette ? r.channels_in_file : r.has_transparency ? 4 : 3;
  const bool has_alpha = (r.color_type & PNG_COLOR_MASK_ALPHA) != 0;
  if (r.channels % 2 == 0) {
    if (!has_alpha && r.has_transparency)
      png_set_tRNS_to_alpha(r.png);
    else if (!has_alpha)
      png_set_add_alpha(r.png, (1U << r.bit_depth) - 1, PNG_FILLER_AFTER);
  } else if (has_alpha || r.has_transparency) {
    png_set_strip_alpha(r.png);
  }
  if (r.bit_depth > 8 && r.bits <= 8)
    png_set_strip_16(r.png);
  png_set_packing(r.png);
  r.passes = png_set_interlace_handling(r.png);
  if (r.bits > 8)
    png_set_swap(r.png); // the lower byte first
  if (is_palette)
    png_set_palette_to_rgb(r.png);
  const bool is_gray = (r.color_type & PNG_COLOR_MASK_COLOR) == 0;
  if (is_gray && r.bit_depth < 8)
    png_set_expand_gray_1_2_4_to_8(r.png);
  if (r.channels < 3 && !is_gray)
    png_set_rgb_to_gray(r.png, 1, 0.299, 0.587);
  else if (r.channels >= 3 && is_gray)
    png_set_gray_to_rgb(r.png);
  png_read_update_info(r.png, r.info);
  r.row_bytes = png_get_rowbytes(r.png, r.info);
  return true;
}

bool read_png_row(PngReader& r, png_bytep to) {
  if (setjmp(png_jmpbuf(r.png)))
    return false;
  png_read_row(r.png, to, nullptr);
  return true;
}

bool finish(PngReader& r) {
  if (setjmp(png_jmpbuf(r.png)))
    return false;
  png_read_end(r.png, r.info);
  return true;
}

/// Deflate makes 1 byte of 1032 at most: no picture is larger than that.
bool is_possible_png(const PngReader& r, std::size_t file_size) {
  constexpr double most = 1040;
  return static_cast<double>(r.row_bytes) * static_cast<double>(r.height) <=
         most * static_cast<double>(file_size) + 65536;
}

} // namespace

Status read_png(std::string_view file, int channels, int bits, PictureMemory memory,
                PictureCheck check) {
  PngReader r;
  r.rest = file;
  r.channels = channels;
  r.bits = bits;
  if (!open_png(r))
    return invalid_argument("Invalid PNG. Failed to initialize decoder.");
  const std::uint64_t pixels = std::uint64_t{r.width} * r.height;
  if (r.width == 0 || r.height == 0 || pixels >= 1ULL << 29)
    return invalid_argument(str_cat("PNG size too large for int: ", r.width, " by ", r.height));
  const auto invalid = [&] {
    return invalid_argument(str_cat("Invalid PNG data, size ", file.size()));
  };
  if (!is_possible_png(r, file.size()))
    return invalid();
  if (!set_transformations(r))
    return invalid_argument("Invalid PNG. Failed to initialize decoder.");
  const PictureSize size{1, r.height, r.width, r.channels};
  const bool is_widened = r.bit_depth <= 8 && bits == 16;
  const auto samples = static_cast<std::size_t>(size.width * size.channels);
  if (r.row_bytes != samples * (r.bit_depth > 8 && bits == 16 ? 2 : 1))
    return invalid();
  TROUPE_ASSIGN(void* const to, memory(size));
  const std::size_t stride = samples * static_cast<std::size_t>(bits / 8);
  for (int pass = 0; pass < r.passes; ++pass)
    for (png_uint_32 y = 0; y < r.height; ++y) {
      if (y % 64 == 0)
        check();
      if (!read_png_row(r, static_cast<png_bytep>(to) + y * stride))
        return invalid();
    }
  if (!finish(r))
    return invalid();
  for (png_uint_32 y = 0; is_widened && y < r.height; ++y) {
    auto* bytes = static_cast<png_bytep>(to) + y * stride;
    for (std::size_t i = samples; i-- > 0;)
      bytes[2 * i] = bytes[2 * i + 1] = bytes[i];
  }
  return {};
}

} // namespace troupe::image
