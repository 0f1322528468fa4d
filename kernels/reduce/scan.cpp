// Cumsum, Cumprod, CumulativeLogsumexp: running sums, products and logarithms of sums of powers of
// e along an axis.
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/reduce/internal/reduction.hpp"

namespace troupe::reduce_scan {
namespace {

struct Attrs {
  bool exclusive = false, reverse = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const bool exclusive, c.attr<bool>("exclusive"));
  TROUPE_ASSIGN(const bool reverse, c.attr<bool>("reverse"));
  return prepared(Attrs{exclusive, reverse});
}

/// What the running value of an empty beginning is, and how an element joins it.
struct Plus {
  static constexpr int neutral = 0;
  template <class T>
  static T join(T a, T b) {
    return reduce::add(a, b);
  }
};
struct Times {
  static constexpr int neutral = 1;
  template <class T>
  static T join(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) *
                            static_cast<std::make_unsigned_t<T>>(b));
    else
      return a * b;
  }
};

/// log(exp(a) + exp(b)), which does not overflow. Beside -inf, whatever b is, the result is a.
struct LogPlusExp {
  static constexpr double neutral = -std::numeric_limits<double>::infinity();
  template <class T>
  static T join(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T least = std::min(a, b), most = std::max(a, b);
      return least < std::numeric_limits<T>::lowest() ? most
                                                      : std::log1p(std::exp(least - most)) + most;
    } else {
      return a;
    }
  }
};

/// One [n, inner] block, row after row: each output row from the one before it.
template <class Op, class T>
void scan_block(const T* x, T* y, std::int64_t n, std::int64_t inner, const Attrs& attrs) {
  const std::int64_t step = attrs.reverse ? -inner : inner;
  if (attrs.reverse) {
    x += (n - 1) * inner;
    y += (n - 1) * inner;
  }
  for (std::int64_t k = 0; k < n; ++k, x += step, y += step)
    for (std::int64_t i = 0; i < inner; ++i) {
      const T before = k == 0 ? static_cast<T>(Op::neutral) : y[i - step];
      const T element =
          attrs.exclusive ? (k == 0 ? static_cast<T>(Op::neutral) : x[i - step]) : x[i];
      y[i] = Op::template join<T>(before, element);
    }
}

template <class Op>
Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Tensor x, widened(c, c.input(0)));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat("ScanOp: axis must be a scalar, not ", c.input(1).shape()));
  TROUPE_ASSIGN(const auto axes, integers(c.input(1)));
  std::int64_t axis = axes[0];
  const std::int64_t rank = x.shape().rank();
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis >= rank)
    return invalid_argument(str_cat("ScanOp: Expected scan axis in the range [", -rank, ", ", rank,
                                    "), but got ", axis));
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < rank; ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : x.shape()[i];
  const std::int64_t n = x.shape()[static_cast<int>(axis)];
  TROUPE_ASSIGN(Tensor y, allocate_widened(c, 0, x.shape()));
  if (y.num_elements() == 0)
    return narrow(c, 0, y);
  using Elements = std::conditional_t<std::is_same_v<Op, LogPlusExp>, Floats, reduce::Computed>;
  TROUPE_TRY(dispatch(Elements{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    T* to = y.mutable_data<T>().data();
    c.parallel_for(outer, static_cast<double>(n * inner),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t o = begin; o < end; ++o)
                       scan_block<Op, T>(from + o * n * inner, to + o * n * inner, n, inner,
                                         c.prepared<Attrs>());
                   });
    return {};
  }));
  return narrow(c, 0, y);
}

AttrMap scan_attrs(bool exclusive, bool reverse) {
  return {{"exclusive", exclusive}, {"reverse", reverse}};
}

// Each element is in every sum from its own on: the gradient runs the other way.
Status differentiate_cumsum(GradContext& g) {
  return g.set_input_grad(0, g.op("Cumsum", {g.output_grad(0), g.input(1)},
                                  scan_attrs(g.attrs().get_or("exclusive", false),
                                             !g.attrs().get_or("reverse", false))));
}

// dx[k] is the sum of dy[j] y[j] over the products j that x[k] is in, divided by x[k]. Where x is 0
// that says nothing; only the first 0 on the way has a gradient, for the products behind a later
// one hold the first, too: its sum is taken of products without it.
Status differentiate_cumprod(GradContext& g) {
  const bool exclusive = g.attrs().get_or("exclusive", false);
  const bool reverse = g.attrs().get_or("reverse", false);
  const Value x = g.input(0), axis = g.input(1), dy = g.output_grad(0);
  const auto sum_of_products = [&](Value factors) {
    const Value products = g.op("Cumprod", {factors, axis}, scan_attrs(exclusive, reverse));
    return g.op("Cumsum", {g.mul(products, dy), axis}, scan_attrs(exclusive, !reverse));
  };
  const Value is_zero = g.op("Equal", {x, g.zeros_like(x)});
  const Value zeros = g.op("Cast", {is_zero}, {{"DstT", DType::int32}});
  const Value zeros_so_far = g.op("Cumsum", {zeros, axis}, scan_attrs(false, reverse));
  const Value is_first = g.op(
      "LogicalAnd", {is_zero, g.op("Equal", {zeros_so_far, g.op("OnesLike", {zeros_so_far})})});
  const Value without_first = g.op("SelectV2", {is_first, g.op("OnesLike", {x}), x});
  return g.set_input_grad(0, g.op("SelectV2", {is_first, sum_of_products(without_first),
                                               g.op("DivNoNan", {sum_of_products(x), x})}));
}

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  const auto axis = c.input_as_ints(1);
  const std::int64_t rank = c.input(0).rank();
  if (axis && c.input(0).has_rank() && ((*axis)[0] < -rank || (*axis)[0] >= rank))
    return invalid_argument(str_cat("ScanOp: Expected scan axis in the range [", -rank, ", ", rank,
                                    "), but got ",
                                    (*axis)[0] < 0 ? (*axis)[0] + rank : (*axis)[0]));
  return c.output_like(0, 0);
}

void add_scan(OpLibrary& library, std::string_view name, KernelFn fn, GradientFn gradient,
              std::string_view doc) {
  KernelOptions options;
  options.types = {{"T", arith::dtypes_of(arith::BinaryOp::mul)}};
  options.prepare = prepare;
  options.expensive = true;
  library.op(name)
      .input("x: T; axis: Tidx")
      .output("out: T")
      .attr("exclusive: bool = false; reverse: bool = false; T: numbertype")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .gradient(gradient)
      .cpu_kernel(fn, std::move(options))
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add_scan(library, "Cumsum", compute<Plus>, differentiate_cumsum,
           "Running sums along an axis; exclusive ones leave the element itself out.");
  add_scan(library, "Cumprod", compute<Times>, differentiate_cumprod,
           "Running products along an axis; exclusive ones leave the element itself out.");
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64, DType::float16, DType::bfloat16}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("CumulativeLogsumexp")
      .input("x: T; axis: Tidx")
      .output("out: T")
      .attr("exclusive: bool = false; reverse: bool = false; T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute<LogPlusExp>, options)
      .doc("Running log(exp(x0) + exp(x1) + …) along an axis.");
}

} // namespace troupe::reduce_scan
