// Sum, Mean, Prod, Max, Min, Any, All over any axes.
#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce_reductions {
namespace {

using arith::ReduceOp;

template <ReduceOp op>
Status compute(KernelContext& c) {
  return reduce::reduce(c, op);
}

Status differentiate_sum(GradContext& g) {
  return g.set_input_grad(0, reduce::spread(g, g.output_grad(0), reduce::kept_shape(g)));
}

// Each element's share is 1 / count.
Status differentiate_mean(GradContext& g) {
  const Value x = g.input(0), y = g.output(0), dy = g.output_grad(0);
  const auto in = g.shape(x).to_shape(), out = g.shape(y).to_shape();
  Value count;
  if (in && out)
    count = g.scalar_like(dy, static_cast<double>(in->num_elements() /
                                                  std::max<std::int64_t>(out->num_elements(), 1)));
  else
    count = g.op(
        "Cast",
        {g.op("FloorDiv",
              {g.op("Size", {x}),
               g.op("Maximum", {g.op("Size", {y}), g.constant(Tensor::scalar<std::int32_t>(1))})})},
        {{"DstT", g.dtype(dy)}});
  return g.set_input_grad(0, reduce::spread(g, g.div(dy, count), reduce::kept_shape(g)));
}

// The gradient is divided equally among the elements that are the largest (smallest).
Status differentiate_extremum(GradContext& g) {
  const Value x = g.input(0), dy = g.output_grad(0);
  const Value kept = reduce::kept_shape(g);
  const Value chosen =
      g.op("Cast", {g.op("Equal", {g.reshape(g.output(0), kept), x})}, {{"DstT", g.dtype(dy)}});
  const Value count = g.reshape(g.op("Sum", {chosen, g.input(1)}), kept);
  return g.set_input_grad(0, g.mul(g.div(chosen, count), g.reshape(dy, kept)));
}

Value positions(GradContext& g, Value mask) {
  const Value found = g.reshape(g.op("Where", {mask}), g.ints({-1}));
  return g.op("Cast", {found}, {{"DstT", DType::int32}});
}

Value product_of(GradContext& g, Value dims, Value which) {
  const Value zero = g.constant(Tensor::scalar<std::int32_t>(0));
  return g.op("Prod", {g.op("GatherV2", {dims, which, zero}), g.ints({0})}, {{"keep_dims", true}});
}

// dy times the product of all other elements: of those before and those after, so that zeros do no
// harm. The reduced dimensions are brought to the front, as one.
Status differentiate_prod(GradContext& g) {
  const Value x = g.input(0);
  const Value dims = reduce::shape_vector(g, x), mask = reduce::reduced_mask(g);
  const Value reduced = positions(g, mask), kept = positions(g, g.op("LogicalNot", {mask}));
  const Value zero = g.constant(Tensor::scalar<std::int32_t>(0));
  const AttrMap two{{"N", std::int64_t{2}}};
  const Value order = g.op("ConcatV2", {reduced, kept, zero}, two);
  const Value moved = g.op("Transpose", {x, order});
  const Value matrix =
      g.reshape(moved, g.op("ConcatV2",
                            {product_of(g, dims, reduced), product_of(g, dims, kept), zero}, two));
  const Value before = g.op("Cumprod", {matrix, zero}, {{"exclusive", true}});
  const Value after = g.op("Cumprod", {matrix, zero}, {{"exclusive", true}, {"reverse", true}});
  const Value others = g.op("Transpose", {g.reshape(g.mul(before, after), g.shape_of(moved)),
                                          g.op("InvertPermutation", {order})});
  const Value dy = reduce::spread(g, g.output_grad(0), reduce::kept_shape(g));
  return g.set_input_grad(0, g.mul(dy, others));
}

constexpr auto numbers = "T: numbertype";
constexpr auto ordered = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, "
                         "half, uint32, uint64, qint8, quint8, qint32, qint16, quint16}";
constexpr auto flat = "its values are true and false";

} // namespace

void register_ops(OpLibrary& library) {
  using reduce::add_reduction;
  add_reduction(library, "Sum", numbers, ReduceOp::sum, compute<ReduceOp::sum>, differentiate_sum,
                {}, "The sum over the named axes.");
  add_reduction(library, "Mean", numbers, ReduceOp::mean, compute<ReduceOp::mean>,
                differentiate_mean, {},
                "The mean over the named axes; of integers rounded toward zero, of nothing NaN.");
  add_reduction(library, "Prod", numbers, ReduceOp::prod, compute<ReduceOp::prod>,
                differentiate_prod, {}, "The product over the named axes.");
  add_reduction(library, "Max", ordered, ReduceOp::max, compute<ReduceOp::max>,
                differentiate_extremum, {},
                "The largest element over the named axes; NaN if any is NaN.");
  add_reduction(library, "Min", ordered, ReduceOp::min, compute<ReduceOp::min>,
                differentiate_extremum, {},
                "The smallest element over the named axes; NaN if any is NaN.");
  add_reduction(library, "Any", {}, ReduceOp::any, compute<ReduceOp::any>, nullptr, flat,
                "Whether any element over the named axes is true.");
  add_reduction(library, "All", {}, ReduceOp::all, compute<ReduceOp::all>, nullptr, flat,
                "Whether every element over the named axes is true.");
}

} // namespace troupe::reduce_reductions
