// ArgMax, ArgMin: the position of the first largest or smallest element along an axis.
#include <algorithm>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/reduce/internal/gpu_kernels.hpp"

namespace troupe::reduce_arg_max {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(1, 0));
  const PartialShape& x = c.input(0);
  if (!x.has_rank())
    return {};
  if (x.rank() == 0)
    return c.set_output(0, Shape{});
  const auto axis = c.input_as_ints(1);
  auto dims = x.dims();
  if (!axis) {
    dims.pop_back();
    std::ranges::fill(dims, -1);
    return c.set_output(0, PartialShape(std::move(dims)));
  }
  const std::int64_t rank = x.rank(), at = (*axis)[0] < 0 ? (*axis)[0] + rank : (*axis)[0];
  if (at < 0 || at >= rank)
    return invalid_argument(
        str_cat("Expected dimension in the range [", -rank, ", ", rank, "), but got ", (*axis)[0]));
  dims.erase(dims.begin() + at);
  return c.set_output(0, PartialShape(std::move(dims)));
}

Result<std::int64_t> read_axis(const Tensor& tensor) {
  if (!tensor.shape().is_scalar())
    return invalid_argument(
        str_cat("dim must be a scalar, but received tensor of shape: ", tensor.shape()));
  TROUPE_ASSIGN(const auto axes, integers(tensor));
  return axes[0];
}

/// TensorFlow's search starts from the worst finite number of the dtype, than which that number
/// itself and an infinity are not better: they become the worst float, from which the search of
/// floats starts.
void bar_ends(bool want_max, DType dtype, float* values, std::int64_t begin, std::int64_t end) {
  const float highest = dtype == DType::float16 ? 65504.0F : 3.38953139e38F;
  constexpr float worst = std::numeric_limits<float>::max();
  for (std::int64_t i = begin; i < end; ++i)
    if (want_max ? values[i] <= -highest : values[i] >= highest)
      values[i] = want_max ? -worst : worst;
}

Status compute(KernelContext& c, bool want_max) {
  const Tensor& x = c.input(0);
  const Shape& shape = x.shape();
  const std::int64_t rank = shape.rank();
  TROUPE_ASSIGN(const std::int64_t axis, read_axis(c.input(1)));
  const std::int64_t wanted = axis < 0 ? axis + rank : axis;
  if (wanted < 0 || wanted >= rank)
    return invalid_argument(
        str_cat("Expected dimension in the range [", -rank, ", ", rank, "), but got ", axis));
  const int at = static_cast<int>(wanted);
  if (shape[at] == 0)
    return invalid_argument(str_cat("Reduction axis ", at, " is empty in shape ", shape));
  std::int64_t inner = 1;
  for (int i = at + 1; i < rank; ++i)
    inner *= shape[i];
  if (x.kind() == MemoryKind::device) {
    TROUPE_ASSIGN(Tensor positions, c.allocate_output(0, shape.without(at)));
    const std::int64_t outputs = positions.num_elements();
    if (outputs == 0)
      return {};
    return gpu::launch(c, gpu::kernels::arg_extreme, x.dtype(), gpu::over(outputs), want_max,
                       positions.dtype() == DType::int64, x.raw(), positions.mutable_raw(),
                       shape[at], inner, outputs);
  }
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, shape.without(at)));
  // A bool is a byte that is 0 or 1.
  const DType dtype = x.dtype() == DType::bool_ ? DType::uint8 : x.dtype();
  TROUPE_ASSIGN(const auto fn, arith::arg_reduce(want_max, dtype, out.dtype()));
  Tensor wide;
  if (fn.route != nullptr) {
    TROUPE_ASSIGN(wide, c.allocate_temp(static_cast<DType>(fn.route->via), shape));
    c.parallel_for(shape.num_elements(), 0.2, [&](std::int64_t begin, std::int64_t end) {
      fn.route->widen(x.raw(), wide.mutable_raw(), begin, end);
      if (x.dtype() == DType::float16 || x.dtype() == DType::bfloat16)
        bar_ends(want_max, x.dtype(), wide.mutable_data<float>().data(), begin, end);
    });
  }
  const void* from = wide.has_value() ? wide.raw() : x.raw();
  void* to = out.mutable_raw();
  const std::int64_t n = shape[at];
  c.parallel_for(
      out.num_elements(), 0.5 * static_cast<double>(n),
      [&](std::int64_t begin, std::int64_t end) { fn.fn(from, to, n, inner, begin, end); });
  return narrow(c, 0, out);
}

KernelOptions options() {
  KernelOptions out;
  std::vector<DType> types = arith::dtypes_of(arith::ReduceOp::max);
  types.push_back(DType::bool_);
  out.types = {{"T", std::move(types)},
               {"output_type", {DType::int32, DType::int64, DType::int16, DType::uint16}}};
  out.expensive = true;
  return out;
}

KernelOptions gpu_options() {
  return {.types = {{"T", gpu::numbers()}, {"output_type", {DType::int32, DType::int64}}},
          .host_inputs = {"dimension"}};
}

constexpr auto ordered = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, "
                         "half, uint32, uint64, qint8, quint8, qint32, qint16, quint16, bool}";
constexpr auto discrete = "its values are positions";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ArgMax")
      .input("input: T; dimension: Tidx")
      .output("output: output_type")
      .attr(ordered)
      .attr("Tidx: {int16, int32, int64} = DT_INT32")
      .attr("output_type: {int16, uint16, int32, int64} = DT_INT64")
      .shape_fn(infer_shape)
      .not_differentiable(discrete)
      .cpu_kernel([](KernelContext& c) { return compute(c, true); }, options())
      .gpu_kernel([](KernelContext& c) { return compute(c, true); }, gpu_options())
      .doc("The position of the first largest element along an axis.");
  library.op("ArgMin")
      .input("input: T; dimension: Tidx")
      .output("output: output_type")
      .attr(ordered)
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("output_type: {int32, int64} = DT_INT64")
      .shape_fn(infer_shape)
      .not_differentiable(discrete)
      .cpu_kernel([](KernelContext& c) { return compute(c, false); }, options())
      .gpu_kernel([](KernelContext& c) { return compute(c, false); }, gpu_options())
      .doc("The position of the first smallest element along an axis.");
}

} // namespace troupe::reduce_arg_max
