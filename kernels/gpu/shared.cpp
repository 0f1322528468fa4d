#include "kernels/gpu/shared.hpp"

#include <bit>
#include <optional>

#include "core/base/check.hpp"
#include "kernels/arith/reduce.hpp"
#include "kernels/gpu/internal/shared_kernels.hpp"

namespace troupe::gpu {

namespace {

static_assert(static_cast<int>(Reduce::all) == static_cast<int>(arith::ReduceOp::all));

constexpr std::int64_t warp = 32, block = 256, most_blocks = 16384;

/// How the work is cut.
struct Cut {
  bool by_rows = false; ///< the elements behind an output are neighbours, else those of outputs are
  std::int64_t width = 0; ///< by rows the threads of an output; else the outputs of a block
  std::int64_t share = 0; ///< of the elements behind an output, in each of `parts`
  std::int64_t parts = 1;
};

// Enough threads for a board; each with enough to do.
Cut cut(std::int64_t outputs, std::int64_t count, bool innermost_is_reduced) {
  constexpr std::int64_t wanted_blocks = 1024, elements_of_thread = 16;
  Cut out;
  out.by_rows = innermost_is_reduced && count >= 2 * warp;
  if (out.by_rows)
    out.width = count >= 4 * block ? block : warp;
  else
    out.width = outputs >= block
                    ? block
                    : std::max<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(outputs)), 1);
  if (!out.by_rows && outputs > warp && count > block) // more blocks, of fewer outputs
    out.width = warp;
  const std::int64_t outputs_of_block = out.by_rows ? block / out.width : out.width;
  const std::int64_t threads_of_output = out.by_rows ? out.width : block / out.width;
  const std::int64_t blocks = (outputs + outputs_of_block - 1) / outputs_of_block;
  const std::int64_t parts = std::clamp<std::int64_t>(
      count / (threads_of_output * elements_of_thread), 1,
      std::max<std::int64_t>(wanted_blocks / std::max<std::int64_t>(blocks, 1), 1));
  out.share = (count + parts - 1) / parts;
  out.parts = count == 0 ? 1 : (count + out.share - 1) / out.share;
  return out;
}

Grid grid_of(const Cut& how, std::int64_t outputs) {
  const std::int64_t outputs_of_block = how.by_rows ? block / how.width : how.width;
  const std::int64_t blocks = (outputs + outputs_of_block - 1) / outputs_of_block;
  return {.blocks = static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, most_blocks)),
          .threads = block,
          .rows_of_blocks = static_cast<unsigned>(how.parts)};
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
  complete(kept, 1);
  complete(over, 1);
  const bool innermost = plan.rank > 0 && plan.reduced[plan.rank - 1];
  const Cut how = cut(plan.outputs, plan.count, innermost);
  const int what = static_cast<int>(op);
  Tensor accumulators;
  void* to = out;
  if (how.parts > 1) {
    TROUPE_ASSIGN(accumulators,
                  c.allocate_temp(accumulator_of(dtype), Shape{plan.outputs, how.parts}));
    to = accumulators.mutable_raw();
  }
  TROUPE_TRY(launch(c, how.by_rows ? kernels::reduce_rows : kernels::reduce_columns, dtype,
                    grid_of(how, plan.outputs), what, kept, over, x, to, plan.outputs, plan.count,
                    how.parts > 1 ? how.share : std::max<std::int64_t>(plan.count, 1),
                    static_cast<int>(how.width)));
  if (how.parts == 1)
    return {};
  return launch(c, kernels::reduce_parts, dtype, gpu::over(plan.outputs * warp), what, to, out,
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

namespace {

/// A copy one of whose dimensions lies in runs where it is read, and another where it is written.
struct Turned {
  Broadcast outer; ///< the other dimensions
  kernels::Tiles tiles;
  std::int64_t count = 0; ///< of tiles
};

std::optional<Turned> turned_of(const Broadcast& plan) {
  constexpr std::int64_t least = 8, side = kernels::Tiles::side;
  int read = -1, written = -1;
  for (int d = 0; d < plan.rank; ++d) {
    if (plan.strides[0][d] == 1)
      read = d;
    if (plan.strides[1][d] == 1)
      written = d;
  }
  if (read < 0 || written < 0 || read == written || plan.dims[read] < least ||
      plan.dims[written] < least)
    return {};
  Turned out;
  out.count = 1;
  for (int d = 0; d < plan.rank; ++d) {
    if (d == read || d == written)
      continue;
    Broadcast& outer = out.outer;
    outer.dims[outer.rank] = plan.dims[d];
    outer.strides[0][outer.rank] = plan.strides[0][d];
    outer.strides[1][outer.rank++] = plan.strides[1][d];
    out.count *= plan.dims[d];
  }
  complete(out.outer, 2);
  const auto tiles_along = [](std::int64_t extent) { return (extent + side - 1) / side; };
  out.tiles = {.read_along = plan.dims[read],
               .written_along = plan.dims[written],
               .read_stride = plan.strides[0][written],
               .written_stride = plan.strides[1][read],
               .by_read_tiles = Divider(tiles_along(plan.dims[read])),
               .by_written_tiles = Divider(tiles_along(plan.dims[written]))};
  out.count *= out.tiles.by_read_tiles.divisor * out.tiles.by_written_tiles.divisor;
  return out;
}

Grid grid_of(const Turned& turned) {
  return {.blocks = static_cast<unsigned>(std::min<std::int64_t>(turned.count, 1 << 20)),
          .threads = block};
}

} // namespace

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
  complete(plan, 2);
  if (std::optional<Turned> turned = turned_of(plan))
    return launch(c, kernels::copy_turned, bits_of(size), grid_of(*turned), turned->outer,
                  turned->tiles, from.offset, to.offset, x, y, turned->count);
  return launch(c, kernels::copy_strided, bits_of(size), over_packs(n, size), plan, from.offset,
                to.offset, x, y, n);
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
  const std::size_t size = dtype_size(out.dtype());
  return launch(c, kernels::gather, bits_of(size), over_packs(n, size),
                indices.dtype() == DType::int64, x.raw(), indices.raw(), out.mutable_raw(),
                Divider(outer), extent, Divider(inner), Divider(indices.num_elements() / batches),
                n);
}

Status add_rows(KernelContext& c, const Tensor& x, const Tensor& indices, void* sums,
                std::int64_t rows, std::int64_t inner) {
  const std::int64_t n = x.num_elements();
  if (n == 0)
    return {};
  return launch(c, kernels::add_rows, x.dtype(), over(n), indices.dtype() == DType::int64, x.raw(),
                indices.raw(), sums, rows, Divider(inner), n);
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
