// Moving elements without looking at them: by element size in bytes (1, 2, 4, 8 or 16), whatever
// their type.
#pragma once
#include "kernels/arith/types.hpp"
#include <span>

namespace troupe::arith {

/// A dense row-major array of `dims` beside a strided view of another buffer: element (i0, i1, …)
/// of the dense side lies at offset + sum(i_k * strides[k]) on the strided side, counted in
/// elements; strides may be 0 or negative. Dimensions of size 1 are gone and mergeable neighbours
/// are merged.
struct StridedPlan {
  static constexpr int max_rank = 16;
  int rank = 0;
  int64_t size = 1; // elements of the dense side
  int64_t offset = 0;
  int64_t dims[max_rank] = {};
  int64_t strides[max_rank] = {};
};

/// Makes a plan from raw dimensions and strides of the strided side. Returns false if more than 16
/// dimensions are left.
bool make_strided_plan(std::span<const int64_t> dims, std::span<const int64_t> strides,
                       int64_t offset, StridedPlan& plan);

/// Dense side: the transposed array; strided side: the original of shape `shape`; output dimension
/// k is input dimension perm[k]. `perm` must be a permutation.
bool make_transpose_plan(std::span<const int64_t> shape, std::span<const int> perm,
                         StridedPlan& plan);

/// Dense side: the slice with sizes `sizes` (begin[k] + i * step[k] must lie inside shape[k]);
/// strided side: the whole array of shape `shape`. With copy_from_strided it is StridedSlice, Slice
/// or Reverse; with copy_to_strided its gradient, Pad or a part of Concat.
bool make_slice_plan(std::span<const int64_t> shape, std::span<const int64_t> begin,
                     std::span<const int64_t> step, std::span<const int64_t> sizes,
                     StridedPlan& plan);

/// Dense side: the tiled array of shape[k] * multiples[k]; strided side: the original.
bool make_tile_plan(std::span<const int64_t> shape, std::span<const int64_t> multiples,
                    StridedPlan& plan);

/// Dense side: an array of shape `to`; strided side: one of shape `from` that broadcasts to it
/// (BroadcastTo).
bool make_broadcast_to_plan(std::span<const int64_t> from, std::span<const int64_t> to,
                            StridedPlan& plan);

/// dense[i] = strided[where(i)] for dense positions i in [begin, end). The buffers must not
/// overlap.
void copy_from_strided(int size, const StridedPlan& plan, const void* strided, void* dense,
                       int64_t begin, int64_t end);

/// strided[where(i)] = dense[i] for dense positions i in [begin, end). The buffers must not
/// overlap.
void copy_to_strided(int size, const StridedPlan& plan, const void* dense, void* strided,
                     int64_t begin, int64_t end);

/// The same where these places increase, and every other element of `strided`, an array of `total`
/// elements, becomes `*value` (Pad). Calls for all parts of [0, plan.size), which is not empty,
/// write each element once.
void copy_among(int size, const StridedPlan& plan, const void* dense, void* strided, int64_t total,
                const void* value, int64_t begin, int64_t end);

/// Copies `rows` runs of `bytes` bytes; those of either side begin as many bytes after each other
/// as its row has.
void copy_runs(const void* from, int64_t from_row, void* to, int64_t to_row, int64_t rows,
               int64_t bytes);

/// Position of the first index in indices[begin, end) outside [0, limit), or -1. `type` is i32 or
/// i64.
int64_t find_bad_index(Type type, const void* indices, int64_t begin, int64_t end, int64_t limit);

/// Gather: for flat rows r in [begin, end) with r = o * count + k, copies row indices[k] of block o
/// of `params` (a [outer, limit, row_bytes] array) to row r of `out` ([outer, count, row_bytes]).
/// Check the indices first.
void gather_rows(Type index_type, const void* params, int64_t limit, int64_t row_bytes,
                 const void* indices, int64_t count, void* out, int64_t begin, int64_t end);

/// out[i] = from[where[i]] for i < n, of elements of `size` bytes; where a place is negative,
/// `*otherwise`, or what is there if that is null.
void take_elements(int64_t size, const void* from, const int64_t* where, const void* otherwise,
                   void* out, int64_t n);

/// out[where[i]] = from[i * step] for i < n; `step` is 1, or 0 for one element in all places.
void put_elements(int64_t size, const void* from, int64_t step, const int64_t* where, void* out,
                  int64_t n);

} // namespace troupe::arith
