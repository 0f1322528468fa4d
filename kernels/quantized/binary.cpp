// QuantizedAdd and QuantizedMul: sums and products of quantised numbers, in qint32.
#include <array>

#include "kernels/arith/broadcast.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_binary {
namespace {

using quantized::Range;
/// What each of the 256 integers is taken for; in 32 bits, the rest falls off.
using Table = std::array<std::uint32_t, 256>;

Status infer_add(ShapeContext& c) {
  TROUPE_TRY(shape_broadcast_binary(c));
  return quantized::infer_ranges(c, 2, 6);
}

Status infer_mul(ShapeContext& c) {
  TROUPE_TRY(shape_broadcast_binary(c));
  return quantized::infer_ranges(c, 0, 0);
}

std::string must_be_a_scalar(std::string_view name, const Shape& /*shape*/) {
  return str_cat(name, " must be a scalar");
}

/// What the two ops say and compute.
struct Op {
  quantized::BoundText scalar;
  const char* x_is_empty; ///< of a range
  const char* y_is_empty;
  const char* no_elements;
};
constexpr Op add_op{quantized::quoted_must_be_rank_0, "max_x must be larger than min_x.",
                    "max_y must be larger than min_y.", "Must have some elements to add"};
constexpr Op mul_op{must_be_a_scalar, "max_x must be larger than min_a.",
                    "max_x must be larger than min_b.", "vector must have at least 1 element"};

/// TensorFlow takes a number alone to its nearest place, and those of several in whole steps from
/// that of the integer 0.
Table requantized(Range from, Range to, bool alone) {
  Table out{};
  const auto place = [&](std::uint8_t i) {
    return quantized::place_of<QInt32>(quantized::value_of(QUInt8{i}, from), to);
  };
  constexpr std::int64_t far = std::int64_t{1} << 40; // beyond what is in the output
  const std::int64_t first = std::clamp(place(0), -far, far);
  const auto step = static_cast<std::int32_t>(std::clamp(place(1), -far, far) - first);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t at =
        alone ? place(static_cast<std::uint8_t>(i)) : first + static_cast<std::int64_t>(i) * step;
    out[i] = static_cast<std::uint32_t>(
        std::clamp(at, quantized::lowest<QInt32>, quantized::highest<QInt32>));
  }
  return out;
}

Table from_zero(Range range) {
  const auto zero = static_cast<std::uint32_t>(quantized::place_of<QUInt8>(0.0F, range));
  Table out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint32_t>(i) - zero;
  return out;
}

/// Whether one is a single number, or both are the same but for dimensions of 1 before the others.
bool alike(const Shape& x, const Shape& y) {
  const auto rest = [](const Shape& shape) {
    const auto dims = shape.dims();
    const auto first = std::ranges::find_if(dims, [](std::int64_t dim) { return dim != 1; });
    return std::vector<std::int64_t>(first, dims.end());
  };
  return x.num_elements() == 1 || y.num_elements() == 1 || rest(x) == rest(y);
}

Result<arith::BroadcastPlan> plan_of(const Shape& x, const Shape& y, const Op& op) {
  arith::BroadcastPlan out;
  const bool fits = arith::make_broadcast_plan({x.dims(), y.dims()}, out);
  if (!fits || out.rank > 2)
    return unimplemented(str_cat("Broadcast between ", x, " and ", y, " is not supported yet."));
  if (std::min(x.num_elements(), y.num_elements()) == 0 && !alike(x, y))
    return invalid_argument(op.no_elements);
  return out;
}

template <bool adds>
Status compute(KernelContext& c) {
  constexpr Op op = adds ? add_op : mul_op;
  const Tensor &x = c.input(0), &y = c.input(1);
  TROUPE_ASSIGN(const Range x_range, quantized::range_of(c, 2, "x", op.scalar));
  TROUPE_ASSIGN(const Range y_range, quantized::range_of(c, 4, "y", op.scalar));
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(x.shape(), y.shape()));
  if (!(x_range.least < x_range.most))
    return invalid_argument(op.x_is_empty);
  if (!(y_range.least < y_range.most))
    return invalid_argument(op.y_is_empty);
  TROUPE_ASSIGN(const arith::BroadcastPlan plan, plan_of(x.shape(), y.shape(), op));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const Range range = adds ? quantized::sum_range(x_range, y_range, 1 << 14)
                           : quantized::product_range<QUInt8, QUInt8>(x_range, y_range);
  const bool one_x = x.num_elements() == 1, one_y = !one_x && y.num_elements() == 1;
  const Table of_x = adds ? requantized(x_range, range, one_x) : from_zero(x_range);
  const Table of_y = adds ? requantized(y_range, range, one_y) : from_zero(y_range);
  const QUInt8 *left = x.data<QUInt8>().data(), *right = y.data<QUInt8>().data();
  QInt32* to = out.mutable_data<QInt32>().data();
  const std::int64_t columns = plan.rank > 0 ? plan.dims[plan.rank - 1] : 1;
  const auto stride = [&](int input, int back) {
    return plan.rank >= back ? plan.strides[input][plan.rank - back] : 0;
  };
  if (shape.num_elements() > 0)
    c.parallel_for(plan.size / columns, 1.0 * static_cast<double>(columns),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row)
                       for (std::int64_t i = 0; i < columns; ++i) {
                         const std::uint32_t a =
                             of_x[left[row * stride(0, 2) + i * stride(0, 1)].bits];
                         const std::uint32_t b =
                             of_y[right[row * stride(1, 2) + i * stride(1, 1)].bits];
                         to[row * columns + i] = {static_cast<std::int32_t>(adds ? a + b : a * b)};
                       }
                   });
  return quantized::set_range(c, 1, range);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T1", {DType::quint8}}, {"T2", {DType::quint8}}, {"Toutput", {DType::qint32}}};
  for (const bool adds : {true, false})
    library.op(adds ? "QuantizedAdd" : "QuantizedMul")
        .input("x: T1; y: T2; min_x: float; max_x: float; min_y: float; max_y: float")
        .output("z: Toutput; min_z: float; max_z: float")
        .attr("T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = DT_QINT32")
        .shape_fn(adds ? infer_add : infer_mul)
        .not_differentiable(quantized::no_gradient)
        .cpu_kernel(adds ? compute<true> : compute<false>, options)
        .doc(adds ? "x + y of quantised numbers, and the sums' range."
                  : "x * y of quantised numbers, and the products' range.");
}

} // namespace troupe::quantized_binary
