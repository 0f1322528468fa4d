// Random ops whose generator's state is a variable: int64 [counter, counter, key]. Each takes a
// stretch of the sequence and advances the counter behind it.
#include "kernels/random/internal/rng_state.hpp"
#include "core/base/random.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/random/internal/fill.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::random_rng_state {
namespace {

using random::Algorithm;
using random::Distribution;

Status compute_skip(KernelContext& c) {
  TROUPE_TRY(random::algorithm_of(c).status());
  if (!c.input(2).shape().is_scalar())
    return invalid_argument(
        str_cat("input 2 (0-based) must have shape [], not ", c.input(2).shape()));
  const Tensor& delta = c.input(2);
  const std::uint64_t numbers = delta.dtype() == DType::uint64
                                    ? delta.value<std::uint64_t>()
                                    : static_cast<std::uint64_t>(delta.value<std::int64_t>());
  std::int64_t before[3];
  TROUPE_TRY(random::take(c, numbers, before).status());
  if (c.num_outputs() == 0)
    return {};
  return c.set_output(0, Tensor::vector<std::int64_t>({before[0], before[1], before[2]}));
}

template <Distribution distribution>
Status compute(KernelContext& c) {
  TROUPE_TRY(random::algorithm_of(c).status());
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(2)));
  TROUPE_ASSIGN(const arith::Philox start,
                random::take(c, static_cast<std::uint64_t>(shape.num_elements()), nullptr));
  return random::fill(c, distribution, start, shape);
}

Status compute_range(KernelContext& c) {
  TROUPE_TRY(random::algorithm_of(c).status());
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(2)));
  TROUPE_TRY(random::check_range(c, 3, shape));
  TROUPE_ASSIGN(const arith::Philox start,
                random::take(c, static_cast<std::uint64_t>(shape.num_elements()), nullptr));
  return random::fill_range(c, 3, start, shape);
}

Status compute_bits(KernelContext& c) {
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(0)));
  return random::fill(c, Distribution::full_int,
                      random::philox(random_id(), random_id(), random_id()), shape);
}

Status infer(ShapeContext& c, int shape_input) {
  for (int i = 0; i < shape_input; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  TROUPE_TRY(c.require_rank(shape_input, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(shape_input));
  return c.set_output(0, std::move(shape));
}

Status infer_skip(ShapeContext& c) {
  for (int i : {0, 1, 2})
    TROUPE_TRY(c.require_rank(i, 0));
  return c.num_outputs() == 0 ? Status{} : c.set_output(0, {3});
}

Status infer_sample(ShapeContext& c) {
  return infer(c, 2);
}

constexpr auto flat = "its values do not depend on its inputs'";

KernelOptions options(std::vector<DType> dtypes) {
  KernelOptions out;
  out.types = {{"dtype", std::move(dtypes)}, {"shape_dtype", {DType::int32, DType::int64}}};
  out.host_inputs = {"algorithm", "shape"};
  return out;
}

void add(OpLibrary& library, std::string_view name, std::string_view attr, KernelFn fn,
         std::vector<DType> dtypes, std::string_view doc) {
  library.op(name)
      .input("resource: resource; algorithm: int64; shape: shape_dtype")
      .output("output: dtype")
      .attr(attr)
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .shape_fn(infer_sample)
      .not_differentiable(flat)
      .cpu_kernel(fn, options(std::move(dtypes)))
      .doc(doc);
}

void add_skips(OpLibrary& library) {
  KernelOptions skip;
  skip.host_inputs = {"algorithm", "delta"};
  library.op("RngSkip")
      .input("resource: resource; algorithm: int64; delta: int64")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(infer_skip)
      .not_differentiable(flat)
      .cpu_kernel(compute_skip, skip)
      .doc("Advances the generator behind `delta` numbers.");
  skip.host_inputs = {"alg", "delta"};
  library.op("RngReadAndSkip")
      .input("resource: resource; alg: int32; delta: uint64")
      .output("value: int64")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(infer_skip)
      .not_differentiable(flat)
      .cpu_kernel(compute_skip, skip)
      .doc("The generator's state, which advances behind `delta` numbers.");
}

} // namespace

void register_ops(OpLibrary& library) {
  const std::vector<DType> floats = {DType::float32, DType::float64, DType::float16,
                                     DType::bfloat16};
  const std::vector<DType> ints = {DType::int32, DType::int64, DType::uint32, DType::uint64};
  constexpr auto real = "dtype: type = DT_FLOAT";
  add_skips(library);
  add(library, "StatefulUniform", real, compute<Distribution::uniform>, floats,
      "Random numbers, uniform in [0, 1).");
  add(library, "StatefulStandardNormalV2", real, compute<Distribution::normal>, floats,
      "Normal random numbers, mean 0 and deviation 1.");
  add(library, "StatefulTruncatedNormal", real, compute<Distribution::truncated_normal>, floats,
      "Normal random numbers, drawn again until they are less than 2 from 0.");
  add(library, "StatefulUniformFullInt", "dtype: type = DT_UINT64", compute<Distribution::full_int>,
      ints, "Random integers of all bits.");
  KernelOptions range = options({DType::int32, DType::int64});
  range.host_inputs = {"algorithm", "shape", "minval", "maxval"};
  library.op("StatefulUniformInt")
      .input("resource: resource; algorithm: int64; shape: shape_dtype; minval: dtype; "
             "maxval: dtype")
      .output("output: dtype")
      .attr("dtype: type = DT_INT64; shape_dtype: type = DT_INT64")
      .stateful()
      .shape_fn(infer_sample)
      .not_differentiable(flat)
      .cpu_kernel(compute_range, range)
      .doc("Random integers, uniform in [minval, maxval).");
  KernelOptions bits;
  bits.types = {{"dtype", ints}, {"shape_dtype", {DType::int32, DType::int64}}};
  bits.host_inputs = {"shape"};
  library.op("NonDeterministicInts")
      .input("shape: shape_dtype")
      .output("output: dtype")
      .attr("dtype: type = DT_INT64; shape_dtype: type = DT_INT64")
      .stateful()
      .roles(Role::random)
      .shape_fn([](ShapeContext& c) { return infer(c, 0); })
      .not_differentiable(flat)
      .cpu_kernel(compute_bits, bits)
      .doc("Random integers of all bits, others each time.");
}

} // namespace troupe::random_rng_state
