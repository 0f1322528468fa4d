// RandomPoissonV2 and StatelessRandomPoisson; StatelessRandomGammaV2 and …V3:
// TensorFlow's numbers for TensorFlow's seeds.
#include <cmath>

#include "kernels/framework/op_library.hpp"
#include "kernels/random/internal/draws.hpp"
#include "kernels/random/internal/fill.hpp"
#include "kernels/random/internal/generator.hpp"
#include "kernels/random/internal/sampled.hpp"

namespace troupe::random_poisson {
namespace {

using random::Pairs;
using random::Sampled;

/// Products of uniform numbers until they are below exp(-rate) (Knuth, "Seminumerical Algorithms").
double draw_few(double rate, double most, Pairs& pairs) {
  const double limit = std::exp(-rate);
  double product = 1, x = 0;
  for (;;) {
    product *= pairs.uniform();
    if (product <= limit && x <= most)
      return x;
    x += 1;
  }
}

/// Hörmann, "The transformed rejection method for generating Poisson random variables" (1993), for
/// rates from 10 on.
double draw_many(double rate, double most, Pairs& pairs) {
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b, inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  // A rate far beyond the dtype never gives a number that fits.
  if (rate - most > 12 * std::sqrt(rate))
    return most;
  for (int tries = 0; tries < 100'000; ++tries) {
    const double u = pairs.uniform() - 0.5, v = pairs.uniform();
    const double shifted = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (k > most)
      continue;
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2))
      return k;
    if (k < 0 || (shifted < 0.013 && v > shifted))
      continue;
    if (std::log(v * inverse_alpha / (a / (shifted * shifted) + b)) <=
        -rate + k * log_rate - std::lgamma(k + 1))
      return k;
  }
  return most;
}

Status fill_poisson(KernelContext& c, const Sampled& s, const Tensor& rates,
                    const arith::Philox& start) {
  TROUPE_ASSIGN(const Tensor wide, widened(c, rates, DType::float64));
  const double* rate = wide.data<double>().data();
  const double most = random::largest_of(c.output_type(0));
  const bool floating = is_floating(c.output_type(0));
  return random::fill_samples(c, s, [&](std::int64_t at, std::int64_t sample) {
    arith::Philox generator = start;
    generator.skip(arith::reserved_blocks(sample));
    Pairs pairs(generator);
    if (rate[at] < 10)
      return draw_few(rate[at], most, pairs);
    if (!std::isfinite(rate[at]))
      return floating ? rate[at] : 0.0;
    return draw_many(rate[at], most, pairs);
  });
}

Status compute_poisson(KernelContext& c) {
  TROUPE_ASSIGN(const Shape samples, random::shape_from(c.input(0)));
  TROUPE_ASSIGN(const Sampled s, random::samples_for_each(samples, c.input(1).shape()));
  if (s.shape.num_elements() == 0)
    return c.allocate_output(0, s.shape).status();
  const auto blocks = arith::reserved_blocks(s.shape.num_elements());
  return fill_poisson(c, s, c.input(1), random::generator(c)->reserve(blocks));
}

Status compute_stateless_poisson(KernelContext& c) {
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(0)));
  TROUPE_ASSIGN(const arith::Philox start, random::seeded(c.input(1)));
  TROUPE_ASSIGN(const Sampled s, random::samples_in_all(shape, c.input(2).shape()));
  return fill_poisson(c, s, c.input(2), start);
}

Status fill_gamma(KernelContext& c, const Tensor& alphas, const Result<arith::Philox>& start) {
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(0)));
  TROUPE_TRY(start.status());
  TROUPE_ASSIGN(const Sampled s, random::samples_in_all(shape, alphas.shape()));
  TROUPE_ASSIGN(const Tensor wide, widened(c, alphas, DType::float64));
  const double* alpha = wide.data<double>().data();
  return random::fill_samples(c, s, [&](std::int64_t at, std::int64_t sample) {
    arith::Philox generator = *start;
    generator.skip(arith::reserved_blocks(sample));
    Pairs pairs(generator);
    return random::draw_gamma(alpha[at], pairs);
  });
}

Status compute_gamma_v2(KernelContext& c) {
  return fill_gamma(c, c.input(2), random::seeded(c.input(1)));
}
Status compute_gamma_v3(KernelContext& c) {
  return fill_gamma(c, c.input(4), random::given(c, 1));
}

Status infer_for_each(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(const PartialShape samples, c.input_as_shape(0));
  if (!samples.has_rank() || !c.input(1).has_rank())
    return {};
  std::vector<std::int64_t> dims = samples.dims();
  dims.insert(dims.end(), c.input(1).dims().begin(), c.input(1).dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_in_all(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

constexpr auto whole_numbers = "its values are integers";

} // namespace

void register_ops(OpLibrary& library) {
  const std::vector<DType> numbers = {DType::float16, DType::float32, DType::float64, DType::int32,
                                      DType::int64};
  KernelOptions options;
  options.host_inputs = {"shape"};
  options.expensive = true;
  options.types = {{"R", numbers}, {"dtype", numbers}};
  library.op("RandomPoissonV2")
      .input("shape: S; rate: R")
      .output("output: dtype")
      .attr("seed: int = 0; seed2: int = 0; S: {int32, int64}")
      .attr("R: {half, float, double, int32, int64} = DT_DOUBLE")
      .attr("dtype: {half, float, double, int32, int64} = DT_INT64")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer_for_each)
      .not_differentiable(whole_numbers)
      .cpu_kernel(compute_poisson, options)
      .doc("Random numbers of Poisson distributions, `shape` of them for each rate.");
  options.types = {{"dtype", {DType::float16, DType::float32, DType::float64}}};
  library.op("RandomPoisson")
      .input("shape: S; rate: dtype")
      .output("output: dtype")
      .attr("seed: int = 0; seed2: int = 0; S: {int32, int64}; dtype: {half, float, double}")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer_for_each)
      .not_differentiable(whole_numbers)
      .cpu_kernel(compute_poisson, options)
      .doc("RandomPoissonV2 with numbers of the rates' dtype.");
  options.host_inputs = {"shape", "seed"};
  options.types = {{"Rtype", numbers}, {"dtype", numbers}};
  library.op("StatelessRandomPoisson")
      .input("shape: T; seed: Tseed; lam: Rtype")
      .output("output: dtype")
      .attr("Rtype: {half, float, double, int32, int64}")
      .attr("dtype: {half, float, double, int32, int64}")
      .attr("T: {int32, int64}; Tseed: {int32, int64} = DT_INT64")
      .shape_fn(infer_in_all)
      .not_differentiable(whole_numbers)
      .cpu_kernel(compute_stateless_poisson, options)
      .doc("Random numbers of Poisson distributions from a seed.");
  constexpr auto by_clients = "its gradient is made where graphs are written";
  options.types = {};
  library.op("StatelessRandomGammaV2")
      .input("shape: T; seed: Tseed; alpha: dtype")
      .output("output: dtype")
      .attr("dtype: {half, float, double}; T: {int32, int64}; Tseed: {int32, int64} = DT_INT64")
      .shape_fn(infer_in_all)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_gamma_v2, options)
      .doc("Random numbers of gamma distributions from a seed.");
  options.host_inputs = {"shape", "key", "counter", "alg"};
  library.op("StatelessRandomGammaV3")
      .input("shape: shape_dtype; key: uint64; counter: uint64; alg: int32; alpha: dtype")
      .output("output: dtype")
      .attr("dtype: {half, float, double}; shape_dtype: {int32, int64} = DT_INT32")
      .shape_fn(infer_in_all)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_gamma_v3, options)
      .doc("Random numbers of gamma distributions from a key and a counter.");
}

} // namespace troupe::random_poisson
