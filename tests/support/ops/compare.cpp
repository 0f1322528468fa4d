#include "tests/support/ops/compare.hpp"

#include <cmath>
#include <complex>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"

namespace troupe::testing {
namespace {

using RealNumbers =
    Types<float, double, Half, BFloat16, bool, std::int8_t, std::int16_t, std::int32_t,
          std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

template <class T>
double as_double(T value) {
  if constexpr (std::is_class_v<T>)
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

bool is_close(double actual, double expected, Tolerance tolerance) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual))
    return actual == expected;
  return std::abs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::abs(expected);
}

template <class T>
bool is_close(std::complex<T> actual, std::complex<T> expected, Tolerance tolerance) {
  tolerance.absolute += tolerance.relative * static_cast<double>(std::abs(expected));
  return is_close(static_cast<double>(actual.real()), static_cast<double>(expected.real()),
                  tolerance) &&
         is_close(static_cast<double>(actual.imag()), static_cast<double>(expected.imag()),
                  tolerance);
}

/// Index of the first element that is not close, or -1.
template <class T>
std::int64_t first_far(const Tensor& actual, const Tensor& expected, Tolerance tolerance) {
  const auto a = actual.data<T>(), b = expected.data<T>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    bool close = false;
    if constexpr (std::is_integral_v<T>)
      close = a[i] == b[i];
    else if constexpr (requires { a[i].imag(); })
      close = is_close(a[i], b[i], tolerance);
    else
      close = is_close(as_double(a[i]), as_double(b[i]), tolerance);
    if (!close)
      return static_cast<std::int64_t>(i);
  }
  return -1;
}

} // namespace

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
  case DType::float32:
  case DType::complex64:
    return {.relative = 4e-6, .absolute = 1e-6};
  case DType::float64:
  case DType::complex128:
    return {.relative = 1e-12, .absolute = 1e-13};
  case DType::float16:
    return {.relative = 2e-3, .absolute = 1e-4};
  case DType::bfloat16:
    return {.relative = 1.6e-2, .absolute = 1e-3};
  default:
    return {};
  }
}

std::optional<std::string> difference(const Tensor& actual, const Tensor& expected,
                                      Tolerance tolerance) {
  auto both = [&](std::string_view what) {
    return str_cat(what, ": got ", to_literal(actual, 64), ", expected ", to_literal(expected, 64));
  };
  if (actual.dtype() != expected.dtype())
    return both("dtypes differ");
  if (actual.shape() != expected.shape())
    return both("shapes differ");
  std::int64_t at = -1;
  Status known = dispatch(RealNumbers{}, actual.dtype(), [&]<class T>() -> Status {
    at = first_far<T>(actual, expected, tolerance);
    return {};
  });
  if (!known.ok())
    known = dispatch(Types<std::complex<float>, std::complex<double>>{}, actual.dtype(),
                     [&]<class T>() -> Status {
                       at = first_far<T>(actual, expected, tolerance);
                       return {};
                     });
  if (!known.ok())
    return equal(actual, expected) ? std::nullopt : std::optional(both("values differ"));
  if (at < 0)
    return std::nullopt;
  const auto element = [&](const Tensor& t) {
    return to_literal(t.reshaped(Shape{t.num_elements()}).rows(at, at + 1));
  };
  return both(str_cat("element ", at, " is ", element(actual), ", expected ", element(expected)));
}

Result<std::vector<double>> to_doubles(const Tensor& tensor) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(tensor.num_elements()));
  TROUPE_TRY(dispatch(RealNumbers{}, tensor.dtype(), [&]<class T>() -> Status {
    for (T value : tensor.data<T>())
      out.push_back(as_double(value));
    return {};
  }));
  return out;
}

Tensor from_doubles(DType dtype, const Shape& shape, const std::vector<double>& values) {
  Tensor out = Tensor::make(dtype, shape);
  Status status = dispatch(Types<float, double, Half, BFloat16>{}, dtype, [&]<class T>() -> Status {
    auto to = out.mutable_data<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      if constexpr (sizeof(T) == 2)
        to[i] = T(static_cast<float>(values[i]));
      else
        to[i] = static_cast<T>(values[i]);
    }
    return {};
  });
  TROUPE_CHECK(status.ok(), "the dtype is a floating one");
  return out;
}

} // namespace troupe::testing
