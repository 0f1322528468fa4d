// Bitcast: the same bytes as elements of another dtype, of the same size, larger or smaller.
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_bitcast {
namespace {

using array::Dims;

Status refuse(std::size_t from, std::size_t to) {
  return invalid_argument(str_cat("Cannot bitcast from ", from, " to ", to));
}

/// The dimensions after it: the last one is split, or goes away.
Result<Dims> result_dims(std::span<const std::int64_t> x, DType from, DType to) {
  Dims out(x.begin(), x.end());
  const std::size_t a = dtype_size(from), b = dtype_size(to);
  if (a > b) {
    out.push_back(static_cast<std::int64_t>(a / b));
  } else if (a < b) {
    const auto ratio = static_cast<std::int64_t>(b / a);
    if (out.empty() || (out.back() >= 0 && out.back() != ratio))
      return refuse(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    out.pop_back();
  }
  return out;
}

Status infer_shape(ShapeContext& c) {
  if (!c.input(0).has_rank())
    return {};
  TROUPE_ASSIGN(const auto from, c.attr<DType>("T"));
  TROUPE_ASSIGN(const auto to, c.attr<DType>("type"));
  TROUPE_ASSIGN(Dims dims, result_dims(c.input(0).dims(), from, to));
  TROUPE_TRY(shape_rules::check_rank(static_cast<std::int64_t>(dims.size())));
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const DType to = c.output_type(0);
  TROUPE_ASSIGN(const Dims dims, result_dims(x.shape().dims(), x.dtype(), to));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  if (dtype_size(x.dtype()) == dtype_size(to))
    return c.set_output(0, x.bitcast(to));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const auto bytes = x.bytes();
  std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(out.mutable_raw()));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto dtypes = "{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, "
                          "uint64, int8, int16, complex64, complex128, qint8, quint8, qint16, "
                          "quint16, qint32}";
  library.op("Bitcast")
      .input("input: T")
      .output("output: type")
      .attr(str_cat("T: ", dtypes))
      .attr(str_cat("type: ", dtypes))
      .shape_fn(infer_shape)
      .not_differentiable("its values are bytes")
      .cpu_kernel(compute)
      .doc("The same bytes as elements of another dtype.");
}

} // namespace troupe::array_bitcast
