// ScaleAndTranslate: images resampled with one of several kernels; rows first, then columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/strings.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/image/internal/resize.hpp"

namespace troupe::image_scale_and_translate {
namespace {

float lanczos(float x, float radius) {
  constexpr float pi = std::numbers::pi_v<float>;
  if (x > radius)
    return 0;
  if (x <= 1e-3)
    return 1;
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}

/// A kernel's values at distances that are not negative.
struct Filter {
  const char* name;
  float radius;
  float (*at)(float x);
};

constexpr Filter filters[] = {
    {"lanczos1", 1, [](float x) { return lanczos(x, 1); }},
    {"lanczos3", 3, [](float x) { return lanczos(x, 3); }},
    {"lanczos5", 5, [](float x) { return lanczos(x, 5); }},
    {"gaussian", 1.5F,
     [](float x) {
       return x >= 1.5F ? 0.0F : static_cast<float>(std::exp(-x * x / (2.0 * 0.5F * 0.5F)));
     }},
    {"box", 1, [](float x) { return x < 0.5F    ? 1.0F
                                    : x == 0.5F ? 0.5F
                                                : 0.0F; }},
    {"triangle", 1, [](float x) { return x < 1 ? 1 - x : 0.0F; }},
    {"keyscubic", 2,
     [](float x) {
       if (x >= 2)
         return 0.0F;
       if (x >= 1)
         return ((-0.5F * x + 2.5F) * x - 4.0F) * x + 2.0F;
       return ((1.5F * x - 2.5F) * x) * x + 1.0F;
     }},
    {"mitchellcubic", 2,
     [](float x) {
       if (x >= 2)
         return 0.0F;
       if (x >= 1)
         return (((-7.0F / 18.0F) * x + 2.0F) * x - 10.0F / 3.0F) * x + 16.0F / 9.0F;
       return (((7.0F / 6.0F) * x - 2.0F) * x) * x + 8.0F / 9.0F;
     }},
};

struct Attrs {
  const Filter* filter = nullptr;
  bool antialias = true;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(const auto name, c.attr<std::string>("kernel_type"));
  TROUPE_ASSIGN(out.antialias, c.attr<bool>("antialias"));
  const auto* found =
      std::ranges::find_if(filters, [&](const Filter& filter) { return name == filter.name; });
  if (found == std::end(filters))
    return invalid_argument(str_cat("Unrecognized kernel type: ", name));
  out.filter = found;
  return prepared(out);
}

/// For each pixel of one dimension of the output the first one of the input that it samples, and
/// the weights of `size` from there on. Some at the end may be beyond the input; they are 0.
struct Spans {
  std::int64_t size = 0;
  Tensor starts, weights;

  std::int64_t start(std::int64_t i) const {
    return starts.data<std::int64_t>()[static_cast<std::size_t>(i)];
  }
  const float* weights_of(std::int64_t i) const { return weights.data<float>().data() + i * size; }
  /// How many of them are within the input.
  std::int64_t length(std::int64_t i, std::int64_t in) const {
    return std::min(size, in - start(i));
  }
};

Result<Spans> make_spans(KernelContext& c, std::int64_t out, std::int64_t in, float scale,
                         float translation) {
  const auto& attrs = c.prepared<Attrs>();
  const auto inverse = static_cast<float>(1.0 / scale);
  const float offset = -inverse * translation;
  const float stretch = attrs.antialias ? std::max(inverse, 1.0F) : 1.0F;
  const float reach = attrs.filter->radius * stretch;
  Spans spans;
  // A comparison that also holds for infinity and NaN.
  const bool is_short = std::ceil(reach) < static_cast<float>(in) / 2;
  spans.size = is_short ? std::min(2 * static_cast<std::int64_t>(std::ceil(reach)) + 1, in) : in;
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{out, spans.size}));
  TROUPE_ASSIGN(spans.starts, c.allocate_temp(DType::int64, Shape{out}));
  TROUPE_ASSIGN(spans.weights, c.allocate_temp(DType::float32, shape));
  const auto starts = spans.starts.mutable_data<std::int64_t>();
  float* weights = spans.weights.mutable_data<float>().data();
  std::ranges::fill(starts, 0);
  c.parallel_for(
      out, 20.0 * static_cast<double>(spans.size), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t x = begin; x < end; ++x) {
          float* to = weights + x * spans.size;
          std::fill_n(to, spans.size, 0.0F);
          const float at = (static_cast<float>(x) + 0.5F) * inverse + offset;
          if (!(at >= 0 && at <= static_cast<float>(in)))
            continue; // outside of the image
          const auto bounded = [&](float place) {
            return static_cast<std::int64_t>(std::clamp(place, 0.0F, static_cast<float>(in - 1)));
          };
          const std::int64_t first = std::min(bounded(std::ceil(at - reach - 0.5F)), in - 1);
          const std::int64_t last = std::min(bounded(std::floor(at + reach - 0.5F)), in - 1);
          const std::int64_t count = std::min(last - first + 1, spans.size);
          float sum = 0;
          for (std::int64_t i = 0; i < count; ++i) {
            const float distance = static_cast<float>(first + i) + 0.5F - at;
            sum += to[i] = attrs.filter->at(std::abs(distance * (1.0F / stretch)));
          }
          const bool counts = std::abs(sum) >= 1000.0F * std::numeric_limits<float>::min();
          for (std::int64_t i = 0; i < count; ++i)
            to[i] = counts ? to[i] * (1.0F / sum) : 0.0F;
          starts[static_cast<std::size_t>(x)] = first;
        }
      });
  return spans;
}

/// Two numbers of input i, rows before columns.
Result<std::array<float, 2>> pair(KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.shape().rank() != 1)
    return invalid_argument(str_cat("t must be 1-dimensional", t.shape()));
  if (t.num_elements() != 2)
    return invalid_argument(str_cat("t must have two elements", t.shape()));
  return std::array{t.data<float>()[0], t.data<float>()[1]};
}

Result<std::array<Spans, 2>> row_and_column_spans(KernelContext& c, const image::ResizeSizes& s) {
  TROUPE_ASSIGN(const auto scale, pair(c, 2));
  if (!(scale[0] > 0 && scale[1] > 0))
    return invalid_argument("Scale must be greater than zero.");
  TROUPE_ASSIGN(const auto translation, pair(c, 3));
  TROUPE_ASSIGN(Spans rows, make_spans(c, s.to_height, s.from_height, scale[0], translation[0]));
  TROUPE_ASSIGN(Spans columns, make_spans(c, s.to_width, s.from_width, scale[1], translation[1]));
  return std::array{std::move(rows), std::move(columns)};
}

Result<image::ResizeSizes> sizes(KernelContext& c) {
  const Shape &in = c.input(0).shape(), &size = c.input(1).shape();
  if (in.rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", in));
  if (size.rank() != 1)
    return invalid_argument(str_cat("output_shape_t must be 1-dimensional", size));
  if (size[0] != 2)
    return invalid_argument(str_cat("output_shape_t must have two elements", size));
  if (in[1] >= INT32_MAX || in[2] >= INT32_MAX)
    return invalid_argument("input sizes must be between 0 and max int32");
  const auto to = c.input(1).data<std::int32_t>();
  if (to[0] <= 0 || to[1] <= 0)
    return invalid_argument("output dimensions must be positive");
  if (in[3] <= 0)
    return invalid_argument("image must have at least one channel");
  if (in[1] <= 0 || in[2] <= 0)
    return invalid_argument("input image must be of non-zero size");
  return image::ResizeSizes{in[0], in[3], in[1], in[2], to[0], to[1], 0, 0};
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const image::ResizeSizes s, sizes(c));
  TROUPE_ASSIGN(const Shape shape, image::resized_shape(s));
  TROUPE_ASSIGN(const auto spans, row_and_column_spans(c, s));
  const auto& [rows, columns] = spans;
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  TROUPE_ASSIGN(const Shape between_shape,
                Shape::make(std::array{s.batch, s.to_height, s.from_width, s.channels}));
  TROUPE_ASSIGN(Tensor between, c.allocate_temp(DType::float32, between_shape));
  float* half_way = between.mutable_data<float>().data();
  TROUPE_TRY(dispatch(image::Reals{}, c.input(0).dtype(), [&]<class T>() -> Status {
    const T* from = c.input(0).data<T>().data();
    c.parallel_for(
        s.batch * s.to_height, static_cast<double>(s.from_row()) * static_cast<double>(rows.size),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t y = row % s.to_height;
            const T* line =
                from + (row / s.to_height * s.from_height + rows.start(y)) * s.from_row();
            float* to = half_way + row * s.from_row();
            std::fill_n(to, s.from_row(), 0.0F);
            for (std::int64_t i = 0; i < rows.length(y, s.from_height); ++i)
              for (std::int64_t x = 0; x < s.from_row(); ++x)
                to[x] += rows.weights_of(y)[i] * static_cast<float>(line[i * s.from_row() + x]);
          }
        });
    return {};
  }));
  float* to = out.mutable_data<float>().data();
  c.parallel_for(
      s.batch * s.to_height, static_cast<double>(s.to_row()) * static_cast<double>(columns.size),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
          for (std::int64_t x = 0; x < s.to_width; ++x) {
            const float* pixel = half_way + row * s.from_row() + columns.start(x) * s.channels;
            float* at = to + row * s.to_row() + x * s.channels;
            std::fill_n(at, s.channels, 0.0F);
            for (std::int64_t i = 0; i < columns.length(x, s.from_width); ++i)
              for (std::int64_t k = 0; k < s.channels; ++k)
                at[k] += columns.weights_of(x)[i] * pixel[i * s.channels + k];
          }
      });
  return {};
}

Status compute_grad(KernelContext& c) {
  const Shape &grads = c.input(0).shape(), &images = c.input(1).shape();
  if (grads.rank() != 4)
    return invalid_argument(str_cat("input_grad must be 4-dimensional", grads));
  if (images.rank() != 4)
    return invalid_argument(str_cat("original_image must be 4-dimensional", images));
  if (images[1] >= INT32_MAX || images[2] >= INT32_MAX)
    return invalid_argument("original sizes must be between 0 and max int32");
  const image::ResizeSizes s{grads[0], grads[3], images[1], images[2], grads[1], grads[2], 0, 0};
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{s.batch, s.from_height, s.from_width, s.channels}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_ASSIGN(const auto spans, row_and_column_spans(c, s));
  const auto& [rows, columns] = spans;
  std::ranges::fill(out.mutable_data<float>(), 0.0F);
  if (out.num_elements() == 0 || c.input(0).num_elements() == 0)
    return {};
  TROUPE_ASSIGN(const Shape between_shape,
                Shape::make(std::array{s.batch, s.from_height, s.to_width, s.channels}));
  TROUPE_ASSIGN(Tensor between, c.allocate_temp(DType::float32, between_shape));
  std::ranges::fill(between.mutable_data<float>(), 0.0F);
  float* half_way = between.mutable_data<float>().data();
  const float* from = c.input(0).data<float>().data();
  c.serial_for(
      s.batch * s.to_height, static_cast<double>(s.to_row()) * static_cast<double>(rows.size),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t y = row % s.to_height;
          float* line = half_way + (row / s.to_height * s.from_height + rows.start(y)) * s.to_row();
          for (std::int64_t i = 0; i < rows.length(y, s.from_height); ++i)
            for (std::int64_t x = 0; x < s.to_row(); ++x)
              line[i * s.to_row() + x] += rows.weights_of(y)[i] * from[row * s.to_row() + x];
        }
      });
  float* to = out.mutable_data<float>().data();
  c.parallel_for(s.batch * s.from_height,
                 static_cast<double>(s.to_row()) * static_cast<double>(columns.size),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row)
                     for (std::int64_t x = 0; x < s.to_width; ++x) {
                       const float* grad = half_way + row * s.to_row() + x * s.channels;
                       float* pixel = to + row * s.from_row() + columns.start(x) * s.channels;
                       for (std::int64_t i = 0; i < columns.length(x, s.from_width); ++i)
                         for (std::int64_t k = 0; k < s.channels; ++k)
                           pixel[i * s.channels + k] += columns.weights_of(x)[i] * grad[k];
                     }
                 });
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ScaleAndTranslate")
      .input("images: T; size: int32; scale: float; translation: float")
      .output("resized_images: float")
      .attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}")
      .attr("kernel_type: string = 'lanczos3'; antialias: bool = true")
      .shape_fn(image::infer_resize)
      .not_differentiable("ScaleAndTranslateGrad is its gradient; clients build it")
      .cpu_kernel(compute, image::resize_options(image::real_dtypes(), prepare))
      .doc("Images scaled, then moved, and resampled with a kernel.");
  library.op("ScaleAndTranslateGrad")
      .input("grads: T; original_image: T; scale: float; translation: float")
      .output("output: T")
      .attr("T: {float}")
      .attr("kernel_type: string = 'lanczos3'; antialias: bool = true")
      .shape_fn(image::infer_resize_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad, image::resize_options({DType::float32}, prepare))
      .doc("The gradient of ScaleAndTranslate.");
}

} // namespace troupe::image_scale_and_translate
