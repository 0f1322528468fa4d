// CropAndResize: boxes cut out of images and brought to one size; its gradients by images and
// boxes.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/image/internal/resize.hpp"

namespace troupe::image_crop_and_resize {
namespace {

struct Attrs {
  bool nearest = false;
  float outside = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const auto method, c.attr<std::string>("method"));
  return prepared(Attrs{method == "nearest", c.attrs().get_or("extrapolation_value", 0.0F)});
}

struct Sizes {
  std::int64_t batch = 0, height = 0, width = 0, depth = 0; // of images
  std::int64_t boxes = 0, crop_height = 0, crop_width = 0;

  std::int64_t image() const { return height * width * depth; }
  double cost_of_box() const {
    return 5.0 * static_cast<double>(crop_height * crop_width * depth) + 10;
  }
};

/// The boxes in inputs `at` and `at` + 1: corners y1, x1, y2, x2, and whose image each is of.
struct Boxes {
  std::span<const float> corners;
  std::span<const std::int32_t> images;
};

Result<Boxes> check_boxes(KernelContext& c, int at) {
  const Tensor &boxes = c.input(at), &images = c.input(at + 1);
  Boxes out{boxes.data<float>(), images.data<std::int32_t>()};
  if (boxes.num_elements() == 0 && images.num_elements() == 0)
    return out;
  if (boxes.shape().rank() != 2)
    return invalid_argument(str_cat("boxes must be 2-D", boxes.shape()));
  if (boxes.shape()[1] != 4)
    return invalid_argument("boxes must have 4 columns");
  if (images.shape().rank() != 1)
    return invalid_argument(str_cat("box_index must be 1-D", images.shape()));
  if (images.shape()[0] != boxes.shape()[0])
    return invalid_argument("box_index has incompatible shape");
  return out;
}

Status check_images(const Boxes& boxes, std::int64_t batch) {
  for (const std::int32_t image : boxes.images)
    if (image < 0 || image >= batch)
      return out_of_range("box_index has values outside [0, batch_size)");
  return {};
}

/// One dimension of a box: where the pixels of its crop lie in the image.
class Axis {
public:
  Axis(float from, float to, std::int64_t size, std::int64_t crop)
      : from_(from), to_(to), last_(size - 1), crop_(crop),
        step_(crop > 1 ? (to - from) * static_cast<float>(last_) / static_cast<float>(crop - 1)
                       : 0.0F) {}

  float place(std::int64_t i) const {
    if (crop_ > 1)
      return from_ * static_cast<float>(last_) + static_cast<float>(i) * step_;
    return static_cast<float>(0.5 * static_cast<double>(from_ + to_) * static_cast<double>(last_));
  }
  bool holds(float place) const { return place >= 0 && place <= static_cast<float>(last_); }
  std::int64_t lower(float place) const {
    return std::min(static_cast<std::int64_t>(std::floor(place)), last_);
  }
  std::int64_t upper(float place) const {
    return std::min(static_cast<std::int64_t>(std::ceil(place)), last_);
  }
  std::int64_t nearest(float place) const {
    return std::min(static_cast<std::int64_t>(std::round(place)), last_);
  }
  /// How much pixel i moves with the first edge and with the second.
  std::array<float, 2> moves(std::int64_t i) const {
    const auto last = static_cast<float>(last_);
    if (crop_ == 1)
      return {0.5F * last, 0.5F * last};
    const float second = static_cast<float>(i) * (last / static_cast<float>(crop_ - 1));
    return {last - second, second};
  }

private:
  float from_, to_;
  std::int64_t last_, crop_;
  float step_;
};

/// The four pixels around a place, as offsets in an image, and how far it is from the lower ones.
struct Around {
  std::int64_t top_left, top_right, bottom_left, bottom_right;
  float y, x;
};

Around around(const Sizes& s, const Axis& rows, const Axis& columns, float y, float x) {
  const std::int64_t top = rows.lower(y), bottom = rows.upper(y);
  const std::int64_t left = columns.lower(x), right = columns.upper(x);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return (row * s.width + column) * s.depth;
  };
  return {at(top, left),
          at(top, right),
          at(bottom, left),
          at(bottom, right),
          y - static_cast<float>(top),
          x - static_cast<float>(left)};
}

/// Calls body(pixel of the crop, rows, columns, y, x) for each pixel of box b; y and x are its
/// place.
template <class Body>
void for_each_pixel(const Sizes& s, const Boxes& boxes, std::int64_t b, Body body) {
  const float* box = boxes.corners.data() + 4 * b;
  const Axis rows(box[0], box[2], s.height, s.crop_height);
  const Axis columns(box[1], box[3], s.width, s.crop_width);
  for (std::int64_t i = 0; i < s.crop_height; ++i)
    for (std::int64_t j = 0; j < s.crop_width; ++j)
      body((b * s.crop_height + i) * s.crop_width + j, i, j, rows, columns);
}

template <class T>
void crop(const Sizes& s, const Attrs& attrs, const Boxes& boxes, std::int64_t b, const T* images,
          float* to) {
  const T* image = images + boxes.images[static_cast<std::size_t>(b)] * s.image();
  const auto value = [](T x) { return static_cast<float>(x); };
  for_each_pixel(s, boxes, b,
                 [&](std::int64_t pixel, std::int64_t i, std::int64_t j, const Axis& rows,
                     const Axis& columns) {
                   float* out = to + pixel * s.depth;
                   const float y = rows.place(i), x = columns.place(j);
                   if (!rows.holds(y) || !columns.holds(x)) {
                     std::fill_n(out, s.depth, attrs.outside);
                     return;
                   }
                   if (attrs.nearest) {
                     const T* from =
                         image + (rows.nearest(y) * s.width + columns.nearest(x)) * s.depth;
                     std::transform(from, from + s.depth, out, value);
                     return;
                   }
                   const Around a = around(s, rows, columns, y, x);
                   for (std::int64_t d = 0; d < s.depth; ++d) {
                     const float left = value(image[a.top_left + d]);
                     const float below = value(image[a.bottom_left + d]);
                     const float top = left + (value(image[a.top_right + d]) - left) * a.x;
                     const float bottom = below + (value(image[a.bottom_right + d]) - below) * a.x;
                     out[d] = top + (bottom - top) * a.y;
                   }
                 });
}

Status compute(KernelContext& c) {
  const Shape &images = c.input(0).shape(), &crop_size = c.input(3).shape();
  if (images.rank() != 4)
    return invalid_argument(str_cat("input image must be 4-D", images));
  if (images[1] <= 0 || images[2] <= 0)
    return invalid_argument("image dimensions must be positive");
  if (c.input(1).shape().rank() != 2)
    return invalid_argument(str_cat("boxes must be 2-D, got: ", c.input(1).shape()));
  if (c.input(2).shape().rank() != 1)
    return invalid_argument(
        str_cat("box_indices must be rank 1 but is shape ", c.input(2).shape()));
  TROUPE_ASSIGN(const Boxes boxes, check_boxes(c, 1));
  if (crop_size.rank() != 1)
    return invalid_argument(str_cat("crop_size must be 1-D", crop_size));
  if (crop_size[0] != 2)
    return invalid_argument(str_cat("crop_size must have two elements", crop_size));
  const auto size = c.input(3).data<std::int32_t>();
  if (size[0] <= 0 || size[1] <= 0)
    return invalid_argument("crop dimensions must be positive");
  if (!std::ranges::all_of(boxes.corners, [](float x) { return std::isfinite(x); }))
    return invalid_argument("Boxes contains at least one element that is not finite");
  const Sizes s{
      images[0], images[1], images[2], images[3], static_cast<std::int64_t>(boxes.images.size()),
      size[0],   size[1]};
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{s.boxes, s.crop_height, s.crop_width, s.depth}));
  TROUPE_TRY(check_images(boxes, s.batch));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  float* to = out.mutable_data<float>().data();
  return dispatch(image::Reals{}, c.input(0).dtype(), [&]<class T>() -> Status {
    const T* from = c.input(0).data<T>().data();
    c.parallel_for(s.boxes, s.cost_of_box(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        crop(s, c.prepared<Attrs>(), boxes, b, from, to);
    });
    return {};
  });
}

Status check_grads(const Shape& grads) {
  if (grads.rank() != 4)
    return invalid_argument(str_cat("grads image must be 4-D", grads));
  if (grads[1] <= 0 || grads[2] <= 0)
    return invalid_argument("grads dimensions must be positive");
  return {};
}

template <class T>
void spread(const Sizes& s, const Attrs& attrs, const Boxes& boxes, std::int64_t b,
            const float* grads, T* images) {
  T* image = images + boxes.images[static_cast<std::size_t>(b)] * s.image();
  for_each_pixel(s, boxes, b,
                 [&](std::int64_t pixel, std::int64_t i, std::int64_t j, const Axis& rows,
                     const Axis& columns) {
                   const float y = rows.place(i), x = columns.place(j);
                   if (!rows.holds(y) || !columns.holds(x))
                     return;
                   const float* grad = grads + pixel * s.depth;
                   if (attrs.nearest) {
                     T* at = image + (rows.nearest(y) * s.width + columns.nearest(x)) * s.depth;
                     for (std::int64_t d = 0; d < s.depth; ++d)
                       at[d] += static_cast<T>(grad[d]);
                     return;
                   }
                   const Around a = around(s, rows, columns, y, x);
                   for (std::int64_t d = 0; d < s.depth; ++d) {
                     const float top = (1 - a.y) * grad[d], bottom = a.y * grad[d];
                     image[a.top_left + d] += static_cast<T>((1 - a.x) * top);
                     image[a.top_right + d] += static_cast<T>(a.x * top);
                     image[a.bottom_left + d] += static_cast<T>((1 - a.x) * bottom);
                     image[a.bottom_right + d] += static_cast<T>(a.x * bottom);
                   }
                 });
}

Status compute_image_grad(KernelContext& c) {
  const Shape &grads = c.input(0).shape(), &image_size = c.input(3).shape();
  TROUPE_TRY(check_grads(grads));
  if (image_size.rank() != 1)
    return invalid_argument(str_cat("image_size must be 1-D", image_size));
  if (image_size[0] != 4)
    return invalid_argument(str_cat("image_size must have 4 elements", image_size));
  const auto size = c.input(3).data<std::int32_t>();
  TROUPE_ASSIGN(const Boxes boxes, check_boxes(c, 1));
  if (grads[0] != static_cast<std::int64_t>(boxes.images.size()))
    return invalid_argument("boxes and grads have incompatible shape");
  if (size[1] <= 0 || size[2] <= 0)
    return invalid_argument("image dimensions must be positive");
  if (grads[3] != size[3])
    return invalid_argument("image_size and grads are incompatible");
  const Sizes s{size[0], size[1], size[2], size[3], grads[0], grads[1], grads[2]};
  TROUPE_TRY(check_images(boxes, s.batch));
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(3)));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, shape)); // half is summed in float
  TROUPE_TRY(dispatch(Types<float, double>{}, out.dtype(), [&]<class T>() -> Status {
    std::ranges::fill(out.mutable_data<T>(), T{});
    if (c.input(0).num_elements() == 0)
      return {};
    const float* from = c.input(0).data<float>().data();
    T* to = out.mutable_data<T>().data();
    c.serial_for(s.boxes, s.cost_of_box(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        spread(s, c.prepared<Attrs>(), boxes, b, from, to);
    });
    return {};
  }));
  return narrow(c, 0, out);
}

template <class T>
void grad_of_box(const Sizes& s, const Boxes& boxes, std::int64_t b, const float* grads,
                 const T* images, float* to) {
  const T* image = images + boxes.images[static_cast<std::size_t>(b)] * s.image();
  const auto value = [&](std::int64_t at) { return static_cast<float>(image[at]); };
  std::fill_n(to, 4, 0.0F);
  for_each_pixel(
      s, boxes, b,
      [&](std::int64_t pixel, std::int64_t i, std::int64_t j, const Axis& rows,
          const Axis& columns) {
        const float y = rows.place(i), x = columns.place(j);
        if (!rows.holds(y) || !columns.holds(x))
          return;
        const Around a = around(s, rows, columns, y, x);
        const auto dy = rows.moves(i), dx = columns.moves(j);
        for (std::int64_t d = 0; d < s.depth; ++d) {
          const float top_left = value(a.top_left + d);
          const float top_right = value(a.top_right + d);
          const float bottom_left = value(a.bottom_left + d);
          const float bottom_right = value(a.bottom_right + d);
          const float grad = grads[pixel * s.depth + d];
          const float by_y =
              ((1 - a.x) * (bottom_left - top_left) + a.x * (bottom_right - top_right)) * grad;
          const float by_x =
              ((1 - a.y) * (top_right - top_left) + a.y * (bottom_right - bottom_left)) * grad;
          to[0] += by_y * dy[0];
          to[2] += by_y * dy[1];
          to[1] += by_x * dx[0];
          to[3] += by_x * dx[1];
        }
      });
}

Status compute_box_grad(KernelContext& c) {
  const Shape &grads = c.input(0).shape(), &images = c.input(1).shape();
  TROUPE_TRY(check_grads(grads));
  if (images.rank() != 4)
    return invalid_argument(str_cat("input image must be 4-D", images));
  if (images[1] <= 0 || images[2] <= 0)
    return invalid_argument("image dimensions must be positive");
  if (images[3] != grads[3])
    return invalid_argument("image, grads depth differ");
  TROUPE_ASSIGN(const Boxes boxes, check_boxes(c, 2));
  const auto count = static_cast<std::int64_t>(boxes.images.size());
  if (grads[0] != count)
    return invalid_argument("boxes and grads have incompatible shape");
  const Sizes s{images[0], images[1], images[2], images[3], count, grads[1], grads[2]};
  TROUPE_TRY(check_images(boxes, s.batch));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{count, 4}));
  float* to = out.mutable_data<float>().data();
  if (c.input(0).num_elements() == 0) {
    std::fill_n(to, 4 * count, 0.0F);
    return {};
  }
  return dispatch(image::Reals{}, c.input(1).dtype(), [&]<class T>() -> Status {
    const float* from = c.input(0).data<float>().data();
    const T* image = c.input(1).data<T>().data();
    c.parallel_for(s.boxes, s.cost_of_box(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        grad_of_box(s, boxes, b, from, image, to + 4 * b);
    });
    return {};
  });
}

/// How many boxes inputs `at` and `at` + 1 are.
Result<std::int64_t> infer_boxes(ShapeContext& c, int at) {
  TROUPE_ASSIGN(const auto boxes, shape_rules::dims_of_rank(c, at, 2));
  TROUPE_ASSIGN(const auto images, shape_rules::dims_of_rank(c, at + 1, 1));
  TROUPE_TRY(shape_rules::merge_dims(boxes[1], 4).status());
  return shape_rules::merge_dims(boxes[0], images[0]);
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto images, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const std::int64_t boxes, infer_boxes(c, 1));
  TROUPE_ASSIGN(const auto size, shape_rules::dims_of_rank(c, 3, 1));
  TROUPE_TRY(shape_rules::merge_dims(size[0], 2).status());
  std::vector<std::int64_t> out = {boxes, -1, -1, images[3]};
  if (const auto to = c.input_as_ints(3))
    for (std::size_t i = 0; i < 2; ++i)
      out[i + 1] = std::max<std::int64_t>((*to)[i], -1);
  return c.set_output(0, PartialShape(std::move(out)));
}

Status infer_image_grad(ShapeContext& c) {
  TROUPE_ASSIGN(const PartialShape out, c.input_as_shape(3));
  if (out.has_rank() && out.rank() != 4)
    return invalid_argument(str_cat("Shape must be rank 4 but is rank ", out.rank()));
  return c.set_output(0, out.has_rank() ? out : PartialShape{-1, -1, -1, -1});
}

Status infer_box_grad(ShapeContext& c) {
  TROUPE_ASSIGN(const std::int64_t boxes, infer_boxes(c, 2));
  return c.set_output(0, {boxes, 4});
}

constexpr auto reals = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("CropAndResize")
      .input("image: T; boxes: float; box_ind: int32; crop_size: int32")
      .output("crops: float")
      .attr(reals)
      .attr("method: {'bilinear', 'nearest'} = 'bilinear'; extrapolation_value: float = 0")
      .shape_fn(infer)
      .not_differentiable("two ops are its gradients; clients build them")
      .cpu_kernel(compute, image::resize_options(image::real_dtypes(), prepare))
      .doc("Boxes cut out of images and resampled to one size; corners are parts of the images.");
  library.op("CropAndResizeGradImage")
      .input("grads: float; boxes: float; box_ind: int32; image_size: int32")
      .output("output: T")
      .attr("T: {float, half, double}")
      .attr("method: {'bilinear', 'nearest'} = 'bilinear'")
      .shape_fn(infer_image_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_image_grad,
                  image::resize_options({DType::float32, DType::float16, DType::float64}, prepare))
      .doc("The gradient of CropAndResize by the images.");
  library.op("CropAndResizeGradBoxes")
      .input("grads: float; image: T; boxes: float; box_ind: int32")
      .output("output: float")
      .attr(reals)
      .attr("method: {'bilinear'} = 'bilinear'")
      .shape_fn(infer_box_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_box_grad, image::resize_options(image::real_dtypes(), prepare))
      .doc("The gradient of CropAndResize by the boxes.");
}

} // namespace troupe::image_crop_and_resize
