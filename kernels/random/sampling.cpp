// Multinomial, its stateless form, and RandomGamma: TensorFlow's numbers for TensorFlow's seeds.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/random/internal/draws.hpp"
#include "kernels/random/internal/fill.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::random_sampling {
namespace {

/// The largest of those that are finite. Several at once, so that comparisons need not wait for
/// each other.
template <class T>
T largest_of(std::span<const T> logits) {
  constexpr std::size_t at_once = 8;
  std::array<T, at_once> largest;
  largest.fill(std::numeric_limits<T>::lowest());
  const auto take = [&](std::size_t lane, T logit) {
    const bool is_larger = logit > largest[lane] && logit <= std::numeric_limits<T>::max();
    largest[lane] = is_larger ? logit : largest[lane];
  };
  std::size_t k = 0;
  for (; k + at_once <= logits.size(); k += at_once)
    for (std::size_t lane = 0; lane < at_once; ++lane)
      take(lane, logits[k + lane]);
  for (; k < logits.size(); ++k)
    take(0, logits[k]);
  return std::ranges::max(largest);
}

/// Running sums of exp(logit - largest); what is not finite has no probability.
template <class T>
void running_sums(std::span<const T> logits, const arith::UnaryKernel& exp,
                  std::vector<double>& sums) {
  const auto largest = static_cast<double>(largest_of(logits));
  for (std::size_t k = 0; k < sums.size(); ++k)
    sums[k] = std::isfinite(logits[k]) ? static_cast<double>(logits[k]) - largest
                                       : -std::numeric_limits<double>::infinity();
  exp(sums.data(), sums.data(), 0, static_cast<std::int64_t>(sums.size()));
  double sum = 0;
  for (double& each : sums)
    each = sum += each;
}

struct Draws {
  std::int64_t rows = 0, classes = 0, samples = 0;
};

Result<Draws> draws(KernelContext& c) {
  const Tensor &logits = c.input(0), &samples = c.input(1);
  if (logits.shape().rank() != 2)
    return invalid_argument(str_cat("logits should be a matrix, got shape ", logits.shape()));
  if (!samples.shape().is_scalar())
    return invalid_argument(str_cat("num_samples should be a scalar, got shape ", samples.shape()));
  const Draws out{logits.shape()[0], logits.shape()[1], samples.value<std::int32_t>()};
  if (out.samples < 0)
    return invalid_argument(str_cat("num_samples should be non-negative, got ", out.samples));
  if (out.classes <= 0)
    return invalid_argument(str_cat("num_classes should be positive, got ", out.classes));
  return out;
}

/// Rows [begin, end); each sample takes two words, whatever its row.
template <class L, class T>
void draw_rows(const Draws& d, const arith::UnaryKernel& exp, const arith::Philox& start,
               const L* logits, std::int64_t begin, std::int64_t end, T* to) {
  const auto classes = static_cast<std::size_t>(d.classes);
  random::Words words(start);
  words.skip(static_cast<std::uint64_t>(begin * d.samples) * 2);
  std::vector<double> sums(classes);
  for (std::int64_t row = begin; row < end; ++row) {
    running_sums(std::span(logits + row * d.classes, classes), exp, sums);
    for (std::int64_t i = 0; i < d.samples; ++i)
      to[row * d.samples + i] = static_cast<T>(
          std::ranges::upper_bound(sums, words.next_unit() * sums.back()) - sums.begin());
  }
}

Status draw_classes(KernelContext& c, const Draws& d, const arith::Philox& start) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{d.rows, d.samples}));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_ASSIGN(const arith::UnaryKernel exp, arith::unary(arith::UnaryOp::exp, DType::float64));
  const DType dtype = c.input(0).dtype();
  TROUPE_ASSIGN(const Tensor logits,
                widened(c, c.input(0), dtype == DType::float64 ? DType::float64 : DType::float32));
  return dispatch(Types<float, double>{}, logits.dtype(), [&]<class L>() -> Status {
    return dispatch(Indices{}, out.dtype(), [&]<class T>() -> Status {
      const L* from = logits.data<L>().data();
      T* to = out.mutable_data<T>().data();
      c.parallel_for(d.rows, 10.0 * static_cast<double>(d.classes + d.samples),
                     [&](std::int64_t begin, std::int64_t end) {
                       draw_rows(d, exp, start, from, begin, end, to);
                     });
      return {};
    });
  });
}

Status compute_multinomial(KernelContext& c) {
  TROUPE_ASSIGN(const Draws d, draws(c));
  const std::int64_t words = (d.samples + 3) / 4 * 4 * 2;
  return draw_classes(c, d, random::generator(c)->reserve(arith::reserved_blocks(d.rows * words)));
}

Status compute_stateless_multinomial(KernelContext& c) {
  TROUPE_ASSIGN(const Draws d, draws(c));
  const Tensor& seed = c.input(2);
  if (seed.shape() != Shape{2})
    return invalid_argument(str_cat("seed must have shape [2], not ", seed.shape()));
  TROUPE_ASSIGN(const auto values, integers(seed));
  return draw_classes(c, d,
                      arith::Philox::from_stateless_seed(static_cast<std::uint64_t>(values[0]),
                                                         static_cast<std::uint64_t>(values[1])));
}

Status compute_gamma(KernelContext& c) {
  if (c.input(0).shape().rank() != 1)
    return invalid_argument(
        str_cat("shape must be a vector of {int32,int64}, got shape: ", debug_string(c.input(0))));
  TROUPE_ASSIGN(const Shape samples_shape, random::shape_from(c.input(0)));
  const Shape& alphas_shape = c.input(1).shape();
  std::vector<std::int64_t> dims(samples_shape.dims().begin(), samples_shape.dims().end());
  dims.insert(dims.end(), alphas_shape.dims().begin(), alphas_shape.dims().end());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  const DType wide = DType::float64;
  TROUPE_ASSIGN(Tensor out, c.output_type(0) == wide ? c.allocate_output(0, shape)
                                                     : c.allocate_temp(wide, shape));
  const std::int64_t samples = samples_shape.num_elements(), alphas = alphas_shape.num_elements();
  if (shape.num_elements() > 0) {
    TROUPE_ASSIGN(const Tensor alpha, widened(c, c.input(1), wide));
    const auto start = random::generator(c)->reserve(arith::reserved_blocks(shape.num_elements()));
    const double* in = alpha.data<double>().data();
    double* to = out.mutable_data<double>().data();
    c.parallel_for(samples * alphas, 100, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        arith::Philox generator = start;
        generator.skip(arith::reserved_blocks(i));
        random::Pairs pairs(generator);
        to[i % samples * alphas + i / samples] = random::draw_gamma(in[i / samples], pairs);
      }
    });
  }
  return narrow(c, 0, out);
}

Status infer_multinomial(ShapeContext& c) {
  TROUPE_ASSIGN(const auto logits, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(c.require_rank(1, 0));
  if (c.num_inputs() == 3) {
    TROUPE_ASSIGN(const auto seed, shape_rules::dims_of_rank(c, 2, 1));
    TROUPE_TRY(shape_rules::merge_dims(seed[0], 2).status());
  }
  const auto samples = c.input_as_ints(1);
  return c.set_output(0, {logits[0], samples && (*samples)[0] >= 0 ? (*samples)[0] : -1});
}

Status infer_gamma(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(const PartialShape samples, c.input_as_shape(0));
  if (!samples.has_rank() || !c.input(1).has_rank())
    return {};
  std::vector<std::int64_t> dims = samples.dims();
  dims.insert(dims.end(), c.input(1).dims().begin(), c.input(1).dims().end());
  return c.set_output(0, PartialShape(std::move(dims)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64, DType::float16, DType::bfloat16}}};
  options.host_inputs = {"num_samples"};
  library.op("Multinomial")
      .input("logits: T; num_samples: int32")
      .output("output: output_dtype")
      .attr("seed: int = 0; seed2: int = 0; T: realnumbertype")
      .attr("output_dtype: {int32, int64} = DT_INT64")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer_multinomial)
      .not_differentiable("its values are integers")
      .cpu_kernel(compute_multinomial, options)
      .doc("Classes drawn for each row by its probabilities, whose logarithms are given.");
  options.host_inputs = {"num_samples", "seed"};
  library.op("StatelessMultinomial")
      .input("logits: T; num_samples: int32; seed: Tseed")
      .output("output: output_dtype")
      .attr("T: realnumbertype; Tseed: {int32, int64} = DT_INT64")
      .attr("output_dtype: {int32, int64} = DT_INT64")
      .shape_fn(infer_multinomial)
      .not_differentiable("its values are integers")
      .cpu_kernel(compute_stateless_multinomial, options)
      .doc("The same from a seed.");
  options.host_inputs = {"shape"};
  library.op("RandomGamma")
      .input("shape: S; alpha: T")
      .output("output: T")
      .attr("seed: int = 0; seed2: int = 0; S: {int32, int64}; T: {half, float, double}")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer_gamma)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute_gamma, options)
      .doc("Random numbers of gamma distributions, `shape` of them for each alpha.");
}

} // namespace troupe::random_sampling
