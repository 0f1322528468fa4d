// _FusedConv2D: what the pass fuse_convolution makes of a convolution, the bias or the batch
// normalisation after it, an addition and Relu: one pass over the output.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/members.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/convolution.hpp"
#include "kernels/nn/internal/groups.hpp"
#include "kernels/nn/internal/vectors.hpp"

namespace troupe::nn_fused_conv2d {
namespace {

using Names = std::vector<std::string>;

/// Which operations follow the convolution, and where their arguments stand among the inputs.
struct Fused {
  nn::ConvAttrs conv;
  int bias = -1, norm = -1, addend = -1; ///< -1: not there
  bool relu = false;
  float epsilon = 0;
};

Result<Fused> read(const Names& names, int num_inputs) {
  Fused out;
  int next = 2;
  std::size_t i = 0;
  const auto take = [&](std::string_view name, int inputs) {
    const bool here = i < names.size() && names[i] == name;
    const int at = here ? next : -1;
    i += here;
    next += here ? inputs : 0;
    return at;
  };
  out.bias = take("BiasAdd", 1);
  if (out.bias < 0)
    out.norm = take("FusedBatchNorm", 4);
  out.addend = take("Add", 1);
  out.relu = take("Relu", 0) >= 0;
  if (i != names.size() || next != num_inputs || names.empty())
    return invalid_argument(str_cat("fused_ops [", str_join(names, ","), "] with ", num_inputs,
                                    " inputs is not [BiasAdd or FusedBatchNorm][,Add][,Relu]"));
  return out;
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(Names names, c.attr<Names>("fused_ops"));
  TROUPE_ASSIGN(Fused out, read(names, c.num_inputs()));
  TROUPE_ASSIGN(out.conv, nn::read_conv_attrs(c));
  TROUPE_ASSIGN(out.epsilon, c.attr<float>("epsilon"));
  return prepared(std::move(out));
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(Names names, c.attr<Names>("fused_ops"));
  TROUPE_ASSIGN(const Fused fused, read(names, c.num_inputs()));
  TROUPE_TRY(nn::infer_convolution(c));
  if (fused.addend < 0)
    return {};
  TROUPE_ASSIGN(PartialShape sum, broadcast_partial(c.outputs()[0], c.input(fused.addend)));
  return c.set_output(0, std::move(sum));
}

/// Sets the epilogue's factor and offset, which lie in `memory` ([2, channels]) if they are new.
Status scale_and_shift(KernelContext& c, const Fused& fused, const Shape& shape, Tensor& memory,
                       arith::ConvEpilogue& epilogue) {
  const std::int64_t channels = shape[3];
  if (fused.bias >= 0) {
    TROUPE_TRY(nn::check_bias(c.input(fused.bias), shape, 3));
    epilogue.offset = c.input(fused.bias).data<float>().data();
  }
  if (fused.norm < 0)
    return {};
  constexpr const char* names[] = {"scale", "offset", "mean", "variance"};
  const float* of[4];
  for (int i = 0; i < 4; ++i) {
    TROUPE_TRY(nn::check_channels(names[i], c.input(fused.norm + i), channels,
                                  i < 2 ? "" : "When is_training=false, "));
    of[i] = c.input(fused.norm + i).data<float>().data();
  }
  TROUPE_ASSIGN(memory, c.allocate_temp(DType::float32, Shape{2, channels}));
  float *factor = memory.mutable_data<float>().data(), *shift = factor + channels;
  for (std::int64_t i = 0; i < channels; ++i) {
    factor[i] = of[0][i] / std::sqrt(of[3][i] + fused.epsilon);
    shift[i] = of[1][i] - of[2][i] * factor[i];
  }
  epilogue.factor = factor;
  epilogue.offset = shift;
  return {};
}

/// The addend has another shape than the convolution: broadcast, as the op alone would.
Status add_apart(KernelContext& c, const Fused& fused, const Tensor& y) {
  const Tensor& addend = c.input(fused.addend);
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(y.shape(), addend.shape()));
  arith::BroadcastPlan plan;
  if (!arith::make_broadcast_plan({y.shape().dims(), addend.shape().dims()}, plan))
    return unimplemented(
        str_cat("Broadcast between ", y.shape(), " and ", addend.shape(), " is not supported"));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_ASSIGN(const auto add, arith::binary(arith::BinaryOp::add, DType::float32));
  TROUPE_ASSIGN(const auto relu, arith::unary(arith::UnaryOp::relu, DType::float32));
  c.parallel_for(shape.num_elements(), 0.3, [&](std::int64_t begin, std::int64_t end) {
    add(plan, y.raw(), addend.raw(), out.mutable_raw(), begin, end);
    if (fused.relu)
      relu(out.raw(), out.mutable_raw(), begin, end);
  });
  return {};
}

// What is done after the convolution is done to each group's channels.
Status convolve_groups(KernelContext& c, const arith::Conv2DShape& s, std::int64_t groups,
                       const arith::ConvEpilogue& epilogue, const Tensor& addend,
                       std::span<const Tensor> factor_from, Tensor& y) {
  const arith::Conv2DShape one = nn::one_group(s, groups);
  TROUPE_ASSIGN(Tensor part, nn::make_group(c, DType::float32, y.shape(), groups));
  for (std::int64_t g = 0; g < groups; ++g) {
    TROUPE_ASSIGN(const Tensor x, nn::take_group(c, c.input(0), g, groups));
    TROUPE_ASSIGN(const Tensor filter, nn::take_group(c, c.input(1), g, groups));
    arith::ConvEpilogue here = epilogue;
    if (here.factor)
      here.factor += g * one.out_c;
    if (here.offset)
      here.offset += g * one.out_c;
    Tensor added;
    if (here.addend) {
      TROUPE_ASSIGN(added, nn::take_group(c, addend, g, groups));
      here.addend = added.data<float>().data();
    }
    TROUPE_TRY(
        nn::convolve(c, one, x, filter, here, part.mutable_data<float>().data(), factor_from));
    TROUPE_TRY(nn::put_group(c, part, y, g, groups));
  }
  return {};
}

/// Of an image without channels: sums of one channel of zeros.
Status convolve_nothing(KernelContext& c, const arith::Conv2DShape& s,
                        const arith::ConvEpilogue& epilogue, Tensor& y,
                        std::span<const Tensor> factor_from) {
  arith::Conv2DShape one = s;
  one.in_c = 1;
  const auto zeros = [&](const Shape& shape) -> Result<Tensor> {
    TROUPE_ASSIGN(Tensor out, c.allocate_temp(DType::float32, shape));
    std::ranges::fill(out.mutable_data<float>(), 0.0F);
    return out;
  };
  const Shape &x = c.input(0).shape(), &filter = c.input(1).shape();
  TROUPE_ASSIGN(const Tensor image, zeros(x.with_dim(3, 1)));
  TROUPE_ASSIGN(const Tensor no_filter, zeros(filter.with_dim(2, 1)));
  return nn::convolve(c, one, image, no_filter, epilogue, y.mutable_data<float>().data(),
                      factor_from);
}

Status compute(KernelContext& c) {
  const auto& fused = c.prepared<Fused>();
  const Tensor &x = c.input(0), &filter = c.input(1);
  Shape shape;
  const auto checked = nn::check_convolution(fused.conv, x.shape(), filter.shape(), shape);
  TROUPE_TRY(of_member(c, checked.status(), 0));
  const arith::Conv2DShape& s = *checked;
  const auto groups = nn::groups_of(s, filter.shape()[2]);
  TROUPE_TRY(of_member(c, groups.status(), 0));
  Tensor memory;
  arith::ConvEpilogue epilogue{.relu = fused.relu};
  TROUPE_TRY(of_member(c, scale_and_shift(c, fused, shape, memory, epilogue), 1));
  const bool apart = fused.addend >= 0 && c.input(fused.addend).shape() != shape;
  if (apart)
    epilogue.relu = false;
  else if (fused.addend >= 0)
    epilogue.addend = c.input(fused.addend).data<float>().data();
  TROUPE_ASSIGN(Tensor y,
                apart ? c.allocate_temp(DType::float32, shape) : c.allocate_output(0, shape));
  if (shape.num_elements() > 0) {
    // The offset is computed anew in each call; the factor comes from scale and variance.
    std::array<Tensor, 2> factor_from;
    if (fused.norm >= 0)
      factor_from = {c.input(fused.norm), c.input(fused.norm + 3)};
    if (*groups == 0)
      TROUPE_TRY(convolve_nothing(c, s, epilogue, y, factor_from));
    else if (*groups == 1)
      TROUPE_TRY(
          nn::convolve(c, s, x, filter, epilogue, y.mutable_data<float>().data(), factor_from));
    else
      TROUPE_TRY(convolve_groups(c, s, *groups, epilogue,
                                 epilogue.addend ? c.input(fused.addend) : Tensor{}, factor_from,
                                 y));
  }
  const std::size_t addition = fused.bias >= 0 || fused.norm >= 0 ? 2 : 1; // among the members
  return apart ? of_member(c, add_apart(c, fused, y), addition) : Status{};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("_FusedConv2D")
      .input("input: T; filter: T; args: num_args * T")
      .output("output: T")
      .attr("T: {float}; num_args: int >= 0; strides: list(int); padding: {'SAME', 'VALID', "
            "'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC'} = 'NHWC'; "
            "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string); "
            "epsilon: float = 0.0001")
      .roles(Role::filtering)
      .shape_fn(infer_shape)
      .not_differentiable("it is made of ops that are, after their gradients were added")
      .cpu_kernel(compute, std::move(options))
      .doc("Conv2D, then what fused_ops names: BiasAdd or FusedBatchNorm, Add, Relu; args are "
           "their arguments.");
}

} // namespace troupe::nn_fused_conv2d
