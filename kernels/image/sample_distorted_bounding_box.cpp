// SampleDistortedBoundingBox: a part of an image, drawn with an area and an aspect ratio within
// bounds, that covers enough of one of the boxes; TensorFlow's numbers for TensorFlow's seeds.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::image_sample_distorted_bounding_box {
namespace {

struct Attrs {
  float covered = 0; ///< of SampleDistortedBoundingBox; the others' is an input
  std::vector<float> aspect_ratio, area;
  std::int64_t attempts = 100;
  bool may_use_image = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  out.covered = c.attrs().get_or("min_object_covered", 0.0F);
  if (!(out.covered >= 0))
    return invalid_argument(str_cat("Min object covered must be non-negative: ", out.covered));
  TROUPE_ASSIGN(out.may_use_image, c.attr<bool>("use_image_if_no_bounding_boxes"));
  TROUPE_ASSIGN(out.aspect_ratio, c.attr<std::vector<float>>("aspect_ratio_range"));
  if (out.aspect_ratio.size() != 2)
    return invalid_argument("Aspect ratio range field must specify 2 dimensions");
  if (!(out.aspect_ratio[0] > 0 && out.aspect_ratio[1] > 0))
    return invalid_argument(str_cat("Aspect ratio range must be non-negative: [",
                                    out.aspect_ratio[0], ", ", out.aspect_ratio[1], "]"));
  TROUPE_ASSIGN(out.area, c.attr<std::vector<float>>("area_range"));
  if (out.area.size() != 2)
    return invalid_argument("Area range field must specify 2 dimensions");
  if (!(out.area[0] > 0 && out.area[1] > 0))
    return invalid_argument(
        str_cat("Area range must be non-negative: [", out.area[0], ", ", out.area[1], "]"));
  if (!(out.area[0] <= 1 && out.area[1] <= 1))
    return invalid_argument(str_cat("Area range must be less then or equal to 1.0: [", out.area[0],
                                    ", ", out.area[1], "]"));
  TROUPE_ASSIGN(out.attempts, c.attr<std::int64_t>("max_attempts"));
  if (out.attempts <= 0 || out.attempts > INT32_MAX)
    return invalid_argument(str_cat("Max attempts must be non-negative: ", out.attempts));
  return prepared(std::move(out));
}

/// Words of a generator, one after the other.
class Words {
public:
  explicit Words(const arith::Philox& generator) : generator_(generator) {}
  std::uint32_t next() {
    if (used_ == block_.size()) {
      block_ = generator_.next();
      used_ = 0;
    }
    return block_[used_++];
  }
  /// In [0, 1).
  float unit() { return std::bit_cast<float>((127U << 23) | (next() & 0x7FFFFFU)) - 1.0F; }
  /// In [0, n), each as likely: words below 2^32 mod n are drawn again.
  std::int64_t below(std::int64_t n) {
    const auto count = static_cast<std::uint32_t>(n);
    if (count == 0)
      return 0;
    if (std::has_single_bit(count))
      return next() & (count - 1);
    const std::uint32_t rest = UINT32_MAX % count + 1;
    for (;;)
      if (const std::uint32_t word = next(); word >= rest)
        return word % count;
  }

private:
  arith::Philox generator_;
  arith::Philox::Block block_ = {};
  std::size_t used_ = 4;
};

struct Rectangle {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;

  float area() const { return static_cast<float>((right - left) * (bottom - top)); }
  Rectangle both(const Rectangle& other) const {
    const Rectangle out{std::max(left, other.left), std::max(top, other.top),
                        std::min(right, other.right), std::min(bottom, other.bottom)};
    return out.left > out.right || out.top > out.bottom ? Rectangle() : out;
  }
};

std::int64_t rounded(float x) {
  constexpr float most = 2e9F;
  return std::isnan(x) ? 0 : std::lrint(std::clamp(x, -most, most));
}

/// A rectangle within the image; false if there is none of that aspect ratio and such an area.
bool draw(std::int64_t width, std::int64_t height, const Attrs& a, float ratio, Words& words,
          Rectangle& out) {
  if (width <= 0 || height <= 0 || a.area[0] > a.area[1])
    return false;
  const float least = a.area[0] * static_cast<float>(width) * static_cast<float>(height);
  const float most = a.area[1] * static_cast<float>(width) * static_cast<float>(height);
  const auto width_of = [&](std::int64_t h) { return rounded(static_cast<float>(h) * ratio); };
  std::int64_t h = rounded(std::sqrt(least / ratio)), tallest = rounded(std::sqrt(most / ratio));
  if (width_of(tallest) > width) {
    constexpr float nearly = 0.0000001F;
    const double limit = (static_cast<double>(width) + 0.5 - static_cast<double>(nearly)) /
                         static_cast<double>(ratio);
    tallest = static_cast<std::int64_t>(std::min(limit, 2e9));
    if (width_of(tallest) > width)
      --tallest;
  }
  tallest = std::min(tallest, height);
  h = std::min(h, tallest);
  if (h < tallest)
    h += words.below(tallest - h + 1);
  std::int64_t w = width_of(h);
  const auto area = [&] { return static_cast<float>(w * h); };
  if (area() < least)
    w = width_of(++h);
  if (area() > most)
    w = width_of(--h);
  if (area() < least || area() > most || w > width || h > height || w <= 0 || h <= 0)
    return false;
  out.top = h < height ? words.below(height - h) : 0;
  out.left = w < width ? words.below(width - w) : 0;
  out.right = out.left + w;
  out.bottom = out.top + h;
  return true;
}

bool covers(const Rectangle& part, float covered, const std::vector<Rectangle>& boxes) {
  return part.area() >= 1 && std::ranges::any_of(boxes, [&](const Rectangle& box) {
           return box.area() >= 1 && part.both(box).area() / box.area() >= covered;
         });
}

Result<std::vector<Rectangle>> read_boxes(KernelContext& c, std::int64_t width,
                                          std::int64_t height) {
  const Shape& shape = c.input(1).shape();
  if (shape.rank() != 3)
    return invalid_argument(
        str_cat("input boxes must be 3-dimensional [batch, num_boxes, coords]: ", shape));
  if (shape[2] != 4)
    return invalid_argument(str_cat("bounding boxes must have shape [4] or [*, 4], got ", shape));
  const auto corners = c.input(1).data<float>();
  std::vector<Rectangle> out;
  for (std::size_t i = 0; i < corners.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k)
      if (!(corners[i + k] >= 0 && corners[i + k] <= 1))
        return invalid_argument(
            str_cat("All bounding box coordinates must be in [0.0, 1.0]: ", corners[i + k]));
    const auto place = [](float part, std::int64_t size) {
      return static_cast<std::int64_t>(part * static_cast<float>(size));
    };
    out.push_back({place(corners[i + 1], width), place(corners[i], height),
                   place(corners[i + 3], width), place(corners[i + 2], height)});
  }
  if (out.empty()) {
    if (!c.prepared<Attrs>().may_use_image)
      return invalid_argument(
          "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
          "you wish to not provide any bounding boxes.");
    out.push_back({0, 0, width, height});
  }
  return out;
}

Result<float> read_covered(KernelContext& c) {
  if (c.num_inputs() < 3)
    return c.prepared<Attrs>().covered;
  const Tensor& covered = c.input(2);
  if (!covered.shape().is_scalar())
    return invalid_argument(str_cat("min_object_covered must be 0-D, got shape ", covered.shape()));
  if (!(covered.value<float>() >= 0))
    return invalid_argument(
        str_cat("Min object covered must be non-negative: ", covered.value<float>()));
  return covered.value<float>();
}

using Integral = Types<std::int32_t, std::uint8_t, std::int16_t, std::int8_t, std::int64_t,
                       std::uint16_t, std::uint32_t, std::uint64_t>;

Status give(KernelContext& c, const Rectangle& part, std::int64_t width, std::int64_t height) {
  TROUPE_ASSIGN(Tensor begin, c.allocate_output(0, Shape{3}));
  TROUPE_ASSIGN(Tensor size, c.allocate_output(1, Shape{3}));
  TROUPE_ASSIGN(Tensor box, c.allocate_output(2, Shape{1, 1, 4}));
  const auto corners = box.mutable_data<float>();
  const auto share = [](std::int64_t a, std::int64_t b) {
    return static_cast<float>(a) / static_cast<float>(b);
  };
  corners[0] = share(part.top, height);
  corners[1] = share(part.left, width);
  corners[2] = share(part.bottom, height);
  corners[3] = share(part.right, width);
  return dispatch(Integral{}, begin.dtype(), [&]<class T>() -> Status {
    const auto from = begin.mutable_data<T>(), count = size.mutable_data<T>();
    from[0] = static_cast<T>(part.top);
    from[1] = static_cast<T>(part.left);
    from[2] = T{0};
    count[0] = static_cast<T>(part.bottom - part.top);
    count[1] = static_cast<T>(part.right - part.left);
    count[2] = static_cast<T>(-1); // all channels
    return {};
  });
}

Status sample(KernelContext& c, const arith::Philox& start) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() != 1)
    return invalid_argument(str_cat("image_size must be 1-dimensional", shape));
  if (shape[0] != 3)
    return invalid_argument(str_cat("image_size must contain 3 elements", shape));
  std::uint64_t height = 0, width = 0;
  TROUPE_TRY(dispatch(Integral{}, c.input(0).dtype(), [&]<class T>() -> Status {
    height = static_cast<std::uint64_t>(c.input(0).data<T>()[0]);
    width = static_cast<std::uint64_t>(c.input(0).data<T>()[1]);
    return {};
  }));
  if (height >= INT32_MAX)
    return invalid_argument("image height cannot be >= int32 max");
  if (width >= INT32_MAX)
    return invalid_argument("image width cannot be >= int32 max");
  const auto h = static_cast<std::int64_t>(height), w = static_cast<std::int64_t>(width);
  TROUPE_ASSIGN(const float covered, read_covered(c));
  TROUPE_ASSIGN(const std::vector<Rectangle> boxes, read_boxes(c, w, h));
  const auto& a = c.prepared<Attrs>();
  Words words(start);
  Rectangle part;
  bool is_found = false;
  for (std::int64_t i = 0; i < a.attempts && !is_found; ++i) {
    if (i % 1024 == 1023)
      c.stop_if_cancelled();
    const float ratio = words.unit() * (a.aspect_ratio[1] - a.aspect_ratio[0]) + a.aspect_ratio[0];
    is_found = draw(w, h, a, ratio, words, part) && covers(part, covered, boxes);
  }
  if (!is_found)
    part = {0, 0, w, h};
  return give(c, part, w, h);
}

Status compute(KernelContext& c) {
  return sample(
      c, random::generator(c)->reserve(static_cast<std::uint64_t>(c.prepared<Attrs>().attempts)));
}

Status compute_stateless(KernelContext& c) {
  const Tensor& seed = c.input(3);
  if (seed.shape() != Shape{2})
    return invalid_argument(str_cat("seed must have shape [2], not ", seed.shape()));
  TROUPE_ASSIGN(const Integers values, integers(seed));
  return sample(c, arith::Philox::from_stateless_seed(static_cast<std::uint64_t>(values[0]),
                                                      static_cast<std::uint64_t>(values[1])));
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto size, shape_rules::dims_of_rank(c, 0, 1));
  TROUPE_TRY(shape_rules::merge_dims(size[0], 3).status());
  TROUPE_ASSIGN(const auto boxes, shape_rules::dims_of_rank(c, 1, 3));
  TROUPE_TRY(shape_rules::merge_dims(boxes[2], 4).status());
  if (c.num_inputs() > 2)
    TROUPE_TRY(c.require_rank(2, 0));
  if (c.num_inputs() > 3) {
    TROUPE_ASSIGN(const auto seed, shape_rules::dims_of_rank(c, 3, 1));
    TROUPE_TRY(shape_rules::merge_dims(seed[0], 2).status());
  }
  TROUPE_TRY(c.set_output(0, {3}));
  TROUPE_TRY(c.set_output(1, {3}));
  return c.set_output(2, {1, 1, 4});
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T",
                    {DType::int32, DType::uint8, DType::int16, DType::int8, DType::int64,
                     DType::uint16, DType::uint32, DType::uint64}}};
  options.prepare = prepare;
  options.expensive = true;
  constexpr auto integral = "T: {uint8, int8, int16, int32, int64}";
  constexpr auto seeds = "seed: int = 0; seed2: int = 0";
  constexpr auto outputs = "begin: T; size: T; bboxes: float";
  constexpr auto ranges =
      "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1]; "
      "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false";
  constexpr auto drawn = "what is drawn depends on no number";
  library.op("SampleDistortedBoundingBox")
      .input("image_size: T; bounding_boxes: float")
      .output(outputs)
      .attr(integral)
      .attr(seeds)
      .attr("min_object_covered: float = 0.1")
      .attr(ranges)
      .stateful()
      .shape_fn(infer)
      .not_differentiable(drawn)
      .cpu_kernel(compute, options)
      .doc("A part of an image, drawn so that it covers enough of one of the boxes.");
  library.op("SampleDistortedBoundingBoxV2")
      .input("image_size: T; bounding_boxes: float; min_object_covered: float")
      .output(outputs)
      .attr(integral)
      .attr(seeds)
      .attr(ranges)
      .stateful()
      .shape_fn(infer)
      .not_differentiable(drawn)
      .cpu_kernel(compute, options)
      .doc("The same; how much it covers is an input.");
  library.op("StatelessSampleDistortedBoundingBox")
      .input("image_size: T; bounding_boxes: float; min_object_covered: float; seed: Tseed")
      .output(outputs)
      .attr(integral)
      .attr("Tseed: {int32, int64}")
      .attr(ranges)
      .shape_fn(infer)
      .not_differentiable(drawn)
      .cpu_kernel(compute_stateless, options)
      .doc("The same with a seed that is an input.");
}

} // namespace troupe::image_sample_distorted_bounding_box
