#include "graph/op/grad_context.hpp"

#include <complex>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

template <class T>
T number_as(double value) {
  if constexpr (std::is_constructible_v<T, float> && std::is_class_v<T> &&
                !std::is_same_v<T, std::complex<double>> && !std::is_same_v<T, std::complex<float>>)
    return T(static_cast<float>(value)); // half, bfloat16
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

Tensor scalar_of(DType dtype, double value) {
  using Known = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t,
                      std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool,
                      std::complex<float>, std::complex<double>>;
  Tensor out;
  Status status = dispatch(Known{}, dtype, [&]<class T>() -> Status {
    out = Tensor::scalar<T>(number_as<T>(value));
    return {};
  });
  TROUPE_CHECK(status.ok(),
               str_cat("a gradient rule asks for the number ", value, " as ", to_string(dtype)));
  return out;
}

// The axes of the broadcast of `own` and `other` along which `own` was repeated.
std::vector<std::int32_t> repeated_axes(const Shape& own, const Shape& other) {
  std::vector<std::int32_t> axes;
  int rank = std::max(own.rank(), other.rank());
  for (int i = 0; i < rank; ++i) {
    int in_own = i - (rank - own.rank());
    int in_other = i - (rank - other.rank());
    std::int64_t extent = in_other < 0 ? 1 : other[in_other];
    if (in_own < 0 || (own[in_own] == 1 && extent != 1))
      axes.push_back(i);
  }
  return axes;
}

Tensor shape_tensor(const Shape& shape) {
  bool wide = false;
  for (std::int64_t dim : shape.dims())
    wide = wide || dim > 0x7fffffff;
  if (wide)
    return Tensor::vector<std::int64_t>(shape.dims());
  std::vector<std::int32_t> dims(shape.dims().begin(), shape.dims().end());
  return Tensor::vector<std::int32_t>(std::span<const std::int32_t>(dims));
}

// Sums a gradient whose both static shapes are known; constants instead of BroadcastGradientArgs.
Value reduce_known(GradContext& g, const Shape& own, const Shape& other, Value gradient) {
  if (gradient.is_none())
    return gradient;
  std::vector<std::int32_t> axes = repeated_axes(own, other);
  if (axes.empty())
    return gradient;
  Value summed =
      g.op("Sum", {gradient,
                   g.constant(Tensor::vector<std::int32_t>(std::span<const std::int32_t>(axes)))});
  return g.reshape(summed, g.constant(shape_tensor(own)));
}

} // namespace

Value GradContext::scalar_like(Value like, double value) {
  return constant(scalar_of(remove_ref(dtype(like)), value));
}

Value GradContext::ints(std::initializer_list<int> values) {
  return constant(Tensor::vector<std::int32_t>(values));
}

std::pair<Value, Value> GradContext::unbroadcast(Value a, Value b, Value gradient_a,
                                                 Value gradient_b) {
  if (gradient_a.is_none() && gradient_b.is_none())
    return {gradient_a, gradient_b};
  auto known_a = shape(a).to_shape();
  auto known_b = shape(b).to_shape();
  if (known_a && known_b) {
    if (*known_a == *known_b)
      return {gradient_a, gradient_b};
    return {reduce_known(*this, *known_a, *known_b, gradient_a),
            reduce_known(*this, *known_b, *known_a, gradient_b)};
  }
  Value shape_a = shape_of(a);
  Value shape_b = shape_of(b);
  Value axes = op("BroadcastGradientArgs", {shape_a, shape_b});
  auto reduce = [&](Value gradient, Value wanted_shape, int which) {
    if (gradient.is_none())
      return gradient;
    return reshape(op("Sum", {gradient, slot(axes, which)}), wanted_shape);
  };
  Value out_a = reduce(gradient_a, shape_a, 0);
  return {out_a, reduce(gradient_b, shape_b, 1)};
}

} // namespace troupe
