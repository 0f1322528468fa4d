// Operations on the bits of integers: BitwiseAnd, BitwiseOr, BitwiseXor, LeftShift, RightShift,
// Invert, PopulationCount.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/arith/bits.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_bitwise {
namespace {

using arith::RowMode;
using Integral = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                       std::uint16_t, std::uint32_t, std::uint64_t>;

enum class Op { and_, or_, xor_, left, right };

/// Shifts differ by the type of the elements; the others look at their bits alone.
constexpr bool is_shift(Op op) {
  return op == Op::left || op == Op::right;
}

/// A shift by less than 0 counts as one by 0, one by the width or more as by the width less 1, as
/// in TensorFlow.
template <Op op, class T>
T shifted(T x, T y) {
  static_assert(is_shift(op));
  using U = std::make_unsigned_t<T>;
  const auto by = static_cast<int>(std::clamp<T>(y, 0, static_cast<T>(sizeof(T) * 8 - 1)));
  if constexpr (op == Op::left)
    return static_cast<T>(static_cast<U>(static_cast<U>(x) << by));
  else
    return static_cast<T>(x >> by);
}

constexpr arith::BitOp bit_op(Op op) {
  return op == Op::and_  ? arith::BitOp::and_
         : op == Op::or_ ? arith::BitOp::or_
                         : arith::BitOp::xor_;
}

template <class T>
bool row_of_bits(arith::BitOp op, const void* a, const void* b, void* out, std::int64_t n,
                 RowMode mode) {
  T patterns[2][arith::bit_pattern_bytes / sizeof(T)]; // of an element that is a whole row
  const auto bytes_of = [&](const void* from, bool repeats, T* pattern) {
    if (repeats && n > 0)
      std::fill_n(pattern, std::size(patterns[0]), *static_cast<const T*>(from));
    return reinterpret_cast<const std::uint8_t*>(repeats ? pattern : static_cast<const T*>(from));
  };
  const bool repeats_a = mode == RowMode::left_scalar, repeats_b = mode == RowMode::right_scalar;
  arith::combine_bits(op, bytes_of(a, repeats_a, patterns[0]), repeats_a,
                      bytes_of(b, repeats_b, patterns[1]), repeats_b,
                      static_cast<std::uint8_t*>(out), n * static_cast<std::int64_t>(sizeof(T)));
  return true;
}

template <Op op, class T>
bool row(const void* a, const void* b, void* out, std::int64_t n, RowMode mode) {
  if constexpr (!is_shift(op)) {
    return row_of_bits<T>(bit_op(op), a, b, out, n, mode);
  } else {
    const T* x = static_cast<const T*>(a);
    const T* y = static_cast<const T*>(b);
    T* z = static_cast<T*>(out);
    const std::int64_t dx = mode == RowMode::left_scalar ? 0 : 1;
    const std::int64_t dy = mode == RowMode::right_scalar ? 0 : 1;
    for (std::int64_t i = 0; i < n; ++i)
      z[i] = shifted<op, T>(x[i * dx], y[i * dy]);
    return true;
  }
}

template <Op op>
Status compute(KernelContext& c) {
  arith::BinaryKernel kernel;
  const DType dtype = c.input(0).dtype();
  kernel.in_size = kernel.out_size = static_cast<int>(dtype_size(dtype));
  TROUPE_TRY(dispatch(Integral{}, dtype, [&]<class T>() -> Status {
    kernel.fn = row<op, T>;
    return {};
  }));
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(c.input(0).shape(), c.input(1).shape()));
  return math::run_binary(c, kernel, shape, math::cheap, "");
}

Status compute_invert(KernelContext& c) {
  const void* from = c.input(0).raw();
  const Shape shape = c.input(0).shape();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  return dispatch(Integral{}, out.dtype(), [&]<class T>() -> Status {
    const T* x = static_cast<const T*>(from);
    T* y = out.mutable_data<T>().data();
    c.parallel_for(shape.num_elements(), math::cheap, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        y[i] = static_cast<T>(~x[i]);
    });
    return {};
  });
}

Status compute_count(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  return dispatch(Integral{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    std::uint8_t* to = out.mutable_data<std::uint8_t>().data();
    c.parallel_for(x.num_elements(), math::cheap, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        to[i] =
            static_cast<std::uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(from[i])));
    });
    return {};
  });
}

constexpr auto types = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}";
constexpr auto why = "integers have no gradient";

KernelOptions options() {
  return math::for_types({DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8,
                          DType::uint16, DType::uint32, DType::uint64});
}

void add(OpLibrary& library, std::string_view name, KernelFn fn, bool commutative,
         std::string_view doc) {
  auto op = library.op(name);
  op.input("x: T; y: T").output("z: T").attr(types).shape_fn(shape_broadcast_binary);
  if (commutative)
    op.commutative();
  op.not_differentiable(why).cpu_kernel(fn, options()).doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add(library, "BitwiseAnd", compute<Op::and_>, true, "The bits that both have.");
  add(library, "BitwiseOr", compute<Op::or_>, true, "The bits that either has.");
  add(library, "BitwiseXor", compute<Op::xor_>, true, "The bits that one of them has.");
  add(library, "LeftShift", compute<Op::left>, false, "x with its bits moved up by y.");
  add(library, "RightShift", compute<Op::right>, false,
      "x with its bits moved down by y; negative numbers stay negative.");
  library.op("Invert")
      .input("x: T")
      .output("y: T")
      .attr(types)
      .shape_fn(shape_unchanged)
      .not_differentiable(why)
      .cpu_kernel(compute_invert, options())
      .doc("All bits turned round.");
  library.op("PopulationCount")
      .input("x: T")
      .output("y: uint8")
      .attr(types)
      .shape_fn(shape_unchanged)
      .not_differentiable(why)
      .cpu_kernel(compute_count, options())
      .doc("How many bits are set.");
}

} // namespace troupe::math_bitwise
