// QuantizedRelu and QuantizedRelu6: quantised numbers that stand for less than 0, or more than 6,
// as those that stand for it. The range stays.
#include "kernels/framework/op_library.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_relu {
namespace {

using quantized::Range;

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.output_like(0, 0));
  return quantized::infer_ranges(c, 1, 3);
}

template <bool to_6>
Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(const Range range,
                quantized::range_of(c, 1, "input", quantized::quoted_must_be_rank_0));
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, x.shape()));
  TROUPE_TRY(dispatch(Types<QUInt8, QInt32>{}, x.dtype(), [&]<class Q>() -> Status {
    const auto least = quantized::quantized<Q>(0.0F, range).bits;
    const auto most = to_6 ? quantized::quantized<Q>(6.0F, range).bits
                           : static_cast<quantized::Bits<Q>>(quantized::highest<Q>);
    const Q* from = x.data<Q>().data();
    Q* to = out.mutable_data<Q>().data();
    c.parallel_for(x.num_elements(), 0.3, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        to[i] = {std::min(std::max(from[i].bits, least), most)};
    });
    return {};
  }));
  return quantized::set_range(c, 1, range);
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const bool to_6 : {false, true}) {
    const KernelFn fn = to_6 ? compute<true> : compute<false>;
    KernelOptions small, large;
    small.types = {{"Tinput", {DType::quint8}}, {"out_type", {DType::quint8}}};
    large.types = {{"Tinput", {DType::qint32}}, {"out_type", {DType::qint32}}};
    library.op(to_6 ? "QuantizedRelu6" : "QuantizedRelu")
        .input("features: Tinput; min_features: float; max_features: float")
        .output("activations: out_type; min_activations: float; max_activations: float")
        .attr("Tinput: quantizedtype; out_type: quantizedtype = DT_QUINT8")
        .shape_fn(infer)
        .not_differentiable(quantized::no_gradient)
        .cpu_kernel(fn, small)
        .cpu_kernel(fn, large)
        .doc(to_6 ? "min(max(x, 0), 6) of quantised numbers; the range stays."
                  : "max(x, 0) of quantised numbers; the range stays.");
  }
}

} // namespace troupe::quantized_relu
