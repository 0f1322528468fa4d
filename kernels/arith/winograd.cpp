#include "kernels/arith/internal/winograd.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include "kernels/arith/internal/turned_conv.hpp"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace troupe::arith {
namespace {

constexpr int64_t points = 36;

/// With fewer in a call, reading the evaluated filter takes as long as multiplying by it.
constexpr int64_t tiles_at_once = 16;

std::atomic<bool>& switched_on() {
  static std::atomic<bool> on = [] {
    const char* variable = std::getenv("TROUPE_WINOGRAD");
    return variable == nullptr || std::string_view(variable) != "0";
  }();
  return on;
}

/// Outputs of a tile, along one side; 0 for sizes of filters that are not known here.
int64_t tile_of(const Conv2DShape& s) {
  if (s.filter_h != s.filter_w)
    return 0;
  return s.filter_h == 3 ? 4 : s.filter_h == 5 ? 2 : 0;
}

int64_t tiles_of_image(const Conv2DShape& s) {
  const int64_t tile = tile_of(s);
  return (s.out_h + tile - 1) / tile * ((s.out_w + tile - 1) / tile);
}

/// Whether it is computed so, with vectors of eight numbers and more; measured with those.
bool is_possible(const Conv2DShape& s) {
  return s.may_use_winograd && winograd_is_on() && isa() != Isa::base && tile_of(s) != 0 &&
         s.stride_h == 1 && s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.in_c % 16 == 0 && s.out_c % 16 == 0 && s.in_c >= 32 && s.out_c >= 32;
}

/// `images` images have at least `tiles` tiles, so that the filter's evaluation pays, and those do
/// not reach beyond them so far that little is saved.
bool is_worth_it(const Conv2DShape& s, int64_t images, int64_t tiles) {
  const int64_t of_image = tiles_of_image(s);
  return images * of_image >= tiles &&
         s.out_h * s.out_w * s.filter_h * s.filter_w >= 2 * points * of_image;
}

/// The call for images [begin, end), input channels `channels` at a time, with as many tiles at a
/// time as leave most_bytes of values, a multiple of the rows of a product.
WinogradCall call_for(const Conv2DShape& s, int64_t begin, int64_t end, int64_t channels,
                      int64_t most_bytes, int64_t more_elements) {
  const int64_t tiles = tiles_of_image(s), of_tile = points * (channels + s.out_c);
  const int64_t fit = most_bytes / (of_tile * static_cast<int64_t>(sizeof(float))) / 12 * 12;
  WinogradCall call = {};
  call.shape = &s;
  call.tile = tile_of(s);
  call.begin = begin * tiles;
  call.end = end * tiles;
  call.block = std::min(std::max<int64_t>(fit, 12), call.end - call.begin);
  call.channels = channels;
  const int64_t elements = call.block * of_tile + points * 32 + more_elements;
  call.scratch = static_cast<float*>(
      thread_scratch(Scratch::winograd, static_cast<size_t>(elements) * sizeof(float)));
  return call;
}

WinogradLayout layout_of(const Conv2DShape& s, bool turns) {
  return {isa(), turns, s.filter_h, s.in_c, s.out_c};
}

/// An output's error is about 3e-8 of the largest value below its tile for each part that plain
/// sums give of the largest value below its own window. Up to this ratio of the two it stays below
/// 1e-6.
constexpr float most_apart = 32;

/// Sums at the points are some ten times as large as plain ones; they must not overflow before
/// those.
constexpr float most_large = 1e15f;

/// The largest absolute value of each pixel of an image; until the thread's next call.
const float* ranges_of(const float* image, int64_t pixels, int64_t channels) {
  auto* out = static_cast<float*>(
      thread_scratch(Scratch::ranges, static_cast<size_t>(pixels) * sizeof(float)));
  isa_table().winograd_ranges(image, pixels, channels, out);
  return out;
}

float larger(float a, float b) {
  return a > b ? a : b;
}

/// Whether each output of the tile at (top, left) sees a value that is not much smaller than the
/// tile's largest. Pixels outside of the image are 0.
template <int tile>
bool is_even_tile(const Conv2DShape& s, const float* range, int64_t top, int64_t left) {
  constexpr int side = 6, size = side - tile + 1;
  float across[side][tile]; // the largest value of `size` pixels of a row
  float largest = 0;
  for (int i = 0; i < side; ++i) {
    const int64_t y = top - s.pad_top + i;
    float row[side];
    for (int j = 0; j < side; ++j) {
      const int64_t x = left - s.pad_left + j;
      const bool inside = y >= 0 && y < s.in_h && x >= 0 && x < s.in_w;
      row[j] = inside ? range[y * s.in_w + x] : 0;
      largest = larger(largest, row[j]);
    }
    for (int j = 0; j < tile; ++j) {
      across[i][j] = row[j];
      for (int k = 1; k < size; ++k)
        across[i][j] = larger(across[i][j], row[j + k]);
    }
  }
  float smallest = largest; // of the largest values below the windows
  const int64_t rows = std::min<int64_t>(tile, s.out_h - top);
  const int64_t columns = std::min<int64_t>(tile, s.out_w - left);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float window = across[i][j];
      for (int k = 1; k < size; ++k)
        window = larger(window, across[i + k][j]);
      smallest = window < smallest ? window : smallest;
    }
  return largest < most_large && largest <= most_apart * smallest;
}

template <int tile>
bool is_even_image(const Conv2DShape& s, const float* image) {
  const float* range = ranges_of(image, s.in_h * s.in_w, s.in_c);
  for (int64_t top = 0; top < s.out_h; top += tile)
    for (int64_t left = 0; left < s.out_w; left += tile)
      if (!is_even_tile<tile>(s, range, top, left))
        return false;
  return true;
}

bool is_even(const Conv2DShape& s, const float* x, int64_t image) {
  const float* at = x + image * s.in_h * s.in_w * s.in_c;
  return tile_of(s) == 4 ? is_even_image<4>(s, at) : is_even_image<2>(s, at);
}

bool is_moderate(const float* values, int64_t pixels, int64_t channels) {
  const float* range = ranges_of(values, pixels, channels);
  return std::all_of(range, range + pixels, [](float r) { return r < most_large; });
}

void run_forward(const Conv2DShape& s, const float* x, const ConvFilter& filter,
                 const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end) {
  WinogradCall call = call_for(s, begin, end, s.in_c, 512 << 10, 0);
  call.x = x;
  call.packed = static_cast<const float*>(filter.packed);
  call.out = y;
  call.epilogue = epilogue;
  isa_table().winograd_forward(call);
}

} // namespace

void use_winograd(bool on) {
  switched_on().store(on, std::memory_order_relaxed);
}

bool winograd_is_on() {
  return switched_on().load(std::memory_order_relaxed);
}

FilterPacking winograd_packing(ConvDirection direction, const Conv2DShape& shape) {
  const bool turns = direction == ConvDirection::backward_input;
  if (!is_possible(shape) || (turns && !has_turned(shape)))
    return {};
  const Conv2DShape s = turns ? turned(shape) : shape;
  if (!is_worth_it(s, s.batch, turns ? 12 : 8))
    return {};
  FilterPacking out;
  out.images = (tiles_at_once + tiles_of_image(s) - 1) / tiles_of_image(s);
  out.bytes = static_cast<size_t>(points * (s.in_c * s.out_c + 16)) * sizeof(float);
  out.winograd = layout_of(s, turns);
  return out;
}

void winograd_pack_filter(const WinogradLayout& layout, const float* filter, void* packed,
                          int64_t begin, int64_t end) {
  isa_table().winograd_filter(layout, filter, begin, end, static_cast<float*>(packed));
}

ImageRun winograd_run(ConvDirection direction, const Conv2DShape& shape, const float* images,
                      const ConvFilter& filter, int64_t begin, int64_t end) {
  const bool turns = direction == ConvDirection::backward_input;
  if (filter.packed == nullptr || filter.packing->winograd.size == 0)
    return {end, false};
  const Conv2DShape s = turns ? turned(shape) : shape;
  if (filter.packing->winograd != layout_of(s, turns))
    return {end, false};
  const bool first = is_even(s, images, begin);
  int64_t at = begin + 1;
  while (at < end && is_even(s, images, at) == first)
    ++at;
  return {at, first};
}

void winograd_forward(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                      const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end) {
  run_forward(shape, x, filter, epilogue, y, begin, end);
}

void winograd_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                             float* dx, int64_t begin, int64_t end) {
  run_forward(turned(shape), dy, filter, {}, dx, begin, end);
}

bool winograd_backward_filter(const Conv2DShape& shape, const float* x, const float* dy,
                              float* dfilter, int64_t begin, int64_t end) {
  if (!is_possible(shape) || !is_worth_it(shape, end - begin, 16))
    return false;
  // Each pixel of the filter sees all gradients, so those need only be finite.
  const int64_t outputs = shape.out_h * shape.out_w;
  for (int64_t image = begin; image < end; ++image)
    if (!is_even(shape, x, image) ||
        !is_moderate(dy + image * outputs * shape.out_c, outputs, shape.out_c))
      return false;
  // The sums of some channels at a time, so that each thread needs no more than 5 MB for them.
  const int64_t most = std::max<int64_t>((1 << 15) / shape.out_c / 16, 1) * 16;
  const int64_t channels = std::min(shape.in_c, most);
  WinogradCall call =
      call_for(shape, begin, end, channels, 768 << 10, points * (channels * shape.out_c + 16));
  call.x = x;
  call.dy = dy;
  call.out = dfilter;
  isa_table().winograd_backward_filter(call);
  return true;
}

} // namespace troupe::arith
