// Chooses who computes a convolution: oneDNN for f32 where it can and is faster, else patches and
// GEMM.
#include "kernels/arith/conv.hpp"
#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/internal/conv_products.hpp"
#include "kernels/arith/internal/generic.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include "kernels/arith/internal/winograd.hpp"
#include <algorithm>
#include <cstring>

namespace troupe::arith {
namespace {

bool prefers_onednn(Type type) {
  return type == Type::float32 && isa() != Isa::base && onednn_in_use();
}

/// The call with room for patches: about 1 MiB of them, so that they stay in the cache until the
/// product has read them. Very large ones come in few at a time: the room is at most 64 MiB, or one
/// patch, which is no larger than the filter.
ConvCall with_patches(Type type, const Conv2DShape& shape, int64_t begin, int64_t end) {
  constexpr int64_t bytes = 1 << 20, most = 64 << 20;
  const int64_t row = shape.filter_h * shape.filter_w * shape.in_c * size_of(type);
  const int64_t pixels = (end - begin) * shape.out_h * shape.out_w;
  const int64_t rows =
      std::min(pixels, std::max<int64_t>(bytes / row, std::clamp<int64_t>(most / row, 1, 32)));
  ConvCall call = {};
  call.type = type;
  call.shape = &shape;
  call.begin = begin;
  call.end = end;
  call.block_rows = rows;
  call.scratch = thread_scratch(Scratch::patches, static_cast<size_t>(rows * row));
  return call;
}

/// An image without pixels: windows see its padding alone.
bool is_empty(const Conv2DShape& shape) {
  return shape.in_h == 0 || shape.in_w == 0;
}

/// Measured: oneDNN takes three times as long for the input's gradient then.
bool has_few_channels(const Conv2DShape& shape) {
  return shape.in_c <= 4;
}

void backward_input_by_patches(Type type, const Conv2DShape& shape, const void* filter,
                               const void* dy, void* dx, int64_t begin, int64_t end) {
  ConvCall call = with_patches(type, shape, begin, end);
  call.filter = filter;
  call.dy = dy;
  call.out = dx;
  isa_table().conv_backward_input(call);
}

/// Factor and offset of the results of images [begin, end).
void scale_and_shift(const ConvEpilogue& e, const Conv2DShape& s, float* y, int64_t begin,
                     int64_t end) {
  if (e.factor == nullptr && e.offset == nullptr)
    return;
  const BinaryRow mul = isa_table().binary(BinaryOp::mul, Type::float32);
  const BinaryRow add = isa_table().binary(BinaryOp::add, Type::float32);
  for (int64_t r = begin * s.out_h * s.out_w; r < end * s.out_h * s.out_w; ++r) {
    float* out = y + r * s.out_c;
    if (e.factor != nullptr)
      mul(out, e.factor, out, s.out_c, RowMode::both_rows);
    if (e.offset != nullptr)
      add(out, e.offset, out, s.out_c, RowMode::both_rows);
  }
}

/// Addend and relu, while the results are still in a near cache. oneDNN's relu would make 0 of NaN,
/// and with a whole image to add it takes slower code.
void add_and_cut(const ConvEpilogue& e, const Conv2DShape& s, float* y, int64_t begin,
                 int64_t end) {
  constexpr int64_t block = 4096;
  if (e.addend == nullptr && !e.relu)
    return;
  const BinaryRow add = isa_table().binary(BinaryOp::add, Type::float32);
  const UnaryFn relu = isa_table().unary(UnaryOp::relu, Type::float32);
  const int64_t image = s.out_h * s.out_w * s.out_c;
  for (int64_t at = begin * image; at < end * image; at += block) {
    const int64_t n = std::min(block, end * image - at);
    if (e.addend != nullptr)
      add(y + at, e.addend + at, y + at, n, RowMode::both_rows);
    if (e.relu)
      relu(y, y, at, at + n);
  }
}

} // namespace

bool window_extent(int64_t input, int64_t filter, int64_t dilation, int64_t stride, Padding padding,
                   int64_t& output, int64_t& pad_before) {
  const int64_t reach = (filter - 1) * dilation + 1;
  if (padding == Padding::valid) {
    output = (input - reach + stride) / stride;
    pad_before = 0;
    return input - reach + stride >= 0;
  }
  output = (input + stride - 1) / stride;
  pad_before = std::max<int64_t>((output - 1) * stride + reach - input, 0) / 2;
  return true;
}

bool has_conv2d(Type type) {
  return type == Type::float32 || type == Type::float64 || type == Type::int32;
}

void conv2d_forward(Type type, const Conv2DShape& shape, const void* x, const void* filter, void* y,
                    int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  if (is_empty(shape)) {
    const int64_t image = shape.out_h * shape.out_w * shape.out_c * size_of(type);
    std::memset(static_cast<char*>(y) + begin * image, 0,
                static_cast<size_t>((end - begin) * image));
    return;
  }
  if (prefers_onednn(type) && onednn_conv_forward(shape, static_cast<const float*>(x),
                                                  {.plain = static_cast<const float*>(filter)}, {},
                                                  static_cast<float*>(y), begin, end))
    return;
  if (type == Type::int32)
    return generic_conv_forward(shape, static_cast<const int32_t*>(x),
                                static_cast<const int32_t*>(filter), static_cast<int32_t*>(y),
                                begin, end);
  ConvCall call = with_patches(type, shape, begin, end);
  call.x = x;
  call.filter = filter;
  call.out = y;
  isa_table().conv_forward(call);
}

void conv2d_backward_input(Type type, const Conv2DShape& shape, const void* filter, const void* dy,
                           void* dx, int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  if (type == Type::float32)
    return conv2d_backward_input(shape, {.plain = static_cast<const float*>(filter)},
                                 static_cast<const float*>(dy), static_cast<float*>(dx), begin,
                                 end);
  if (type == Type::int32)
    return generic_conv_backward_input(shape, static_cast<const int32_t*>(filter),
                                       static_cast<const int32_t*>(dy), static_cast<int32_t*>(dx),
                                       begin, end);
  backward_input_by_patches(type, shape, filter, dy, dx, begin, end);
}

namespace {

void backward_filter_by_sums(Type type, const Conv2DShape& shape, const void* x, const void* dy,
                             void* dfilter, int64_t begin, int64_t end) {
  if (begin < end && prefers_onednn(type)) {
    const auto *in = static_cast<const float*>(x), *gradient = static_cast<const float*>(dy);
    auto* out = static_cast<float*>(dfilter);
    if (backward_filter_by_products(shape, in, gradient, out, begin, end) ||
        onednn_conv_backward_filter(shape, in, gradient, out, begin, end))
      return;
  }
  ConvCall call = with_patches(type, shape, begin, end);
  call.x = x;
  call.dy = dy;
  call.out = dfilter;
  isa_table().conv_backward_filter(call);
}

/// Pixels that are summed in float; more of them lose digits, so such sums are added in double.
constexpr int64_t pixels_at_once = 1 << 15;

/// Sums of runs of images, or of rows of one image, each of them in float.
void backward_filter_in_runs(const Conv2DShape& s, const float* x, const float* dy, float* dfilter,
                             int64_t begin, int64_t end) {
  const int64_t size = s.filter_h * s.filter_w * s.in_c * s.out_c;
  const int64_t image = s.out_h * s.out_w;
  auto* total = static_cast<double*>(
      thread_scratch(Scratch::sums, static_cast<size_t>(size) * (sizeof(double) + sizeof(float))));
  auto* part = reinterpret_cast<float*>(total + size);
  std::fill_n(total, size, 0.0);
  const auto add = [&] {
    for (int64_t i = 0; i < size; ++i)
      total[i] += static_cast<double>(part[i]);
  };
  if (image <= pixels_at_once) {
    const int64_t images = pixels_at_once / image;
    for (int64_t at = begin; at < end; at += images) {
      backward_filter_by_sums(Type::float32, s, x, dy, part, at, std::min(at + images, end));
      add();
    }
  } else {
    const int64_t rows = std::max<int64_t>(pixels_at_once / s.out_w, 1);
    for (int64_t at = begin; at < end; ++at)
      for (int64_t row = 0; row < s.out_h; row += rows) {
        const ConvRows run = rows_of_conv(s, row, std::min(row + rows, s.out_h));
        backward_filter_by_sums(Type::float32, run.shape,
                                x + at * s.in_h * s.in_w * s.in_c + run.x_offset,
                                dy + at * image * s.out_c + run.y_offset, part, 0, 1);
        add();
      }
  }
  for (int64_t i = 0; i < size; ++i)
    dfilter[i] = static_cast<float>(total[i]);
}

} // namespace

void conv2d_backward_filter(Type type, const Conv2DShape& shape, const void* x, const void* dy,
                            void* dfilter, int64_t begin, int64_t end) {
  if (begin < end && type == Type::float32 &&
      winograd_backward_filter(shape, static_cast<const float*>(x), static_cast<const float*>(dy),
                               static_cast<float*>(dfilter), begin, end))
    return;
  if (type == Type::float32 && !is_empty(shape) &&
      (end - begin) * shape.out_h * shape.out_w > 4 * pixels_at_once)
    return backward_filter_in_runs(shape, static_cast<const float*>(x),
                                   static_cast<const float*>(dy), static_cast<float*>(dfilter),
                                   begin, end);
  backward_filter_by_sums(type, shape, x, dy, dfilter, begin, end);
}

FilterPacking filter_packing(ConvDirection direction, const Conv2DShape& shape, int64_t images,
                             const ConvEpilogue& epilogue) {
  if (FilterPacking found = winograd_packing(direction, shape); found.bytes > 0)
    return found;
  if (!prefers_onednn(Type::float32) ||
      (direction == ConvDirection::backward_input &&
       (has_few_channels(shape) || prefers_input_by_products(shape))))
    return {};
  return onednn_filter_packing(direction, shape, images, epilogue);
}

bool is_same_layout(const FilterPacking& a, const FilterPacking& b) {
  if (a.bytes != b.bytes || a.winograd != b.winograd)
    return false;
  return a.primitive == b.primitive || onednn_is_same_layout(a, b);
}

void pack_filter(const FilterPacking& packing, const float* filter, void* packed, int64_t begin,
                 int64_t end) {
  if (packing.winograd.size > 0)
    return winograd_pack_filter(packing.winograd, filter, packed, begin, end);
  onednn_pack_filter(packing, filter, packed);
}

namespace {

void fused_conv2d_by_sums(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                          const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end) {
  if (is_empty(shape) || !prefers_onednn(Type::float32) ||
      !onednn_conv_forward(shape, x, filter, epilogue, y, begin, end)) {
    conv2d_forward(Type::float32, shape, x, filter.plain, y, begin, end);
    scale_and_shift(epilogue, shape, y, begin, end);
  }
  add_and_cut(epilogue, shape, y, begin, end);
}

void backward_input_by_sums(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                            float* dx, int64_t begin, int64_t end) {
  if (prefers_onednn(Type::float32) && !has_few_channels(shape) &&
      (backward_input_by_products(shape, filter.plain, dy, dx, begin, end) ||
       onednn_conv_backward_input(shape, filter, dy, dx, begin, end)))
    return;
  backward_input_by_patches(Type::float32, shape, filter.plain, dy, dx, begin, end);
}

} // namespace

void fused_conv2d(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                  const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end;) {
    const ImageRun run = winograd_run(ConvDirection::forward, shape, x, filter, at, end);
    (run.is_even ? winograd_forward : fused_conv2d_by_sums)(shape, x, filter, epilogue, y, at,
                                                            run.end);
    at = run.end;
  }
}

void conv2d_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                           float* dx, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end;) {
    const ImageRun run = winograd_run(ConvDirection::backward_input, shape, dy, filter, at, end);
    (run.is_even ? winograd_backward_input : backward_input_by_sums)(shape, filter, dy, dx, at,
                                                                     run.end);
    at = run.end;
  }
}

ConvRows rows_of_conv(const Conv2DShape& shape, int64_t begin, int64_t end) {
  const int64_t top = begin * shape.stride_h - shape.pad_top;
  const int64_t bottom =
      (end - 1) * shape.stride_h - shape.pad_top + (shape.filter_h - 1) * shape.dilation_h + 1;
  // A part that lies in the padding alone keeps one row of the input, if there is one, outside its
  // windows.
  const int64_t first = std::max<int64_t>(std::min(top, shape.in_h - 1), 0);
  const int64_t last = std::min(std::max(bottom, first + 1), shape.in_h);
  ConvRows out{shape, first * shape.in_w * shape.in_c, begin * shape.out_w * shape.out_c};
  out.shape.batch = 1;
  out.shape.in_h = last - first;
  out.shape.out_h = end - begin;
  out.shape.pad_top = first - top;
  return out;
}

ConvRows input_rows_of_conv(const Conv2DShape& shape, int64_t begin, int64_t end) {
  const int64_t reach = (shape.filter_h - 1) * shape.dilation_h;
  const int64_t first = std::max<int64_t>(begin + shape.pad_top - reach, 0);
  const int64_t last = std::min(end + shape.pad_top, shape.out_h);
  ConvRows out{shape, begin * shape.in_w * shape.in_c, first * shape.out_w * shape.out_c};
  out.shape.batch = 1;
  out.shape.in_h = end - begin;
  out.shape.out_h = last - first;
  out.shape.pad_top = begin + shape.pad_top - first;
  return out;
}

} // namespace troupe::arith
