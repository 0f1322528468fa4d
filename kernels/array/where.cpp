// Where: the index of every element that is true or not zero, a row each, in order.
#include <algorithm>
#include <span>

#include "kernels/arith/flags.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::array_where {
namespace {

constexpr int max_rank = 8;

Status infer_shape(ShapeContext& c) {
  return c.set_output(0, PartialShape{-1, c.input(0).rank()});
}

/// Elements that are looked at together.
constexpr std::int64_t block = 1024;

/// A byte for each element, which is not 0 where the element counts.
Result<Tensor> flags_of(KernelContext& c, const Tensor& x) {
  if (dtype_size(x.dtype()) == 1)
    return x;
  if (!is_complex(x.dtype()))
    return widened(c, x, DType::bool_);
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(DType::bool_, x.shape()));
  TROUPE_TRY(dispatch(Types<std::complex<float>, std::complex<double>>{}, x.dtype(),
                      [&]<class T>() -> Status {
                        std::ranges::transform(x.data<T>(), out.mutable_data<bool>().begin(),
                                               [](const T& value) { return value != T{}; });
                        return {};
                      }));
  return out;
}

/// Turns positions in a tensor, which rise, to rows of coordinates.
class Coordinates {
public:
  explicit Coordinates(const Shape& shape) : shape_(shape), rank_(shape.rank()) {}
  void write(std::span<const std::int64_t> positions, std::int64_t* to) {
    for (std::int64_t position : positions) {
      if (position >= end_)
        enter(position / shape_[rank_ - 1]);
      std::copy_n(outer_, rank_ - 1, to);
      to[rank_ - 1] = position - begin_;
      to += rank_;
    }
  }

private:
  /// Takes the coordinates of an innermost row.
  void enter(std::int64_t row) {
    begin_ = row * shape_[rank_ - 1];
    end_ = begin_ + shape_[rank_ - 1];
    for (int k = rank_ - 2; k >= 0; --k) {
      outer_[k] = row % shape_[k];
      row /= shape_[k];
    }
  }

  const Shape& shape_;
  int rank_;
  std::int64_t begin_ = 0, end_ = 0, outer_[max_rank] = {};
};

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const int rank = x.shape().rank();
  if (rank < 1 || rank > max_rank)
    return invalid_argument(str_cat("WhereOp : Unhandled input dimensions: ", rank));
  TROUPE_ASSIGN(const Tensor flags, flags_of(c, x));
  const auto* in = static_cast<const std::uint8_t*>(flags.raw());
  const std::int64_t n = x.num_elements();
  const std::int64_t count = arith::count_flags(in, n);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{count, rank}));
  // A peer's variable, read where it lies, may change if the peer breaks the rules: what is
  // found now may be more than was counted, or less.
  std::int64_t* to = out.mutable_data<std::int64_t>().data();
  std::int64_t* const end = to + count * rank;
  std::int64_t found[block];
  Coordinates coordinates(x.shape());
  c.serial_for(n, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; i += block) {
      const std::int64_t some = std::min(block, last - i), left = (end - to) / rank;
      std::int64_t* const target = rank == 1 ? to : found;
      const std::int64_t more =
          arith::find_flags(in + i, some, i, rank == 1 ? left : std::min(left, block), target);
      if (rank > 1)
        coordinates.write(std::span(found, static_cast<std::size_t>(more)), to);
      to += more * rank;
    }
  });
  std::fill(to, end, 0);
  return {};
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
