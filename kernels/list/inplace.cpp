// Ops on rows of a tensor, in its own memory where nobody else holds it.
#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/state/internal/update.hpp"

namespace troupe::list_inplace {
namespace {

Status check_rows(const Tensor& x, const Tensor& indices, const Tensor& v) {
  if (indices.shape().rank() != 1)
    return invalid_argument(str_cat("i must be a vector. ", indices.shape()));
  if (x.shape().rank() != v.shape().rank())
    return invalid_argument(
        str_cat("x and v shape doesn't match (ranks differ): ", x.shape(), " vs. ", v.shape()));
  if (x.shape().is_scalar())
    return invalid_argument("x must be at least a vector. []");
  for (int i = 1; i < x.shape().rank(); ++i)
    if (x.shape()[i] != v.shape()[i])
      return invalid_argument(str_cat("x and v shape doesn't match at index ", i, " : ", x.shape(),
                                      " vs. ", v.shape()));
  if (indices.shape()[0] != v.shape()[0])
    return invalid_argument(
        str_cat("i and x shape doesn't match at index 0: ", indices.shape(), " vs. ", v.shape()));
  return {};
}

/// The elements of input `i` in memory that nobody else sees.
Result<Tensor> own_copy(KernelContext& c, int i) {
  Tensor given = c.take_input(i);
  if (given.is_unique())
    return given;
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(given.dtype(), given.shape()));
  TROUPE_TRY(array::charge_text(given, out));
  array::copy_elements(given, 0, out, 0, given.num_elements());
  return out;
}

// TensorFlow takes indices modulo the number of rows.
std::int64_t row_of(std::int32_t index, std::int64_t rows) {
  const std::int64_t row = index % rows;
  return row < 0 ? row + rows : row;
}

template <class OnRow>
Status for_rows(KernelContext& c, OnRow&& on_row) {
  const Tensor indices = c.input(1), v = c.input(2);
  TROUPE_TRY(check_rows(c.input(0), indices, v));
  TROUPE_ASSIGN(Tensor y, own_copy(c, 0));
  if (y.num_elements() > 0)
    for (std::int64_t i = 0; i < indices.num_elements(); ++i) {
      const std::int64_t at =
          row_of(indices.data<std::int32_t>()[static_cast<std::size_t>(i)], y.shape()[0]);
      TROUPE_TRY(on_row(y, at, v, i));
      c.stop_if_cancelled();
    }
  return c.set_output(0, std::move(y));
}

Status update_rows(KernelContext& c) {
  return for_rows(c, [](Tensor& y, std::int64_t at, const Tensor& v, std::int64_t i) -> Status {
    const std::int64_t row = y.num_elements() / y.shape()[0];
    TROUPE_TRY(y.charge(array::text_bytes(v, i * row, row)));
    array::copy_elements(v, i * row, y, at * row, row);
    return {};
  });
}

template <arith::BinaryOp op>
Status combine_rows(KernelContext& c) {
  return for_rows(c, [&](Tensor& y, std::int64_t at, const Tensor& v, std::int64_t i) -> Status {
    Tensor row = y.rows(at, at + 1);
    return state::update_in_place(c, op, row, v.rows(i, i + 1));
  });
}

Status deep_copy(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  TROUPE_TRY(array::charge_text(x, y));
  array::copy_elements(x, 0, y, 0, x.num_elements());
  return {};
}

KernelOptions all_types() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

constexpr auto no_gradient = "TensorFlow defines no gradient for it";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DeepCopy")
      .input("x: T")
      .output("y: T")
      .attr("T: type")
      .stateful()
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel(deep_copy, all_types())
      .doc("x in memory of its own.");
  library.op("InplaceUpdate")
      .input("x: T; i: int32; v: T")
      .output("y: T")
      .attr("T: type")
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel(update_rows, all_types())
      .doc("x with row j of v as its row i[j].");
  library.op("InplaceAdd")
      .input("x: T; i: int32; v: T")
      .output("y: T")
      .attr("T: type")
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel(combine_rows<arith::BinaryOp::add>, state::updatable("T"))
      .doc("x with row j of v added to its row i[j].");
  library.op("InplaceSub")
      .input("x: T; i: int32; v: T")
      .output("y: T")
      .attr("T: type")
      .shape_fn(shape_unchanged)
      .not_differentiable(no_gradient)
      .cpu_kernel(combine_rows<arith::BinaryOp::sub>, state::updatable("T"))
      .doc("x with row j of v subtracted from its row i[j].");
}

} // namespace troupe::list_inplace
