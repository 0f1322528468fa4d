// RequantizationRange, Requantize and QuantizeDownAndShrinkRange: 32-bit results in 8 bits, over
// the range that they really take.
#include "kernels/framework/op_library.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_requantize {
namespace {

using quantized::Range;

Status infer_range(ShapeContext& c) {
  return quantized::infer_ranges(c, 1, 3, 0);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.output_like(0, 0));
  return quantized::infer_ranges(c, 1, c.num_inputs());
}

/// From the least to the largest of what the numbers stand for, with zero.
Range used_range(const Tensor& x, Range range) {
  std::int32_t least = INT32_MAX, most = INT32_MIN;
  for (QInt32 q : x.data<QInt32>()) {
    least = std::min(least, q.bits);
    most = std::max(most, q.bits);
  }
  return {std::min(0.0F, quantized::value_of(QInt32{least}, range)),
          quantized::value_of(QInt32{most}, range)};
}

/// The place among 256 steps in fixed point, 16 bits after the point.
class ToQUInt8 {
public:
  ToQUInt8(Range from, Range to) {
    constexpr double one = 1 << shift;
    const float in = from.most - from.least, out = to.most - to.least;
    const auto middle = static_cast<float>((from.least + from.most) / 2.0);
    const auto steps = out == 0.0F ? 0.0F : static_cast<float>(255.0 / out);
    scale_ = out == 0.0F ? 0 : quantized::to_int64(255.0 * one * in / out);
    offset_ = wrapped(middle * steps * static_cast<float>(one));
    if (out != 0.0F)
      offset_ -= wrapped(one * (to.least * 255.0) / out);
  }
  QUInt8 operator()(QInt32 q) const {
    const auto product = static_cast<std::uint64_t>(q.bits) * static_cast<std::uint64_t>(scale_);
    const auto scaled = static_cast<std::uint64_t>(static_cast<std::int64_t>(product) >> 32);
    const auto place = static_cast<std::int64_t>(scaled + offset_ + (1U << (shift - 1)));
    const std::int64_t rounded = place >> shift;
    return {static_cast<std::uint8_t>(std::clamp<std::int64_t>(rounded, 0, 255))};
  }

private:
  static constexpr int shift = 16;
  static std::uint64_t wrapped(double x) {
    return static_cast<std::uint64_t>(quantized::to_int64(x));
  }
  std::int64_t scale_ = 0;
  std::uint64_t offset_ = 0;
};

Status convert(KernelContext& c, Range from, Range to) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  const auto each = [&]<class Q>(const auto& converted, Q* into) {
    const QInt32* in = x.data<QInt32>().data();
    c.parallel_for(x.num_elements(), 2, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        into[i] = converted(in[i]);
    });
  };
  if (out.dtype() == DType::quint8) {
    each(ToQUInt8(from, to), out.mutable_data<QUInt8>().data());
  } else {
    const quantized::ToFloats<QInt32> floats(from);
    const quantized::FromFloats<QInt8> integers(to);
    each([&](QInt32 q) { return integers(floats(q)); }, out.mutable_data<QInt8>().data());
  }
  return quantized::set_range(c, 1, to);
}

Status compute_range(KernelContext& c) {
  float bounds[2];
  for (int i : {0, 1}) {
    if (c.input(i + 1).num_elements() == 0)
      return invalid_argument(str_cat("Input ", i == 0 ? "min" : "max", " must not be empty."));
    bounds[i] = c.input(i + 1).data<float>()[0];
  }
  return quantized::set_range(c, 0, used_range(c.input(0), {bounds[0], bounds[1]}));
}

Result<Range> scalars(KernelContext& c, int at, std::string_view name) {
  constexpr auto text = quantized::quoted_must_be_rank_0;
  TROUPE_ASSIGN(const float least, quantized::bound_of(c, at, str_cat(name, "_min"), text));
  TROUPE_ASSIGN(const float most, quantized::bound_of(c, at + 1, str_cat(name, "_max"), text));
  return Range{least, most};
}

Status compute_requantize(KernelContext& c) {
  TROUPE_ASSIGN(const Range from, scalars(c, 1, "input"));
  TROUPE_ASSIGN(const Range to, scalars(c, 3, "requested_output"));
  if (!(to.least <= 0.0F))
    return invalid_argument(str_cat("requested_output_min must be <= 0, but got ", to.least));
  if (!(to.most >= to.least))
    return invalid_argument(
        str_cat("requested_output_max must be >= requested_output_min, but got ", to.most, " and ",
                to.least));
  return convert(c, from, to);
}

Status compute_shrink(KernelContext& c) {
  TROUPE_ASSIGN(const Range from, scalars(c, 1, "input"));
  return convert(c, from, used_range(c.input(0), from));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions from_32;
  from_32.types = {{"Tinput", {DType::qint32}}};
  library.op("RequantizationRange")
      .input("input: Tinput; input_min: float; input_max: float")
      .output("output_min: float; output_max: float")
      .attr("Tinput: quantizedtype")
      .shape_fn(infer_range)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute_range, from_32)
      .doc("The range that quantised numbers really take, with zero.");
  KernelOptions to_8 = from_32;
  to_8.types.push_back({"out_type", {DType::quint8, DType::qint8}});
  library.op("Requantize")
      .input("input: Tinput; input_min: float; input_max: float; requested_output_min: float")
      .input("requested_output_max: float")
      .output("output: out_type; output_min: float; output_max: float")
      .attr("Tinput: quantizedtype; out_type: quantizedtype")
      .shape_fn(infer)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute_requantize, to_8)
      .doc("Quantised numbers in fewer bits, over another range.");
  to_8.types.back().dtypes = {DType::quint8};
  library.op("QuantizeDownAndShrinkRange")
      .input("input: Tinput; input_min: float; input_max: float")
      .output("output: out_type; output_min: float; output_max: float")
      .attr("Tinput: quantizedtype; out_type: quantizedtype")
      .shape_fn(infer)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute_shrink, to_8)
      .doc("Quantised numbers in fewer bits, over the range that they really take.");
}

} // namespace troupe::quantized_requantize
