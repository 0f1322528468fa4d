// Special functions of one number, and the trigonometric and hyperbolic ones: a row each. Elements
// are computed in double, unless arith has the function.
#include <cmath>
#include <complex>
#include <limits>

#include "graph/op/conjugate.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/special.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"
#include "kernels/math/internal/special.hpp"

namespace troupe::math_special {
namespace {

namespace special = math::special;
using arith::Special;

using Real = double (*)(double);
using ComplexFn = std::complex<double> (*)(const std::complex<double>&);

constexpr double nanoseconds = 30;

template <class T>
void apply(KernelContext& c, const void* from, Tensor& out, Real fn) {
  const T* x = static_cast<const T*>(from);
  T* y = out.mutable_data<T>().data();
  c.parallel_for(out.num_elements(), nanoseconds, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if constexpr (std::is_same_v<T, double>)
        y[i] = fn(x[i]);
      else
        y[i] = T(static_cast<float>(fn(static_cast<double>(static_cast<float>(x[i])))));
  });
}

Status compute(KernelContext& c, Real fn) {
  const void* x = c.input(0).raw();
  const Shape shape = c.input(0).shape();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  return dispatch(Types<float, double, Half, BFloat16>{}, out.dtype(), [&]<class T>() -> Status {
    apply<T>(c, x, out, fn);
    return {};
  });
}

Status compute_complex(KernelContext& c, ComplexFn fn) {
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  return dispatch(
      Types<std::complex<float>, std::complex<double>>{}, out.dtype(), [&]<class T>() -> Status {
        const T* from = x.data<T>().data();
        T* to = out.mutable_data<T>().data();
        c.parallel_for(out.num_elements(), nanoseconds, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i)
            to[i] = T(fn(std::complex<double>(from[i])));
        });
        return {};
      });
}

template <Real fn>
Status real(KernelContext& c) {
  return compute(c, fn);
}

using Floats = void (*)(const float*, float*, std::int64_t, std::int64_t);

/// Floats by a function of their own.
template <Real fn, Floats of_floats>
Status real(KernelContext& c) {
  if (c.input(0).dtype() != DType::float32)
    return compute(c, fn);
  const float* x = c.input(0).data<float>().data();
  const Shape shape = c.input(0).shape();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  float* y = out.mutable_data<float>().data();
  c.parallel_for(out.num_elements(), math::costly,
                 [&](std::int64_t begin, std::int64_t end) { of_floats(x, y, begin, end); });
  return {};
}

/// What arith has by its function, the rest in double.
template <Real fn, arith::Special which>
Status real(KernelContext& c) {
  const arith::UnaryKernel kernel =
      arith::special_kernel(which, static_cast<arith::Type>(c.input(0).dtype()));
  if (!kernel)
    return compute(c, fn);
  const void* x = c.input(0).raw();
  const Shape shape = c.input(0).shape();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  void* y = out.mutable_raw();
  c.parallel_for(out.num_elements(), math::costly,
                 [&](std::int64_t begin, std::int64_t end) { kernel(x, y, begin, end); });
  return {};
}
template <ComplexFn fn>
Status complex(KernelContext& c) {
  return compute_complex(c, fn);
}

double log_gamma(double x) {
  int sign = 0;
  return std::isinf(x) ? std::abs(x) : lgamma_r(x, &sign);
}
// Where they have no value, they are what TensorFlow computes.
double j0_of(double x) {
  return std::isinf(x) ? std::nan("") : j0(x);
}
double j1_of(double x) {
  return std::isinf(x) ? std::nan("") : j1(x);
}
double y0_of(double x) {
  return x <= 0 ? -std::numeric_limits<double>::infinity() : std::isinf(x) ? std::nan("") : y0(x);
}
double y1_of(double x) {
  return x <= 0 ? -std::numeric_limits<double>::infinity() : std::isinf(x) ? std::nan("") : y1(x);
}

// ---- gradients: dy times the derivative, or its conjugate

Status times(GradContext& g, Value derivative) {
  return g.set_input_grad(0, g.mul(g.output_grad(0), derivative));
}
Value one(GradContext& g) {
  return g.scalar_like(g.input(0), 1);
}
Value squared(GradContext& g) {
  return g.op("Square", {conjugate(g, g.input(0))});
}
Status of_lgamma(GradContext& g) {
  return times(g, g.op("Digamma", {g.input(0)}));
}
Status of_digamma(GradContext& g) {
  return times(g, g.op("Polygamma", {one(g), g.input(0)}));
}
// -2 / sqrt(pi) * exp(-x^2)
Status of_erfc(GradContext& g) {
  return times(
      g, g.mul(g.scalar_like(g.input(0), -1.1283791670955126), g.op("Exp", {g.neg(squared(g))})));
}
// sqrt(pi) / 2 * exp(y^2)
Status of_erfinv(GradContext& g) {
  return times(g, g.mul(g.scalar_like(g.input(0), 0.88622692545275801),
                        g.op("Exp", {g.op("Square", {g.output(0)})})));
}
// sqrt(2 pi) * exp(y^2 / 2)
Status of_ndtri(GradContext& g) {
  const Value y = g.output(0);
  return times(g, g.mul(g.scalar_like(y, 2.5066282746310002),
                        g.op("Exp", {g.mul(g.op("Square", {y}), g.scalar_like(y, 0.5))})));
}
Status of_tan(GradContext& g) {
  const Value secant = g.op("Reciprocal", {g.op("Cos", {conjugate(g, g.input(0))})});
  return times(g, g.op("Square", {secant}));
}
Status of_asin(GradContext& g) {
  return times(g, g.op("Rsqrt", {g.sub(one(g), squared(g))}));
}
Status of_acos(GradContext& g) {
  return times(g, g.neg(g.op("Rsqrt", {g.sub(one(g), squared(g))})));
}
Status of_atan(GradContext& g) {
  return times(g, g.op("Reciprocal", {g.add(one(g), squared(g))}));
}
Status of_sinh(GradContext& g) {
  return times(g, g.op("Cosh", {conjugate(g, g.input(0))}));
}
Status of_cosh(GradContext& g) {
  return times(g, g.op("Sinh", {conjugate(g, g.input(0))}));
}
Status of_asinh(GradContext& g) {
  return times(g, g.op("Reciprocal", {g.op("Cosh", {conjugate(g, g.output(0))})}));
}
Status of_acosh(GradContext& g) {
  return times(g, g.op("Reciprocal", {g.op("Sinh", {conjugate(g, g.output(0))})}));
}
Status of_atanh(GradContext& g) {
  return times(g, g.op("Reciprocal", {g.sub(one(g), squared(g))}));
}

constexpr auto clients = "its gradient is in no op of the library; clients bring their own";
constexpr std::string_view reals = "T: {bfloat16, half, float, double}";
constexpr std::string_view fields = "T: {bfloat16, half, float, double, complex64, complex128}";

struct Row {
  std::string_view name;
  KernelFn fn;
  GradientFn gradient = nullptr;
  std::string_view doc;
};

void add_real(OpLibrary& library, const Row& row) {
  auto op = library.op(row.name);
  op.input("x: T").output("y: T").attr(reals).shape_fn(shape_unchanged).doc(row.doc);
  if (row.gradient)
    op.gradient(row.gradient);
  else
    op.not_differentiable(clients);
  op.cpu_kernel(row.fn,
                math::for_types({DType::float32, DType::float64, DType::float16, DType::bfloat16}));
}

void add_field(OpLibrary& library, const Row& row, KernelFn of_complex) {
  library.op(row.name)
      .input("x: T")
      .output("y: T")
      .attr(fields)
      .shape_fn(shape_unchanged)
      .gradient(row.gradient)
      .cpu_kernel(row.fn, math::for_types(
                              {DType::float32, DType::float64, DType::float16, DType::bfloat16}))
      .cpu_kernel(of_complex, math::for_types({DType::complex64, DType::complex128}))
      .doc(row.doc);
}

void add_bessel(OpLibrary& library) {
  using namespace special;
  for (const Row& row :
       {Row{"BesselI0", real<bessel_i0, Special::bessel_i0>, nullptr,
            "The modified Bessel function I0."},
        Row{"BesselI1", real<bessel_i1, Special::bessel_i1>, nullptr,
            "The modified Bessel function I1."},
        Row{"BesselI0e", real<bessel_i0e, Special::bessel_i0e>, nullptr, "I0 times exp(-|x|)."},
        Row{"BesselI1e", real<bessel_i1e, Special::bessel_i1e>, nullptr, "I1 times exp(-|x|)."},
        Row{"BesselK0", real<bessel_k0, Special::bessel_k0>, nullptr,
            "The modified Bessel function K0."},
        Row{"BesselK1", real<bessel_k1, Special::bessel_k1>, nullptr,
            "The modified Bessel function K1."},
        Row{"BesselK0e", real<bessel_k0e, Special::bessel_k0e>, nullptr, "K0 times exp(x)."},
        Row{"BesselK1e", real<bessel_k1e, Special::bessel_k1e>, nullptr, "K1 times exp(x)."},
        Row{"BesselJ0", real<j0_of>, nullptr, "The Bessel function J0."},
        Row{"BesselJ1", real<j1_of>, nullptr, "The Bessel function J1."},
        Row{"BesselY0", real<y0_of>, nullptr, "The Bessel function Y0."},
        Row{"BesselY1", real<y1_of>, nullptr, "The Bessel function Y1."}})
    add_real(library, row);
}

void add_special(OpLibrary& library) {
  using namespace special;
  for (const Row& row :
       {Row{"Lgamma", real<log_gamma>, of_lgamma, "The logarithm of |gamma(x)|."},
        Row{"Digamma", real<digamma, arith::digamma>, of_digamma, "The derivative of Lgamma."},
        Row{"Erfc", real<std::erfc, Special::erfc>, of_erfc, "1 - erf(x)."},
        Row{"Erfinv", real<erfinv, arith::erfinv>, of_erfinv, "The inverse of erf."},
        Row{"Ndtri", real<ndtri, arith::ndtri>, of_ndtri,
            "The quantiles of the standard normal distribution."},
        Row{"Dawsn", real<dawsn>, nullptr, "Dawson's integral."},
        Row{"Expint", real<expint>, nullptr,
            "The exponential integral Ei of numbers that are not negative."},
        Row{"FresnelCos", real<fresnel_cos>, nullptr, "Fresnel's integral C."},
        Row{"FresnelSin", real<fresnel_sin>, nullptr, "Fresnel's integral S."},
        Row{"Spence", real<spence>, nullptr, "Spence's function: the dilogarithm of 1 - x."}})
    add_real(library, row);
}

} // namespace

void register_ops(OpLibrary& library) {
  add_bessel(library);
  add_special(library);
  add_field(library, {"Tan", real<std::tan>, of_tan, "The tangent."}, complex<std::tan<double>>);
  add_field(library, {"Asin", real<std::asin, Special::asin>, of_asin, "The inverse of the sine."},
            complex<std::asin<double>>);
  add_field(library,
            {"Acos", real<std::acos, Special::acos>, of_acos, "The inverse of the cosine."},
            complex<std::acos<double>>);
  add_field(library,
            {"Atan", real<std::atan, Special::atan>, of_atan, "The inverse of the tangent."},
            complex<std::atan<double>>);
  add_field(library, {"Sinh", real<std::sinh>, of_sinh, "The hyperbolic sine."},
            complex<std::sinh<double>>);
  add_field(library, {"Cosh", real<std::cosh>, of_cosh, "The hyperbolic cosine."},
            complex<std::cosh<double>>);
  add_field(library, {"Asinh", real<std::asinh>, of_asinh, "The inverse of the hyperbolic sine."},
            complex<std::asinh<double>>);
  add_field(library, {"Acosh", real<std::acosh>, of_acosh, "The inverse of the hyperbolic cosine."},
            complex<std::acosh<double>>);
  add_field(library,
            {"Atanh", real<std::atanh>, of_atanh, "The inverse of the hyperbolic tangent."},
            complex<std::atanh<double>>);
}

} // namespace troupe::math_special
