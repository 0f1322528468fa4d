// ImageProjectiveTransform: each pixel of the output is that of the input where a projection puts
// it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::image_projective_transform {
namespace {

using Pixels = Types<std::uint8_t, std::int32_t, std::int64_t, Half, BFloat16, float, double>;

enum class Fill : std::uint8_t { constant, reflect, wrap, nearest };

struct Attrs {
  bool bilinear = false;
  Fill fill = Fill::constant;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(const auto interpolation, c.attr<std::string>("interpolation"));
  TROUPE_ASSIGN(const auto fill, c.attr<std::string>("fill_mode"));
  out.bilinear = interpolation == "BILINEAR";
  if (!out.bilinear && interpolation != "NEAREST")
    return invalid_argument(
        str_cat("Invalid interpolation ", interpolation, ". Supported types: NEAREST, BILINEAR"));
  constexpr std::pair<std::string_view, Fill> modes[] = {{"CONSTANT", Fill::constant},
                                                         {"REFLECT", Fill::reflect},
                                                         {"WRAP", Fill::wrap},
                                                         {"NEAREST", Fill::nearest}};
  const auto* found = std::ranges::find(modes, fill, &std::pair<std::string_view, Fill>::first);
  if (found == std::end(modes))
    return invalid_argument(
        str_cat("Invalid mode ", fill, ". Supported types: REFLECT, WRAP, CONSTANT, NEAREST"));
  out.fill = found->second;
  return prepared(out);
}

/// A place outside of [0, size - 1] as the mode has it; constants are for what stays outside.
float inside(Fill fill, float at, std::int64_t size) {
  constexpr float far = 1e15F;
  const auto length = static_cast<float>(size), last = static_cast<float>(size - 1);
  if (fill == Fill::constant)
    return at;
  if (!(std::abs(at) < far))
    return std::isnan(at) || at < 0 ? 0 : last;
  const auto whole = [](float x) { return static_cast<float>(static_cast<std::int64_t>(x)); };
  if (fill != Fill::nearest && (at < 0 || at > last)) {
    if (size <= 1) {
      at = 0;
    } else if (fill == Fill::wrap) {
      at += at < 0 ? length * (whole(-at / last) + 1) : -length * whole(at / last);
    } else if (at < 0) {
      at += 2 * length * whole(-at / (2 * length));
      at = at < -length ? at + 2 * length : -at - 1;
    } else {
      at -= 2 * length * whole(at / (2 * length));
      if (at >= length)
        at = 2 * length - at - 1;
    }
  }
  return std::min(std::max(at, 0.0F), last);
}

template <class T>
T from_float(float x) {
  if constexpr (std::is_integral_v<T>) {
    constexpr auto least = static_cast<float>(std::numeric_limits<T>::min());
    constexpr auto most = static_cast<float>(std::numeric_limits<T>::max());
    if (!(x > least))
      return std::isnan(x) ? T{0} : std::numeric_limits<T>::min();
    return x >= most ? std::numeric_limits<T>::max() : static_cast<T>(x);
  } else {
    return T(x);
  }
}

struct Sizes {
  std::int64_t batch = 0, height = 0, width = 0, channels = 0, out_height = 0, out_width = 0;
};

/// One image; outside of it is `fill`.
template <class T>
struct Image {
  const Sizes& s;
  const T* pixels;
  T fill;

  T at(std::int64_t y, std::int64_t x, std::int64_t k) const {
    if (y < 0 || y >= s.height || x < 0 || x >= s.width)
      return fill;
    return pixels[(y * s.width + x) * s.channels + k];
  }
  T nearest(float y, float x, std::int64_t k) const {
    return at(static_cast<std::int64_t>(std::round(y)), static_cast<std::int64_t>(std::round(x)),
              k);
  }
  T between(float y, float x, std::int64_t k) const {
    const float top = std::floor(y), left = std::floor(x), bottom = top + 1, right = left + 1;
    const auto row = [&](float line) {
      const auto i = static_cast<std::int64_t>(line), j = static_cast<std::int64_t>(left);
      return (right - x) * static_cast<float>(at(i, j, k)) +
             (x - left) * static_cast<float>(at(i, j + 1, k));
    };
    return from_float<T>((bottom - y) * row(top) + (y - top) * row(bottom));
  }
};

template <class T>
void transform(const Attrs& a, const Image<T>& image, const float* t, std::int64_t y,
               std::int64_t x, T* to) {
  constexpr float far = 1e15F;
  const auto row = static_cast<float>(y), column = static_cast<float>(x);
  const float projection = t[6] * column + t[7] * row + 1;
  const float at_x =
      inside(a.fill, (t[0] * column + t[1] * row + t[2]) / projection, image.s.width);
  const float at_y =
      inside(a.fill, (t[3] * column + t[4] * row + t[5]) / projection, image.s.height);
  const bool is_somewhere = projection != 0 && std::abs(at_x) < far && std::abs(at_y) < far;
  for (std::int64_t k = 0; k < image.s.channels; ++k)
    to[k] = !is_somewhere ? image.fill
            : a.bilinear  ? image.between(at_y, at_x, k)
                          : image.nearest(at_y, at_x, k);
}

Status compute(KernelContext& c) {
  const Shape &images = c.input(0).shape(), &transforms = c.input(1).shape();
  if (images.rank() != 4)
    return invalid_argument("Input images must have rank 4");
  if (transforms.rank() != 2 || (transforms[0] != images[0] && transforms[0] != 1) ||
      transforms[1] != 8)
    return invalid_argument("Input transform should be num_images x 8 or 1 x 8");
  const Shape& size = c.input(2).shape();
  if (size.rank() != 1)
    return invalid_argument(str_cat("output shape must be 1-dimensional", size));
  if (size[0] != 2)
    return invalid_argument(str_cat("output shape must have two elements", size));
  const auto to_size = c.input(2).data<std::int32_t>();
  if (to_size[0] <= 0 || to_size[1] <= 0)
    return invalid_argument("output dimensions must be positive");
  float fill = 0;
  if (c.num_inputs() > 3) {
    if (!c.input(3).shape().is_scalar())
      return invalid_argument(str_cat("fill_value must be a scalar", c.input(3).shape()));
    fill = c.input(3).value<float>();
  }
  const Sizes s{images[0], images[1], images[2], images[3], to_size[0], to_size[1]};
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{s.batch, s.out_height, s.out_width, s.channels}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  const auto& attrs = c.prepared<Attrs>();
  const float* matrices = c.input(1).data<float>().data();
  return dispatch(Pixels{}, out.dtype(), [&]<class T>() -> Status {
    const T* from = c.input(0).data<T>().data();
    T* to = out.mutable_data<T>().data();
    const double cost = 20.0 * static_cast<double>(s.out_width * s.channels);
    c.parallel_for(s.batch * s.out_height, cost, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t b = row / s.out_height;
        const Image<T> image{s, from + b * s.height * s.width * s.channels, from_float<T>(fill)};
        const float* matrix = matrices + (transforms[0] == 1 ? 0 : b * 8);
        for (std::int64_t x = 0; x < s.out_width; ++x)
          transform(attrs, image, matrix, row % s.out_height, x,
                    to + (row * s.out_width + x) * s.channels);
      }
    });
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(auto out, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const auto size, shape_rules::dims_of_rank(c, 2, 1));
  TROUPE_TRY(shape_rules::merge_dims(size[0], 2).status());
  const auto to = c.input_as_ints(2);
  for (std::size_t i = 0; i < 2; ++i)
    out[i + 1] = to && (*to)[i] >= 0 ? (*to)[i] : shape_rules::unknown_dim;
  return c.set_output(0, PartialShape(std::move(out)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"dtype",
                    {DType::uint8, DType::int32, DType::int64, DType::float16, DType::bfloat16,
                     DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  for (const bool third : {false, true})
    library.op(third ? "ImageProjectiveTransformV3" : "ImageProjectiveTransformV2")
        .input(third ? "images: dtype; transforms: float; output_shape: int32; fill_value: float"
                     : "images: dtype; transforms: float; output_shape: int32")
        .output("transformed_images: dtype")
        .attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
        .attr("interpolation: string; fill_mode: string = 'CONSTANT'")
        .shape_fn(infer)
        .not_differentiable("clients build its gradient of the inverse projection")
        .cpu_kernel(compute, options)
        .doc(third ? "The same; what is outside has a value that is given."
                   : "Images seen through a projection, one for each or one for all.");
}

} // namespace troupe::image_projective_transform
