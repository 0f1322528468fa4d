// StatelessRandomBinomial and StatefulRandomBinomial: TensorFlow's numbers for TensorFlow's seeds.
#include <cmath>

#include "kernels/framework/op_library.hpp"
#include "kernels/random/internal/draws.hpp"
#include "kernels/random/internal/fill.hpp"
#include "kernels/random/internal/generator.hpp"
#include "kernels/random/internal/rng_state.hpp"
#include "kernels/random/internal/sampled.hpp"

namespace troupe::random_binomial {
namespace {

using random::Pairs;
using random::place_in;
using random::Sampled;

/// How many geometric numbers fit into the count.
double draw_few(double count, double prob, Pairs& pairs) {
  double sum = 0, drawn = 0;
  for (;; ++drawn) {
    sum += std::ceil(std::log(pairs.uniform()) / std::log1p(-prob));
    if (!(sum <= count))
      return drawn;
  }
}

/// What Stirling's approximation of log(k!) leaves.
double stirling_tail(double k) {
  static constexpr double tails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                     0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                     0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                     0.00833056343336287};
  if (k <= 9)
    return tails[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/// Hörmann, "The generation of binomial random variates" (1993): BTRS.
double draw_many(double count, double prob, Pairs& pairs) {
  const double deviation = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob;
  const double middle = count * prob + 0.5, tight = 0.92 - 4.2 / b, odds = prob / (1 - prob);
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * prob);
  for (int tries = 0; tries < 100'000; ++tries) {
    const double u = pairs.uniform();
    double v = pairs.uniform();
    const double centred = u - 0.5, shifted = 0.5 - std::abs(centred);
    const double k = std::floor((2 * a / shifted + b) * centred + middle);
    if (shifted >= 0.07 && v <= tight)
      return k;
    if (!(k >= 0 && k <= count))
      continue;
    v = std::log(v * alpha / (a / (shifted * shifted) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         stirling_tail(mode) + stirling_tail(count - mode) - stirling_tail(k) -
                         stirling_tail(count - k);
    if (v <= bound)
      return k;
  }
  return mode;
}

/// A number as its dtype rounds it.
double rounded(double x, DType dtype) {
  if (dtype == DType::float64)
    return x;
  const auto narrow = static_cast<float>(x);
  return static_cast<double>(dtype == DType::float16 ? static_cast<float>(Half(narrow)) : narrow);
}

struct Binomial {
  double count = 0, prob = 0, other = 0; ///< other: 1 - prob
  bool many = false, many_of_other = false;
};

Binomial parameters(double count, double prob, DType dtype) {
  const double other = rounded(1 - prob, dtype);
  return {count, prob, other, rounded(count * prob, dtype) >= 10,
          rounded(count * other, dtype) >= 10};
}

double draw(const Binomial& b, const arith::Philox& start, std::int64_t sample, bool floating) {
  if (!(b.count > 0) || b.prob <= 0)
    return 0;
  if (b.prob >= 1)
    return b.count;
  if (std::isnan(b.prob))
    return floating ? b.prob : 0.0;
  if (std::isinf(b.count))
    return floating ? b.count : 0.0;
  const bool direct = b.prob <= 0.5, many = direct ? b.many : b.many_of_other;
  arith::Philox generator = start;
  generator.skip((many ? 256U : 42U) * static_cast<std::uint64_t>(sample));
  Pairs pairs(generator);
  const double p = direct ? b.prob : b.other;
  const double k = many ? draw_many(b.count, p, pairs) : draw_few(b.count, p, pairs);
  return direct ? k : b.count - k;
}

Result<Sampled> sizes(const Tensor& shape, const Tensor& counts, const Tensor& probs) {
  const auto both = broadcast_shapes(counts.shape(), probs.shape());
  if (!both.ok())
    return invalid_argument(str_cat("counts and probs must have compatible batch dimensions: ",
                                    counts.shape(), " vs. ", probs.shape()));
  if (shape.shape().rank() != 1)
    return invalid_argument(str_cat("Input shape should be a vector, got shape: ", shape.shape()));
  TROUPE_ASSIGN(const Shape wanted, shape_from(shape));
  return random::samples_in_all(wanted, *both);
}

Status fill(KernelContext& c, const Sampled& s, const Tensor& counts, const Tensor& probs,
            const arith::Philox& start) {
  TROUPE_ASSIGN(const Tensor count, widened(c, counts, DType::float64));
  TROUPE_ASSIGN(const Tensor prob, widened(c, probs, DType::float64));
  TROUPE_ASSIGN(const Shape both, broadcast_shapes(counts.shape(), probs.shape()));
  const double *n = count.data<double>().data(), *p = prob.data<double>().data();
  const bool floating = is_floating(c.output_type(0));
  return random::fill_samples(c, s, [&](std::int64_t at, std::int64_t sample) {
    const Binomial b = parameters(n[random::place_in(counts.shape(), both, at)],
                                  p[random::place_in(probs.shape(), both, at)], counts.dtype());
    return draw(b, start, sample, floating);
  });
}

Status compute_stateless(KernelContext& c) {
  TROUPE_ASSIGN(const arith::Philox start, random::seeded(c.input(1)));
  TROUPE_ASSIGN(const Sampled s, sizes(c.input(0), c.input(2), c.input(3)));
  return fill(c, s, c.input(2), c.input(3), start);
}

Status compute_stateful(KernelContext& c) {
  TROUPE_ASSIGN(const auto algorithm, integers(c.input(1)));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat("algorithm must be of shape [], not ", c.input(1).shape()));
  if (algorithm[0] != static_cast<std::int64_t>(random::Algorithm::philox))
    return invalid_argument(str_cat("Unsupported algorithm id: ", algorithm[0]));
  TROUPE_ASSIGN(const Sampled s, sizes(c.input(2), c.input(3), c.input(4)));
  const auto numbers = static_cast<std::uint64_t>(s.parameters) * 2 * 100 *
                       static_cast<std::uint64_t>(s.samples + 3) / 4;
  TROUPE_ASSIGN(const arith::Philox start, random::take(c, numbers, nullptr));
  return fill(c, s, c.input(3), c.input(4), start);
}

Status infer(ShapeContext& c, int i) {
  TROUPE_TRY(c.require_rank(i, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(i));
  return c.set_output(0, std::move(shape));
}

constexpr auto whole_numbers = "its values are integers";
constexpr auto types = "S: {int32, int64}";
constexpr auto numbers = "T: {half, float, double, int32, int64} = DT_DOUBLE; "
                         "dtype: {half, float, double, int32, int64} = DT_INT64";

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float16, DType::float32, DType::float64}}};
  options.host_inputs = {"shape", "seed", "counts", "probs"};
  options.expensive = true;
  library.op("StatelessRandomBinomial")
      .input("shape: S; seed: Tseed; counts: T; probs: T")
      .output("output: dtype")
      .attr(types)
      .attr("Tseed: {int32, int64} = DT_INT64")
      .attr(numbers)
      .shape_fn([](ShapeContext& c) { return infer(c, 0); })
      .not_differentiable(whole_numbers)
      .cpu_kernel(compute_stateless, options)
      .doc("Random numbers of binomial distributions from a seed.");
  options.host_inputs = {"algorithm", "shape", "counts", "probs"};
  library.op("StatefulRandomBinomial")
      .input("resource: resource; algorithm: int64; shape: S; counts: T; probs: T")
      .output("output: dtype")
      .attr(types)
      .attr(numbers)
      .stateful()
      .shape_fn([](ShapeContext& c) { return infer(c, 2); })
      .not_differentiable(whole_numbers)
      .cpu_kernel(compute_stateful, options)
      .doc("Random numbers of binomial distributions from a variable's generator.");
}

} // namespace troupe::random_binomial
