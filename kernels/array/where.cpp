// Where: the index of every element that is true or not zero, a row each, in order.
#include <algorithm>

#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_where {
namespace {

using WhereTypes = Types<bool, float, double, std::int32_t, std::int64_t, std::uint8_t, std::int8_t,
                         std::int16_t, std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16,
                         std::complex<float>, std::complex<double>>;

constexpr int max_rank = 8;

Status infer_shape(ShapeContext& c) {
  return c.set_output(0, PartialShape{-1, c.input(0).rank()});
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const int rank = x.shape().rank();
  if (rank < 1 || rank > max_rank)
    return invalid_argument(str_cat("WhereOp : Unhandled input dimensions: ", rank));
  return dispatch(WhereTypes{}, x.dtype(), [&]<class T>() -> Status {
    const auto in = x.data<T>();
    std::int64_t count = 0;
    for (T value : in)
      count += value != T{} ? 1 : 0;
    TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{count, rank}));
    // A peer's variable, read where it lies, may change if the peer breaks the rules: what is
    // found now may be more than was counted, or less.
    std::int64_t* to = out.mutable_data<std::int64_t>().data();
    std::int64_t* const end = to + count * rank;
    c.serial_for(x.num_elements(), 5, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last && to != end; ++i) {
        if (!(in[static_cast<std::size_t>(i)] != T{}))
          continue;
        std::int64_t rest = i;
        for (int k = rank - 1; k >= 0; --k) {
          to[k] = rest % x.shape()[k];
          rest /= x.shape()[k];
        }
        to += rank;
      }
    });
    std::fill(to, end, 0);
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {
      {"T",
       {DType::bool_, DType::float32, DType::float64, DType::int32, DType::int64, DType::uint8,
        DType::int8, DType::int16, DType::uint16, DType::uint32, DType::uint64, DType::float16,
        DType::bfloat16, DType::complex64, DType::complex128}}};
  options.expensive = true;
  library.op("Where")
      .input("input: T")
      .output("index: int64")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool} = DT_BOOL")
      .shape_fn(infer_shape)
      .not_differentiable("its values are positions")
      .cpu_kernel(compute, std::move(options))
      .doc("The indices of all elements that are true or not zero, one row for each.");
}

} // namespace troupe::array_where
