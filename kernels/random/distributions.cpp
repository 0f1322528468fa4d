// RandomUniform, RandomStandardNormal, TruncatedNormal and RandomUniformInt, and the stateless ones
// of the first three: TensorFlow's numbers for TensorFlow's seeds.
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/random/internal/generator.hpp"
#include "kernels/random/internal/gpu_kernels.hpp"

namespace troupe::random_distributions {
namespace {

using Fill = bool (*)(arith::Type, const arith::Philox&, void*, std::int64_t, std::int64_t);

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

Status infer_int(ShapeContext& c) {
  for (int i : {1, 2})
    if (c.input(i).has_rank() && c.input(i).rank() != 0)
      return invalid_argument(str_cat(i == 1 ? "minval" : "maxval",
                                      " must be a scalar; got a tensor of shape ", c.input(i)));
  return infer_shape(c);
}

Status infer_stateless(ShapeContext& c) {
  TROUPE_ASSIGN(auto seed, shape_rules::dims_of_rank(c, 1, 1));
  if (seed[0] != shape_rules::unknown_dim && seed[0] != 2)
    return invalid_argument(str_cat("Dimension must be 2 but is ", seed[0]));
  return infer_shape(c);
}

Status fill_on_gpu(KernelContext& c, Fill fill, const arith::Philox& start, Tensor& out) {
  const std::int64_t n = out.num_elements();
  if (n == 0)
    return {};
  const auto what = fill == arith::fill_uniform  ? gpu::Distribution::uniform
                    : fill == arith::fill_normal ? gpu::Distribution::normal
                                                 : gpu::Distribution::truncated_normal;
  gpu::PhiloxStart at;
  std::ranges::copy(start.counter(), at.counter);
  std::ranges::copy(start.key(), at.key);
  const std::int64_t groups = out.dtype() == DType::float64 ? (n + 1) / 2 : (n + 3) / 4;
  return gpu::launch(c, gpu::kernels::random, out.dtype(), gpu::over(groups),
                     static_cast<int>(what), at, out.mutable_raw(), n);
}

template <Fill fill>
Status fill_output(KernelContext& c, const arith::Philox& start, Tensor& out) {
  const double ns = fill == arith::fill_uniform ? 1 : fill == arith::fill_normal ? 8 : 12;
  if (out.kind() == MemoryKind::device)
    return fill_on_gpu(c, fill, start, out);
  const arith::Type type = arith::type_of(out.dtype());
  if (!fill(type, start, out.mutable_raw(), 0, 0))
    return unimplemented(
        str_cat("there are no random numbers of dtype ", to_string(out.dtype()), "; cast floats"));
  c.parallel_for(out.num_elements(), ns, [&](std::int64_t begin, std::int64_t end) {
    fill(type, start, out.mutable_raw(), begin, end);
  });
  return {};
}

template <Fill fill>
Status compute(KernelContext& c) {
  TROUPE_ASSIGN(Shape shape, random::shape_from(c.input(0)));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const auto blocks = arith::reserved_blocks(shape.num_elements());
  return fill_output<fill>(c, random::generator(c)->reserve(blocks), out);
}

template <Fill fill>
Status compute_stateless(KernelContext& c) {
  TROUPE_ASSIGN(Shape shape, random::shape_from(c.input(0)));
  const Tensor& seed = c.input(1);
  if (seed.shape() != Shape{2})
    return invalid_argument(str_cat("seed must have shape [2], not ", seed.shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_ASSIGN(const auto values, integers(seed));
  return fill_output<fill>(
      c,
      arith::Philox::from_stateless_seed(static_cast<std::uint64_t>(values[0]),
                                         static_cast<std::uint64_t>(values[1])),
      out);
}

Status compute_int(KernelContext& c) {
  TROUPE_ASSIGN(Shape shape, random::shape_from(c.input(0)));
  for (int i : {1, 2})
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(
          str_cat(i == 1 ? "minval" : "maxval", " must be 0-D, got shape ", c.input(i).shape()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  return dispatch(Indices{}, out.dtype(), [&]<class T>() -> Status {
    const std::int64_t low = c.input(1).value<T>(), high = c.input(2).value<T>();
    if (low >= high)
      return invalid_argument(str_cat("Need minval < maxval, got ", low, " >= ", high));
    const auto start = random::generator(c)->reserve(arith::reserved_blocks(out.num_elements()));
    const arith::Type type = arith::type_of(out.dtype());
    c.parallel_for(out.num_elements(), 2, [&](std::int64_t begin, std::int64_t end) {
      arith::fill_uniform_int(type, start, low, high, out.mutable_raw(), begin, end);
    });
    return {};
  });
}

template <Fill fill>
void register_distribution(OpLibrary& library, std::string_view name, std::string_view stateless,
                           std::string_view doc) {
  KernelOptions options;
  options.types = {{"dtype", {DType::float32, DType::float64, DType::float16, DType::bfloat16}}};
  options.host_inputs = {"shape"};
  library.op(name)
      .input("shape: T")
      .output("output: dtype")
      .attr("seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful()
      .roles({Role::random, Role::flat})
      .shape_fn(infer_shape)
      .not_differentiable("its values do not depend on its input's")
      .cpu_kernel(compute<fill>, options)
      .gpu_kernel(compute<fill>, options)
      .doc(doc);
  options.host_inputs = {"shape", "seed"};
  library.op(stateless)
      .input("shape: T; seed: Tseed")
      .output("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("T: {int32, int64} = DT_INT32; Tseed: {int32, int64} = DT_INT64")
      .roles(Role::flat)
      .shape_fn(infer_stateless)
      .not_differentiable("its values do not depend smoothly on its seed")
      .cpu_kernel(compute_stateless<fill>, options)
      .gpu_kernel(compute_stateless<fill>, options)
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  register_distribution<arith::fill_uniform>(library, "RandomUniform", "StatelessRandomUniform",
                                             "Random numbers, uniform in [0, 1).");
  register_distribution<arith::fill_normal>(library, "RandomStandardNormal",
                                            "StatelessRandomNormal",
                                            "Normal random numbers, mean 0 and deviation 1.");
  register_distribution<arith::fill_truncated_normal>(
      library, "TruncatedNormal", "StatelessTruncatedNormal",
      "Normal random numbers, drawn again until they are less than 2 from 0.");
  KernelOptions options;
  options.types = {{"Tout", {DType::int32, DType::int64}}};
  options.host_inputs = {"shape", "minval", "maxval"};
  library.op("RandomUniformInt")
      .input("shape: T; minval: Tout; maxval: Tout")
      .output("output: Tout")
      .attr("seed: int = 0; seed2: int = 0; Tout: {int32, int64}; T: {int32, int64}")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer_int)
      .not_differentiable("its values are integers")
      .cpu_kernel(compute_int, options)
      .host_kernel_on_gpu(compute_int, options)
      .doc("Random integers, uniform in [minval, maxval).");
}

} // namespace troupe::random_distributions
