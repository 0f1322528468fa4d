// Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual: elementwise, with broadcasting, to bool.
#include <string>

#include "kernels/framework/op_library.hpp"
#include "kernels/gpu/launch.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_comparison {
namespace {

using arith::BinaryOp;

constexpr auto flat = "its values are true and false";

template <bool want_equal>
bool compare_strings(const void* a, const void* b, void* out, std::int64_t n, arith::RowMode mode) {
  const auto* x = static_cast<const std::string*>(a);
  const auto* y = static_cast<const std::string*>(b);
  auto* z = static_cast<bool*>(out);
  for (std::int64_t i = 0; i < n; ++i)
    z[i] = (x[mode == arith::RowMode::left_scalar ? 0 : i] ==
            y[mode == arith::RowMode::right_scalar ? 0 : i]) == want_equal;
  return true;
}

/// Quantised numbers are compared as the integers that they are stored as.
DType stored_as(DType dtype) {
  switch (dtype) {
  case DType::qint8:
    return DType::int8;
  case DType::quint8:
    return DType::uint8;
  case DType::qint16:
    return DType::int16;
  case DType::quint16:
    return DType::uint16;
  case DType::qint32:
    return DType::int32;
  default:
    return dtype;
  }
}

// Where the shapes do not fit and that is allowed, the answer is one bool: they are not equal.
template <bool want_equal>
Status equality(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  auto shape = broadcast_shapes(x.shape(), y.shape());
  if (!shape.ok()) {
    if (c.attrs().get_or("incompatible_shape_error", true))
      return shape.status();
    TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
    out.mutable_data<bool>()[0] = !want_equal;
    return {};
  }
  if (x.dtype() == DType::string)
    return math::run_binary(c,
                            arith::BinaryKernel{.fn = compare_strings<want_equal>,
                                                .in_size = sizeof(std::string),
                                                .out_size = 1},
                            *shape, math::costly, "");
  const BinaryOp op = want_equal ? BinaryOp::equal : BinaryOp::not_equal;
  if (const DType stored = stored_as(x.dtype()); stored != x.dtype()) {
    TROUPE_ASSIGN(const arith::BinaryKernel kernel, arith::binary(op, stored));
    return math::run_binary(c, kernel, *shape, math::cheap, "");
  }
  return math::binary(c, op);
}

Status infer_equality(ShapeContext& c) {
  auto shape = broadcast_partial(c.input(0), c.input(1));
  if (c.attrs().get_or("incompatible_shape_error", true)) {
    TROUPE_TRY(shape.status());
    return c.set_output(0, *std::move(shape));
  }
  const bool certain = c.input(0).is_fully_defined() && c.input(1).is_fully_defined();
  return c.set_output(0, !certain ? PartialShape{} : shape.ok() ? *shape : PartialShape(Shape{}));
}

template <bool want_equal>
Status equality_on_gpu(KernelContext& c) {
  const Shape &x = c.input(0).shape(), &y = c.input(1).shape();
  if (!broadcast_shapes(x, y).ok() && !c.attrs().get_or("incompatible_shape_error", true)) {
    TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
    return gpu::fill(c, out.mutable_raw(), want_equal ? 0 : 1, sizeof(bool));
  }
  return math::binary_on_gpu(c, want_equal ? BinaryOp::equal : BinaryOp::not_equal);
}

template <bool want_equal>
void add_equality(OpLibrary& library, std::string_view name, std::string_view doc) {
  std::vector<DType> types = arith::dtypes_of(BinaryOp::equal);
  types.insert(types.end(), {DType::string, DType::qint8, DType::quint8, DType::qint16,
                             DType::quint16, DType::qint32});
  library.op(name)
      .input("x: T; y: T")
      .output("z: bool")
      .attr("T: type; incompatible_shape_error: bool = true")
      .commutative()
      .shape_fn(infer_equality)
      .not_differentiable(flat)
      .cpu_kernel(equality<want_equal>, math::for_types(std::move(types)))
      .gpu_kernel(equality_on_gpu<want_equal>, math::for_gpu(BinaryOp::equal))
      .host_kernel_on_gpu(equality<want_equal>, math::for_types({DType::int32}))
      .doc(doc);
}

template <BinaryOp op>
void add_order(OpLibrary& library, std::string_view name, std::string_view doc) {
  library.op(name)
      .input("x: T; y: T")
      .output("z: bool")
      .attr("T: realnumbertype")
      .shape_fn(shape_broadcast_binary)
      .not_differentiable(flat)
      .cpu_kernel(math::binary<op>, math::for_types_of(op))
      .gpu_kernel(math::binary_on_gpu<op>, math::for_gpu(op))
      .host_kernel_on_gpu(math::binary<op>, math::for_types({DType::int32}))
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add_equality<true>(library, "Equal", "Whether x == y.");
  add_equality<false>(library, "NotEqual", "Whether x != y.");
  add_order<BinaryOp::less>(library, "Less", "Whether x < y.");
  add_order<BinaryOp::less_equal>(library, "LessEqual", "Whether x <= y.");
  add_order<BinaryOp::greater>(library, "Greater", "Whether x > y.");
  add_order<BinaryOp::greater_equal>(library, "GreaterEqual", "Whether x >= y.");
}

} // namespace troupe::math_comparison
