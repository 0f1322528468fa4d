// QuantizedBiasAdd: a bias for each channel of quantised numbers, in qint32.
#include <array>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_bias_add {
namespace {

using quantized::Range;

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_ASSIGN(const auto bias, shape_rules::dims_of_rank(c, 1, 1));
  if (c.input(0).has_rank()) {
    std::vector<std::int64_t> out = c.input(0).dims();
    TROUPE_ASSIGN(out.back(), shape_rules::merge_dims(out.back(), bias[0]));
    TROUPE_TRY(c.set_output(0, PartialShape(std::move(out))));
  }
  return quantized::infer_ranges(c, 2, 6);
}

/// What each of the 256 integers becomes in the range of the sums.
template <class Q>
std::array<std::uint32_t, 256> in_sum_range(Range from, Range sum) {
  const quantized::ToFloats<Q> floats(from);
  const quantized::FromFloats<QInt32> integers(sum);
  std::array<std::uint32_t, 256> out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        static_cast<std::uint32_t>(integers(floats(Q{static_cast<quantized::Bits<Q>>(i)})).bits);
  return out;
}

Status compute(KernelContext& c) {
  const Tensor &x = c.input(0), &bias = c.input(1);
  constexpr auto text = quantized::quoted_must_be_rank_0;
  TROUPE_ASSIGN(const Range x_range, quantized::range_of(c, 2, "input", text));
  TROUPE_ASSIGN(const Range bias_range, quantized::range_of(c, 4, "bias", text));
  if (x.shape().rank() < 2)
    return invalid_argument(str_cat("Input tensor must be at least 2D: ", x.shape()));
  if (bias.shape().rank() != 1)
    return invalid_argument(str_cat("Biases must be 1D: ", bias.shape()));
  const std::int64_t channels = x.shape()[x.shape().rank() - 1];
  if (bias.num_elements() != channels)
    return invalid_argument(str_cat(
        "Must provide as many biases as the last dimension of the input tensor: ", bias.shape(),
        " vs. ", x.shape()));
  if (channels == 0)
    return invalid_argument("Must provide at least 1 bias");
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  const Range sum = quantized::sum_range(x_range, bias_range, 1 << 17);
  TROUPE_TRY(dispatch(Types<QUInt8, QInt8>{}, x.dtype(), [&]<class Q>() -> Status {
    const auto of_x = in_sum_range<Q>(x_range, sum), of_bias = in_sum_range<Q>(bias_range, sum);
    const auto zero = static_cast<std::uint32_t>(quantized::quantized<QInt32>(0.0F, sum).bits);
    std::vector<std::uint32_t> biases(static_cast<std::size_t>(channels));
    for (std::size_t i = 0; i < biases.size(); ++i)
      biases[i] = zero + of_bias[static_cast<std::uint8_t>(bias.data<Q>()[i].bits)];
    const Q* from = x.data<Q>().data();
    QInt32* to = out.mutable_data<QInt32>().data();
    c.parallel_for(x.num_elements() / channels, 1.0 * static_cast<double>(channels),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row)
                       for (std::int64_t i = 0; i < channels; ++i) {
                         const auto at = static_cast<std::uint8_t>(from[row * channels + i].bits);
                         to[row * channels + i] = {static_cast<std::int32_t>(
                             of_x[at] + biases[static_cast<std::size_t>(i)])};
                       }
                   });
    return {};
  }));
  return quantized::set_range(c, 1, sum);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions of_signed, of_unsigned;
  of_signed.types = {{"T1", {DType::qint8}}, {"T2", {DType::qint8}}, {"out_type", {DType::qint32}}};
  of_unsigned.types = {
      {"T1", {DType::quint8}}, {"T2", {DType::quint8}}, {"out_type", {DType::qint32}}};
  library.op("QuantizedBiasAdd")
      .input("input: T1; bias: T2; min_input: float; max_input: float; min_bias: float")
      .input("max_bias: float")
      .output("output: out_type; min_out: float; max_out: float")
      .attr("T1: quantizedtype; T2: quantizedtype; out_type: quantizedtype")
      .shape_fn(infer)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute, of_unsigned)
      .cpu_kernel(compute, of_signed)
      .doc("Quantised numbers and a bias for each of the last dimension, and the sums' range.");
}

} // namespace troupe::quantized_bias_add
