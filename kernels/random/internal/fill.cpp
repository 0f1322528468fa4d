#include "kernels/random/internal/fill.hpp"

#include "core/base/strings.hpp"

namespace troupe::random {
namespace {

bool fill_range_of(Distribution distribution, const arith::Philox& start, Tensor& out,
                   std::int64_t begin, std::int64_t end) {
  const arith::Type type = arith::type_of(out.dtype());
  switch (distribution) {
  case Distribution::uniform:
    return arith::fill_uniform(type, start, out.mutable_raw(), begin, end);
  case Distribution::normal:
    return arith::fill_normal(type, start, out.mutable_raw(), begin, end);
  case Distribution::truncated_normal:
    return arith::fill_truncated_normal(type, start, out.mutable_raw(), begin, end);
  case Distribution::full_int:
    if (!is_integer(out.dtype()) || dtype_size(out.dtype()) < 4)
      return false;
    arith::fill_bits(dtype_size(out.dtype()), start, out.mutable_raw(), begin, end);
    return true;
  }
  return false;
}

} // namespace

Status fill(KernelContext& c, Distribution distribution, const arith::Philox& start,
            const Shape& shape) {
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (!fill_range_of(distribution, start, out, 0, 0))
    return unimplemented(
        str_cat("there are no such random numbers of dtype ", to_string(out.dtype())));
  const double ns = distribution == Distribution::normal             ? 8
                    : distribution == Distribution::truncated_normal ? 12
                                                                     : 1;
  c.parallel_for(out.num_elements(), ns, [&](std::int64_t begin, std::int64_t end) {
    fill_range_of(distribution, start, out, begin, end);
  });
  return {};
}

Status check_range(KernelContext& c, int low, const Shape& shape) {
  for (int i : {low, low + 1})
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(
          str_cat(i == low ? "minval" : "maxval", " must be 0-D, got shape ", c.input(i).shape()));
  if (shape.num_elements() == 0)
    return {};
  return dispatch(Indices{}, c.output_type(0), [&]<class T>() -> Status {
    const T from = c.input(low).value<T>(), to = c.input(low + 1).value<T>();
    if (from >= to)
      return invalid_argument(str_cat("Need minval < maxval, got ", from, " >= ", to));
    return {};
  });
}

Status fill_range(KernelContext& c, int low, const arith::Philox& start, const Shape& shape) {
  TROUPE_TRY(check_range(c, low, shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  return dispatch(Indices{}, out.dtype(), [&]<class T>() -> Status {
    const std::int64_t from = c.input(low).value<T>(), to = c.input(low + 1).value<T>();
    c.parallel_for(out.num_elements(), 2, [&](std::int64_t begin, std::int64_t end) {
      arith::fill_uniform_int(arith::type_of(out.dtype()), start, from, to, out.mutable_raw(),
                              begin, end);
    });
    return {};
  });
}

Result<arith::Philox> seeded(const Tensor& seed) {
  if (seed.shape() != Shape{2})
    return invalid_argument(str_cat("seed must have shape [2], not ", seed.shape()));
  TROUPE_ASSIGN(const auto values, integers(seed));
  return arith::Philox::from_stateless_seed(static_cast<std::uint64_t>(values[0]),
                                            static_cast<std::uint64_t>(values[1]));
}

Result<arith::Philox> given(KernelContext& c, int first) {
  const Tensor &key = c.input(first), &counter = c.input(first + 1), &alg = c.input(first + 2);
  if (!alg.shape().is_scalar())
    return invalid_argument(
        str_cat("input ", first + 2, " (0-based) must have shape [], not ", alg.shape()));
  if (key.shape() != Shape{1})
    return invalid_argument(str_cat("key must have shape [1], not ", key.shape(),
                                    ". (Note that batched keys are not supported yet.)"));
  // TensorFlow asks for as many words as the algorithm's number says; Philox needs two.
  const auto algorithm = alg.value<std::int32_t>();
  const std::int64_t words_needed = std::max(2, algorithm == 3 ? 2 : algorithm);
  if (counter.shape().rank() != 1 || counter.shape()[0] < words_needed)
    return invalid_argument(str_cat("counter must be a vector with length at least ", words_needed,
                                    "; got shape: ", counter.shape(),
                                    ". (Note that batched counters are not supported yet.)"));
  if (algorithm != static_cast<int>(Algorithm::philox) &&
      algorithm != static_cast<int>(Algorithm::auto_select))
    return invalid_argument(str_cat("Unsupported algorithm id: ", algorithm));
  const auto words = counter.data<std::uint64_t>();
  return random::philox(words[0], words[1], key.data<std::uint64_t>()[0]);
}

} // namespace troupe::random
