// ParameterizedTruncatedNormal: normal numbers between bounds, each row with a mean, a deviation
// and bounds of its own. The numbers are TensorFlow's where it draws all rows on one thread, or
// each on a thread of its own: a thread goes on with its generator from row to row.
#include <atomic>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/random/internal/generator.hpp"
#include "kernels/random/internal/truncated_normal.hpp"

namespace troupe::random_parameterized_truncated_normal {
namespace {

using random::Blocks, random::Bounds, random::most_tries;

constexpr std::int64_t rows_together = 100; // numbers of a row where all rows are alike
constexpr std::int64_t one_thread = 1800;   // the most numbers that TensorFlow draws on one thread

struct Rows {
  Shape shape;
  std::int64_t count = 0, size = 0;
};

constexpr const char* names[] = {"", "means", "stddevs", "minvals", "maxvals"};

Result<Rows> rows_of(KernelContext& c) {
  const Tensor& given = c.input(0);
  if (given.shape().rank() != 1)
    return invalid_argument(str_cat("Input shape should be a vector, got shape: ", given.shape()));
  if (given.num_elements() == 0)
    return invalid_argument(str_cat("Shape tensor must not be empty, got ", debug_string(given)));
  Rows out;
  TROUPE_ASSIGN(out.shape, shape_from(given));
  out.count = out.shape[0];
  bool alike = true;
  for (int i = 1; i <= 4; ++i) {
    const Shape& shape = c.input(i).shape();
    if (shape.rank() > 1)
      return invalid_argument(
          str_cat("Input ", names[i], " should be a scalar or vector, got shape: ", shape));
    alike = alike && (shape.is_scalar() || (i < 3 && shape[0] == 1));
    if (shape.rank() == 1 && shape[0] != 1 && shape[0] != out.count)
      return invalid_argument(
          str_cat("Input ", names[i], " should have length 1 or shape[0], got shape: ", shape));
  }
  const std::int64_t total = out.shape.num_elements();
  out.size = out.count == 0 ? 0 : total / out.count;
  if (alike) {
    out.count = (total + rows_together - 1) / rows_together;
    out.size = rows_together;
  }
  return out;
}

template <class T>
Status fill(KernelContext& c, const Rows& rows, const arith::Philox& start, Tensor& out) {
  const auto to = out.mutable_data<T>();
  const auto parameter = [&](int i, std::int64_t row) {
    const auto values = c.input(i).data<T>();
    return values[values.size() == 1 ? 0 : static_cast<std::size_t>(row)];
  };
  const auto bounds_of = [&](std::int64_t row) {
    return Bounds<T>{parameter(1, row), parameter(2, row), parameter(3, row), parameter(4, row)};
  };
  const auto place_of = [&](std::int64_t row) {
    const auto first = static_cast<std::size_t>(row * rows.size);
    return to.subspan(first, std::min(static_cast<std::size_t>(rows.size), to.size() - first));
  };
  for (std::int64_t row = 0; row < rows.count; ++row)
    if (!bounds_of(row).are_valid())
      return invalid_argument("Invalid parameters");
  std::atomic<bool> failed = false;
  const bool in_one_chain = rows.count * rows.size <= one_thread;
  if (in_one_chain) {
    Blocks<T> blocks(start);
    for (std::int64_t row = 0; row < rows.count && !failed; ++row)
      failed = !random::draw_row(bounds_of(row), blocks, place_of(row));
  } else {
    c.parallel_for(rows.count, 60.0 * static_cast<double>(rows.size),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       arith::Philox generator = start;
                       generator.skip(static_cast<std::uint64_t>(row) * 2 * most_tries *
                                      static_cast<std::uint64_t>(rows.size + 3) / 4);
                       Blocks<T> blocks(generator);
                       if (!random::draw_row(bounds_of(row), blocks, place_of(row)))
                         failed = true;
                     }
                   });
  }
  if (failed)
    return internal("TruncatedNormal rejection sampler failed to accept a sample.");
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Rows rows, rows_of(c));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, rows.shape));
  if (out.num_elements() == 0)
    return {};
  const auto blocks = static_cast<std::uint64_t>(rows.count) * 2 * most_tries *
                      static_cast<std::uint64_t>(rows.size + 3) / 4;
  const arith::Philox start = random::generator(c)->reserve(blocks);
  return dispatch(Types<float, double, Half>{}, out.dtype(),
                  [&]<class T>() -> Status { return fill<T>(c, rows, start, out); });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  for (int i = 1; i <= 4; ++i)
    TROUPE_TRY(c.require_rank_at_most(i, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"dtype", {DType::float16, DType::float32, DType::float64}}};
  options.host_inputs = {"shape"};
  options.expensive = true;
  library.op("ParameterizedTruncatedNormal")
      .input("shape: T; means: dtype; stdevs: dtype; minvals: dtype; maxvals: dtype")
      .output("output: dtype")
      .attr("seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(compute, options)
      .doc("Normal random numbers between bounds.");
}

} // namespace troupe::random_parameterized_truncated_normal
