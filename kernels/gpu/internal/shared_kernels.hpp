// The kernels of kernels/gpu/*.cu: reductions and copies, which many families use.
#pragma once

#include "kernels/gpu/kernel.hpp"

namespace troupe::gpu {
namespace images {
extern const cuda::CodeImage gpu_movement;
extern const cuda::CodeImage gpu_reduce;
} // namespace images
namespace kernels {

/// y[out_offset + offset 1 of i] = x[in_offset + offset 0 of i] for i < n, by the plan's strides.
/// Elements are u8, u16, u32 or u64, by their size.
inline constexpr Kernel<void(Broadcast plan, std::int64_t in_offset, std::int64_t out_offset,
                             const void* x, void* y, std::int64_t n)>
    copy_strided{images::gpu_movement, "copy_strided"};
/// The same where dimension `read` has stride 1 in x, and another, `written`, in y: square tiles of
/// both pass through shared memory. `outer` are the other dimensions. Blocks of 256 threads.
struct Tiles {
  static constexpr int side = 32;
  std::int64_t read_along = 0, written_along = 0;   ///< extents
  std::int64_t read_stride = 0, written_stride = 0; ///< of `written` in x, of `read` in y
  Divider by_read_tiles, by_written_tiles;          ///< how many there are along each
};
inline constexpr Kernel<void(Broadcast outer, Tiles tiles, std::int64_t in_offset,
                             std::int64_t out_offset, const void* x, void* y, std::int64_t count)>
    copy_turned{images::gpu_movement, "copy_turned"};
/// y[i] = value[0]; elements as above.
inline constexpr Kernel<void(const void* value, void* y, std::int64_t n)> fill{images::gpu_movement,
                                                                               "fill"};

/// y[i] = 1: f32, f64, f16, bf16, i32, i64.
inline constexpr Kernel<void(void* y, std::int64_t n)> ones{images::gpu_movement, "ones"};

/// y[b, o, k, i] = x[b, o, index[b, k], i], zero where the index is none of x's, for all n elements
/// of y. x is [batches, outer, extent, inner], indices are int32 or int64.
inline constexpr Kernel<void(bool is_int64, const void* x, const void* indices, void* y,
                             Divider outer, std::int64_t extent, Divider inner, Divider count,
                             std::int64_t n)>
    gather{images::gpu_movement, "gather"};
/// sums[index[k], i] += x[k, i], for all n elements of x; what is no row of the sums is left out.
/// f32, f64, f16, bf16, i32, i64.
inline constexpr Kernel<void(bool is_int64, const void* x, const void* indices, void* sums,
                             std::int64_t rows, Divider inner, std::int64_t n)>
    add_rows{images::gpu_movement, "add_rows"};

/// Reduces `count` elements for each of `outputs`: element k of output o is x[offset of o by `kept`
/// + offset of k by `over`], both strides 0 of the plans. The grid's rows of blocks each take
/// `share` of the elements. If there is one such row, the results are elements; else the result of
/// row r for output o is the accumulator out[o * rows + r]. f32, f64, f16, bf16, i32, i64, bool.
/// `lanes` threads compute an output: 32, or all of a block.
inline constexpr Kernel<void(int op, Broadcast kept, Broadcast over, const void* x, void* out,
                             std::int64_t outputs, std::int64_t count, std::int64_t share,
                             int lanes)>
    reduce_rows{images::gpu_reduce, "reduce_rows"};
/// The same where neighbouring outputs' elements are neighbours: a block of at most 256 threads
/// computes `columns` outputs, which divides the number of its threads.
inline constexpr Kernel<void(int op, Broadcast kept, Broadcast over, const void* x, void* out,
                             std::int64_t outputs, std::int64_t count, std::int64_t share,
                             int columns)>
    reduce_columns{images::gpu_reduce, "reduce_columns"};
/// Joins the accumulators of `parts` rows of blocks to elements, a warp for each output.
inline constexpr Kernel<void(int op, const void* accumulators, void* out, std::int64_t outputs,
                             std::int64_t count, std::int64_t parts)>
    reduce_parts{images::gpu_reduce, "reduce_parts"};

} // namespace kernels
} // namespace troupe::gpu
