// ResizeBicubic: each pixel from the sixteen around where it lies, by cubic convolution (Keys,
// 1981); weights come from a table of 1024 steps, as TensorFlow's do. ResizeArea: the mean of the
// part of the input that a pixel covers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/image/internal/resize.hpp"

namespace troupe::image_resize_bicubic {
namespace {

using image::clamped;
using image::ResizeSizes;

constexpr std::int64_t table_size = 1 << 10;

/// Pairs of weights at distances i / table_size and 1 + i / table_size.
using Table = std::array<float, (table_size + 1) * 2>;

Table make_table(double a) {
  Table out{};
  for (std::int64_t i = 0; i <= table_size; ++i) {
    const auto near = static_cast<float>(static_cast<double>(i) / table_size);
    const auto far = static_cast<float>(near + 1.0);
    const auto at = static_cast<std::size_t>(i) * 2;
    out[at] = static_cast<float>(((a + 2) * near - (a + 3)) * near * near + 1);
    out[at + 1] = static_cast<float>(((a * far - 5 * a) * far + 8 * a) * far - 4 * a);
  }
  return out;
}

const Table& table(bool keys) {
  static const Table of_keys = make_table(-0.5), other = make_table(-0.75);
  return keys ? of_keys : other;
}

/// Four neighbours and their weights.
struct Taps {
  std::array<std::int64_t, 4> index = {};
  std::array<float, 4> weight = {};
};

/// Around pixel i's place. With half pixel centers what lies outside does not count; else pixels at
/// the border stand for it.
Taps taps(const image::ResizeAttrs& attrs, std::int64_t i, float scale, std::int64_t size) {
  const float at = image::resize_position(attrs.half_pixel_centers, i, scale);
  const auto floor = static_cast<std::int64_t>(std::floor(at));
  const float part = at - static_cast<float>(floor);
  const auto offset = static_cast<std::size_t>(std::lrint(part * table_size));
  const Table& weights = table(attrs.half_pixel_centers);
  const std::size_t other = table_size - offset;
  Taps out;
  out.weight = {weights[offset * 2 + 1], weights[offset * 2], weights[other * 2],
                weights[other * 2 + 1]};
  float sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int64_t wanted = floor - 1 + static_cast<std::int64_t>(k);
    out.index[k] = clamped(wanted, size);
    if (attrs.half_pixel_centers && out.index[k] != wanted)
      out.weight[k] = 0;
    sum += out.weight[k];
  }
  if (attrs.half_pixel_centers && std::abs(sum) >= 1000.0F * std::numeric_limits<float>::min())
    for (float& weight : out.weight)
      weight *= 1.0F / sum;
  return out;
}

image::Columns columns(const image::ResizeAttrs& attrs, const ResizeSizes& s) {
  image::Columns out(s);
  for (std::int64_t x = 0; x < s.to_width; ++x) {
    const Taps at = taps(attrs, x, s.width_scale, s.from_width);
    for (std::size_t k = 0; k < 4; ++k)
      out.add(at.index[k], at.weight[k]);
    out.end_pixel();
  }
  return out;
}

/// The four rows become one, then the columns of this one.
Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const ResizeSizes s, image::resize_sizes(c));
  TROUPE_ASSIGN(const Shape shape, image::resized_shape(s));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  TROUPE_ASSIGN(const Tensor images, widened(c, c.input(0), DType::float32));
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const image::Columns xs = columns(attrs, s);
  const float* from = images.data<float>().data();
  float* to = out.mutable_data<float>().data();
  c.parallel_for(s.batch * s.to_height, static_cast<double>(s.to_row()),
                 [&](std::int64_t begin, std::int64_t end) {
                   std::vector<float> line(static_cast<std::size_t>(s.from_row()));
                   for (std::int64_t row = begin; row < end; ++row) {
                     const Taps y = taps(attrs, row % s.to_height, s.height_scale, s.from_height);
                     const float* image = from + row / s.to_height * s.from_height * s.from_row();
                     std::array<const float*, 4> rows;
                     for (std::size_t k = 0; k < 4; ++k)
                       rows[k] = image + y.index[k] * s.from_row();
                     arith::weigh_rows(rows.data(), y.weight.data(), 4, 1.0F, s.from_row(),
                                       line.data());
                     arith::weigh_columns(xs.view(), line.data(), to + row * s.to_row());
                   }
                 });
  return {};
}

/// Adds weights of xs times `factor` times a row of gradients to a row.
void spread_row(const arith::ResizeColumns& xs, const float* grads, float factor, float* to) {
  arith::spread_columns(xs, grads, factor, to);
}
void spread_row(const arith::ResizeColumns& xs, const float* grads, float factor, double* to) {
  for (std::int64_t x = 0; x < xs.width; ++x, grads += xs.channels)
    for (std::int64_t k = xs.starts[x]; k < xs.starts[x + 1]; ++k)
      for (std::int64_t i = 0; i < xs.channels; ++i)
        to[xs.at[k] + i] += static_cast<double>(grads[i]) * static_cast<double>(factor) *
                            static_cast<double>(xs.weights[k]);
}

Status compute_grad(KernelContext& c) {
  TROUPE_ASSIGN(const ResizeSizes s, image::resize_grad_sizes(c));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{s.batch, s.from_height, s.from_width, s.channels}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const auto& attrs = c.prepared<image::ResizeAttrs>();
  const image::Columns xs = columns(attrs, s);
  return dispatch(Types<float, double>{}, out.dtype(), [&]<class T>() -> Status {
    std::ranges::fill(out.mutable_data<T>(), T{});
    const float* grads = c.input(0).data<float>().data();
    T* to = out.mutable_data<T>().data();
    c.parallel_for(s.batch, 4.0 * static_cast<double>(s.to_height * s.to_row()),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin * s.to_height; row < end * s.to_height; ++row) {
                       const Taps y = taps(attrs, row % s.to_height, s.height_scale, s.from_height);
                       T* image = to + row / s.to_height * s.from_height * s.from_row();
                       for (std::size_t i = 0; i < 4; ++i)
                         spread_row(xs.view(), grads + row * s.to_row(), y.weight[i],
                                    image + y.index[i] * s.from_row());
                     }
                   });
    return {};
  });
}

/// The pixels [begin, end) that one of the output covers, the first and the last in part.
struct Cover {
  std::int64_t begin = 0, end = 0;
  float from = 0, to = 0, scale = 0;

  Cover(std::int64_t i, float scale_)
      : from(static_cast<float>(i) * scale_), to(static_cast<float>(i + 1) * scale_),
        scale(scale_) {
    begin = static_cast<std::int64_t>(std::floor(from));
    end = static_cast<std::int64_t>(std::ceil(to));
  }
  float part_of(std::int64_t pixel) const {
    const auto low = static_cast<float>(pixel), high = static_cast<float>(pixel + 1);
    if (low < from)
      return high > to ? scale : high - from;
    return high > to ? to - low : 1.0F;
  }
};

/// The most pixels of the input that one of the output covers.
std::int64_t most_covered(std::int64_t size, float scale) {
  std::int64_t out = 1;
  for (std::int64_t i = 0; i < size; ++i) {
    const Cover cover(i, scale);
    out = std::max(out, cover.end - cover.begin);
  }
  return out;
}

/// Parts of the pixels that each one of a row covers.
image::Columns covered_columns(const ResizeSizes& s) {
  image::Columns out(s);
  for (std::int64_t x = 0; x < s.to_width; ++x) {
    const Cover cover(x, s.width_scale);
    for (std::int64_t at = cover.begin; at < cover.end; ++at)
      out.add(clamped(at, s.from_width), cover.part_of(at));
    out.end_pixel();
  }
  return out;
}

Status compute_area(KernelContext& c) {
  TROUPE_ASSIGN(ResizeSizes s, image::resize_sizes(c));
  for (float* scale : {&s.height_scale, &s.width_scale})
    if (*scale == 0) // one pixel with its corners aligned to many
      *scale = 1;
  TROUPE_ASSIGN(const Shape shape, image::resized_shape(s));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  TROUPE_ASSIGN(const Tensor images, widened(c, c.input(0), DType::float32));
  const float scale = 1.0F / (s.height_scale * s.width_scale);
  const image::Columns xs = covered_columns(s);
  const std::int64_t most = most_covered(s.to_height, s.height_scale);
  const float* from = images.data<float>().data();
  float* to = out.mutable_data<float>().data();
  const double covered =
      (static_cast<double>(s.height_scale) + 1) * (static_cast<double>(s.width_scale) + 1);
  c.parallel_for(s.batch * s.to_height, 0.2 * covered * static_cast<double>(s.to_row()),
                 [&](std::int64_t begin, std::int64_t end) {
                   image::WideRows wide(arith::weigh_columns, xs.view(), from, s.from_row(), most);
                   std::vector<const float*> rows;
                   std::vector<float> parts;
                   for (std::int64_t row = begin; row < end; ++row) {
                     const Cover y(row % s.to_height, s.height_scale);
                     const std::int64_t first = row / s.to_height * s.from_height;
                     rows.clear();
                     parts.clear();
                     for (std::int64_t at = y.begin; at < y.end; ++at) {
                       rows.push_back(wide[first + clamped(at, s.from_height)]);
                       parts.push_back(y.part_of(at));
                     }
                     arith::weigh_rows(rows.data(), parts.data(), y.end - y.begin, scale,
                                       s.to_row(), to + row * s.to_row());
                   }
                 });
  return {};
}

constexpr auto reals =
    "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ResizeBicubic")
      .input("images: T; size: int32")
      .output("resized_images: float")
      .attr(reals)
      .attr("align_corners: bool = false; half_pixel_centers: bool = false")
      .shape_fn(image::infer_resize)
      .not_differentiable("ResizeBicubicGrad is its gradient; clients build it")
      .cpu_kernel(compute, image::resize_options(image::real_dtypes()))
      .doc("Images of another size, each pixel from the sixteen around where it lies.");
  library.op("ResizeBicubicGrad")
      .input("grads: float; original_image: T")
      .output("output: T")
      .attr("T: {float, double}")
      .attr("align_corners: bool = false; half_pixel_centers: bool = false")
      .shape_fn(image::infer_resize_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad, image::resize_options({DType::float32, DType::float64}))
      .doc("The gradient of ResizeBicubic.");
  library.op("ResizeArea")
      .input("images: T; size: int32")
      .output("resized_images: float")
      .attr(reals)
      .attr("align_corners: bool = false")
      .shape_fn(image::infer_resize)
      .not_differentiable("TensorFlow has no gradient of it")
      .cpu_kernel(compute_area, image::resize_options(image::real_dtypes()))
      .doc("Images of another size, each pixel the mean of what it covers of the input.");
}

} // namespace troupe::image_resize_bicubic
