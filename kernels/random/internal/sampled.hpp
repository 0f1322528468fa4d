// Samples of distributions with a parameter each: their order in the output, and TensorFlow's share
// of the generator for each.
#pragma once

#include <string>

#include "kernels/arith/philox.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::random {

/// `shape` ends with the shape of the parameters; each has as many samples.
struct Sampled {
  Shape shape;
  std::int64_t parameters = 1, samples = 1;
};

/// The samples' shape and behind it the parameters'.
inline Result<Sampled> samples_for_each(const Shape& samples, const Shape& parameters) {
  std::vector<std::int64_t> dims(samples.dims().begin(), samples.dims().end());
  dims.insert(dims.end(), parameters.dims().begin(), parameters.dims().end());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  return Sampled{shape, parameters.num_elements(), samples.num_elements()};
}

/// The index in `from` of element `at` of the shape that `from` was broadcast to.
inline std::int64_t place_in(const Shape& from, const Shape& shape, std::int64_t at) {
  std::int64_t out = 0, stride = 1;
  const int ahead = shape.rank() - from.rank();
  for (int d = shape.rank(); d-- > ahead; at /= shape[d]) {
    const std::int64_t dim = from[d - ahead];
    out += dim == 1 ? 0 : at % shape[d] * stride;
    stride *= dim;
  }
  return out;
}

/// A whole shape. INVALID_ARGUMENT "Shape passed in must end with broadcasted shape."
inline Result<Sampled> samples_in_all(const Shape& shape, const Shape& parameters) {
  const int ahead = shape.rank() - parameters.rank();
  bool ends = ahead >= 0;
  for (int d = 0; ends && d < parameters.rank(); ++d)
    ends = shape[ahead + d] == parameters[d];
  if (!ends)
    return invalid_argument("Shape passed in must end with broadcasted shape.");
  Sampled out{shape, parameters.num_elements(), 1};
  for (int d = 0; d < ahead; ++d)
    out.samples *= shape[d];
  return out;
}

/// Fills output 0 with draw(parameter, sample), rounded to the output's dtype; samples are numbered
/// parameter by parameter.
template <class Draw>
Status fill_samples(KernelContext& c, const Sampled& s, Draw draw) {
  const DType wide = DType::float64;
  TROUPE_ASSIGN(Tensor out, c.output_type(0) == wide ? c.allocate_output(0, s.shape)
                                                     : c.allocate_temp(wide, s.shape));
  double* to = out.mutable_data<double>().data();
  c.parallel_for(out.num_elements(), 150, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      to[i % s.samples * s.parameters + i / s.samples] = draw(i / s.samples, i);
  });
  return narrow(c, 0, out);
}

/// The largest number of a dtype.
inline double largest_of(DType dtype) {
  switch (dtype) {
  case DType::float16:
    return 65504;
  case DType::int32:
    return INT32_MAX;
  case DType::int64:
    return static_cast<double>(INT64_MAX);
  case DType::float32:
    return 3.4028234663852886e38;
  default:
    return 1.7976931348623157e308;
  }
}

} // namespace troupe::random
