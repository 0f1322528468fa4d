// CombinedNonMaxSuppression: for each image, the best boxes of all classes; boxes of one class that
// overlap exclude each other.
#include <algorithm>
#include <array>
#include <queue>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/image/internal/boxes.hpp"

namespace troupe::image_combined_non_max_suppression {
namespace {

struct Sizes {
  std::int64_t batch = 0, boxes = 0, kinds = 0,
               classes = 0;              ///< kinds of boxes: 1, or one each class
  std::int64_t per_class = 0, total = 0; ///< detections at most
  float overlap = 0, score = 0;
};

/// A place for a detection; `box` is -1 in those that stay empty, whose score is -1 as
/// TensorFlow's.
struct Detection {
  std::int64_t box = -1;
  float score = -1;
  std::int64_t label = -1;
  std::array<float, 4> corners = {};
};

struct Candidate {
  std::int64_t box;
  float score;
  bool operator<(const Candidate& other) const { return score < other.score; }
};

/// Fills the places of one class.
void detect(const KernelContext& c, const Sizes& s, std::int64_t label, const float* boxes,
            const float* scores, Detection* to) {
  const auto corners = [&](std::int64_t i) {
    return boxes + (i * s.kinds + (s.kinds > 1 ? label : 0)) * 4;
  };
  std::priority_queue<Candidate> queue;
  for (std::int64_t i = 0; i < s.boxes; ++i)
    if (const float score = scores[i * s.classes + label]; score > s.score)
      queue.push({i, score});
  std::int64_t count = 0;
  std::size_t compared = 0;
  for (; count < s.per_class && !queue.empty(); queue.pop()) {
    const Candidate next = queue.top();
    const image::Box box(corners(next.box));
    bool is_free = true;
    for (std::int64_t j = count; j > 0 && is_free; --j) {
      if (++compared % 65536 == 0)
        c.stop_if_cancelled();
      is_free =
          !(image::intersection_over_union(box, image::Box(to[j - 1].corners.data())) > s.overlap);
    }
    if (!is_free)
      continue;
    Detection& place = to[count++];
    place.box = next.box;
    place.score = next.score;
    place.label = label;
    std::copy_n(corners(next.box), 4, place.corners.begin());
  }
}

Status check_scalar(KernelContext& c, int i, std::string_view name) {
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(str_cat(name, " must be 0-D, got shape ", c.input(i).shape()));
  return {};
}

Result<Sizes> sizes(KernelContext& c) {
  const Shape &boxes = c.input(0).shape(), &scores = c.input(1).shape();
  if (boxes.rank() == 0 || scores.rank() == 0 || boxes[0] != scores[0])
    return invalid_argument("boxes and scores must have same batch size");
  constexpr const char* names[] = {"max_size_per_class", "max_total_size", "iou_threshold",
                                   "score_threshold"};
  for (int i = 0; i < 4; ++i)
    TROUPE_TRY(check_scalar(c, i + 2, names[i]));
  if (boxes.rank() != 4)
    return invalid_argument(str_cat("boxes must be 4-D", boxes));
  if (scores.rank() != 3)
    return invalid_argument(str_cat("scores must be 3-D", scores));
  Sizes s{boxes[0],
          boxes[1],
          boxes[2],
          scores[2],
          c.input(2).value<std::int32_t>(),
          c.input(3).value<std::int32_t>(),
          c.input(4).value<float>(),
          c.input(5).value<float>()};
  if (s.per_class <= 0)
    return invalid_argument("max_size_per_class must be positive");
  if (s.total <= 0)
    return invalid_argument("max_total_size must be > 0");
  if (!(s.overlap >= 0 && s.overlap <= 1))
    return invalid_argument("iou_threshold must be in [0, 1]");
  if (s.kinds != 1 && s.kinds != s.classes)
    return invalid_argument("third dimension of boxes must be either 1 or num classes");
  if (boxes[3] != 4)
    return invalid_argument("boxes must have 4 columns");
  if (scores[1] != s.boxes)
    return invalid_argument("scores has incompatible shape");
  return s;
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(Sizes s, sizes(c));
  const bool pads_per_class = c.attrs().get_or("pad_per_class", false);
  const bool clips = c.attrs().get_or("clip_boxes", true);
  TROUPE_ASSIGN(const std::int64_t all_classes, shape_rules::multiply_dims(s.per_class, s.classes));
  const std::int64_t rows = pads_per_class ? std::min(s.total, all_classes) : s.total;
  TROUPE_ASSIGN(const Shape boxes_shape, Shape::make(std::array{s.batch, rows, std::int64_t{4}}));
  TROUPE_ASSIGN(Tensor boxes, c.allocate_output(0, boxes_shape));
  TROUPE_ASSIGN(Tensor scores, c.allocate_output(1, Shape{s.batch, rows}));
  TROUPE_ASSIGN(Tensor labels, c.allocate_output(2, Shape{s.batch, rows}));
  TROUPE_ASSIGN(Tensor valid, c.allocate_output(3, Shape{s.batch}));
  for (Tensor* out : {&boxes, &scores, &labels})
    std::ranges::fill(out->mutable_data<float>(), 0.0F);
  s.per_class = std::min(s.per_class, s.boxes);
  float *box_to = boxes.mutable_data<float>().data(),
        *score_to = scores.mutable_data<float>().data();
  float* label_to = labels.mutable_data<float>().data();
  for (std::int64_t b = 0; b < s.batch; ++b) {
    std::vector<Detection> places(static_cast<std::size_t>(s.per_class * s.classes));
    const float* box_from = c.input(0).data<float>().data() + b * s.boxes * s.kinds * 4;
    const float* score_from = c.input(1).data<float>().data() + b * s.boxes * s.classes;
    c.parallel_for(
        s.classes, 100.0 * static_cast<double>(s.boxes), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t label = begin; label < end; ++label)
            detect(c, s, label, box_from, score_from, places.data() + label * s.per_class);
        });
    const std::int64_t found = std::ranges::count_if(
        places, [](const Detection& detection) { return detection.box >= 0; });
    std::ranges::sort(places, std::greater<>(), &Detection::score);
    const std::int64_t count = std::min(rows, found);
    for (std::int64_t i = 0; i < count; ++i) {
      const Detection& detection = places[static_cast<std::size_t>(i)];
      for (const float corner : detection.corners)
        *box_to++ = clips ? std::max(std::min(corner, 1.0F), 0.0F) : corner;
      *score_to++ = detection.score;
      *label_to++ = static_cast<float>(detection.label);
    }
    box_to += (rows - count) * 4;
    score_to += rows - count;
    label_to += rows - count;
    valid.mutable_data<std::int32_t>()[static_cast<std::size_t>(b)] =
        static_cast<std::int32_t>(count);
  }
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto boxes, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const auto scores, shape_rules::dims_of_rank(c, 1, 3));
  for (int i = 2; i < 6; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  TROUPE_ASSIGN(const std::int64_t batch, shape_rules::merge_dims(boxes[0], scores[0]));
  TROUPE_TRY(shape_rules::merge_dims(boxes[1], scores[1]).status());
  TROUPE_TRY(shape_rules::merge_dims(boxes[3], 4).status());
  const auto per_class = c.input_as_ints(2), total = c.input_as_ints(3);
  std::int64_t rows = shape_rules::unknown_dim;
  if (!c.attrs().get_or("pad_per_class", false)) {
    if (total && (*total)[0] > 0)
      rows = (*total)[0];
  } else if (per_class && total && (*per_class)[0] > 0 && (*total)[0] > 0) {
    TROUPE_ASSIGN(const std::int64_t all, shape_rules::multiply_dims((*per_class)[0], scores[2]));
    rows = all == shape_rules::unknown_dim ? all : std::min(all, (*total)[0]);
  }
  TROUPE_TRY(c.set_output(0, {batch, rows, 4}));
  TROUPE_TRY(c.set_output(1, {batch, rows}));
  TROUPE_TRY(c.set_output(2, {batch, rows}));
  return c.set_output(3, {batch});
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("CombinedNonMaxSuppression")
      .input("boxes: float; scores: float; max_output_size_per_class: int32; "
             "max_total_size: int32; iou_threshold: float; score_threshold: float")
      .output("nmsed_boxes: float; nmsed_scores: float; nmsed_classes: float; "
              "valid_detections: int32")
      .attr("pad_per_class: bool = false; clip_boxes: bool = true")
      .shape_fn(infer)
      .not_differentiable("boxes are chosen, not computed")
      .cpu_kernel(compute, options)
      .doc("The best boxes of all classes of each image, without those that overlap better ones of "
           "their class.");
}

} // namespace troupe::image_combined_non_max_suppression
