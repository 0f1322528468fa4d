// Special functions of real numbers, in double.
#pragma once

namespace troupe::math::special {

double digamma(double x);
double erfinv(double x);
/// The quantile of the standard normal distribution.
double ndtri(double p);
/// Hurwitz' zeta: the sum over k >= 0 of 1 / (q + k)^x.
double zeta(double x, double q);
/// The n-th derivative of digamma.
double polygamma(double n, double x);
/// The regularised incomplete gamma functions P and Q, and dP/da.
double igamma(double a, double x);
double igammac(double a, double x);
double igamma_grad_a(double a, double x);
/// Of a sample x by the parameter a of its gamma distribution: -igamma_grad_a / density.
double gamma_sample_grad(double a, double x);
/// The regularised incomplete beta function.
double betainc(double a, double b, double x);

// Modified Bessel functions; the scaled ones times exp(-|x|) (i) and exp(x) (k).
double bessel_i0(double x);
double bessel_i1(double x);
double bessel_i0e(double x);
double bessel_i1e(double x);
double bessel_k0(double x);
double bessel_k1(double x);
double bessel_k0e(double x);
double bessel_k1e(double x);

double dawsn(double x);
double expint(double x); ///< Ei of what is not negative; NaN of what is, as in TensorFlow
double fresnel_cos(double x);
double fresnel_sin(double x);
double spence(double x); ///< the dilogarithm of 1 - x

} // namespace troupe::math::special
