// JPEG through libjpeg. Its errors jump: the functions that it jumps into hold nothing that would
// have to be destroyed.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/image/internal/picture.hpp"

namespace troupe::image {
namespace {

struct Errors {
  jpeg_error_mgr base; // first, so that a pointer to it is one to this
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX] = {};
};

void on_jpeg_error(j_common_ptr common) {
  auto* errors = reinterpret_cast<Errors*>(common->err);
  common->err->format_message(common, errors->text);
  std::longjmp(errors->jump, 1);
}
void on_message(j_common_ptr) {}

void set_errors(Errors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = on_jpeg_error;
  errors.base.output_message = on_message;
}

struct Source {
  jpeg_source_mgr base;
  bool recovers = false, has_ended = false;
};

void on_source(j_decompress_ptr) {}

/// Nothing is left: reading stops, or goes on as if the picture ended here.
boolean fill(j_decompress_ptr jpeg) {
  static const JOCTET end[] = {0xFF, JPEG_EOI};
  auto* source = reinterpret_cast<Source*>(jpeg->src);
  if (!source->recovers || source->has_ended)
    return FALSE;
  source->has_ended = true;
  source->base.next_input_byte = end;
  source->base.bytes_in_buffer = sizeof end;
  return TRUE;
}

void skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0)
    return;
  jpeg_source_mgr* source = jpeg->src;
  const auto bytes = std::min(static_cast<std::size_t>(count), source->bytes_in_buffer);
  source->next_input_byte += bytes;
  source->bytes_in_buffer -= bytes;
}

/// A picture of many scans takes time that its size does not tell.
void limit_scans(j_common_ptr common) {
  constexpr int most = 500;
  if (common->is_decompressor &&
      reinterpret_cast<j_decompress_ptr>(common)->input_scan_number > most)
    common->err->error_exit(common);
}

struct JpegReader {
  jpeg_decompress_struct jpeg = {};
  Errors errors = {};
  Source source = {};
  jpeg_progress_mgr progress = {};
  bool is_made = false;

  JpegReader() { set_errors(errors); }
  JpegReader(const JpegReader&) = delete;
  ~JpegReader() {
    if (is_made)
      jpeg_destroy_decompress(&jpeg);
  }
};

bool open_jpeg(JpegReader& r, std::string_view file, bool recovers) {
  r.jpeg.err = &r.errors.base;
  if (setjmp(r.errors.jump))
    return false;
  jpeg_create_decompress(&r.jpeg);
  r.is_made = true;
  r.source.base.init_source = on_source;
  r.source.base.fill_input_buffer = fill;
  r.source.base.skip_input_data = skip;
  r.source.base.resync_to_restart = jpeg_resync_to_restart;
  r.source.base.term_source = on_source;
  r.source.base.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  r.source.base.bytes_in_buffer = file.size();
  r.source.recovers = recovers;
  r.jpeg.src = &r.source.base;
  r.progress.progress_monitor = limit_scans;
  r.jpeg.progress = &r.progress;
  return jpeg_read_header(&r.jpeg, TRUE) == JPEG_HEADER_OK;
}

bool set_output(JpegReader& r, const JpegReading& reading, int channels) {
  if (setjmp(r.errors.jump))
    return false;
  const bool is_cmyk = r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
  r.jpeg.out_color_space = channels == 1 ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
  r.jpeg.do_fancy_upsampling = reading.fancy_upscaling ? TRUE : FALSE;
  r.jpeg.scale_num = 1;
  r.jpeg.scale_denom = static_cast<unsigned>(reading.ratio);
  r.jpeg.dct_method = reading.accurate ? JDCT_ISLOW : JDCT_IFAST;
  jpeg_calc_output_dimensions(&r.jpeg);
  return true;
}

bool start(JpegReader& r) {
  if (setjmp(r.errors.jump))
    return false;
  return jpeg_start_decompress(&r.jpeg) == TRUE;
}

/// Rows have the columns from `left` on, so many as `width`, from now on: chroma is upsampled
/// within them. `left` comes back as where the block begins that holds it, to which the rows reach.
bool crop_columns(JpegReader& r, JDIMENSION& left, JDIMENSION width) {
  if (setjmp(r.errors.jump))
    return false;
  jpeg_crop_scanline(&r.jpeg, &left, &width);
  return true;
}

/// False where no row could be read.
bool read_jpeg_row(JpegReader& r, JSAMPLE* to) {
  if (setjmp(r.errors.jump))
    return false;
  return jpeg_read_scanlines(&r.jpeg, &to, 1) == 1;
}

/// One row of CMYK as RGB.
void to_rgb(const JSAMPLE* from, std::int64_t width, bool is_inverted, std::uint8_t* to) {
  for (; width > 0; --width, from += 4)
    for (int i = 0; i < 3; ++i)
      *to++ = static_cast<std::uint8_t>(is_inverted ? from[3] * from[i] / 255
                                                    : (255 - from[3]) * (255 - from[i]) / 255);
}

/// Every block of 8 x 8 pixels takes a bit at least: what is left of the file cannot be that much.
bool is_possible_jpeg(const JpegReader& r, std::size_t file_size) {
  const double blocks =
      static_cast<double>(r.jpeg.image_width) / 8 * (static_cast<double>(r.jpeg.image_height) / 8);
  return r.jpeg.arith_code || blocks / 8 <= static_cast<double>(file_size) + 65536;
}

Status failed(const JpegReader& r) {
  return invalid_argument(str_cat("jpeg::Uncompress failed. Invalid JPEG data or crop window.",
                                  r.errors.text[0] ? " libjpeg says: " : "", r.errors.text));
}

struct Writer {
  jpeg_compress_struct jpeg = {};
  Errors errors = {};
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  bool is_made = false;

  Writer() { set_errors(errors); }
  Writer(const Writer&) = delete;
  ~Writer() {
    if (is_made)
      jpeg_destroy_compress(&jpeg);
    std::free(memory);
  }
};

constexpr std::string_view xmp_header("http://ns.adobe.com/xap/1.0/\0", 29);

bool begin(Writer& w, const PictureSize& size, const JpegWriting& writing, const JOCTET* xmp,
           unsigned xmp_size) {
  w.jpeg.err = &w.errors.base;
  if (setjmp(w.errors.jump))
    return false;
  jpeg_create_compress(&w.jpeg);
  w.is_made = true;
  jpeg_mem_dest(&w.jpeg, &w.memory, &w.size);
  w.jpeg.image_width = static_cast<JDIMENSION>(size.width);
  w.jpeg.image_height = static_cast<JDIMENSION>(size.height);
  w.jpeg.input_components = static_cast<int>(size.channels);
  w.jpeg.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&w.jpeg);
  if (writing.optimizes)
    w.jpeg.optimize_coding = TRUE;
  w.jpeg.density_unit = static_cast<UINT8>(writing.density_unit);
  w.jpeg.X_density = static_cast<UINT16>(writing.x_density);
  w.jpeg.Y_density = static_cast<UINT16>(writing.y_density);
  jpeg_set_quality(&w.jpeg, writing.quality, TRUE);
  if (writing.progressive)
    jpeg_simple_progression(&w.jpeg);
  if (!writing.downsamples_chroma)
    for (int i = 0; i < w.jpeg.num_components; ++i)
      w.jpeg.comp_info[i].h_samp_factor = w.jpeg.comp_info[i].v_samp_factor = 1;
  jpeg_start_compress(&w.jpeg, TRUE);
  if (xmp_size > 0)
    jpeg_write_marker(&w.jpeg, JPEG_APP0 + 1, xmp, xmp_size);
  return true;
}

bool write_rows(Writer& w, const std::uint8_t* pixels, std::size_t stride) {
  if (setjmp(w.errors.jump))
    return false;
  while (w.jpeg.next_scanline < w.jpeg.image_height) {
    auto* row = const_cast<JSAMPLE*>(pixels + stride * w.jpeg.next_scanline);
    jpeg_write_scanlines(&w.jpeg, &row, 1);
  }
  jpeg_finish_compress(&w.jpeg);
  return true;
}

} // namespace

Status read_jpeg(std::string_view file, const JpegReading& reading, PictureMemory memory,
                 PictureCheck check) {
  JpegReader r;
  if (!open_jpeg(r, file, reading.recovers))
    return failed(r);
  const int channels = reading.channels ? reading.channels : std::min(r.jpeg.num_components, 3);
  if ((channels != 1 && channels != 3) || !set_output(r, reading, channels))
    return failed(r);
  const std::int64_t height = r.jpeg.output_height, width = r.jpeg.output_width;
  if (height <= 0 || width <= 0 || height * width * r.jpeg.num_components >= 1LL << 29 ||
      !is_possible_jpeg(r, file.size()))
    return failed(r);
  PictureSize size{1, height, width, channels};
  std::int64_t top = 0, left = 0;
  if (reading.crops) {
    top = reading.crop_y;
    left = reading.crop_x;
    size.height = reading.crop_height;
    size.width = reading.crop_width;
    if (size.height <= 0 || size.width <= 0 || top < 0 || left < 0 || top + size.height > height ||
        left + size.width > width)
      return failed(r);
  }
  if (!start(r))
    return failed(r);
  const bool is_cmyk = r.jpeg.out_color_space == JCS_CMYK;
  const int components = is_cmyk ? 4 : channels;
  if (r.jpeg.output_components != components)
    return failed(r);
  auto first_column = static_cast<JDIMENSION>(left);
  if (reading.crops && !crop_columns(r, first_column, static_cast<JDIMENSION>(size.width)))
    return failed(r);
  TROUPE_ASSIGN(void* const memory_of_pixels, memory(size));
  auto* to = static_cast<std::uint8_t*>(memory_of_pixels);
  const auto stride = static_cast<std::size_t>(size.width * channels);
  std::vector<JSAMPLE> line(std::size_t{r.jpeg.output_width} *
                            static_cast<std::size_t>(components));
  std::int64_t rows = 0;
  for (std::int64_t y = 0; y < top + size.height; ++y) {
    if (y % 64 == 0)
      check();
    if (!read_jpeg_row(r, line.data()))
      break;
    if (y < top)
      continue;
    const JSAMPLE* from =
        line.data() + (left - static_cast<std::int64_t>(first_column)) * components;
    std::uint8_t* row = to + static_cast<std::size_t>(rows++) * stride;
    if (is_cmyk)
      to_rgb(from, size.width, r.jpeg.saw_Adobe_marker, row);
    else
      std::memcpy(row, from, stride);
  }
  const float fraction = static_cast<float>(rows) / static_cast<float>(size.height);
  const bool is_enough =
      reading.recovers || fraction >= std::min(1.0F, reading.acceptable_fraction);
  if (rows < size.height && (r.errors.text[0] || !is_enough))
    return failed(r);
  for (; rows < size.height; ++rows) { // black, or the row above
    std::uint8_t* row = to + static_cast<std::size_t>(rows) * stride;
    if (reading.recovers && rows > 0)
      std::memcpy(row, row - stride, stride);
    else
      std::memset(row, 0, stride);
  }
  return {};
}

Result<PictureSize> jpeg_size(std::string_view file) {
  JpegReader r;
  if (file.empty() || !open_jpeg(r, file, false))
    return invalid_argument(str_cat("Invalid JPEG data, size ", file.size()));
  JpegReading reading;
  if (!set_output(r, reading, r.jpeg.num_components == 1 ? 1 : 3))
    return invalid_argument(str_cat("Invalid JPEG data, size ", file.size()));
  return PictureSize{1, r.jpeg.output_height, r.jpeg.output_width, r.jpeg.num_components};
}

Result<std::string> write_jpeg(const std::uint8_t* pixels, const PictureSize& size,
                               const JpegWriting& writing) {
  constexpr std::size_t most_xmp = 65533;
  std::string xmp;
  if (!writing.xmp.empty() && writing.xmp.size() + xmp_header.size() <= most_xmp)
    xmp = std::string(xmp_header) + writing.xmp;
  Writer w;
  if (!begin(w, size, writing, reinterpret_cast<const JOCTET*>(xmp.data()),
             static_cast<unsigned>(xmp.size())) ||
      !write_rows(w, pixels, static_cast<std::size_t>(size.width * size.channels)))
    return internal(str_cat("JPEG encoding failed: ", w.errors.text));
  return std::string(reinterpret_cast<const char*>(w.memory), w.size);
}

} // namespace troupe::image
