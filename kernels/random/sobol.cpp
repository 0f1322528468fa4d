// SobolSample: points of a Sobol sequence, which fill the unit cube evenly. Direction numbers of S.
// Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections" (SIAM
// J. Sci. Comput. 30, 2008), as Boost has them.
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <boost/random/sobol.hpp>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::random_sobol {
namespace {

using Table = boost::random::default_sobol_table;
constexpr int digits = 32;
/// Fractions of 2^32: number k has its highest digit k + 1 places behind the point.
using Directions = std::array<std::uint32_t, digits>;

constexpr std::int32_t most_dims = Table::max_dimension;
constexpr std::int32_t most_dims_of_tensorflow = 21200;

Directions directions_of(std::int32_t dim) {
  std::array<std::uint64_t, digits> m{}; // odd, below 2^(k + 1)
  if (dim == 0) {
    m.fill(1);
  } else {
    const auto at = static_cast<std::size_t>(dim) - 1;
    const std::uint64_t polynomial = Table::polynomial(at);
    const int degree = std::bit_width(polynomial) - 1;
    for (int k = 0; k < degree; ++k)
      m[static_cast<std::size_t>(k)] = Table::minit(at, static_cast<std::size_t>(k));
    // m[k] = 2 a_1 m[k-1] ^ 4 a_2 m[k-2] ^ … ^ 2^d m[k-d] ^ m[k-d]
    for (int k = degree; k < digits; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const std::uint64_t last = m[i - static_cast<std::size_t>(degree)];
      m[i] = last ^ last << degree;
      for (int d = 1; d < degree; ++d)
        if (polynomial >> (degree - d) & 1)
          m[i] ^= m[i - static_cast<std::size_t>(d)] << d;
    }
  }
  Directions out{};
  for (std::size_t k = 0; k < digits; ++k)
    out[k] = static_cast<std::uint32_t>(m[k] << (digits - 1 - k));
  return out;
}

/// Point n of the sequence, of which point 0 is the origin: the directions that its Gray code
/// names.
std::uint32_t point_of(const Directions& directions, std::uint32_t n) {
  std::uint32_t out = 0;
  const std::uint32_t gray = n ^ n >> 1;
  for (std::size_t k = 0; k < digits; ++k)
    if (gray >> k & 1)
      out ^= directions[k];
  return out;
}

template <class T>
void sample(std::span<const Directions> dims, std::uint32_t first, std::int64_t begin,
            std::int64_t end, T* to) {
  std::vector<std::uint32_t> point;
  for (const Directions& directions : dims)
    point.push_back(point_of(directions, first + static_cast<std::uint32_t>(begin)));
  to += begin * static_cast<std::int64_t>(dims.size());
  for (auto i = static_cast<std::uint32_t>(begin); i < static_cast<std::uint32_t>(end); ++i) {
    for (const std::uint32_t x : point)
      *to++ = std::ldexp(static_cast<T>(x), -digits);
    // The next point differs in the direction of the lowest 0 of this one's number.
    const auto changed = static_cast<std::size_t>(std::countr_one(first + i));
    for (std::size_t d = 0; d < dims.size(); ++d)
      point[d] ^= dims[d][changed];
  }
}

Status check(std::int32_t dim, std::int32_t count, std::int32_t skip) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  if (dim < 1)
    return invalid_argument("dim must be at least one");
  if (dim > most_dims_of_tensorflow)
    return invalid_argument(str_cat("dim must be at most ", most_dims_of_tensorflow));
  if (dim > most_dims)
    return unimplemented(str_cat("there are direction numbers for ", most_dims, " dimensions; of ",
                                 dim, " take several sequences"));
  if (count < 1)
    return invalid_argument("num_results must be at least one");
  if (skip < 0)
    return invalid_argument("skip must be non-negative");
  if (count >= most - skip)
    return invalid_argument(str_cat("num_results+skip must be less than ", most));
  return {};
}

Status compute(KernelContext& c) {
  for (int i = 0; i < 3; ++i)
    if (c.input(i).num_elements() != 1)
      return invalid_argument(
          str_cat("dim, num_results and skip must be scalars, got shape: ", c.input(i).shape()));
  const auto scalar = [&](int i) { return c.input(i).data<std::int32_t>()[0]; };
  const std::int32_t dim = scalar(0), count = scalar(1), skip = scalar(2);
  TROUPE_TRY(check(dim, count, skip));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{count, dim}));
  std::vector<Directions> dims;
  for (std::int32_t d = 0; d < dim; ++d)
    dims.push_back(directions_of(d));
  return dispatch(Floats{}, out.dtype(), [&]<class T>() -> Status {
    T* to = out.mutable_data<T>().data();
    const double cost = 2 * static_cast<double>(dim);
    c.parallel_for(count, cost, [&](std::int64_t begin, std::int64_t end) {
      sample<T>(dims, static_cast<std::uint32_t>(skip) + 1, begin, end, to);
    });
    return {};
  });
}

Status infer(ShapeContext& c) {
  std::int64_t dims[2] = {-1, -1};
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  for (int i = 0; i < 2; ++i)
    if (const auto value = c.input_as_ints(1 - i); value && (*value)[0] >= 0)
      dims[i] = (*value)[0];
  return c.set_output(0, PartialShape{dims[0], dims[1]});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SobolSample")
      .input("dim: int32; num_results: int32; skip: int32")
      .output("samples: dtype")
      .attr("dtype: {float, double} = DT_FLOAT")
      .shape_fn(infer)
      .not_differentiable("its values do not depend on its inputs smoothly")
      .cpu_kernel(compute, {.expensive = true})
      .doc("Points of the Sobol sequence of `dim` dimensions from point `skip` on, all between 0 "
           "and 1.");
}

} // namespace troupe::random_sobol
