// QuantizeV2 and Dequantize: floats as integers that divide a range into equal steps, and back, for
// the whole tensor or for each index of one dimension.
//
//   MIN_COMBINED  q = (x - least) * steps / (most - least), from the dtype's lowest number on
//   MIN_FIRST     the same, with zero on a step
//   SCALED        q = x * scale, with the same scale on both sides of zero
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/arith/fake_quant.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::nn_quantize {
namespace {

using Quantized = Types<QInt8, QUInt8, QInt16, QUInt16, QInt32>;
enum class Mode : std::uint8_t { min_combined, min_first, scaled };

struct Attrs {
  Mode mode = Mode::min_combined;
  bool half_to_even = false, narrow = false;
  std::int64_t axis = -1;
  float least_range = 0.01F; ///< of what the range is at least, in shares of the larger bound
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(const std::string mode, c.attr<std::string>("mode"));
  out.mode = mode == "MIN_FIRST" ? Mode::min_first
             : mode == "SCALED"  ? Mode::scaled
                                 : Mode::min_combined;
  const std::string round = c.attrs().get_or<std::string>("round_mode", "HALF_AWAY_FROM_ZERO");
  out.half_to_even = round == "HALF_TO_EVEN";
  if (out.half_to_even && out.mode != Mode::scaled)
    return invalid_argument(str_cat(
        "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '", mode, "'."));
  if (c.attrs().get_or("dtype", DType::float32) == DType::bfloat16 &&
      out.mode != Mode::min_combined)
    return invalid_argument(str_cat(
        "When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '", mode, "'"));
  out.narrow = c.attrs().get_or("narrow_range", false);
  out.axis = c.attrs().get_or("axis", out.axis);
  out.least_range = c.attrs().get_or("ensure_minimum_range", out.least_range);
  if (out.axis < -1)
    return invalid_argument(str_cat("axis should be at least -1, got ", out.axis));
  return prepared(out);
}

/// The parts of the tensor that have a range of their own.
struct Parts {
  std::int64_t before = 1, count = 1, after = 1;
};

Status check_bound(const Shape& bound, const Parts& p, const Attrs& a, bool least) {
  const char* name = least ? "min_range" : "max_range";
  if (a.axis < 0 && bound.num_elements() != 1)
    return invalid_argument(str_cat("If axis is not specified, ", name,
                                    " must contain a single float element, but it contains ",
                                    bound.num_elements(), " elements"));
  if (a.axis < 0 || (bound.rank() == 1 && bound[0] == p.count))
    return {};
  return invalid_argument(
      str_cat("If axis is specified, ", name,
              " must be a 1-D tensor whose size matches the axis dimension of the input and output "
              "tensors, but ",
              name,
              bound.rank() == 1 ? str_cat(" is a 1-D tensor of size ", bound[0])
                                : str_cat(" dims are ", bound.rank()),
              " and input's axis dimension is of size ", p.count));
}

Status check_bound_of_quantized(const Shape& bound, const Parts& p, const Attrs& a, bool least) {
  if (bound.num_elements() == p.count)
    return {};
  return invalid_argument(
      str_cat(least ? "input_min_tensor" : "input_max_tensor",
              " must have as many elements as input on the dequantization axis (", a.axis,
              "), got ", bound.num_elements(), ", expected ", p.count));
}

using CheckBound = Status (*)(const Shape& bound, const Parts& p, const Attrs& a, bool least);

Result<Parts> parts_of(KernelContext& c, const Attrs& a, CheckBound check) {
  const Shape& shape = c.input(0).shape();
  if (a.axis >= shape.rank())
    return invalid_argument(
        str_cat("Axis must be less than input dimension(", shape.rank(), "), got ", a.axis));
  Parts out;
  if (a.axis < 0)
    out.after = shape.num_elements();
  else
    for (int i = 0; i < shape.rank(); ++i)
      (i < a.axis ? out.before : i == a.axis ? out.count : out.after) *= shape[i];
  TROUPE_TRY(check(c.input(1).shape(), out, a, true));
  TROUPE_TRY(check(c.input(2).shape(), out, a, false));
  if (a.axis >= 0 && out.count != 1 && a.mode == Mode::min_first)
    return unimplemented("MIN_FIRST mode is not implemented with axis != -1.");
  return out;
}

/// Calls body(i, place) for each place, where i is the part that it is in.
template <class Body>
void for_each_place(KernelContext& c, const Parts& p, Body body) {
  c.parallel_for(p.before * p.count * p.after, 2, [&](std::int64_t begin, std::int64_t end) {
    if (p.count == 1) { // without two divisions for each
      for (std::int64_t at = begin; at < end; ++at)
        body(std::size_t{0}, static_cast<std::size_t>(at));
      return;
    }
    for (std::int64_t at = begin; at < end; ++at)
      body(static_cast<std::size_t>(at / p.after % p.count), static_cast<std::size_t>(at));
  });
}

/// Calls body(i, begin, size) for each run of places that are in one part i.
template <class Body>
void for_each_run(KernelContext& c, const Parts& p, Body body) {
  if (p.count == 1)
    return c.parallel_for(p.before * p.after, 1, [&](std::int64_t begin, std::int64_t end) {
      body(std::size_t{0}, begin, end - begin);
    });
  c.parallel_for(p.before * p.count, static_cast<double>(p.after),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row)
                     body(static_cast<std::size_t>(row % p.count), row * p.after, p.after);
                 });
}

template <class Q>
using Bits = decltype(Q::bits);
template <class Q>
constexpr std::int64_t lowest = std::numeric_limits<Bits<Q>>::min();
template <class Q>
constexpr std::int64_t highest = std::numeric_limits<Bits<Q>>::max();
/// What lies between the lowest number and zero.
template <class Q>
constexpr float below_zero = -static_cast<float>(lowest<Q>);

/// A range of floats and the integers that stand for them.
template <class Q>
class Range {
public:
  Range(const Attrs& a, float least, float most) : mode_(a.mode), half_to_even_(a.half_to_even) {
    least_ = std::min(0.0F, least);
    const float least_range =
        std::max(1.0F, std::max(std::abs(least), std::abs(most))) * a.least_range;
    most_ = std::max(0.0F, std::max(most, least_ + least_range));
    constexpr double steps = static_cast<double>(highest<Q>) - static_cast<double>(lowest<Q>);
    if (mode_ != Mode::scaled) {
      scale_ = most_ == least_ ? 0.0F : static_cast<float>(steps / (most_ - least_));
      zero_ = std::round(least_ * scale_);
      return;
    }
    const auto low = static_cast<float>(lowest<Q> + (a.narrow ? 1 : 0));
    const auto high = static_cast<float>(highest<Q>);
    constexpr float none = std::numeric_limits<float>::max();
    scale_ =
        std::min(low * least_ > 0 ? low / least_ : none, high * most_ > 0 ? high / most_ : none);
    least_ = low / scale_;
    most_ = high / scale_;
  }
  float least() const { return least_; }
  float most() const { return most_; }

  arith::Quantize line() const {
    using arith::Rounding;
    constexpr float none = std::numeric_limits<float>::infinity();
    if (mode_ == Mode::min_first)
      return {-none, none, 0, scale_, 0, zero_ + below_zero<Q>, Rounding::half_away};
    if (mode_ == Mode::scaled)
      return {least_,
              most_,
              0,
              scale_,
              0,
              0,
              half_to_even_ ? Rounding::half_to_even : Rounding::half_away};
    if constexpr (lowest<Q> == 0) // truncated
      return {least_, most_, least_, scale_, -0.5F, 0, Rounding::none};
    else
      return {least_, most_, least_, scale_, below_zero<Q>, 0, Rounding::half_away};
  }

private:
  Mode mode_;
  bool half_to_even_;
  float least_, most_, scale_ = 0, zero_ = 0;
};

Status quantize(KernelContext& c) {
  const auto& a = c.prepared<Attrs>();
  TROUPE_ASSIGN(const Parts p, parts_of(c, a, check_bound));
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  const Shape bounds = a.axis < 0 ? Shape{} : c.input(1).shape();
  TROUPE_ASSIGN(Tensor least, c.allocate_output(1, bounds));
  TROUPE_ASSIGN(Tensor most, c.allocate_output(2, bounds));
  return dispatch(Quantized{}, c.output_type(0), [&]<class Q>() -> Status {
    std::vector<Range<Q>> ranges;
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.count); ++i) {
      const float low = c.input(1).data<float>()[i], high = c.input(2).data<float>()[i];
      if (high < low)
        return invalid_argument("input_max_range must be larger than input_min_range.");
      ranges.emplace_back(a, low, high);
      least.mutable_data<float>()[i] = ranges[i].least();
      most.mutable_data<float>()[i] = ranges[i].most();
    }
    const float* from = x.data<float>().data();
    Q* to = y.mutable_data<Q>().data();
    constexpr arith::Type type = arith::type_of(dtype_of<Bits<Q>>);
    for_each_run(c, p, [&](std::size_t i, std::int64_t begin, std::int64_t size) {
      arith::quantize(type, ranges[i].line(), from + begin, to + begin, size);
    });
    return {};
  });
}

/// x = q * scale + offset
struct Line {
  float scale = 0, offset = 0, before = 0; ///< `before` is added to q
  float of(float q) const { return (q + before) * scale + offset; }
};

template <class Q>
Line line_of(const Attrs& a, float least, float most) {
  const auto high = static_cast<float>(highest<Q>), low = static_cast<float>(lowest<Q>);
  if (a.mode == Mode::min_combined)
    return {(most - least) / (high - low), least, lowest<Q> == 0 ? 0.0F : (high - low + 1) / 2};
  if (a.mode == Mode::min_first) {
    constexpr double steps = static_cast<double>(highest<Q>) - static_cast<double>(lowest<Q>);
    const auto scale = static_cast<float>((most - least) / steps);
    const float zero = most == least ? least : std::round(least / scale) * scale;
    return {scale, zero - low * scale, 0};
  }
  const auto narrow = static_cast<float>(lowest<Q> + (a.narrow ? 1 : 0));
  return {lowest<Q> == 0 ? most / high : std::max(least / narrow, most / high), 0, 0};
}

Status dequantize(KernelContext& c) {
  const auto& a = c.prepared<Attrs>();
  TROUPE_ASSIGN(const Parts p, parts_of(c, a, check_bound_of_quantized));
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  return dispatch(Quantized{}, x.dtype(), [&]<class Q>() -> Status {
    std::vector<Line> lines;
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.count); ++i)
      lines.push_back(line_of<Q>(a, c.input(1).data<float>()[i], c.input(2).data<float>()[i]));
    const Q* from = x.data<Q>().data();
    return dispatch(Types<float, BFloat16>{}, y.dtype(), [&]<class T>() -> Status {
      T* to = y.mutable_data<T>().data();
      for_each_place(c, p, [&](std::size_t i, std::size_t at) {
        to[at] = static_cast<T>(lines[i].of(static_cast<float>(from[at].bits)));
      });
      return {};
    });
  });
}

Status infer(ShapeContext& c, bool gives_range) {
  TROUPE_ASSIGN(const auto axis, c.attr<std::int64_t>("axis"));
  if (axis < -1)
    return invalid_argument(str_cat("axis should be at least -1, got ", axis));
  const int rank = axis == -1 ? 0 : 1;
  if (axis == -1 || !c.input(0).has_rank()) {
    TROUPE_TRY(c.require_rank(1, rank));
    TROUPE_TRY(c.require_rank(2, rank));
  } else {
    if (axis >= Shape::max_rank)
      return invalid_argument(
          str_cat("Axis must be less than input dimension(", c.input(0).rank(), "), got ", axis));
    TROUPE_TRY(c.require_rank_at_least(0, static_cast<int>(axis) + 1));
    TROUPE_ASSIGN(const auto least, shape_rules::dims_of_rank(c, 1, 1));
    TROUPE_ASSIGN(const auto most, shape_rules::dims_of_rank(c, 2, 1));
    const std::int64_t depth = c.input(0).dim(static_cast<int>(axis));
    TROUPE_TRY(shape_rules::merge_dims(least[0], depth).status());
    TROUPE_TRY(shape_rules::merge_dims(most[0], depth).status());
  }
  TROUPE_TRY(c.output_like(0, 0));
  if (!gives_range)
    return {};
  const PartialShape range = rank == 0 ? PartialShape{} : PartialShape{-1};
  for (int i : {1, 2})
    TROUPE_TRY(rank == 0 ? c.set_output(i, PartialShape(std::vector<std::int64_t>{}))
                         : c.set_output(i, range));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  const std::vector<DType> quantized = {DType::qint8, DType::quint8, DType::qint32, DType::qint16,
                                        DType::quint16};
  KernelOptions options;
  options.prepare = prepare;
  options.types = {{"T", quantized}};
  library.op("QuantizeV2")
      .input("input: float; min_range: float; max_range: float")
      .output("output: T; output_min: float; output_max: float")
      .attr("T: quantizedtype")
      .attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
      .attr("round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'")
      .attr("narrow_range: bool = false; axis: int = -1; ensure_minimum_range: float = 0.01")
      .shape_fn([](ShapeContext& c) { return infer(c, true); })
      .not_differentiable("TensorFlow's clients bring its gradient")
      .cpu_kernel(quantize, options)
      .doc("Floats as integers that divide a range into equal steps, and the range.");
  options.types = {{"T", quantized}, {"dtype", {DType::float32, DType::bfloat16}}};
  library.op("Dequantize")
      .input("input: T; min_range: float; max_range: float")
      .output("output: dtype")
      .attr("T: quantizedtype")
      .attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
      .attr("narrow_range: bool = false; axis: int = -1; dtype: {bfloat16, float} = DT_FLOAT")
      .shape_fn([](ShapeContext& c) { return infer(c, false); })
      .not_differentiable("TensorFlow's clients bring its gradient")
      .cpu_kernel(dequantize, options)
      .doc("The floats that the integers of QuantizeV2 stand for.");
}

} // namespace troupe::nn_quantize
