// ParameterizedTruncatedNormal: normal numbers between bounds, each row with a mean, a deviation and
// bounds of its own (Robert, "Simulation of truncated normal variables", 1995). Rows are TensorFlow's,
// number for number, where it draws each on a thread of its own.
#include <array>
#include <atomic>
#include <cmath>
#include <span>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe {
namespace {

constexpr int most_tries = 1000;
constexpr std::int64_t rows_together = 100; // numbers of a row where all rows are alike

/// One block of numbers after the other.
template <class T>
class Blocks {
public:
  static constexpr std::size_t size = sizeof(T) == 4 ? 4 : 2;
  explicit Blocks(const arith::Philox& generator) : generator_(generator) {}
  std::array<T, size> uniform() { return next(arith::fill_uniform); }
  std::array<T, size> normal() { return next(arith::fill_normal); }

private:
  template <class Fill>
  std::array<T, size> next(Fill fill) {
    std::array<T, size> out{};
    fill(sizeof(T) == 4 ? arith::Type::float32 : arith::Type::float64, generator_, out.data(), 0,
         static_cast<std::int64_t>(size));
    generator_.skip(1);
    return out;
  }
  arith::Philox generator_;
};

template <class T>
struct Bounds {
  T mean = 0, deviation = 1, low = 0, high = 0;
};

/// Fills `to`; false if a number was refused too often.
template <class T>
bool draw_row(Bounds<T> b, Blocks<T> blocks, std::span<T> to) {
  if ((std::isinf(b.low) && b.low < 0) || b.high < b.mean) {
    std::swap(b.low, b.high);
    b.deviation = -b.deviation;
  }
  const T low = (b.low - b.mean) / b.deviation, high = (b.high - b.mean) / b.deviation;
  const T root = std::sqrt(low * low + T(4));
  const T cutoff = T(2) * std::exp(T(0.5) + (low * (low - root)) / T(4)) / (low + root);
  const T width = high - low, enough = T(1.3);
  std::size_t at = 0;
  int refused = 0;
  const auto accept = [&](bool accepted, T value) {
    if (accepted)
      to[at++] = value * b.deviation + b.mean;
    refused = accepted ? 0 : refused + 1;
    return refused < most_tries;
  };
  if ((low < -enough && high >= 0) || (high > enough && low <= 0)) {
    while (at < to.size())
      for (T x : blocks.normal())
        if (at < to.size() && !accept(x >= low && x <= high, x))
          return false;
  } else if (width < cutoff) {
    const T plus = low < 0 ? T(0) : low * low;
    while (at < to.size()) {
      const auto x = blocks.uniform(), u = blocks.uniform();
      for (std::size_t i = 0; i < x.size() && at < to.size(); ++i) {
        const T z = x[i] * width + low;
        if (!accept(u[i] <= std::exp((plus - z * z) / T(2)), z))
          return false;
      }
    }
  } else {
    const T alpha = (low + root) / T(2);
    while (at < to.size()) {
      const auto x = blocks.uniform();
      for (std::size_t i = 0; i + 1 < x.size() && at < to.size(); i += 2) {
        const T z = -std::log(x[i]) / alpha + low;
        const T off = low < alpha ? alpha - z : low - alpha;
        if (!accept(x[i + 1] <= std::exp(-off * off / T(2)) && z < high, z))
          return false;
      }
    }
  }
  return true;
}

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
    return invalid_argument("Shape tensor must not be empty, got a shape of no dimensions");
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
  for (std::int64_t row = 0; row < rows.count; ++row)
    if (!(parameter(2, row) > 0 && parameter(3, row) < parameter(4, row) &&
          (std::isfinite(parameter(3, row)) || std::isfinite(parameter(4, row)))))
      return invalid_argument("Invalid parameters");
  std::atomic<bool> failed = false;
  c.parallel_for(rows.count, 60.0 * static_cast<double>(rows.size),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     const std::int64_t first = row * rows.size;
                     const std::int64_t size =
                         std::min(rows.size, static_cast<std::int64_t>(to.size()) - first);
                     arith::Philox generator = start;
                     generator.skip(static_cast<std::uint64_t>(row) * 2 * most_tries *
                                    static_cast<std::uint64_t>(rows.size + 3) / 4);
                     const Bounds<T> bounds{parameter(1, row), parameter(2, row), parameter(3, row),
                                            parameter(4, row)};
                     if (!draw_row<T>(bounds, Blocks<T>(generator),
                                      to.subspan(static_cast<std::size_t>(first),
                                                 static_cast<std::size_t>(size))))
                       failed = true;
                   }
                 });
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
  return dispatch(Floats{}, out.dtype(),
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

void register_random_parameterized_truncated_normal(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"dtype", {DType::float32, DType::float64}}};
  options.host_inputs = {"shape"};
  options.expensive = true;
  KernelOptions half = options;
  half.types = {{"dtype", {DType::float16}}};
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
      .cpu_kernel(in_wider<compute>, half)
      .doc("Normal random numbers between bounds.");
}

} // namespace troupe
