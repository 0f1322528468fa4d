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
  return switched_on().load(std::memory_order_relaxed) && isa() != Isa::base && tile_of(s) != 0 &&
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

bool run_forward(const Conv2DShape& s, bool turns, const float* x, const ConvFilter& filter,
                 const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end) {
  if (filter.packed == nullptr || filter.packing->winograd != layout_of(s, turns))
    return false;
  WinogradCall call = call_for(s, begin, end, s.in_c, 512 << 10, 0);
  call.x = x;
  call.packed = static_cast<const float*>(filter.packed);
  call.out = y;
  call.epilogue = epilogue;
  isa_table().winograd_forward(call);
  return true;
}

} // namespace

void use_winograd(bool on) {
  switched_on().store(on, std::memory_order_relaxed);
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

bool winograd_forward(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                      const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end) {
  return run_forward(shape, false, x, filter, epilogue, y, begin, end);
}

bool winograd_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                             float* dx, int64_t begin, int64_t end) {
  return run_forward(turned(shape), true, dy, filter, {}, dx, begin, end);
}

bool winograd_backward_filter(const Conv2DShape& shape, const float* x, const float* dy,
                              float* dfilter, int64_t begin, int64_t end) {
  if (!is_possible(shape) || !is_worth_it(shape, end - begin, 16))
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
