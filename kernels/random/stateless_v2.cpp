// Stateless random ops that take key and counter of their generator, the ops that make these from a
// seed, and the stateless integers of a seed.
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/random/internal/fill.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::random_stateless_v2 {
namespace {

using random::Algorithm;
using random::Distribution;

Status compute_key_counter(KernelContext& c) {
  TROUPE_ASSIGN(const arith::Philox generator, random::seeded(c.input(0)));
  TROUPE_ASSIGN(Tensor key, c.allocate_output(0, Shape{1}));
  TROUPE_ASSIGN(Tensor counter, c.allocate_output(1, Shape{2}));
  key.mutable_data<std::uint64_t>()[0] = random::word_pair(generator.key()[0], generator.key()[1]);
  const auto& words = generator.counter();
  counter.mutable_data<std::uint64_t>()[0] = random::word_pair(words[0], words[1]);
  counter.mutable_data<std::uint64_t>()[1] = random::word_pair(words[2], words[3]);
  if (c.num_outputs() == 2)
    return {};
  return c.set_output(2, Tensor::scalar<std::int32_t>(static_cast<int>(Algorithm::philox)));
}

Status compute_algorithm(KernelContext& c) {
  return c.set_output(0, Tensor::scalar<std::int32_t>(static_cast<int>(Algorithm::philox)));
}

template <Distribution distribution>
Status compute_v2(KernelContext& c) {
  TROUPE_ASSIGN(const arith::Philox start, random::given(c, 1));
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(0)));
  return random::fill(c, distribution, start, shape);
}

Status compute_range_v2(KernelContext& c) {
  TROUPE_ASSIGN(const arith::Philox start, random::given(c, 1));
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(0)));
  return random::fill_range(c, 4, start, shape);
}

Status compute_range(KernelContext& c) {
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(0)));
  TROUPE_ASSIGN(const arith::Philox start, random::seeded(c.input(1)));
  return random::fill_range(c, 2, start, shape);
}

Status compute_full(KernelContext& c) {
  TROUPE_ASSIGN(const Shape shape, random::shape_from(c.input(0)));
  TROUPE_ASSIGN(const arith::Philox start, random::seeded(c.input(1)));
  return random::fill(c, Distribution::full_int, start, shape);
}

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

Status require_seed(ShapeContext& c, int i) {
  TROUPE_ASSIGN(const auto seed, shape_rules::dims_of_rank(c, i, 1));
  if (seed[0] != shape_rules::unknown_dim && seed[0] != 2)
    return invalid_argument(str_cat("Dimension must be 2 but is ", seed[0]));
  return {};
}

Status infer_v2(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.require_rank(2, 1));
  TROUPE_TRY(c.require_rank(3, 0));
  return infer_shape(c);
}

Status infer_seeded(ShapeContext& c) {
  TROUPE_TRY(require_seed(c, 1));
  return infer_shape(c);
}

Status infer_key_counter(ShapeContext& c) {
  TROUPE_TRY(require_seed(c, 0));
  TROUPE_TRY(c.set_output(0, {1}));
  TROUPE_TRY(c.set_output(1, {2}));
  return c.num_outputs() == 2 ? Status{} : c.set_output(2, PartialShape(Shape{}));
}

constexpr auto flat = "its values do not depend smoothly on its seed";

KernelOptions options(std::vector<DType> dtypes, std::vector<std::string> host_inputs) {
  KernelOptions out;
  out.types = {{"dtype", std::move(dtypes)}};
  out.host_inputs = std::move(host_inputs);
  return out;
}

template <Distribution distribution>
void add_v2(OpLibrary& library, std::string_view name, std::string_view dtype,
            std::vector<DType> dtypes, std::string_view doc) {
  library.op(name)
      .input("shape: Tshape; key: uint64; counter: uint64; alg: int32")
      .output("output: dtype")
      .attr(dtype)
      .attr("Tshape: {int32, int64} = DT_INT32")
      .roles(Role::flat)
      .shape_fn(infer_v2)
      .not_differentiable(flat)
      .cpu_kernel(compute_v2<distribution>,
                  options(std::move(dtypes), {"shape", "key", "counter", "alg"}))
      .doc(doc);
}

void add_generators(OpLibrary& library) {
  KernelOptions seed;
  seed.host_inputs = {"seed"};
  library.op("StatelessRandomGetKeyCounter")
      .input("seed: Tseed")
      .output("key: uint64; counter: uint64")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .shape_fn(infer_key_counter)
      .not_differentiable(flat)
      .cpu_kernel(compute_key_counter, seed)
      .doc("Key and counter of the generator that a seed stands for.");
  library.op("StatelessRandomGetKeyCounterAlg")
      .input("seed: Tseed")
      .output("key: uint64; counter: uint64; alg: int32")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .shape_fn(infer_key_counter)
      .not_differentiable(flat)
      .cpu_kernel(compute_key_counter, seed)
      .doc("The same, and the number of the algorithm.");
  library.op("StatelessRandomGetAlg")
      .output("alg: int32")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(compute_algorithm)
      .doc("The number of the device's algorithm: 1, Philox.");
}

void add_integers(OpLibrary& library) {
  const std::vector<DType> ints = {DType::int32, DType::int64};
  library.op("StatelessRandomUniformIntV2")
      .input("shape: Tshape; key: uint64; counter: uint64; alg: int32; minval: dtype; "
             "maxval: dtype")
      .output("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64}; Tshape: {int32, int64} = DT_INT32")
      .shape_fn(infer_v2)
      .not_differentiable("its values are integers")
      .cpu_kernel(compute_range_v2,
                  options(ints, {"shape", "key", "counter", "alg", "minval", "maxval"}))
      .doc("Random integers, uniform in [minval, maxval).");
  library.op("StatelessRandomUniformInt")
      .input("shape: T; seed: Tseed; minval: dtype; maxval: dtype")
      .output("output: dtype")
      .attr("dtype: {int32, int64}; T: {int32, int64}; Tseed: {int32, int64} = DT_INT64")
      .shape_fn(infer_seeded)
      .not_differentiable("its values are integers")
      .cpu_kernel(compute_range, options(ints, {"shape", "seed", "minval", "maxval"}))
      .doc("Random integers, uniform in [minval, maxval).");
  KernelOptions full =
      options({DType::int32, DType::int64, DType::uint32, DType::uint64}, {"shape", "seed"});
  full.types.push_back({"Tseed", ints});
  library.op("StatelessRandomUniformFullInt")
      .input("shape: T; seed: Tseed")
      .output("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64; T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64, uint32, uint64} = DT_INT64")
      .shape_fn(infer_seeded)
      .not_differentiable("its values are integers")
      .cpu_kernel(compute_full, full)
      .doc("Random integers of all bits.");
}

} // namespace

void register_ops(OpLibrary& library) {
  const std::vector<DType> floats = {DType::float32, DType::float64, DType::float16,
                                     DType::bfloat16};
  constexpr auto any_float = "dtype: {half, bfloat16, float, double} = DT_FLOAT";
  add_generators(library);
  add_v2<Distribution::uniform>(library, "StatelessRandomUniformV2", any_float, floats,
                                "Random numbers, uniform in [0, 1).");
  add_v2<Distribution::normal>(library, "StatelessRandomNormalV2", any_float, floats,
                               "Normal random numbers, mean 0 and deviation 1.");
  add_v2<Distribution::truncated_normal>(
      library, "StatelessTruncatedNormalV2", any_float, floats,
      "Normal random numbers, drawn again until they are less than 2 from 0.");
  add_v2<Distribution::full_int>(library, "StatelessRandomUniformFullIntV2",
                                 "dtype: {int32, int64, uint32, uint64} = DT_UINT64",
                                 {DType::int32, DType::int64, DType::uint32, DType::uint64},
                                 "Random integers of all bits.");
  add_integers(library);
}

} // namespace troupe::random_stateless_v2
