// Cast: each element as another dtype. Floats become integers by dropping the fraction.
#include <cstring>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_cast {
namespace {

Status differentiate(GradContext& g) {
  const auto continuous = [](DType t) { return is_floating(t) || is_complex(t); };
  const DType from = g.dtype(g.input(0)), to = g.dtype(g.output_grad(0));
  if (!continuous(from) || !continuous(to))
    return {};
  return g.set_input_grad(0, g.op("Cast", {g.output_grad(0)}, {{"DstT", from}}));
}

// The upper half of each float, whatever the lower one holds.
void truncate_to_bfloat16(const void* x, void* y, std::int64_t begin, std::int64_t end) {
  const auto* in = static_cast<const char*>(x);
  auto* out = static_cast<std::uint16_t*>(y);
  for (std::int64_t i = begin; i < end; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, in + 4 * i, 4);
    out[i] = static_cast<std::uint16_t>(bits >> 16);
  }
}

/// Whether the node drops bits instead of rounding, to bfloat16.
bool truncates(const KernelContext& c, DType from, DType to) {
  return c.attrs().get_or("Truncate", false) && from == DType::float32 && to == DType::bfloat16;
}

/// How many low bits of an element are dropped before it is rounded, as TensorFlow's kernels do.
int dropped_bits(const KernelContext& c, DType from, DType to) {
  if (!c.attrs().get_or("Truncate", false))
    return 0;
  if (from == DType::float64)
    return to == DType::float32 ? 52 - 23 : to == DType::float16 ? 52 - 10 : 0;
  return from == DType::float32 && to == DType::float16 ? 23 - 10 : 0;
}

template <class Bits>
void drop_bits(const Tensor& from, int count, Tensor& to) {
  const Bits mask = ~((Bits{1} << count) - 1);
  for (std::int64_t i = 0; i < from.num_elements(); ++i) {
    Bits bits = 0;
    std::memcpy(&bits, static_cast<const Bits*>(from.raw()) + i, sizeof bits);
    bits &= mask;
    std::memcpy(static_cast<Bits*>(to.mutable_raw()) + i, &bits, sizeof bits);
  }
}

Status compute(KernelContext& c) {
  const DType from = c.input(0).dtype(), to = c.output_type(0);
  if (from == to)
    return c.set_output(0, c.input(0));
  TROUPE_ASSIGN(auto fn, arith::cast(from, to));
  if (truncates(c, from, to))
    fn = {.steps = {truncate_to_bfloat16}, .sizes = {4, 2}, .count = 1};
  Tensor in = c.input(0);
  if (const int count = dropped_bits(c, from, to); count > 0) {
    TROUPE_ASSIGN(Tensor dropped, c.allocate_temp(from, in.shape()));
    from == DType::float64 ? drop_bits<std::uint64_t>(in, count, dropped)
                           : drop_bits<std::uint32_t>(in, count, dropped);
    in = dropped;
  }
  const void* x = in.raw();
  const Shape shape = c.input(0).shape();
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  void* out = y.mutable_raw();
  c.parallel_for(shape.num_elements(), math::cheap,
                 [&](std::int64_t begin, std::int64_t end) { fn(x, out, begin, end); });
  return {};
}

Status compute_on_gpu(KernelContext& c) {
  const DType from = c.input(0).dtype(), to = c.output_type(0);
  return math::cast_on_gpu(c, truncates(c, from, to), dropped_bits(c, from, to));
}

KernelOptions gpu_options() {
  const std::vector<DType> types = {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                                    DType::int8,    DType::int16,   DType::int32,   DType::int64,
                                    DType::uint8,   DType::uint16,  DType::uint32,  DType::uint64,
                                    DType::bool_};
  KernelOptions options;
  options.types = {{"SrcT", types}, {"DstT", types}};
  return options;
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("Cast")
      .input("x: SrcT")
      .output("y: DstT")
      .attr("SrcT: type; DstT: type; Truncate: bool = false")
      .shape_fn(shape_unchanged)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .gpu_kernel(compute_on_gpu, gpu_options())
      .doc("Each element as another dtype; to bool it is x != 0.");
}

} // namespace troupe::math_cast
