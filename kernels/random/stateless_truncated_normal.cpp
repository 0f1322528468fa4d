// StatelessParameterizedTruncatedNormal: normal numbers between bounds from a seed, each element of
// the broadcast parameters with as many samples. The numbers are TensorFlow's where it draws them
// on one thread.
#include <atomic>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/random/internal/fill.hpp"
#include "kernels/random/internal/generator.hpp"
#include "kernels/random/internal/sampled.hpp"
#include "kernels/random/internal/truncated_normal.hpp"

namespace troupe::random_stateless_truncated_normal {
namespace {

using random::Blocks, random::Bounds, random::Sampled;

/// Samples that share one generator. Fixed, so that numbers do not depend on the machine.
constexpr std::int64_t together = 8192;

struct Wanted {
  Shape parameters; ///< means, stddevs, minvals and maxvals broadcast together
  Sampled samples;
};

Result<Wanted> wanted(KernelContext& c) {
  Wanted out;
  for (int i = 2; i <= 5; ++i) {
    auto both = broadcast_shapes(out.parameters, c.input(i).shape());
    if (!both.ok())
      return invalid_argument(
          str_cat("means, stddevs, minvals, maxvals must have compatible batch dimensions: ",
                  c.input(2).shape(), " vs. ", c.input(3).shape(), " vs. ", c.input(4).shape(),
                  " vs. ", c.input(5).shape()));
    out.parameters = *std::move(both);
  }
  if (c.input(0).shape().rank() != 1)
    return invalid_argument(
        str_cat("Input shape should be a vector, got shape: ", c.input(0).shape()));
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(0)));
  TROUPE_ASSIGN(out.samples, random::samples_in_all(shape, out.parameters));
  return out;
}

template <class T>
Status fill(KernelContext& c, const Wanted& w, const arith::Philox& start, Tensor& out) {
  const auto parameter = [&](int i, std::int64_t at) {
    const Tensor& values = c.input(i);
    return values
        .data<T>()[static_cast<std::size_t>(random::place_in(values.shape(), w.parameters, at))];
  };
  const auto bounds_of = [&](std::int64_t at) {
    return Bounds<T>{parameter(2, at), parameter(3, at), parameter(4, at), parameter(5, at)};
  };
  const std::int64_t count = w.samples.parameters, samples = w.samples.samples;
  for (std::int64_t at = 0; at < count; ++at)
    if (!bounds_of(at).are_valid())
      return invalid_argument("Invalid parameters");
  const std::int64_t total = out.num_elements(), chunks = (total + together - 1) / together;
  T* const to = out.mutable_data<T>().data();
  std::atomic<bool> failed = false;
  c.parallel_for(chunks, 60.0 * static_cast<double>(std::min(total, together)),
                 [&](std::int64_t begin, std::int64_t end) {
                   std::vector<T> drawn(static_cast<std::size_t>(std::min(samples, together)));
                   for (std::int64_t chunk = begin; chunk < end; ++chunk) {
                     std::int64_t next = chunk * together;
                     const std::int64_t limit = std::min(total, next + together);
                     arith::Philox generator = start;
                     const auto size = static_cast<std::uint64_t>(Blocks<T>::size);
                     generator.skip(
                         (static_cast<std::uint64_t>(next) * 2 * random::most_tries + size - 1) /
                         size);
                     Blocks<T> blocks(generator);
                     while (next < limit) {
                       const std::int64_t at = next / samples, first = next % samples;
                       const std::int64_t n = std::min(samples - first, limit - next);
                       const std::span<T> row(drawn.data(), static_cast<std::size_t>(n));
                       if (!random::draw_row(bounds_of(at), blocks, row)) {
                         failed = true;
                         return;
                       }
                       for (std::int64_t i = 0; i < n; ++i)
                         to[(first + i) * count + at] = row[static_cast<std::size_t>(i)];
                       next += n;
                     }
                   }
                 });
  if (failed)
    return internal("TruncatedNormal rejection sampler failed to accept a sample.");
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const arith::Philox start, random::seeded(c.input(1)));
  TROUPE_ASSIGN(const Wanted w, wanted(c));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, w.samples.shape));
  if (out.num_elements() == 0)
    return {};
  return dispatch(Types<float, double, Half>{}, out.dtype(),
                  [&]<class T>() -> Status { return fill<T>(c, w, start, out); });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(const auto seed, shape_rules::dims_of_rank(c, 1, 1));
  if (seed[0] != shape_rules::unknown_dim && seed[0] != 2)
    return invalid_argument(str_cat("Dimension must be 2 but is ", seed[0]));
  PartialShape parameters = c.input(2);
  for (int i = 3; i <= 5; ++i) {
    TROUPE_ASSIGN(parameters, broadcast_partial(parameters, c.input(i)));
  }
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"dtype", {DType::float16, DType::float32, DType::float64}}};
  options.host_inputs = {"shape", "seed", "means", "stddevs", "minvals", "maxvals"};
  options.expensive = true;
  library.op("StatelessParameterizedTruncatedNormal")
      .input("shape: S; seed: Tseed; means: dtype; stddevs: dtype; minvals: dtype; maxvals: dtype")
      .output("output: dtype")
      .attr("S: {int32, int64}; Tseed: {int32, int64} = DT_INT64; dtype: {half, float, double}")
      .shape_fn(infer)
      .not_differentiable("TensorFlow defines no gradient for it")
      .cpu_kernel(compute, options)
      .doc("Normal random numbers between bounds from a seed; the shape ends with the parameters' "
           "broadcast shape.");
}

} // namespace troupe::random_stateless_truncated_normal
