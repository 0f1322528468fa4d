// Special functions of two and three numbers, with broadcasting: a row each. Half and bfloat16 are
// computed in float.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"
#include "kernels/math/internal/special.hpp"

namespace troupe::math_special_binary {
namespace {

namespace special = math::special;
using arith::RowMode;

// What is computed of two elements: a struct with `of(x, y)`.

/// f(x, y), and 0 where x is 0 whatever y is.
struct Xlogy {
  template <class T>
  static T of(T x, T y) {
    return x == T(0) ? T(0) : x * std::log(y);
  }
};
struct Xlog1py {
  template <class T>
  static T of(T x, T y) {
    return x == T(0) ? T(0) : x * std::log(T(1) + y);
  }
};
struct Xdivy {
  template <class T>
  static T of(T x, T y) {
    return x == T(0) ? T(0) : x / y;
  }
};
struct NextAfter {
  template <class T>
  static T of(T x, T y) {
    return std::nextafter(x, y);
  }
};

template <double (*fn)(double, double)>
struct InDouble {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(fn(static_cast<double>(x), static_cast<double>(y)));
  }
};

template <class F>
constexpr bool takes_logarithm = std::is_same_v<F, Xlogy> || std::is_same_v<F, Xlog1py>;

template <class F, class T>
T element(T x, T y) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(F::of(static_cast<float>(x), static_cast<float>(y)));
  else
    return F::of(x, y);
}

template <class F, class T>
bool row(const void* a, const void* b, void* out, std::int64_t n, RowMode mode) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  const std::int64_t dx = mode == RowMode::left_scalar ? 0 : 1;
  const std::int64_t dy = mode == RowMode::right_scalar ? 0 : 1;
  for (std::int64_t i = 0; i < n; ++i)
    z[i] = element<F, T>(x[i * dx], y[i * dy]);
  return true;
}

/// A product with logarithms, which are rounded before it, as TensorFlow does; block by block.
template <class F, class T>
bool logarithm_row(const void* a, const void* b, void* out, std::int64_t n, RowMode mode) {
  constexpr auto type = static_cast<arith::Type>(dtype_of<T>);
  constexpr bool is_log = std::is_same_v<F, Xlogy>;
  const auto log = arith::unary_kernel(is_log ? arith::UnaryOp::log : arith::UnaryOp::log1p, type);
  const auto multiply = arith::binary_kernel(arith::BinaryOp::mul_no_nan, type);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  constexpr std::int64_t block = 256;
  T logs[block];
  const auto take_logs = [&](const T* from, std::int64_t count) {
    if constexpr (is_log && std::is_floating_point_v<T>) {
      for (std::int64_t k = 0; k < count; ++k) // denormals count as 0
        logs[k] = std::abs(from[k]) < std::numeric_limits<T>::min() ? T(0) : from[k];
      log(logs, logs, 0, count);
    } else {
      log(from, logs, 0, count);
    }
  };
  if (mode == RowMode::right_scalar) {
    take_logs(y, 1);
    return multiply.row(logs, x, z, n, RowMode::left_scalar);
  }
  for (std::int64_t i = 0; i < n; i += block) {
    const std::int64_t count = std::min(block, n - i);
    take_logs(y + i, count);
    if (mode == RowMode::left_scalar)
      multiply.row(logs, x, z + i, count, RowMode::right_scalar);
    else
      multiply.row(logs, x + i, z + i, count, RowMode::both_rows);
  }
  return true;
}

/// Quotients, and then 0 where x is.
template <class T>
bool quotient_row(const void* a, const void* b, void* out, std::int64_t n, RowMode mode) {
  const auto divide =
      arith::binary_kernel(arith::BinaryOp::real_div, static_cast<arith::Type>(dtype_of<T>));
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  if (mode == RowMode::left_scalar && *x == T(0)) {
    std::fill_n(z, n, T(0));
    return true;
  }
  if (mode == RowMode::left_scalar)
    return divide.row(x, y, z, n, mode);
  constexpr std::int64_t block = 256;
  T quotients[block];
  for (std::int64_t i = 0; i < n; i += block) {
    const std::int64_t count = std::min(block, n - i);
    divide.row(x + i, mode == RowMode::right_scalar ? y : y + i, quotients, count, mode);
    // The compiler makes vectors of a loop whose length is constant and which writes no memory of
    // the caller's: x might lie there.
    if (count == block)
      for (std::int64_t k = 0; k < block; ++k)
        quotients[k] = x[i + k] == T(0) ? T(0) : quotients[k];
    else
      for (std::int64_t k = 0; k < count; ++k)
        quotients[k] = x[i + k] == T(0) ? T(0) : quotients[k];
    std::copy_n(quotients, count, z + i);
  }
  return true;
}

template <class F, class T>
arith::BinaryRow row_of() {
  constexpr bool is_complex =
      std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
  if constexpr (takes_logarithm<F> && !is_complex)
    return logarithm_row<F, T>;
  else if constexpr (std::is_same_v<F, Xdivy> && std::is_floating_point_v<T>)
    return quotient_row<T>;
  else
    return row<F, T>;
}

template <class F, class All>
Status compute(KernelContext& c) {
  arith::BinaryKernel kernel;
  const DType dtype = c.input(0).dtype();
  kernel.in_size = kernel.out_size = static_cast<int>(dtype_size(dtype));
  TROUPE_TRY(dispatch(All{}, dtype, [&]<class T>() -> Status {
    kernel.fn = row_of<F, T>();
    return {};
  }));
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(c.input(0).shape(), c.input(1).shape()));
  return math::run_binary(c, kernel, shape, 30, "");
}

using Doubles = Types<float, double>;
using Fields = Types<float, double, Half, BFloat16, std::complex<float>, std::complex<double>>;

// ---- gradients

Status both(GradContext& g, Value to_x, Value to_y) {
  const auto [dx, dy] = g.unbroadcast(g.input(0), g.input(1), to_x, to_y);
  TROUPE_TRY(g.set_input_grad(0, dx));
  return g.set_input_grad(1, dy);
}
Value times(GradContext& g, Value x) {
  return g.mul(g.output_grad(0), x);
}
/// 1 where x is not 0, else 0.
Value present(GradContext& g) {
  const Value x = g.input(0);
  return g.op("Cast", {g.op("NotEqual", {x, g.scalar_like(x, 0)})}, {{"DstT", g.dtype(x)}});
}

Status of_xlogy(GradContext& g) {
  const Value x = g.input(0), y = g.input(1);
  return both(g, times(g, g.op("Xlogy", {present(g), y})), times(g, g.op("Xdivy", {x, y})));
}
Status of_xlog1py(GradContext& g) {
  const Value x = g.input(0), y = g.input(1);
  return both(g, times(g, g.op("Xlog1py", {present(g), y})),
              times(g, g.op("Xdivy", {x, g.add(y, g.scalar_like(y, 1))})));
}
Status of_xdivy(GradContext& g) {
  const Value x = g.input(0), y = g.input(1);
  return both(g, times(g, g.op("Xdivy", {present(g), y})),
              times(g, g.op("Xdivy", {g.neg(x), g.op("Square", {y})})));
}
// As TensorFlow has it: one to the first input, none to the second.
Status of_next_after(GradContext& g) {
  return both(g, times(g, g.scalar_like(g.input(0), 1)), times(g, g.scalar_like(g.input(1), 0)));
}
// dP/dx = x^(a-1) exp(-x) / gamma(a)
Value gamma_density(GradContext& g) {
  const Value a = g.input(0), x = g.input(1);
  const Value power = g.op("Xlogy", {g.sub(a, g.scalar_like(a, 1)), x});
  return g.op("Exp", {g.sub(g.sub(power, x), g.op("Lgamma", {a}))});
}
Status of_igamma(GradContext& g) {
  return both(g, times(g, g.op("IgammaGradA", {g.input(0), g.input(1)})),
              times(g, gamma_density(g)));
}
Status of_igammac(GradContext& g) {
  return both(g, times(g, g.neg(g.op("IgammaGradA", {g.input(0), g.input(1)}))),
              times(g, g.neg(gamma_density(g))));
}
// Only by the second argument.
Status of_zeta(GradContext& g) {
  const Value x = g.input(0), q = g.input(1);
  const Value by_q = g.neg(g.mul(x, g.op("Zeta", {g.add(x, g.scalar_like(x, 1)), q})));
  return g.set_input_grad(1, g.unbroadcast(x, q, times(g, by_q), times(g, by_q)).second);
}
Status of_polygamma(GradContext& g) {
  const Value n = g.input(0), x = g.input(1);
  const Value by_x = g.op("Polygamma", {g.add(n, g.scalar_like(n, 1)), x});
  return g.set_input_grad(1, g.unbroadcast(n, x, times(g, by_x), times(g, by_x)).second);
}

// ---- three inputs

Status infer_betainc(ShapeContext& c) {
  PartialShape shape;
  for (int i = 0; i < 3; ++i)
    if (!c.input(i).has_rank())
      return {};
  for (int i = 0; i < 3; ++i)
    if (c.input(i).rank() > 0) {
      const auto merged = shape.merge(c.input(i));
      if (!merged)
        return invalid_argument(
            str_cat("Shapes must be equal, but are ", shape, " and ", c.input(i)));
      shape = *merged;
    }
  return c.set_output(0, shape.has_rank() ? shape : PartialShape(std::vector<std::int64_t>()));
}

Status compute_betainc(KernelContext& c) {
  Shape shape;
  for (int i = 0; i < 3; ++i)
    if (!c.input(i).shape().is_scalar())
      shape = c.input(i).shape();
  constexpr const char* names[] = {"a", "b", "x"};
  for (const auto& [i, j] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
    const Shape &one = c.input(i).shape(), &other = c.input(j).shape();
    if (!one.is_scalar() && !other.is_scalar() && one != other)
      return invalid_argument(str_cat("Shapes of ", names[i], " and ", names[j],
                                      " are inconsistent: ", one, " vs. ", other));
  }
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  return dispatch(Doubles{}, out.dtype(), [&]<class T>() -> Status {
    const T* in[3];
    std::int64_t step[3];
    for (int i = 0; i < 3; ++i) {
      in[i] = c.input(i).data<T>().data();
      step[i] = c.input(i).shape().is_scalar() ? 0 : 1;
    }
    T* to = out.mutable_data<T>().data();
    c.parallel_for(out.num_elements(), 200, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k)
        to[k] = static_cast<T>(
            special::betainc(in[0][k * step[0]], in[1][k * step[1]], in[2][k * step[2]]));
    });
    return {};
  });
}

// By x alone, as in TensorFlow: x^(a-1) (1-x)^(b-1) / B(a, b).
Status of_betainc(GradContext& g) {
  const Value a = g.input(0), b = g.input(1), x = g.input(2);
  const auto one = g.scalar_like(x, 1);
  const auto log_gamma = [&](Value v) { return g.op("Lgamma", {v}); };
  const Value log_beta = g.sub(g.add(log_gamma(a), log_gamma(b)), log_gamma(g.add(a, b)));
  const Value powers =
      g.add(g.op("Xlog1py", {g.sub(b, one), g.neg(x)}), g.op("Xlogy", {g.sub(a, one), x}));
  const Value dx = times(g, g.op("Exp", {g.sub(powers, log_beta)}));
  const Value shape_like = g.add(g.add(a, b), x);
  return g.set_input_grad(2, g.unbroadcast(x, shape_like, dx, dx).first);
}

struct Row {
  std::string_view name, inputs, types;
  KernelFn fn;
  GradientFn gradient;
  std::string_view doc;
};

constexpr std::string_view floats = "T: {float, double}";
constexpr std::string_view reals = "T: {bfloat16, half, float, double}";
constexpr std::string_view fields = "T: {half, bfloat16, float, double, complex64, complex128}";

void add(OpLibrary& library, const Row& row, std::vector<DType> dtypes) {
  auto op = library.op(row.name);
  op.input(row.inputs).output("z: T").attr(row.types).shape_fn(shape_broadcast_binary);
  if (row.gradient)
    op.gradient(row.gradient);
  else
    op.not_differentiable("it is a derivative itself; no op has the next one");
  op.cpu_kernel(row.fn, math::for_types(std::move(dtypes))).doc(row.doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const Row& row : {Row{"Xlogy", "x: T; y: T", fields, compute<Xlogy, Fields>, of_xlogy,
                             "x log(y), and 0 where x is 0."},
                         Row{"Xlog1py", "x: T; y: T", fields, compute<Xlog1py, Fields>, of_xlog1py,
                             "x log(1 + y), and 0 where x is 0."},
                         Row{"Xdivy", "x: T; y: T", fields, compute<Xdivy, Fields>, of_xdivy,
                             "x / y, and 0 where x is 0."}})
    add(library, row,
        {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::complex64,
         DType::complex128});
  for (const Row& row :
       {Row{"Igamma", "a: T; x: T", reals, compute<InDouble<special::igamma>, Doubles>, of_igamma,
            "The lower regularised incomplete gamma function."},
        Row{"Igammac", "a: T; x: T", reals, compute<InDouble<special::igammac>, Doubles>,
            of_igammac, "The upper regularised incomplete gamma function."},
        Row{"IgammaGradA", "a: T; x: T", floats, compute<InDouble<special::igamma_grad_a>, Doubles>,
            nullptr, "The derivative of Igamma by its first argument."},
        Row{"Zeta", "x: T; q: T", floats, compute<InDouble<special::zeta>, Doubles>, of_zeta,
            "Hurwitz' zeta function."},
        Row{"Polygamma", "a: T; x: T", floats, compute<InDouble<special::polygamma>, Doubles>,
            of_polygamma, "The a-th derivative of Digamma."}})
    add(library, row, {DType::float32, DType::float64});
  library.op("RandomGammaGrad")
      .input("alpha: T; sample: T")
      .output("output: T")
      .attr("T: {float, double}")
      .shape_fn(shape_broadcast_binary)
      .not_differentiable("it is a derivative itself; no op has the next one")
      .cpu_kernel(compute<InDouble<special::gamma_sample_grad>, Doubles>,
                  math::for_types({DType::float32, DType::float64}))
      .doc("How samples of a gamma distribution change with its parameter.");
  library.op("NextAfter")
      .input("x1: T; x2: T")
      .output("output: T")
      .attr("T: {double, float} = DT_FLOAT")
      .shape_fn(shape_broadcast_binary)
      .gradient(of_next_after)
      .cpu_kernel(compute<NextAfter, Doubles>, math::for_types({DType::float32, DType::float64}))
      .doc("The number that follows x1 in the direction of x2.");
  library.op("Betainc")
      .input("a: T; b: T; x: T")
      .output("z: T")
      .attr(floats)
      .shape_fn(infer_betainc)
      .gradient(of_betainc)
      .cpu_kernel(compute_betainc, math::for_types({DType::float32, DType::float64}))
      .doc("The regularised incomplete beta function.");
}

} // namespace troupe::math_special_binary
