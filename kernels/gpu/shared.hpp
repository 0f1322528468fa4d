// Reductions and copies on GPUs, as kernels of any family use them. All enqueue on the step's
// stream; tensors behind the pointers may be given back right after.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/gpu/launch.hpp"
#include "kernels/gpu/reduce_op.hpp"

namespace troupe::gpu {

/// out = op over the dimensions of `x` (dense, of `dims`) that `reduced` says; elements of `dtype`:
/// float, double, half, bfloat16, int32, int64, or bool for any and all. UNIMPLEMENTED where
/// reduced and kept dimensions alternate more than eight times.
Status reduce(KernelContext& c, Reduce op, std::span<const std::int64_t> dims,
              std::span<const bool> reduced, DType dtype, const void* x, void* out);

/// An array of `dims`, one end of a copy: element [i, j, …] is at offset + i * strides[0] + j *
/// strides[1] + …, in elements.
struct Strided {
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};
/// Strides of a dense array.
Strided dense(std::span<const std::int64_t> dims);
/// Copies elements of `size` bytes (1, 2, 4, 8). UNIMPLEMENTED where more than eight dimensions are
/// left after merging.
Status copy_strided(KernelContext& c, std::size_t size, std::span<const std::int64_t> dims,
                    const Strided& from, const void* x, const Strided& to, void* y);

/// Every element is the one at `value`, in device memory.
Status fill_with(KernelContext& c, std::size_t size, const void* value, void* y, std::int64_t n);

/// out[b, o, k] = x[b, o, indices[b, k]], rows of `inner` elements; zeros where the index is none
/// of x's. x is [batches, outer, extent, inner]; indices are int32 or int64.
Status gather_rows(KernelContext& c, const Tensor& x, const Tensor& indices, Tensor& out,
                   std::int64_t batches, std::int64_t outer, std::int64_t extent,
                   std::int64_t inner);
/// Output 0, of `shape`, is zeros with each row of `x` added to the row that the index of the same
/// number names; what names none is left out. Rows have `inner` elements; indices are int32 or
/// int64.
Status sum_rows(KernelContext& c, const Tensor& x, const Tensor& indices, const Shape& shape,
                std::int64_t inner);
/// sums[indices[k]] += x[k], of so many rows.
Status add_rows(KernelContext& c, const Tensor& x, const Tensor& indices, void* sums,
                std::int64_t rows, std::int64_t inner);

/// Ones of `dtype`: float, double, half, bfloat16, int32 or int64.
Status fill_with_ones(KernelContext& c, DType dtype, void* y, std::int64_t n);

/// The unsigned integer of so many bytes, by which kernels that only move elements are named.
DType bits_of(std::size_t size);
/// dtypes of elements that such kernels move: all plain ones of at most 8 bytes.
std::vector<DType> movable();
/// float, double, half, bfloat16.
std::vector<DType> floats();
/// Those and int64.
std::vector<DType> numbers();

} // namespace troupe::gpu
