// Quantised numbers as int32, counted from the one that stands for zero: what products are made of.
#pragma once

#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized {

/// The numbers of `from` less the place of zero in `range`. Their low 32 bits are right where that
/// lies far away, as those of sums of their products are.
template <class Q>
Result<Tensor> from_zero(KernelContext& c, const Tensor& from, Range range) {
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(DType::int32, from.shape()));
  const auto zero = static_cast<std::uint32_t>(place_of<Q>(0.0F, range));
  const Q* in = from.data<Q>().data();
  std::int32_t* to = out.mutable_data<std::int32_t>().data();
  c.parallel_for(from.num_elements(), 0.3, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      to[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(in[i].bits) - zero);
  });
  return out;
}

} // namespace troupe::quantized
