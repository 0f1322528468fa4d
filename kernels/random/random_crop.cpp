// RandomCrop: a part of an image at a random place, TensorFlow's for TensorFlow's seeds.
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/random/internal/draws.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::random_random_crop {
namespace {

Status compute(KernelContext& c) {
  const Tensor &image = c.input(0), &given = c.input(1);
  if (image.shape().rank() != 3)
    return invalid_argument(str_cat("input must be 3-dimensional", image.shape()));
  if (given.shape().rank() != 1)
    return invalid_argument(str_cat("shape_t must be 1-dimensional", given.shape()));
  if (given.num_elements() != 2)
    return invalid_argument(str_cat("shape_t must have two elements", given.shape()));
  const std::int64_t height = image.shape()[0], width = image.shape()[1];
  const std::int64_t to_height = given.data<std::int64_t>()[0],
                     to_width = given.data<std::int64_t>()[1];
  if (to_height < 0 || to_width < 0)
    return invalid_argument(
        str_cat("a crop of ", to_height, " times ", to_width, " pixels is none"));
  if (width < to_width)
    return failed_precondition(
        str_cat("width must be >= target_width: width = ", width, ", target_width = ", to_width));
  if (height < to_height)
    return failed_precondition(str_cat("height must be >= target_height: height = ", height,
                                       ", target_height = ", to_height));
  random::Words words(random::generator(c)->reserve(1));
  const auto offset = [&](std::int64_t from, std::int64_t to) {
    return from > to ? static_cast<std::int64_t>(words.next()) % (from - to + 1) : 0;
  };
  const std::int64_t left = offset(width, to_width), top = offset(height, to_height);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{to_height, to_width, image.shape()[2]}));
  const auto pixel = static_cast<std::size_t>(image.shape()[2]) * dtype_size(image.dtype());
  const auto* from = static_cast<const std::byte*>(image.raw());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  const std::size_t row = static_cast<std::size_t>(to_width) * pixel;
  if (row == 0)
    return {};
  for (std::int64_t y = 0; y < to_height; ++y)
    std::copy_n(from + static_cast<std::size_t>((y + top) * width + left) * pixel, row,
                to + static_cast<std::size_t>(y) * row);
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto image, shape_rules::dims_of_rank(c, 0, 3));
  TROUPE_TRY(c.require_rank(1, 1));
  const auto size = c.input_as_ints(1);
  if (!size || size->size() != 2)
    return c.set_output(0, {-1, -1, image[2]});
  for (std::int64_t n : *size)
    if (n < 0)
      return invalid_argument(
          str_cat("a crop of ", (*size)[0], " times ", (*size)[1], " pixels is none"));
  return c.set_output(0, {(*size)[0], (*size)[1], image[2]});
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.host_inputs = {"size"};
  library.op("RandomCrop")
      .input("image: T; size: int64")
      .output("output: T")
      .attr("T: {uint8, int8, int16, int32, int64, float, double}; seed: int = 0; seed2: int = 0")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(compute, options)
      .doc("A part of an image, of the given height and width, at a random place.");
}

} // namespace troupe::random_random_crop
