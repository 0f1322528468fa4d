#include "kernels/random/internal/fill.hpp"

#include "core/base/strings.hpp"

namespace troupe::random {
namespace {

/// All bits of each integer, low words first.
void fill_bits(arith::Philox generator, std::size_t size, void* out, std::int64_t begin,
               std::int64_t end) {
  const std::int64_t group = size == 8 ? 2 : 4;
  generator.skip(static_cast<std::uint64_t>(begin / group));
  arith::Philox::Block block{};
  for (std::int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i % group);
    if (at == 0 || i == begin)
      block = generator.next();
    if (size == 8)
      static_cast<std::uint64_t*>(out)[i] = word_pair(block[2 * at], block[2 * at + 1]);
    else
      static_cast<std::uint32_t*>(out)[i] = block[at];
  }
}

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
    fill_bits(start, dtype_size(out.dtype()), out.mutable_raw(), begin, end);
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
  c.parallel_for(out.num_elements(), 8, [&](std::int64_t begin, std::int64_t end) {
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

} // namespace troupe::random
