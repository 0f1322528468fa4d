// QuantizedBatchNormWithGlobalNormalization and QuantizedInstanceNorm: quantised images normalised
// by given moments of each channel, or by those of each image's channel.
#include <array>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_norm {
namespace {

using quantized::Range;

// ---- by given moments

/// Which of the inputs a channel's number is, and what messages call it.
constexpr const char* of_channels[] = {"mean", "var", "beta", "gamma"};

Status infer_batch(ShapeContext& c) {
  TROUPE_ASSIGN(auto out, shape_rules::dims_of_rank(c, 0, 4));
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(const auto channels, shape_rules::dims_of_rank(c, 3 + 3 * i, 1));
    TROUPE_ASSIGN(out[3], shape_rules::merge_dims(out[3], channels[0]));
  }
  TROUPE_TRY(c.set_output(0, PartialShape(std::move(out))));
  return quantized::infer_ranges(c, 0, 0);
}

Result<Range> any_range(KernelContext& c, int at, std::string_view name) {
  for (int i : {0, 1})
    if (c.input(at + i).num_elements() != 1)
      return invalid_argument(str_cat(name, i == 0 ? "_min" : "_max", " must have 1 element"));
  return Range{c.input(at).data<float>()[0], c.input(at + 1).data<float>()[0]};
}

Status check_channels(KernelContext& c) {
  if (c.input(0).shape().rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", c.input(0).shape()));
  for (int i = 0; i < 4; ++i)
    if (c.input(3 + 3 * i).shape().rank() != 1)
      return invalid_argument(
          str_cat(of_channels[i], " must be 1-dimensional", c.input(3 + 3 * i).shape()));
  if (c.input(3).num_elements() <= 1) // as in TensorFlow, which takes no images of one channel
    return invalid_argument(str_cat("Must have at least a mean value", c.input(6).shape()));
  return {};
}

Status check_depth(KernelContext& c) {
  const Shape &x = c.input(0).shape(), &mean = c.input(3).shape();
  if (mean[0] != x[3])
    return invalid_argument(
        str_cat("Must provide as many means as the last dimension of the input tensor: ", mean,
                " vs. ", x));
  for (int i = 1; i < 4; ++i)
    if (c.input(3 + 3 * i).shape() != mean)
      return invalid_argument(str_cat("Mean and ", i == 1 ? "variance" : of_channels[i],
                                      " tensors must have the same shape: ", mean, " vs. ",
                                      c.input(3 + 3 * i).shape()));
  return {};
}

/// x * factor / one + offset in integers of the output's range.
struct Channel {
  std::uint32_t factor = 0, offset = 0;
};

Status compute_batch(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(const float epsilon, c.attr<float>("variance_epsilon"));
  TROUPE_ASSIGN(const bool scales, c.attr<bool>("scale_after_normalization"));
  TROUPE_ASSIGN(const Range x_range, any_range(c, 1, "input"));
  Range ranges[4];
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(ranges[i], any_range(c, 4 + 3 * i, of_channels[i]));
  }
  TROUPE_TRY(check_channels(c));
  TROUPE_TRY(check_depth(c));
  constexpr Range range{-(1 << 20), 1 << 20};
  const auto place = [&](float value) {
    return static_cast<std::uint32_t>(quantized::quantized<QInt32>(value, range).bits);
  };
  std::vector<Channel> channels(static_cast<std::size_t>(x.shape()[3]));
  for (std::size_t k = 0; k < channels.size(); ++k) {
    float of[4];
    for (int i = 0; i < 4; ++i)
      of[i] = quantized::value_of(c.input(3 + 3 * i).data<QUInt8>()[k], ranges[i]);
    const float factor = 1.0F / std::sqrt(of[1] + epsilon) * (scales ? of[3] : 1.0F);
    channels[k] = {place(factor), place(-of[0] * factor + of[2])};
  }
  std::array<std::uint32_t, 256> of_x{};
  for (std::size_t i = 0; i < of_x.size(); ++i)
    of_x[i] = static_cast<std::uint32_t>(
        quantized::requantized<QInt32>(QUInt8{static_cast<std::uint8_t>(i)}, x_range, range).bits);
  const auto one = static_cast<std::int32_t>(place(1.0F));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  const QUInt8* from = x.data<QUInt8>().data();
  QInt32* to = out.mutable_data<QInt32>().data();
  const auto depth = static_cast<std::int64_t>(channels.size());
  c.parallel_for(x.num_elements() / depth, 3.0 * static_cast<double>(depth),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row)
                     for (std::int64_t k = 0; k < depth; ++k) {
                       const Channel& channel = channels[static_cast<std::size_t>(k)];
                       const auto product = static_cast<std::int32_t>(
                           of_x[from[row * depth + k].bits] * channel.factor);
                       to[row * depth + k] = {static_cast<std::int32_t>(
                           static_cast<std::uint32_t>(product / one) + channel.offset)};
                     }
                 });
  return quantized::set_range(c, 1, range);
}

// ---- by an image's own moments

struct Attrs {
  bool range_given = false;
  Range given;
  float epsilon = 0, least_range = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(out.range_given, c.attr<bool>("output_range_given"));
  TROUPE_ASSIGN(out.given.least, c.attr<float>("given_y_min"));
  TROUPE_ASSIGN(out.given.most, c.attr<float>("given_y_max"));
  TROUPE_ASSIGN(out.epsilon, c.attr<float>("variance_epsilon"));
  TROUPE_ASSIGN(out.least_range, c.attr<float>("min_separation"));
  if (out.range_given && !(out.given.least < out.given.most))
    return invalid_argument(str_cat("given_y_min must be less than given_y_max : ", out.given.least,
                                    " >= ", out.given.most));
  return prepared(out);
}

Status infer_instance(ShapeContext& c) {
  TROUPE_ASSIGN(auto out, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_TRY(c.set_output(0, PartialShape(std::move(out))));
  return quantized::infer_ranges(c, 1, 3);
}

/// What the 256 integers become in one channel of one image: floats and, later, integers.
using Floats = std::array<float, 256>;

Floats normalised(const QUInt8* image, std::int64_t pixels, std::int64_t channels, Range range,
                  float epsilon, Range& seen) {
  std::array<std::int64_t, 256> counts{};
  for (std::int64_t i = 0; i < pixels; ++i)
    ++counts[image[i * channels].bits];
  const quantized::ToFloats<QUInt8> floats(range);
  double sum = 0, squares = 0;
  std::array<double, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = floats(QUInt8{static_cast<std::uint8_t>(i)});
    sum += values[i] * static_cast<double>(counts[i]);
  }
  const double mean = sum / static_cast<double>(pixels);
  for (std::size_t i = 0; i < values.size(); ++i)
    squares += (values[i] - mean) * (values[i] - mean) * static_cast<double>(counts[i]);
  const double factor = 1 / std::sqrt(squares / static_cast<double>(pixels) + epsilon);
  Floats out{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<float>((values[i] - mean) * factor);
    if (counts[i] > 0)
      seen = {std::min(seen.least, out[i]), std::max(seen.most, out[i])};
  }
  return out;
}

Status compute_instance(KernelContext& c) {
  const auto& a = c.prepared<Attrs>();
  const Tensor& x = c.input(0);
  constexpr auto text = quantized::quoted_must_be_rank_0;
  TROUPE_ASSIGN(const float x_least, quantized::bound_of(c, 1, "x_min", text));
  TROUPE_ASSIGN(const float x_most, quantized::bound_of(c, 2, "x_max", text));
  if (!(x_least < x_most))
    return invalid_argument(
        str_cat("input_min must be less than input_max : ", x_least, " >= ", x_most));
  if (x.shape().rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", x.shape()));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  const std::int64_t channels = x.shape()[3], pixels = x.shape()[1] * x.shape()[2];
  const std::int64_t groups = x.num_elements() == 0 ? 0 : x.shape()[0] * channels;
  const auto begin_of = [&](std::int64_t g) {
    return g / channels * pixels * channels + g % channels;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<Floats> floats(static_cast<std::size_t>(groups));
  std::vector<Range> seen(static_cast<std::size_t>(groups), {infinity, -infinity});
  const QUInt8* from = x.data<QUInt8>().data();
  const double cost = 1000 + static_cast<double>(pixels);
  c.parallel_for(groups, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g)
      floats[static_cast<std::size_t>(g)] =
          normalised(from + begin_of(g), pixels, channels, {x_least, x_most}, a.epsilon,
                     seen[static_cast<std::size_t>(g)]);
  });
  Range range{infinity, -infinity};
  for (const Range& one : seen)
    range = {std::min(range.least, one.least), std::max(range.most, one.most)};
  if (a.range_given)
    range = a.given;
  range.most = std::max(range.most, range.least + a.least_range);
  const quantized::FromFloats<QUInt8> integers(range);
  QUInt8* to = y.mutable_data<QUInt8>().data();
  c.parallel_for(groups, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) {
      std::array<QUInt8, 256> table;
      for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = integers(floats[static_cast<std::size_t>(g)][i]);
      for (std::int64_t i = 0; i < pixels; ++i) {
        const std::int64_t at = begin_of(g) + i * channels;
        to[at] = table[from[at].bits];
      }
    }
  });
  return quantized::set_range(c, 1, range);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions batch;
  batch.types = {{"Tinput", {DType::quint8}}, {"out_type", {DType::qint32}}};
  library.op("QuantizedBatchNormWithGlobalNormalization")
      .input("t: Tinput; t_min: float; t_max: float; m: Tinput; m_min: float; m_max: float")
      .input("v: Tinput; v_min: float; v_max: float; beta: Tinput; beta_min: float")
      .input("beta_max: float; gamma: Tinput; gamma_min: float; gamma_max: float")
      .output("result: out_type; result_min: float; result_max: float")
      .attr("Tinput: quantizedtype; out_type: quantizedtype")
      .attr("variance_epsilon: float; scale_after_normalization: bool")
      .shape_fn(infer_batch)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute_batch, batch)
      .doc("Quantised images normalised by the mean and variance of each channel.");
  KernelOptions instance;
  instance.types = {{"T", {DType::quint8}}};
  instance.prepare = prepare;
  instance.expensive = true;
  library.op("QuantizedInstanceNorm")
      .input("x: T; x_min: float; x_max: float")
      .output("y: T; y_min: float; y_max: float")
      .attr("T: quantizedtype; output_range_given: bool = false; given_y_min: float = 0")
      .attr("given_y_max: float = 0; variance_epsilon: float = 1e-05")
      .attr("min_separation: float = 0.001")
      .shape_fn(infer_instance)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute_instance, instance)
      .doc("Quantised images, each of whose channels is normalised by its own moments.");
}

} // namespace troupe::quantized_norm
