// Files of pictures that are written are read back.
#include <doctest/doctest.h>

#include <vector>

#include "kernels/image/internal/picture.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe {
namespace {

struct Picture {
  image::PictureSize size;
  std::vector<std::uint8_t> bytes;
};

/// A picture that a reader gives; `bits` of each number.
template <class Read>
Picture read_back(Read read, int bits) {
  Picture out;
  const Status status = read([&](const image::PictureSize& size) -> Result<void*> {
    out.size = size;
    out.bytes.resize(static_cast<std::size_t>(size.samples() * bits / 8));
    return out.bytes.data();
  });
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return out;
}

std::vector<std::uint8_t> gradient(std::size_t count) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(static_cast<std::uint8_t>(i * 7));
  return out;
}

} // namespace

TEST_CASE("pictures: PNG files hold every number, of 8 and of 16 bits") {
  for (const int bits : {8, 16})
    for (const int channels : {1, 2, 3, 4})
      for (const int level : {-1, 0, 9}) {
        CAPTURE(bits);
        CAPTURE(channels);
        auto pixels = gradient(static_cast<std::size_t>(5 * 3 * channels * bits / 8));
        const auto file = io::png_file(pixels.data(), 5, 3, channels, bits, level);
        REQUIRE(file.ok());
        const Picture back = read_back(
            [&](auto memory) { return image::read_png(*file, 0, bits, memory, [] {}); }, bits);
        CHECK(back.size.height == 5);
        CHECK(back.size.width == 3);
        CHECK(back.size.channels == channels);
        for (std::size_t i = 0; bits == 16 && i < pixels.size(); i += 2)
          std::swap(pixels[i], pixels[i + 1]); // files have the upper byte first
        CHECK(back.bytes == pixels);
      }
}

TEST_CASE("pictures: JPEG files are near what was written") {
  for (const int channels : {1, 3})
    for (const bool progressive : {false, true}) {
      const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(9 * 6 * channels), 100);
      image::JpegWriting writing;
      writing.progressive = progressive;
      writing.optimizes = !progressive;
      writing.downsamples_chroma = progressive;
      writing.xmp = "<x/>";
      const auto file = image::write_jpeg(pixels.data(), {1, 9, 6, channels}, writing);
      REQUIRE(file.ok());
      CHECK(file->find("<x/>") != std::string::npos);
      const auto size = image::jpeg_size(*file);
      REQUIRE(size.ok());
      CHECK(size->height == 9);
      CHECK(size->channels == channels);
      const Picture back =
          read_back([&](auto memory) { return image::read_jpeg(*file, {}, memory, [] {}); }, 8);
      REQUIRE(back.bytes.size() == pixels.size());
      for (const std::uint8_t value : back.bytes)
        CHECK(std::abs(value - 100) <= 2);
    }
}

TEST_CASE("pictures: files that end early, or whose bytes are others, are refused or read") {
  const auto pixels = gradient(std::size_t{20} * 20 * 3);
  const auto png = io::png_file(pixels.data(), 20, 20, 3);
  const auto jpeg = image::write_jpeg(pixels.data(), {1, 20, 20, 3}, {});
  REQUIRE(png.ok());
  REQUIRE(jpeg.ok());
  std::vector<std::uint8_t> memory(1 << 20);
  const auto give = [&](const image::PictureSize& size) -> Result<void*> {
    if (size.samples() > 1 << 19)
      return invalid_argument("too large for this test");
    return memory.data();
  };
  for (std::size_t length = 0; length < std::max(png->size(), jpeg->size()); length += 7) {
    CHECK(!image::read_png(png->substr(0, length % png->size()), 0, 8, give, [] {}).ok());
    (void)image::read_jpeg(jpeg->substr(0, length), {}, give, [] {});
    std::string other = *jpeg, another = *png;
    other[length % other.size()] ^= '\x55';
    another[length % another.size()] ^= '\x55';
    (void)image::read_jpeg(other, {}, give, [] {});
    (void)image::read_png(another, 0, 16, give, [] {});
  }
}

} // namespace troupe
