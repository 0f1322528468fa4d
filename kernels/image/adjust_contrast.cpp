// AdjustContrast and AdjustContrastv2: each channel of each image moves away from its mean.
#include <algorithm>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::image_adjust_contrast {
namespace {

Status check_scalar(KernelContext& c, int i, std::string_view name) {
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(str_cat(name, " must be scalar: ", c.input(i).shape()));
  return {};
}

struct Bounds {
  float least = 0, most = 0;
};

/// (x - mean) * factor + mean, within the bounds if there are any.
template <class T>
Status adjust(KernelContext& c, const Bounds* bounds) {
  const Shape& shape = c.input(0).shape();
  const int rank = shape.rank();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  const std::int64_t pixels = shape[rank - 3] * shape[rank - 2], channels = shape[rank - 1];
  const float factor = c.input(1).value<float>();
  const T* x = c.input(0).data<T>().data();
  float* y = out.mutable_data<float>().data();
  c.parallel_for(
      out.num_elements() / (pixels * channels), 3.0 * static_cast<double>(pixels * channels),
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> sums(static_cast<std::size_t>(channels));
        for (std::int64_t image = begin; image < end; ++image) {
          const T* from = x + image * pixels * channels;
          float* to = y + image * pixels * channels;
          std::ranges::fill(sums, 0.0);
          for (std::int64_t p = 0; p < pixels; ++p)
            for (std::size_t k = 0; k < sums.size(); ++k)
              sums[k] += static_cast<double>(*from++);
          from -= pixels * channels;
          for (std::int64_t p = 0; p < pixels; ++p)
            for (const double sum : sums) {
              const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
              const float value = (static_cast<float>(*from++) - mean) * factor + mean;
              *to++ = bounds ? std::max(std::min(value, bounds->most), bounds->least) : value;
            }
        }
      });
  return {};
}

Status check(KernelContext& c) {
  if (c.input(0).shape().rank() < 3)
    return invalid_argument(str_cat("input must be at least 3-D, got shape", c.input(0).shape()));
  return check_scalar(c, 1, "contrast_factor");
}

Status compute(KernelContext& c) {
  TROUPE_TRY(check(c));
  return adjust<float>(c, nullptr);
}

Status compute_within_bounds(KernelContext& c) {
  TROUPE_TRY(check(c));
  TROUPE_TRY(check_scalar(c, 2, "min_value"));
  TROUPE_TRY(check_scalar(c, 3, "max_value"));
  const Bounds bounds{c.input(2).value<float>(), c.input(3).value<float>()};
  return dispatch(Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t>{},
                  c.input(0).dtype(), [&]<class T>() -> Status { return adjust<T>(c, &bounds); });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 3));
  return c.output_like(0, 0);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32}}};
  options.expensive = true;
  library.op("AdjustContrastv2")
      .input("images: T; contrast_factor: float")
      .output("output: T")
      .attr("T: {half, float} = DT_FLOAT")
      .shape_fn(infer)
      .not_differentiable("TensorFlow has no gradient of it")
      .cpu_kernel(compute, options)
      .doc("Images whose channels are `contrast_factor` times as far from their mean.");
  options.types[0].dtypes = {DType::float32, DType::float64, DType::int32,
                             DType::uint8,   DType::int16,   DType::int8};
  library.op("AdjustContrast")
      .input("images: T; contrast_factor: float; min_value: float; max_value: float")
      .output("output: float")
      .attr("T: {uint8, int8, int16, int32, int64, float, double}")
      .shape_fn(infer)
      .not_differentiable("TensorFlow has no gradient of it")
      .cpu_kernel(compute_within_bounds, options)
      .doc("The same, within bounds; the old form, which clients no longer build.");
}

} // namespace troupe::image_adjust_contrast
