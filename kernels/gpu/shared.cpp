#include "kernels/gpu/shared.hpp"

#include "core/base/check.hpp"
#include "kernels/arith/reduce.hpp"
#include "kernels/gpu/internal/shared_kernels.hpp"

namespace troupe::gpu {

namespace {

static_assert(static_cast<int>(Reduce::all) == static_cast<int>(arith::ReduceOp::all));

constexpr std::int64_t warp = 32, block = 256;

/// How the work is cut.
struct Cut {
  bool by_rows = false;   ///< a block for each output, else a thread
  std::int64_t share = 0; ///< of the elements behind an output, in each of `parts`
  std::int64_t parts = 1;
};

// Enough threads for a board; each with enough to do.
Cut cut(std::int64_t outputs, std::int64_t count, bool innermost_is_reduced) {
  Cut out;
  out.by_rows = innermost_is_reduced && count >= 2 * warp;
  const std::int64_t wanted = out.by_rows ? 512 : 65536, least = out.by_rows ? 4096 : 64;
  const std::int64_t parts =
      std::min(std::max<std::int64_t>(wanted / std::max<std::int64_t>(outputs, 1), 1),
               std::max<std::int64_t>(count / least, 1));
  out.share = (count + parts - 1) / parts;
  out.parts = count == 0 ? 1 : (count + out.share - 1) / out.share;
  return out;
}

Grid grid_of(const Cut& how, std::int64_t outputs) {
  Grid out = over(outputs);
  if (how.by_rows)
    out = {.blocks = static_cast<unsigned>(std::min<std::int64_t>(outputs, 16384)),
           .threads = block};
  out.rows_of_blocks = static_cast<unsigned>(how.parts);
  return out;
}

DType accumulator_of(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

} // namespace

Status reduce(KernelContext& c, Reduce op, std::span<const std::int64_t> dims,
              std::span<const bool> reduced, DType dtype, const void* x, void* out) {
  arith::ReducePlan plan;
  if (!arith::make_reduce_plan(dims, reduced, plan))
    return unimplemented("a reduction on a GPU whose reduced and kept dimensions alternate more "
                         "than eight times; put the node on a CPU");
  if (plan.outputs == 0)
    return {};
  Broadcast kept, over;
  std::int64_t stride = 1;
  std::int64_t strides[arith::ReducePlan::max_rank] = {};
  for (int d = plan.rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= plan.dims[d];
  }
  for (int d = 0; d < plan.rank; ++d) {
    Broadcast& to = plan.reduced[d] ? over : kept;
    to.dims[to.rank] = plan.dims[d];
    to.strides[0][to.rank++] = strides[d];
  }
  const bool innermost = plan.rank > 0 && plan.reduced[plan.rank - 1];
  const Cut how = cut(plan.outputs, plan.count, innermost);
  const int what = static_cast<int>(op);
  Tensor accumulators;
  void* to = out;
  if (how.parts > 1) {
    TROUPE_ASSIGN(accumulators,
                  c.allocate_temp(accumulator_of(dtype), Shape{how.parts, plan.outputs}));
    to = accumulators.mutable_raw();
  }
  TROUPE_TRY(launch(c, how.by_rows ? kernels::reduce_rows : kernels::reduce_columns, dtype,
                    grid_of(how, plan.outputs), what, kept, over, x, to, plan.outputs, plan.count,
                    how.parts > 1 ? how.share : std::max<std::int64_t>(plan.count, 1)));
  if (how.parts == 1)
    return {};
  return launch(c, kernels::reduce_parts, dtype, gpu::over(plan.outputs), what, to, out,
                plan.outputs, plan.count, how.parts);
}

Strided dense(std::span<const std::int64_t> dims) {
  Strided out;
  out.strides.resize(dims.size());
  std::int64_t stride = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    out.strides[d] = stride;
    stride *= dims[d];
  }
  return out;
}

Status copy_strided(KernelContext& c, std::size_t size, std::span<const std::int64_t> dims,
                    const Strided& from, const void* x, const Strided& to, void* y) {
  std::int64_t n = 1;
  std::vector<std::int64_t> kept, in, out;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    n *= dims[d];
    if (dims[d] == 1)
      continue;
    const bool continues = !kept.empty() && in.back() == from.strides[d] * dims[d] &&
                           out.back() == to.strides[d] * dims[d];
    if (continues) {
      kept.back() *= dims[d];
      in.back() = from.strides[d];
      out.back() = to.strides[d];
    } else {
      kept.push_back(dims[d]);
      in.push_back(from.strides[d]);
      out.push_back(to.strides[d]);
    }
  }
  if (n == 0)
    return {};
  const auto offset = [&](std::int64_t elements) {
    return elements * static_cast<std::int64_t>(size);
  };
  if (kept.empty() || (kept.size() == 1 && in[0] == 1 && out[0] == 1))
    return copy(c, static_cast<std::byte*>(y) + offset(to.offset),
                static_cast<const std::byte*>(x) + offset(from.offset),
                static_cast<std::size_t>(offset(n)));
  if (kept.size() > Broadcast::max_rank)
    return unimplemented(str_cat("a copy on a GPU of ", kept.size(),
                                 " dimensions that do not merge; "
                                 "put the node on a CPU"));
  Broadcast plan;
  plan.rank = static_cast<int>(kept.size());
  std::ranges::copy(kept, plan.dims);
  std::ranges::copy(in, plan.strides[0]);
  std::ranges::copy(out, plan.strides[1]);
  return launch(c, kernels::copy_strided, bits_of(size), over(n), plan, from.offset, to.offset, x,
                y, n);
}

Status fill_with(KernelContext& c, std::size_t size, const void* value, void* y, std::int64_t n) {
  if (n == 0)
    return {};
  return launch(c, kernels::fill, bits_of(size), over(n), value, y, n);
}

Status gather_rows(KernelContext& c, const Tensor& x, const Tensor& indices, Tensor& out,
                   std::int64_t batches, std::int64_t outer, std::int64_t extent,
                   std::int64_t inner) {
  const std::int64_t n = out.num_elements();
  if (n == 0)
    return {};
  return launch(c, kernels::gather, bits_of(dtype_size(out.dtype())), over(n),
                indices.dtype() == DType::int64, x.raw(), indices.raw(), out.mutable_raw(), outer,
                extent, inner, indices.num_elements() / batches, n);
}

Status add_rows(KernelContext& c, const Tensor& x, const Tensor& indices, void* sums,
                std::int64_t rows, std::int64_t inner) {
  const std::int64_t n = x.num_elements();
  if (n == 0)
    return {};
  return launch(c, kernels::add_rows, x.dtype(), over(n), indices.dtype() == DType::int64, x.raw(),
                indices.raw(), sums, rows, inner, n);
}

Status sum_rows(KernelContext& c, const Tensor& x, const Tensor& indices, const Shape& shape,
                std::int64_t inner) {
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  TROUPE_TRY(fill(c, out.mutable_raw(), 0, out.byte_size()));
  return add_rows(c, x, indices, out.mutable_raw(), shape[0], inner);
}

Status fill_with_ones(KernelContext& c, DType dtype, void* y, std::int64_t n) {
  if (n == 0)
    return {};
  return launch(c, kernels::ones, dtype, over(n), y, n);
}

DType bits_of(std::size_t size) {
  switch (size) {
  case 1:
    return DType::uint8;
  case 2:
    return DType::uint16;
  case 4:
    return DType::uint32;
  default:
    TROUPE_CHECK(size == 8, "elements of at most 8 bytes");
    return DType::uint64;
  }
}

std::vector<DType> movable() {
  return {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::complex64,
          DType::int8,    DType::int16,   DType::int32,   DType::int64,    DType::uint8,
          DType::uint16,  DType::uint32,  DType::uint64,  DType::bool_};
}
std::vector<DType> floats() {
  return {DType::float32, DType::float64, DType::float16, DType::bfloat16};
}
std::vector<DType> numbers() {
  return {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int64};
}

} // namespace troupe::gpu
