// GIF and BMP, and which format a file has.
#include "kernels/image/internal/picture.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "core/base/strings.hpp"

namespace troupe::image {
namespace {

/// Reads from the front; nothing once the data end.
class Bytes {
public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}
  std::optional<std::string_view> take(std::size_t count) {
    if (count > rest_.size())
      return {};
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  std::optional<int> byte() {
    const auto one = take(1);
    return one ? std::optional(static_cast<std::uint8_t>((*one)[0])) : std::nullopt;
  }

private:
  std::string_view rest_;
};

std::int64_t little(std::string_view bytes) {
  std::int64_t out = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    out = out << 8 | static_cast<std::uint8_t>(bytes[i]);
  return out;
}

/// Pieces, each with its length before it, up to an empty one.
std::optional<std::string> blocks(Bytes& bytes) {
  std::string out;
  for (;;) {
    const auto size = bytes.byte();
    if (!size)
      return {};
    if (*size == 0)
      return out;
    const auto piece = bytes.take(static_cast<std::size_t>(*size));
    if (!piece)
      return {};
    out += *piece;
  }
}

/// GIF's form of Lempel, Ziv and Welch: `count` indices of colors, or nothing where there are
/// fewer.
std::optional<std::vector<std::uint8_t>> unpack(std::string_view data, int bits,
                                                std::size_t count) {
  constexpr int most = 4096;
  if (bits < 1 || bits > 8)
    return {};
  const int clear = 1 << bits, end = clear + 1;
  std::array<std::int16_t, most> prefix{};
  std::array<std::uint8_t, most> last{}, first{};
  for (int i = 0; i < clear; ++i)
    last[static_cast<std::size_t>(i)] = first[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(i);
  std::vector<std::uint8_t> out, reversed;
  int size = bits + 1, next = end + 1, before = -1, held = 0;
  std::uint32_t buffer = 0;
  for (const char c : data) {
    buffer |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(c)) << held;
    held += 8;
    while (held >= size) {
      const int code = static_cast<int>(buffer & ((1U << size) - 1));
      buffer >>= size;
      held -= size;
      if (code == clear) {
        size = bits + 1;
        next = end + 1;
        before = -1;
        continue;
      }
      if (code == end || out.size() == count)
        return out.size() == count ? std::optional(out) : std::nullopt;
      if (code > next || (before < 0 && code >= clear))
        return {};
      reversed.clear();
      int at = code;
      if (code == next) { // the one that is just being made
        reversed.push_back(first[static_cast<std::size_t>(before)]);
        at = before;
      }
      for (; at > end; at = prefix[static_cast<std::size_t>(at)])
        reversed.push_back(last[static_cast<std::size_t>(at)]);
      reversed.push_back(static_cast<std::uint8_t>(at));
      if (before >= 0 && next < most) {
        const auto made = static_cast<std::size_t>(next++);
        prefix[made] = static_cast<std::int16_t>(before);
        last[made] = reversed.back();
        first[made] = first[static_cast<std::size_t>(before)];
        if (next == 1 << size && size < 12)
          ++size;
      }
      before = code;
      const std::size_t taken = std::min(reversed.size(), count - out.size());
      out.insert(out.end(), reversed.rbegin(),
                 reversed.rbegin() + static_cast<std::ptrdiff_t>(taken));
    }
  }
  return out.size() == count ? std::optional(out) : std::nullopt;
}

struct Frame {
  std::int64_t left = 0, top = 0, width = 0, height = 0;
  int transparent = -1;
  std::string_view colors;
  std::vector<std::uint8_t> pixels; ///< rows from the top
};

/// Rows of an interlaced frame in their order.
void sort_rows(Frame& frame) {
  std::vector<std::uint8_t> sorted(frame.pixels.size());
  const auto width = static_cast<std::size_t>(frame.width);
  auto from = frame.pixels.begin();
  constexpr std::int64_t starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; ++pass)
    for (std::int64_t y = starts[pass]; y < frame.height; y += steps[pass]) {
      std::copy_n(from, width, sorted.begin() + static_cast<std::ptrdiff_t>(y * frame.width));
      from += static_cast<std::ptrdiff_t>(width);
    }
  frame.pixels = std::move(sorted);
}

std::optional<Frame> read_frame(Bytes& bytes, std::string_view global_colors, int transparent) {
  const auto head = bytes.take(9);
  if (!head)
    return {};
  Frame out;
  out.left = little(head->substr(0, 2));
  out.top = little(head->substr(2, 2));
  out.width = little(head->substr(4, 2));
  out.height = little(head->substr(6, 2));
  out.transparent = transparent;
  out.colors = global_colors;
  const auto flags = static_cast<std::uint8_t>((*head)[8]);
  if (flags & 0x80) {
    const auto own = bytes.take(std::size_t{3} << ((flags & 7) + 1));
    if (!own)
      return {};
    out.colors = *own;
  }
  const auto bits = bytes.byte();
  const auto data = bits ? blocks(bytes) : std::nullopt;
  if (!data)
    return {};
  auto pixels = unpack(*data, *bits, static_cast<std::size_t>(out.width * out.height));
  if (!pixels)
    return {};
  out.pixels = *std::move(pixels);
  if (flags & 0x40)
    sort_rows(out);
  return out;
}

/// The frames that are whole.
std::vector<Frame> read_frames(std::string_view file, PictureCheck check) {
  std::vector<Frame> out;
  Bytes bytes(file);
  const auto head = bytes.take(13);
  if (!head)
    return out;
  const auto flags = static_cast<std::uint8_t>((*head)[10]);
  std::string_view colors;
  if (flags & 0x80) {
    const auto table = bytes.take(std::size_t{3} << ((flags & 7) + 1));
    if (!table)
      return out;
    colors = *table;
  }
  int transparent = -1;
  for (;;) {
    check();
    const auto kind = bytes.byte();
    if (kind == '!') {
      const auto label = bytes.byte();
      const auto data = label ? blocks(bytes) : std::nullopt;
      if (!data)
        return out;
      if (*label == 0xF9 && data->size() >= 4) // how the next frame is drawn
        transparent = (*data)[0] & 1 ? static_cast<std::uint8_t>((*data)[3]) : -1;
    } else if (kind == ',') {
      auto frame = read_frame(bytes, colors, transparent);
      if (!frame)
        return out;
      out.push_back(*std::move(frame));
      transparent = -1;
    } else {
      return out; // the end
    }
  }
  return out;
}

/// Draws a frame over the canvas. False for a color index outside the table.
bool draw(const Frame& frame, const PictureSize& size, bool is_first, std::uint8_t* to) {
  for (std::int64_t y = 0; y < std::min(frame.height, size.height - frame.top); ++y)
    for (std::int64_t x = 0; x < std::min(frame.width, size.width - frame.left); ++x) {
      const std::uint8_t color = frame.pixels[static_cast<std::size_t>(y * frame.width + x)];
      std::uint8_t* pixel = to + ((frame.top + y) * size.width + frame.left + x) * 3;
      if (color == frame.transparent) {
        if (is_first)
          std::memset(pixel, 0, 3);
        continue;
      }
      const std::size_t at = std::size_t{color} * 3;
      if (at + 3 > frame.colors.size())
        return false;
      std::memcpy(pixel, frame.colors.data() + at, 3);
    }
  return true;
}

} // namespace

PictureFormat format_of(std::string_view file) {
  if (file.starts_with("\xff\xd8\xff"))
    return PictureFormat::jpeg;
  if (file.starts_with("\x89PNG\r\n\x1a\n"))
    return PictureFormat::png;
  if (file.starts_with("GIF8"))
    return PictureFormat::gif;
  if (file.starts_with("BM"))
    return PictureFormat::bmp;
  return PictureFormat::unknown;
}

Status read_gif(std::string_view file, bool all_frames, PictureMemory memory, PictureCheck check) {
  const auto invalid = [&](std::string_view why) {
    return invalid_argument(str_cat("Invalid GIF data (size ", file.size(), "), ", why));
  };
  const std::vector<Frame> frames = read_frames(file, check);
  if (frames.empty())
    return invalid("gif file does not contain any image");
  PictureSize size{static_cast<std::int64_t>(frames.size()), 0, 0, 3};
  for (const Frame& frame : frames) {
    size.height = std::max(size.height, frame.height);
    size.width = std::max(size.width, frame.width);
    if (frame.colors.empty())
      return invalid("missing color map for a frame");
  }
  if (size.height == 0 || size.width == 0)
    return invalid("its frames have no pixels");
  if (!all_frames) // one frame of the size that all of them need: allocate for it alone
    size.frames = 1;
  if (size.samples() >= 1LL << 31)
    return invalid(
        str_cat("it is too large: ", size.frames, " frames of ", size.width, " by ", size.height));
  TROUPE_ASSIGN(void* const memory_of_pixels, memory(size));
  auto* to = static_cast<std::uint8_t*>(memory_of_pixels);
  const auto canvas = static_cast<std::size_t>(size.height * size.width * 3);
  for (std::size_t i = 0; i < static_cast<std::size_t>(size.frames); ++i, to += canvas) {
    check();
    if (i == 0)
      std::memset(to, 0, canvas);
    else
      std::memcpy(to, to - canvas, canvas);
    if (!draw(frames[i], size, i == 0, to))
      return invalid("found a color index outside of the color map");
  }
  return {};
}

Status read_bmp(std::string_view file, int channels, PictureMemory memory) {
  if (file.size() < 32)
    return invalid_argument(
        str_cat("Incomplete bmp content, requires at least 32 bytes to find the header size, "
                "width, height, and bpp, got ",
                file.size(), " bytes"));
  const auto number = [&](std::size_t at) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(little(file.substr(at, 4))));
  };
  const std::int64_t header = number(10), width = number(18), height = number(22);
  const std::int64_t bits = static_cast<std::int16_t>(little(file.substr(28, 2)));
  const std::int64_t own = bits / 8, rows = std::abs(height);
  if (own != 1 && own != 3 && own != 4)
    return invalid_argument(
        str_cat("Number of channels inherent in the image must be 1, 3 or 4, was ", own));
  if (width <= 0)
    return invalid_argument("Width must be positive");
  if (height == 0)
    return invalid_argument("Height must be nonzero");
  if (header < 0)
    return invalid_argument("header size must be nonnegative");
  if (width * rows >= INT32_MAX / 8)
    return invalid_argument("Total possible pixel bytes must be less than 2^30");
  const std::int64_t row_size = (own * width + 3) / 4 * 4;
  const std::int64_t difference = static_cast<std::int64_t>(file.size()) - header - row_size * rows;
  if (difference != 0)
    return invalid_argument(
        str_cat("Input size should match (header_size + row_size * abs_height) but they differ by ",
                difference));
  const PictureSize size{1, rows, width, channels ? channels : own};
  TROUPE_ASSIGN(void* const memory_of_pixels, memory(size));
  auto* to = static_cast<std::uint8_t*>(memory_of_pixels);
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(file.data()) + header;
  for (std::int64_t y = 0; y < rows; ++y) {
    const std::uint8_t* from = pixels + (height < 0 ? y : rows - 1 - y) * row_size;
    for (std::int64_t x = 0; x < width; ++x, from += own)
      for (std::int64_t k = 0; k < size.channels; ++k)
        *to++ = k == 3 ? (own == 4 ? from[3] : 255) : from[own == 1 ? 0 : 2 - k];
  }
  return {};
}

} // namespace troupe::image
