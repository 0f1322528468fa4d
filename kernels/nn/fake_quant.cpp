// FakeQuantWithMinMax…: floats rounded to what as many bits as asked for can tell apart between two
// bounds, which are moved so that zero is one of these numbers; and the gradients.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/strings.hpp"
#include "kernels/arith/fake_quant.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::nn_fake_quant {
namespace {

struct Attrs {
  float least = 0, most = 0; ///< of FakeQuantWithMinMaxArgs
  float quant_min = 0, quant_max = 255;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  if (c.attrs().find("min")) {
    TROUPE_ASSIGN(out.least, c.attr<float>("min"));
    TROUPE_ASSIGN(out.most, c.attr<float>("max"));
    if (!(out.least < out.most))
      return invalid_argument(
          str_cat("min has to be smaller than max, was: ", out.least, " >= ", out.most));
  }
  TROUPE_ASSIGN(const auto bits, c.attr<std::int64_t>("num_bits"));
  TROUPE_ASSIGN(const auto narrow, c.attr<bool>("narrow_range"));
  if (bits < 2 || bits > 16)
    return invalid_argument("num_bits must be between 2 and 16, inclusive");
  out.quant_min = narrow ? 1.0F : 0.0F;
  out.quant_max = static_cast<float>((1 << bits) - 1);
  return prepared(out);
}

/// The bounds so that zero is a step; `is_zero`: both were 0, and so is every number.
struct Range {
  float least = 0, most = 0, scale = 0;
  float inverse = 0; ///< of the scale, rounded once
  bool is_zero = false;

  Range(const Attrs& a, float min, float max) : is_zero(min == 0 && max == 0) {
    scale = (max - min) / (a.quant_max - a.quant_min);
    inverse = (a.quant_max - a.quant_min) / (max - min);
    const float from_min = a.quant_min - min / scale;
    const float zero =
        from_min >= a.quant_min ? std::round(std::min(from_min, a.quant_max)) : a.quant_min;
    least = (a.quant_min - zero) * scale;
    most = (a.quant_max - zero) * scale;
  }
  bool holds(float x) const { return is_zero || (x >= least && x <= most); }
  bool is_below(float x) const { return !is_zero && x < least; }
  bool is_above(float x) const { return !is_zero && x > most; }
};

/// Every element of input 0 in its range; the last dimension is that of the ranges, if they are
/// many. Whether a quotient or a product tells the step is TensorFlow's choice, op by op: with 16
/// bits it shows.
Status round_all(KernelContext& c, const std::vector<Range>& ranges, bool by_product) {
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const float* x = c.input(0).data<float>().data();
  float* y = out.mutable_data<float>().data();
  std::vector<float> least, most, scale, inverse;
  for (const Range& range : ranges) {
    least.push_back(range.least);
    most.push_back(range.most);
    scale.push_back(range.scale);
    inverse.push_back(range.inverse);
  }
  const auto channels = static_cast<std::int64_t>(ranges.size());
  const arith::FakeQuant all{least.data(), most.data(), scale.data(),
                             by_product ? inverse.data() : nullptr, channels};
  if (channels > 0)
    c.parallel_for(out.num_elements() / channels, 0.3 * static_cast<double>(channels),
                   [&](std::int64_t begin, std::int64_t end) {
                     arith::fake_quant(all, x + begin * channels, y + begin * channels,
                                       end - begin);
                   });
  // Of a range that is zero every number is zero.
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].is_zero)
      for (std::int64_t at = static_cast<std::int64_t>(i); at < out.num_elements(); at += channels)
        y[at] = 0;
  return {};
}

/// y[i] = each(x[i]).
template <class Each>
Status map(KernelContext& c, int from, Each each) {
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(from).shape()));
  const float* x = c.input(from).data<float>().data();
  float* y = out.mutable_data<float>().data();
  c.parallel_for(out.num_elements(), 3, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = each(i, x[i]);
  });
  return {};
}

Status compute_args(KernelContext& c) {
  const auto& a = c.prepared<Attrs>();
  const Range range(a, a.least, a.most);
  return round_all(c, {range}, true);
}

Status check_same(KernelContext& c) {
  if (c.input(0).shape() != c.input(1).shape())
    return invalid_argument("gradient and input must be the same size");
  return {};
}

Status compute_args_grad(KernelContext& c) {
  if (const Shape& dy = c.input(0).shape(), &x = c.input(1).shape(); dy != x)
    return invalid_argument(
        str_cat("Inputs to operation ", c.node_name(), " of type ", c.node().schema->name,
                " must have the same size and shape.  Input 0: ", dy, " != input 1: ", x));
  const auto& a = c.prepared<Attrs>();
  const Range range(a, a.least, a.most);
  const float* x = c.input(1).data<float>().data();
  return map(c, 0,
             [&](std::int64_t i, float grad) { return grad * (range.holds(x[i]) ? 1.0F : 0.0F); });
}

/// The ranges that inputs `at` and `at` + 1 give: one, or one for each channel of input `of`.
Result<std::vector<Range>> ranges(KernelContext& c, int at, int of, bool per_channel) {
  std::int64_t count = 1;
  if (per_channel) {
    const Shape& shape = c.input(of).shape();
    if (shape.rank() < 1)
      return invalid_argument("inputs must have at least one dimension, that of the channels");
    count = shape[shape.rank() - 1];
  }
  constexpr const char* names[] = {"min", "max"};
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = c.input(at + i).shape();
    if (shape.rank() != (per_channel ? 1 : 0))
      return invalid_argument(str_cat("`", names[i], "` must be rank ", per_channel ? 1 : 0,
                                      " but is rank ", shape.rank()));
    if (per_channel && shape[0] != count)
      return invalid_argument(
          str_cat(names[i], " has incorrect size, expected ", count, " was ", shape[0]));
  }
  std::vector<Range> out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    out.emplace_back(c.prepared<Attrs>(), c.input(at).data<float>()[i],
                     c.input(at + 1).data<float>()[i]);
  return out;
}

template <bool per_channel>
Status compute_vars(KernelContext& c) {
  TROUPE_ASSIGN(const std::vector<Range> all, ranges(c, 1, 0, per_channel));
  return round_all(c, all, per_channel);
}

template <bool per_channel>
Status compute_vars_grad(KernelContext& c) {
  TROUPE_TRY(check_same(c));
  TROUPE_ASSIGN(const std::vector<Range> all, ranges(c, 2, 1, per_channel));
  const float* x = c.input(1).data<float>().data();
  const auto range_of = [&](std::int64_t i) -> const Range& {
    return all[static_cast<std::size_t>(i) % all.size()];
  };
  TROUPE_TRY(map(c, 0, [&](std::int64_t i, float grad) {
    return range_of(i).is_zero ? grad : grad * (range_of(i).holds(x[i]) ? 1.0F : 0.0F);
  }));
  const float* grads = c.input(0).data<float>().data();
  std::vector<double> below(all.size()), above(all.size());
  c.serial_for(c.input(0).num_elements(), 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i) % all.size();
      // Products, as TensorFlow's: an infinite or NaN gradient is seen in all three.
      const double grad = grads[i];
      below[at] += grad * (range_of(i).is_below(x[i]) ? 1.0 : 0.0);
      above[at] += grad * (range_of(i).is_above(x[i]) ? 1.0 : 0.0);
    }
  });
  for (int i = 0; i < 2; ++i) {
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i + 1, c.input(2 + i).shape()));
    std::ranges::transform(i == 0 ? below : above, out.mutable_data<float>().begin(),
                           [](double sum) { return static_cast<float>(sum); });
  }
  return {};
}

/// min and max, inputs `at` and `at` + 1, are scalars, or have as many elements as input `of`
/// channels.
Status check_ranges(ShapeContext& c, int at, int of, bool per_channel) {
  if (!per_channel) {
    TROUPE_TRY(c.require_rank(at, 0));
    return c.require_rank(at + 1, 0);
  }
  TROUPE_TRY(c.require_rank_at_least(of, 1));
  std::int64_t channels =
      c.input(of).has_rank() ? c.input(of).dims().back() : shape_rules::unknown_dim;
  for (int i = 0; i < 2; ++i) {
    TROUPE_ASSIGN(const auto size, shape_rules::dims_of_rank(c, at + i, 1));
    TROUPE_ASSIGN(channels, shape_rules::merge_dims(channels, size[0]));
  }
  return {};
}

template <bool per_channel>
Status infer_vars(ShapeContext& c) {
  TROUPE_TRY(check_ranges(c, 1, 0, per_channel));
  return c.output_like(0, 0);
}

Status infer_grad(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape out, shape_rules::merge_shapes(c.input(0), c.input(1)));
  return c.set_output(0, std::move(out));
}

template <bool per_channel>
Status infer_vars_grad(ShapeContext& c) {
  TROUPE_TRY(infer_grad(c));
  TROUPE_TRY(check_ranges(c, 2, 1, per_channel));
  TROUPE_TRY(c.output_like(1, 2));
  return c.output_like(2, 3);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.prepare = prepare;
  options.expensive = true;
  constexpr auto bounds = "min: float = -6; max: float = 6";
  constexpr auto bits = "num_bits: int = 8; narrow_range: bool = false";
  constexpr auto has_grad = "an op is its gradient, which clients build";
  library.op("FakeQuantWithMinMaxArgs")
      .input("inputs: float")
      .output("outputs: float")
      .attr(bounds)
      .attr(bits)
      .shape_fn(shape_unchanged)
      .not_differentiable(has_grad)
      .cpu_kernel(compute_args, options)
      .doc("Floats rounded to what so many bits tell apart between two bounds.");
  library.op("FakeQuantWithMinMaxArgsGradient")
      .input("gradients: float; inputs: float")
      .output("backprops: float")
      .attr(bounds)
      .attr(bits)
      .shape_fn(infer_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_args_grad, options)
      .doc("The gradient of FakeQuantWithMinMaxArgs: that within the bounds.");
  auto vars = [&](const char* name, KernelFn compute, ShapeFn infer, const char* doc) {
    library.op(name)
        .input("inputs: float; min: float; max: float")
        .output("outputs: float")
        .attr(bits)
        .shape_fn(infer)
        .not_differentiable(has_grad)
        .cpu_kernel(compute, options)
        .doc(doc);
  };
  auto grad = [&](const char* name, KernelFn compute, ShapeFn infer, const char* doc) {
    library.op(name)
        .input("gradients: float; inputs: float; min: float; max: float")
        .output("backprops_wrt_input: float; backprop_wrt_min: float; backprop_wrt_max: float")
        .attr(bits)
        .shape_fn(infer)
        .not_differentiable("it is a gradient")
        .cpu_kernel(compute, options)
        .doc(doc);
  };
  vars("FakeQuantWithMinMaxVars", compute_vars<false>, infer_vars<false>,
       "The same between bounds that a step computes.");
  vars("FakeQuantWithMinMaxVarsPerChannel", compute_vars<true>, infer_vars<true>,
       "The same between bounds of each channel, the last dimension.");
  grad("FakeQuantWithMinMaxVarsGradient", compute_vars_grad<false>, infer_vars_grad<false>,
       "The gradients of FakeQuantWithMinMaxVars by its input and its bounds.");
  grad("FakeQuantWithMinMaxVarsPerChannelGradient", compute_vars_grad<true>, infer_vars_grad<true>,
       "The gradients of FakeQuantWithMinMaxVarsPerChannel by its input and its bounds.");
}

} // namespace troupe::nn_fake_quant
