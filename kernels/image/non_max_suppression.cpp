// NonMaxSuppression: of boxes that overlap the one with the highest score is taken. V5 can lower
// the scores of the others instead (Bodla et al., "Soft-NMS", 2017).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/image/internal/boxes.hpp"

namespace troupe::image_non_max_suppression {
namespace {

struct Limits {
  std::int64_t most = 0;
  float overlap = 0.5F, score = std::numeric_limits<float>::lowest(), sigma = 0;
};

struct Selected {
  std::vector<std::int32_t> boxes;
  std::vector<float> scores;
};

struct Candidate {
  std::int32_t box = 0;
  float score = 0;
  std::size_t seen = 0; ///< how many of the selected ones it was compared with

  bool operator<(const Candidate& other) const {
    return score < other.score || (score == other.score && box > other.box);
  }
};

/// As the dtype of the scores has it.
float rounded(DType dtype, float x) {
  return dtype == DType::float16 ? static_cast<float>(Half(x)) : x;
}

/// overlap(i, j) of two boxes. Scores are those of `dtype`, in float.
template <class Overlap>
Selected select(KernelContext& c, DType dtype, std::span<const float> scores, const Limits& limits,
                Overlap overlap) {
  std::priority_queue<Candidate> queue;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > limits.score)
      queue.push({static_cast<std::int32_t>(i), scores[i], 0});
  const bool is_soft = limits.sigma > 0;
  const float scale = is_soft ? rounded(dtype, -0.5F / limits.sigma) : 0;
  Selected out;
  std::size_t compared = 0;
  while (static_cast<std::int64_t>(out.boxes.size()) < limits.most && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const float before = next.score;
    bool is_suppressed = false;
    for (std::size_t j = out.boxes.size(); j > next.seen && !is_suppressed; --j) {
      if (++compared % 65536 == 0)
        c.stop_if_cancelled();
      const float part = rounded(dtype, overlap(next.box, out.boxes[j - 1]));
      if (is_soft)
        next.score = rounded(dtype, next.score * rounded(dtype, std::exp(scale * part * part)));
      else
        is_suppressed = !(part <= limits.overlap);
      if (next.score <= limits.score)
        break;
    }
    next.seen = out.boxes.size();
    if (is_suppressed)
      continue;
    if (next.score == before) {
      out.boxes.push_back(next.box);
      out.scores.push_back(next.score);
    } else if (next.score > limits.score) {
      queue.push(next);
    }
  }
  return out;
}

Result<float> scalar(KernelContext& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  if (!t.shape().is_scalar())
    return invalid_argument(str_cat(name, " must be 0-D, got shape ", t.shape(),
                                    " (Shape must be rank 0 but is rank ", t.shape().rank(), ")"));
  return t.dtype() == DType::float16 ? static_cast<float>(t.value<Half>()) : t.value<float>();
}

Status check_scores(const Shape& scores, std::int64_t boxes) {
  if (scores.rank() != 1)
    return invalid_argument(str_cat("scores must be 1-D", scores,
                                    " (Shape must be rank 1 but is rank ", scores.rank(), ")"));
  if (scores[0] != boxes)
    return invalid_argument(
        str_cat("scores has incompatible shape (Dimensions must be equal, but are ", boxes, " and ",
                scores[0], ")"));
  if (boxes > INT32_MAX)
    return invalid_argument("there are at most 2^31 - 1 boxes");
  return {};
}

Result<Limits> read_limits(KernelContext& c) {
  Limits out;
  const Tensor& most = c.input(2);
  if (!most.shape().is_scalar())
    return invalid_argument(str_cat("max_output_size must be 0-D, got shape ", most.shape(),
                                    " (Shape must be rank 0 but is rank ", most.shape().rank(),
                                    ")"));
  out.most = most.value<std::int32_t>();
  const bool has_overlaps = c.node().schema->name.ends_with("Overlaps");
  if (c.num_inputs() > 3) {
    TROUPE_ASSIGN(out.overlap, scalar(c, 3, has_overlaps ? "overlap_threshold" : "iou_threshold"));
  } else {
    TROUPE_ASSIGN(out.overlap, c.attr<float>("iou_threshold"));
  }
  if (!has_overlaps && !(out.overlap >= 0 && out.overlap <= 1))
    return invalid_argument("iou_threshold must be in [0, 1]");
  if (c.input(1).dtype() == DType::float16)
    out.score = -65504.0F;
  if (c.num_inputs() > 4) {
    TROUPE_ASSIGN(out.score, scalar(c, 4, "score_threshold"));
  }
  if (c.num_inputs() > 5) {
    TROUPE_ASSIGN(out.sigma, scalar(c, 5, "soft_nms_sigma"));
    if (!(out.sigma >= 0))
      return invalid_argument("soft_nms_sigma_val must be >= 0");
  }
  return out;
}

/// Indices, then scores if there are four outputs or three with scores, then their number.
Status give(KernelContext& c, const Selected& selected, const Limits& limits) {
  const auto count = static_cast<std::int64_t>(selected.boxes.size());
  const bool pads = c.attrs().get_or("pad_to_max_output_size", false);
  const Shape shape{pads ? limits.most : count};
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, shape));
  const auto to = indices.mutable_data<std::int32_t>();
  std::fill(std::ranges::copy(selected.boxes, to.begin()).out, to.end(), 0);
  if (c.num_outputs() == 3) {
    TROUPE_ASSIGN(Tensor scores, c.allocate_output(1, shape));
    TROUPE_TRY(dispatch(Types<float, Half>{}, scores.dtype(), [&]<class T>() -> Status {
      const auto out = scores.mutable_data<T>();
      std::ranges::fill(out, T(0.0F));
      std::ranges::transform(selected.scores, out.begin(), [](float x) { return T(x); });
      return {};
    }));
  }
  if (c.num_outputs() == 1)
    return {};
  TROUPE_ASSIGN(Tensor valid, c.allocate_output(c.num_outputs() - 1, Shape{}));
  valid.mutable_data<std::int32_t>()[0] = static_cast<std::int32_t>(count);
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Limits limits, read_limits(c));
  const Shape& boxes = c.input(0).shape();
  if (boxes.rank() != 2)
    return invalid_argument(str_cat("boxes must be 2-D", boxes,
                                    " (Shape must be rank 2 but is rank ", boxes.rank(), ")"));
  if (boxes[1] != 4)
    return invalid_argument(
        str_cat("boxes must have 4 columns (Dimension must be 4 but is ", boxes[1], ")"));
  TROUPE_TRY(check_scores(c.input(1).shape(), boxes[0]));
  if (limits.most < 0)
    return invalid_argument("output size must be non-negative");
  TROUPE_ASSIGN(const Tensor corners, widened(c, c.input(0), DType::float32));
  TROUPE_ASSIGN(const Tensor scores, widened(c, c.input(1), DType::float32));
  std::vector<image::Box> list;
  for (std::int64_t i = 0; i < boxes[0]; ++i)
    list.emplace_back(corners.data<float>().data() + 4 * i);
  const Selected selected = select(
      c, c.input(1).dtype(), scores.data<float>(), limits, [&](std::int32_t i, std::int32_t j) {
        return image::intersection_over_union(list[static_cast<std::size_t>(i)],
                                              list[static_cast<std::size_t>(j)]);
      });
  return give(c, selected, limits);
}

Status compute_with_overlaps(KernelContext& c) {
  TROUPE_ASSIGN(const Limits limits, read_limits(c));
  const Shape& overlaps = c.input(0).shape();
  if (overlaps.rank() != 2)
    return invalid_argument(str_cat("overlaps must be 2-D", overlaps));
  if (overlaps[0] != overlaps[1])
    return invalid_argument(str_cat("overlaps must be square", overlaps));
  TROUPE_TRY(check_scores(c.input(1).shape(), overlaps[0]));
  if (limits.most < 0)
    return invalid_argument("output size must be non-negative");
  const float* matrix = c.input(0).data<float>().data();
  const Selected selected =
      select(c, DType::float32, c.input(1).data<float>(), limits,
             [&](std::int32_t i, std::int32_t j) { return matrix[i * overlaps[0] + j]; });
  return give(c, selected, limits);
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto boxes, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(const auto scores, shape_rules::dims_of_rank(c, 1, 1));
  for (int i = 2; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  TROUPE_TRY(shape_rules::merge_dims(boxes[0], scores[0]).status());
  const bool has_overlaps = c.schema().name.ends_with("Overlaps");
  TROUPE_TRY(shape_rules::merge_dims(boxes[1], has_overlaps ? boxes[0] : 4).status());
  std::int64_t size = shape_rules::unknown_dim;
  const auto most = c.input_as_ints(2);
  if (c.attrs().get_or("pad_to_max_output_size", false) && most && (*most)[0] >= 0)
    size = (*most)[0];
  TROUPE_TRY(c.set_output(0, {size}));
  if (c.num_outputs() == 3)
    TROUPE_TRY(c.set_output(1, {size}));
  return c.num_outputs() > 1 ? c.set_output(c.num_outputs() - 1, PartialShape(Shape{})) : Status();
}

KernelOptions options(bool has_dtypes) {
  KernelOptions out;
  if (has_dtypes)
    out.types = {{"T", {DType::float32, DType::float16}}};
  out.expensive = true;
  return out;
}

constexpr auto chosen = "boxes are chosen, not computed";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("NonMaxSuppression")
      .input("boxes: float; scores: float; max_output_size: int32")
      .output("selected_indices: int32")
      .attr("iou_threshold: float = 0.5")
      .shape_fn(infer)
      .not_differentiable(chosen)
      .cpu_kernel(compute, options(false))
      .doc("Indices of the boxes with the highest scores that do not overlap each other.");
  auto version = [&](const char* name, const char* inputs, const char* outputs, const char* attrs,
                     const char* doc) {
    library.op(name)
        .input(inputs)
        .output(outputs)
        .attr(attrs)
        .shape_fn(infer)
        .not_differentiable(chosen)
        .cpu_kernel(compute, options(true))
        .doc(doc);
  };
  version("NonMaxSuppressionV2",
          "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold",
          "selected_indices: int32",
          "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT",
          "The same with a threshold that a step computes.");
  version("NonMaxSuppressionV3",
          "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold; "
          "score_threshold: T_threshold",
          "selected_indices: int32",
          "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT",
          "The same of boxes whose scores are above a threshold.");
  version("NonMaxSuppressionV4",
          "boxes: T; scores: T; max_output_size: int32; iou_threshold: T_threshold; "
          "score_threshold: T_threshold",
          "selected_indices: int32; valid_outputs: int32",
          "T: {half, float} = DT_FLOAT; T_threshold: {half, float} = DT_FLOAT; "
          "pad_to_max_output_size: bool = false",
          "The same, with zeros up to the size asked for, and how many there are.");
  version("NonMaxSuppressionV5",
          "boxes: T; scores: T; max_output_size: int32; iou_threshold: T; score_threshold: T; "
          "soft_nms_sigma: T",
          "selected_indices: int32; selected_scores: T; valid_outputs: int32",
          "T: {half, float} = DT_FLOAT; pad_to_max_output_size: bool = false",
          "The same, with scores; those of boxes that overlap are lowered if sigma is not 0.");
  library.op("NonMaxSuppressionWithOverlaps")
      .input("overlaps: float; scores: float; max_output_size: int32; overlap_threshold: float; "
             "score_threshold: float")
      .output("selected_indices: int32")
      .shape_fn(infer)
      .not_differentiable(chosen)
      .cpu_kernel(compute_with_overlaps, options(false))
      .doc("The same for boxes that are known by how much each two of them overlap.");
}

} // namespace troupe::image_non_max_suppression
