// Chooses who computes a convolution: oneDNN for f32 where it can and is faster, else patches and
// GEMM.
#include "kernels/arith/conv.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include <algorithm>

namespace troupe::arith {
namespace {

bool prefers_onednn(Type type) {
  return type == Type::f32 && isa() != Isa::base && onednn_in_use();
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
  return type == Type::f32 || type == Type::f64;
}

void conv2d_forward(Type type, const Conv2DShape& shape, const void* x, const void* filter, void* y,
                    int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  if (prefers_onednn(type) &&
      onednn_conv_forward(shape, static_cast<const float*>(x), static_cast<const float*>(filter),
                          static_cast<float*>(y), begin, end))
    return;
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
  const bool few_channels = shape.in_c <= 4; // measured: oneDNN takes three times as long
  if (prefers_onednn(type) && !few_channels &&
      onednn_conv_backward_input(shape, static_cast<const float*>(filter),
                                 static_cast<const float*>(dy), static_cast<float*>(dx), begin,
                                 end))
    return;
  ConvCall call = with_patches(type, shape, begin, end);
  call.filter = filter;
  call.dy = dy;
  call.out = dx;
  isa_table().conv_backward_input(call);
}

void conv2d_backward_filter(Type type, const Conv2DShape& shape, const void* x, const void* dy,
                            void* dfilter, int64_t begin, int64_t end) {
  if (begin < end && prefers_onednn(type) &&
      onednn_conv_backward_filter(shape, static_cast<const float*>(x),
                                  static_cast<const float*>(dy), static_cast<float*>(dfilter),
                                  begin, end))
    return;
  ConvCall call = with_patches(type, shape, begin, end);
  call.x = x;
  call.dy = dy;
  call.out = dfilter;
  isa_table().conv_backward_filter(call);
}

} // namespace troupe::arith
