// RandomShuffle and StatelessShuffle: the rows of a tensor in random order, TensorFlow's for
// TensorFlow's seeds.
#include <vector>

#include "kernels/arith/lookup.hpp"
#include "kernels/arith/movement.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/random/internal/fill.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::random_shuffle {
namespace {

/// Copies row order[i] to row i, object by object.
template <class T>
Status copy_objects(const Tensor& in, std::span<const std::int64_t> order, Tensor& out) {
  const auto width = static_cast<std::size_t>(in.num_elements()) / order.size();
  const auto from = in.data<T>();
  const auto to = out.mutable_data<T>();
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t k = 0; k < width; ++k)
      to[i * width + k] = from[static_cast<std::size_t>(order[i]) * width + k];
  return {};
}

std::int64_t rows_of(const Tensor& value) {
  return value.shape().rank() == 0 ? 1 : value.shape()[0];
}

Status shuffle(KernelContext& c, const arith::Philox& start) {
  const Tensor& value = c.input(0);
  const std::int64_t rows = rows_of(value);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  arith::shuffle_order(start, order);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, value.shape()));
  if (is_object(value.dtype()))
    return dispatch(Types<std::string, ResourceHandle, Variant>{}, value.dtype(),
                    [&]<class T>() { return copy_objects<T>(value, order, out); });
  const auto row_bytes =
      value.num_elements() / rows * static_cast<std::int64_t>(dtype_size(value.dtype()));
  c.parallel_for(rows, 5 + 0.1 * static_cast<double>(row_bytes),
                 [&](std::int64_t begin, std::int64_t end) {
                   arith::gather_rows(arith::Type::int64, value.raw(), rows, row_bytes,
                                      order.data(), rows, out.mutable_raw(), begin, end);
                 });
  return {};
}

Status compute(KernelContext& c) {
  const std::int64_t rows = rows_of(c.input(0));
  if (rows <= 1 || c.input(0).num_elements() == 0)
    return c.set_output(0, c.input(0));
  return shuffle(c, random::generator(c)->reserve(arith::shuffle_blocks(rows)));
}

Status compute_stateless(KernelContext& c) {
  TROUPE_ASSIGN(const arith::Philox start, random::given(c, 1));
  if (rows_of(c.input(0)) <= 1 || c.input(0).num_elements() == 0)
    return c.set_output(0, c.input(0));
  return shuffle(c, start);
}

Status infer_stateless(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 1));
  TROUPE_TRY(c.require_rank(3, 0));
  return c.output_like(0, 0);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RandomShuffle")
      .input("value: T")
      .output("output: T")
      .attr("seed: int = 0; seed2: int = 0; T: type")
      .stateful()
      .roles(Role::random)
      .shape_fn(shape_unchanged)
      .not_differentiable("the order that it chose is not kept")
      .cpu_kernel(compute)
      .doc("The rows of the first dimension in random order.");
  KernelOptions options;
  options.host_inputs = {"key", "counter", "alg"};
  library.op("StatelessShuffle")
      .input("value: T; key: uint64; counter: uint64; alg: int32")
      .output("output: T")
      .attr("T: type")
      .shape_fn(infer_stateless)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(compute_stateless, options)
      .doc("The rows of the first dimension in the order that a generator gives.");
}

} // namespace troupe::random_shuffle
