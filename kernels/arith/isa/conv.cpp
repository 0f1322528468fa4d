// Convolution as a product of patches: each output pixel's window, laid out as a row [filter_h,
// filter_w, in_c], times the filter. Patches are made for a block of output pixels at a time so
// that they stay in the cache.
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T>
constexpr Type type_of = sizeof(T) == 4 ? Type::float32 : Type::float64;

/// A walk over the output pixels of all images, counted as one: pixel = (image * out_h + y) * out_w
/// + x.
struct Pixel {
  int64_t image, y, x;

  TROUPE_INLINE Pixel at(const Conv2DShape& s, int64_t flat) {
    return {flat / (s.out_h * s.out_w), flat / s.out_w % s.out_h, flat % s.out_w};
  }
  [[gnu::always_inline]] void advance(const Conv2DShape& s) {
    if (++x < s.out_w)
      return;
    x = 0;
    if (++y < s.out_h)
      return;
    y = 0;
    ++image;
  }
};

template <class T>
TROUPE_INLINE void copy(T* out, const T* in, int64_t n) {
  __builtin_memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
}

template <class T>
void make_patches(const Conv2DShape& s, const T* x, int64_t first, int64_t count, T* patches) {
  const int64_t row_length = s.filter_w * s.in_c;
  Pixel p = Pixel::at(s, first);
  for (int64_t i = 0; i < count; ++i, p.advance(s)) {
    const int64_t x0 = p.x * s.stride_w - s.pad_left;
    const bool inside = s.dilation_w == 1 && x0 >= 0 && x0 + s.filter_w <= s.in_w;
    for (int64_t fy = 0; fy < s.filter_h; ++fy, patches += row_length) {
      const int64_t y = p.y * s.stride_h - s.pad_top + fy * s.dilation_h;
      if (y < 0 || y >= s.in_h) {
        __builtin_memset(patches, 0, static_cast<size_t>(row_length) * sizeof(T));
        continue;
      }
      const T* row = x + (p.image * s.in_h + y) * s.in_w * s.in_c;
      if (inside) {
        copy(patches, row + x0 * s.in_c, row_length);
        continue;
      }
      for (int64_t fx = 0; fx < s.filter_w; ++fx) {
        const int64_t column = x0 + fx * s.dilation_w;
        if (column < 0 || column >= s.in_w)
          __builtin_memset(patches + fx * s.in_c, 0, static_cast<size_t>(s.in_c) * sizeof(T));
        else
          copy(patches + fx * s.in_c, row + column * s.in_c, s.in_c);
      }
    }
  }
}

template <class T>
TROUPE_INLINE void add_to(T* out, const T* in, int64_t n) {
  TROUPE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i)
    out[i] += in[i];
}

/// Adds patches back to where they came from.
template <class T>
void add_patches(const Conv2DShape& s, const T* patches, int64_t first, int64_t count, T* x) {
  const int64_t row_length = s.filter_w * s.in_c;
  Pixel p = Pixel::at(s, first);
  for (int64_t i = 0; i < count; ++i, p.advance(s)) {
    const int64_t x0 = p.x * s.stride_w - s.pad_left;
    const bool inside = s.dilation_w == 1 && x0 >= 0 && x0 + s.filter_w <= s.in_w;
    for (int64_t fy = 0; fy < s.filter_h; ++fy, patches += row_length) {
      const int64_t y = p.y * s.stride_h - s.pad_top + fy * s.dilation_h;
      if (y < 0 || y >= s.in_h)
        continue;
      T* row = x + (p.image * s.in_h + y) * s.in_w * s.in_c;
      if (inside) {
        add_to(row + x0 * s.in_c, patches, row_length);
        continue;
      }
      for (int64_t fx = 0; fx < s.filter_w; ++fx) {
        const int64_t column = x0 + fx * s.dilation_w;
        if (column >= 0 && column < s.in_w)
          add_to(row + column * s.in_c, patches + fx * s.in_c, s.in_c);
      }
    }
  }
}

/// Whether the input itself is the patch matrix.
bool is_pointwise(const Conv2DShape& s) {
  return s.filter_h == 1 && s.filter_w == 1 && s.stride_h == 1 && s.stride_w == 1 &&
         s.pad_top == 0 && s.pad_left == 0 && s.out_h == s.in_h && s.out_w == s.in_w;
}

template <class T>
void forward(const ConvCall& call) {
  const Conv2DShape& s = *call.shape;
  const int64_t depth = s.filter_h * s.filter_w * s.in_c;
  auto x = static_cast<const T*>(call.x);
  auto y = static_cast<T*>(call.out);
  auto patches = static_cast<T*>(call.scratch);
  const int64_t end = call.end * s.out_h * s.out_w;
  const bool pointwise = is_pointwise(s);
  for (int64_t p = call.begin * s.out_h * s.out_w; p < end; p += call.block_rows) {
    const int64_t rows = end - p < call.block_rows ? end - p : call.block_rows;
    if (!pointwise)
      make_patches(s, x, p, rows, patches);
    const T* left = pointwise ? x + p * depth : patches;
    gemm(type_of<T>, {false, false, false, rows, s.out_c, depth, left, depth, call.filter, s.out_c,
                      y + p * s.out_c, s.out_c});
  }
}

template <class T>
void backward_input(const ConvCall& call) {
  const Conv2DShape& s = *call.shape;
  const int64_t depth = s.filter_h * s.filter_w * s.in_c;
  auto dy = static_cast<const T*>(call.dy);
  auto dx = static_cast<T*>(call.out);
  auto patches = static_cast<T*>(call.scratch);
  const int64_t image_size = s.in_h * s.in_w * s.in_c;
  const int64_t end = call.end * s.out_h * s.out_w;
  const bool pointwise = is_pointwise(s);
  if (!pointwise)
    __builtin_memset(dx + call.begin * image_size, 0,
                     static_cast<size_t>((call.end - call.begin) * image_size) * sizeof(T));
  for (int64_t p = call.begin * s.out_h * s.out_w; p < end; p += call.block_rows) {
    const int64_t rows = end - p < call.block_rows ? end - p : call.block_rows;
    T* product = pointwise ? dx + p * depth : patches;
    gemm(type_of<T>, {false, true, false, rows, depth, s.out_c, dy + p * s.out_c, s.out_c,
                      call.filter, s.out_c, product, depth});
    if (!pointwise)
      add_patches(s, patches, p, rows, dx);
  }
}

template <class T>
void backward_filter(const ConvCall& call) {
  const Conv2DShape& s = *call.shape;
  const int64_t depth = s.filter_h * s.filter_w * s.in_c;
  auto x = static_cast<const T*>(call.x);
  auto dy = static_cast<const T*>(call.dy);
  auto patches = static_cast<T*>(call.scratch);
  const int64_t end = call.end * s.out_h * s.out_w;
  const bool pointwise = is_pointwise(s);
  __builtin_memset(call.out, 0, static_cast<size_t>(depth * s.out_c) * sizeof(T));
  for (int64_t p = call.begin * s.out_h * s.out_w; p < end; p += call.block_rows) {
    const int64_t rows = end - p < call.block_rows ? end - p : call.block_rows;
    if (!pointwise)
      make_patches(s, x, p, rows, patches);
    const T* left = pointwise ? x + p * depth : patches;
    gemm(type_of<T>, {true, false, true, depth, s.out_c, rows, left, depth, dy + p * s.out_c,
                      s.out_c, call.out, s.out_c});
  }
}

} // namespace

void conv_forward(const ConvCall& call) {
  call.type == Type::float32 ? forward<float>(call) : forward<double>(call);
}

void conv_backward_input(const ConvCall& call) {
  call.type == Type::float32 ? backward_input<float>(call) : backward_input<double>(call);
}

void conv_backward_filter(const ConvCall& call) {
  call.type == Type::float32 ? backward_filter<float>(call) : backward_filter<double>(call);
}

} // namespace troupe::arith::TROUPE_ISA
