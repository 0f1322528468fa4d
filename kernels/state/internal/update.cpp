#include "kernels/state/internal/update.hpp"

#include "kernels/arith/lookup.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::state {

Status update_in_place(KernelContext& c, arith::BinaryOp op, Tensor& variable,
                       const Tensor& value) {
  if (variable.kind() == MemoryKind::device)
    return math::apply_on_gpu(c, op, variable, value);
  TROUPE_ASSIGN(const arith::BinaryKernel kernel, arith::binary(op, value.dtype()));
  const auto size = static_cast<std::size_t>(kernel.in_size);
  auto* to = static_cast<std::byte*>(variable.mutable_raw());
  const auto* from = static_cast<const std::byte*>(value.raw());
  c.parallel_for_to_the_end(value.num_elements(), 0.3, [&](std::int64_t begin, std::int64_t end) {
    const auto at = static_cast<std::size_t>(begin) * size;
    kernel.row(to + at, from + at, to + at, end - begin, arith::RowMode::both_rows);
  });
  return {};
}

KernelOptions updatable_on_gpu(const char* attr) {
  return {.types = {{attr, gpu::numbers()}}};
}

KernelOptions updatable(const char* attr) {
  KernelOptions out;
  out.types = {{attr, arith::dtypes_of(arith::BinaryOp::add)}};
  return out;
}

} // namespace troupe::state
