#include "kernels/arith/movement.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include <algorithm>
#include <cstring>
#include <vector>

namespace troupe::arith {
namespace {

struct Wide {
  uint64_t low, high;
};

std::vector<int64_t> dense_strides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    strides[k] = stride;
    stride *= shape[k];
  }
  return strides;
}

/// Calls run(dense position, strided position, n, rows) for rows of n elements within the innermost
/// dimension: neighbours on the dense side, a step of the dimension before apart on the strided
/// one.
template <class Run>
void for_each_rows(const StridedPlan& plan, int64_t begin, int64_t end, Run run) {
  const int inner = plan.rank - 1;
  const int64_t length = plan.rank > 0 ? plan.dims[inner] : 1;
  int64_t index[StridedPlan::max_rank] = {};
  int64_t at = begin;
  while (at < end) {
    int64_t rest = at, where = plan.offset;
    for (int k = inner; k >= 0; --k) {
      index[k] = rest % plan.dims[k];
      rest /= plan.dims[k];
      where += index[k] * plan.strides[k];
    }
    // Whole rows until the dimension before carries; decode anew after that.
    const int64_t column = plan.rank > 0 ? index[inner] : 0;
    const int64_t left = plan.rank < 2 ? 1 : plan.dims[inner - 1] - index[inner - 1];
    const int64_t rows = std::min(left, (end - at) / length);
    if (column > 0 || rows == 0) {
      const int64_t n = std::min(length - column, end - at);
      run(at, where, n, int64_t{1});
      at += n;
    } else {
      run(at, where, length, rows);
      at += rows * length;
    }
  }
}

/// The same row by row: run(dense position, strided position, n).
template <class Run>
void for_each_run(const StridedPlan& plan, int64_t begin, int64_t end, Run run) {
  const int64_t step = plan.rank < 2 ? 0 : plan.strides[plan.rank - 2];
  for_each_rows(plan, begin, end, [&](int64_t at, int64_t where, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; ++r)
      run(at + r * n, where + r * step, n);
  });
}

template <class T>
void gather_run(const T* in, int64_t stride, T* out, int64_t n) {
  if (stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
  } else if (stride == 0) {
    std::fill(out, out + n, *in);
  } else if (stride == -1) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = in[-i];
  } else {
    for (int64_t i = 0; i < n; ++i)
      out[i] = in[i * stride];
  }
}

/// out[r * out_stride + c] = in[r + c * stride] for r < rows, c < length.
template <class T>
void transpose_part(const T* in, int64_t stride, T* out, int64_t out_stride, int64_t rows,
                    int64_t length) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < length; ++c)
      out[r * out_stride + c] = in[r + c * stride];
}

/// The same in tiles, so that both sides use whole cache lines.
template <class T>
void transpose_block(const T* in, int64_t stride, T* out, int64_t out_stride, int64_t rows,
                     int64_t length) {
  constexpr int64_t tile = sizeof(T) >= 8 ? 8 : 16, half = tile / 2;
  for (int64_t r = 0; r < rows; r += tile) {
    const int64_t r_count = std::min(rows - r, tile);
    for (int64_t c = 0; c < length; c += tile) {
      const int64_t c_count = std::min(length - c, tile);
      const T* from = in + r + c * stride;
      T* to = out + r * out_stride + c;
      // Loops whose ends are known are unrolled.
      if (r_count == tile && c_count == tile)
        transpose_part(from, stride, to, out_stride, tile, tile);
      else if (r_count == tile && c_count == half)
        transpose_part(from, stride, to, out_stride, tile, half);
      else
        transpose_part(from, stride, to, out_stride, r_count, c_count);
    }
  }
}

/// The dimension whose elements are neighbours on the strided side, where it is not the innermost
/// one, whose elements are not; else -1.
int turned_dimension(const StridedPlan& plan) {
  const int inner = plan.rank - 1;
  if (plan.rank < 2 || plan.strides[inner] <= 1)
    return -1;
  for (int k = 0; k < inner; ++k)
    if (plan.strides[k] == 1 && plan.dims[k] > 1)
      return k;
  return -1;
}

/// Copies `rows` steps of dimension `turned` with all that is within them, from the dense position
/// `at` on: a transposition for each index of the dimensions between it and the innermost one.
template <class T>
void copy_turned(const StridedPlan& plan, int turned, const T* in, T* out, int64_t at, int64_t rows,
                 int64_t row_size) {
  const int inner = plan.rank - 1;
  int64_t rest = at / row_size, where = plan.offset;
  for (int k = turned; k >= 0; --k) {
    where += rest % plan.dims[k] * plan.strides[k];
    rest /= plan.dims[k];
  }
  int64_t index[StridedPlan::max_rank] = {};
  const int64_t length = plan.dims[inner];
  for (int64_t done = 0; done < row_size; done += length) {
    transpose_block(in + where, plan.strides[inner], out + at + done, row_size, rows, length);
    for (int k = inner - 1; k > turned; --k) {
      where += plan.strides[k];
      if (++index[k] < plan.dims[k])
        break;
      where -= plan.dims[k] * plan.strides[k];
      index[k] = 0;
    }
  }
}

template <class T>
void copy_from(const StridedPlan& plan, const void* strided, void* dense, int64_t begin,
               int64_t end) {
  auto in = static_cast<const T*>(strided);
  auto out = static_cast<T*>(dense);
  const int64_t stride = plan.rank > 0 ? plan.strides[plan.rank - 1] : 1;
  constexpr int size = sizeof(T);
  const int64_t step = plan.rank < 2 ? 0 : plan.strides[plan.rank - 2];
  const SpreadFn spread = isa_table().spread_rows(size);
  const auto copy_rows = [&](int64_t from, int64_t to) {
    for_each_rows(plan, from, to, [&](int64_t at, int64_t where, int64_t n, int64_t rows) {
      if (stride == 1)
        return copy_runs(in + where, step * size, out + at, n * size, rows, n * size);
      if (stride == 0 && spread)
        return spread(in + where, step, rows, n, out + at);
      for (int64_t r = 0; r < rows; ++r)
        gather_run(in + where + r * step, stride, out + at + r * n, n);
    });
  };
  const int turned = turned_dimension(plan);
  if (turned < 0)
    return copy_rows(begin, end);
  int64_t row_size = 1;
  for (int k = turned + 1; k < plan.rank; ++k)
    row_size *= plan.dims[k];
  for (int64_t at = begin; at < end;) {
    const int64_t row = at / row_size, left = plan.dims[turned] - row % plan.dims[turned];
    const int64_t rows = at % row_size == 0 ? std::min(left, (end - at) / row_size) : 0;
    const int64_t next = rows > 0 ? at + rows * row_size : std::min((row + 1) * row_size, end);
    rows > 0 ? copy_turned(plan, turned, in, out, at, rows, row_size) : copy_rows(at, next);
    at = next;
  }
}

template <class T>
void copy_to(const StridedPlan& plan, const void* dense, void* strided, int64_t begin,
             int64_t end) {
  auto in = static_cast<const T*>(dense);
  auto out = static_cast<T*>(strided);
  const int64_t stride = plan.rank > 0 ? plan.strides[plan.rank - 1] : 1;
  for_each_run(plan, begin, end, [&](int64_t at, int64_t where, int64_t n) {
    if (stride == 1) {
      std::memcpy(out + where, in + at, static_cast<size_t>(n) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      out[where + i * stride] = in[at + i];
  });
}

/// The strided place of a dense one.
int64_t place_of(const StridedPlan& plan, int64_t at) {
  int64_t where = plan.offset;
  for (int k = plan.rank - 1; k >= 0; --k) {
    where += at % plan.dims[k] * plan.strides[k];
    at /= plan.dims[k];
  }
  return where;
}

template <class T>
void copy_and_fill(const StridedPlan& plan, const void* dense, void* strided, int64_t total,
                   const void* value, int64_t begin, int64_t end) {
  auto in = static_cast<const T*>(dense);
  auto out = static_cast<T*>(strided);
  const T rest = *static_cast<const T*>(value);
  const int64_t stride = plan.rank > 0 ? plan.strides[plan.rank - 1] : 1;
  int64_t written = begin == 0 ? 0 : place_of(plan, begin - 1) + 1;
  const auto take = [&](int64_t at, int64_t where, int64_t n) {
    std::fill(out + written, out + where, rest);
    std::memcpy(out + where, in + at, static_cast<size_t>(n) * sizeof(T));
    written = where + n;
  };
  for_each_run(plan, begin, end, [&](int64_t at, int64_t where, int64_t n) {
    if (stride == 1)
      return take(at, where, n);
    for (int64_t i = 0; i < n; ++i)
      take(at + i, where + i * stride, 1);
  });
  if (end == plan.size)
    std::fill(out + written, out + total, rest);
}

template <size_t bytes>
void copy_short_runs(const char* from, int64_t from_row, char* to, int64_t to_row, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(to + r * to_row, from + r * from_row, bytes);
}

template <class Index>
int64_t find_bad(const void* indices, int64_t begin, int64_t end, int64_t limit) {
  auto index = static_cast<const Index*>(indices);
  for (int64_t i = begin; i < end; ++i)
    if (index[i] < 0 || index[i] >= limit)
      return i;
  return -1;
}

/// Calls body with a size that is a constant where elements have it, so that a copy is no call.
template <class Body>
void with_size(int64_t size, Body body) {
  switch (size) {
  case 1:
    return body(std::integral_constant<int64_t, 1>());
  case 2:
    return body(std::integral_constant<int64_t, 2>());
  case 4:
    return body(std::integral_constant<int64_t, 4>());
  case 8:
    return body(std::integral_constant<int64_t, 8>());
  case 16:
    return body(std::integral_constant<int64_t, 16>());
  default:
    return body(size);
  }
}

template <class Index>
void gather(const void* params, int64_t limit, int64_t row_bytes, const void* indices,
            int64_t count, void* out, int64_t begin, int64_t end) {
  auto index = static_cast<const Index*>(indices);
  auto from = static_cast<const char*>(params);
  auto to = static_cast<char*>(out);
  for (int64_t r = begin; r < end;) {
    const char* block = from + r / count * limit * row_bytes;
    const int64_t stop = std::min(end, (r / count + 1) * count);
    const int64_t shift = r / count * count;
    with_size(row_bytes, [&](auto size) {
      for (; r < stop; ++r)
        std::memcpy(to + r * size, block + index[r - shift] * int64_t{size},
                    static_cast<size_t>(size));
    });
  }
}

} // namespace

bool make_strided_plan(std::span<const int64_t> dims, std::span<const int64_t> strides,
                       int64_t offset, StridedPlan& plan) {
  plan = {};
  plan.offset = offset;
  bool fits = true;
  for (size_t k = 0; k < dims.size(); ++k) {
    plan.size *= dims[k];
    if (dims[k] == 1 || !fits)
      continue;
    const int last = plan.rank - 1;
    if (last >= 0 && plan.strides[last] == strides[k] * dims[k]) {
      plan.dims[last] *= dims[k];
      plan.strides[last] = strides[k];
    } else if (plan.rank == StridedPlan::max_rank) {
      fits = false;
    } else {
      plan.dims[plan.rank] = dims[k];
      plan.strides[plan.rank++] = strides[k];
    }
  }
  return fits || plan.size == 0;
}

bool make_transpose_plan(std::span<const int64_t> shape, std::span<const int> perm,
                         StridedPlan& plan) {
  const std::vector<int64_t> from = dense_strides(shape);
  std::vector<int64_t> dims(shape.size()), strides(shape.size());
  for (size_t k = 0; k < perm.size(); ++k) {
    dims[k] = shape[static_cast<size_t>(perm[k])];
    strides[k] = from[static_cast<size_t>(perm[k])];
  }
  return make_strided_plan(dims, strides, 0, plan);
}

bool make_slice_plan(std::span<const int64_t> shape, std::span<const int64_t> begin,
                     std::span<const int64_t> step, std::span<const int64_t> sizes,
                     StridedPlan& plan) {
  std::vector<int64_t> strides = dense_strides(shape);
  int64_t offset = 0;
  for (size_t k = 0; k < shape.size(); ++k) {
    offset += begin[k] * strides[k];
    strides[k] *= step[k];
  }
  return make_strided_plan(sizes, strides, offset, plan);
}

bool make_tile_plan(std::span<const int64_t> shape, std::span<const int64_t> multiples,
                    StridedPlan& plan) {
  const std::vector<int64_t> from = dense_strides(shape);
  std::vector<int64_t> dims, strides;
  for (size_t k = 0; k < shape.size(); ++k) {
    dims.insert(dims.end(), {multiples[k], shape[k]});
    strides.insert(strides.end(), {0, from[k]});
  }
  return make_strided_plan(dims, strides, 0, plan);
}

bool make_broadcast_to_plan(std::span<const int64_t> from, std::span<const int64_t> to,
                            StridedPlan& plan) {
  if (from.size() > to.size())
    return false;
  const std::vector<int64_t> own = dense_strides(from);
  const size_t missing = to.size() - from.size();
  std::vector<int64_t> strides(to.size(), 0);
  for (size_t k = missing; k < to.size(); ++k) {
    const int64_t dim = from[k - missing];
    if (dim != to[k] && dim != 1)
      return false;
    strides[k] = dim == 1 ? 0 : own[k - missing];
  }
  return make_strided_plan(to, strides, 0, plan);
}

void copy_from_strided(int size, const StridedPlan& plan, const void* strided, void* dense,
                       int64_t begin, int64_t end) {
  switch (size) {
  case 1:
    return copy_from<uint8_t>(plan, strided, dense, begin, end);
  case 2:
    return copy_from<uint16_t>(plan, strided, dense, begin, end);
  case 4:
    return copy_from<uint32_t>(plan, strided, dense, begin, end);
  case 8:
    return copy_from<uint64_t>(plan, strided, dense, begin, end);
  case 16:
    return copy_from<Wide>(plan, strided, dense, begin, end);
  default:
    return;
  }
}

void copy_to_strided(int size, const StridedPlan& plan, const void* dense, void* strided,
                     int64_t begin, int64_t end) {
  switch (size) {
  case 1:
    return copy_to<uint8_t>(plan, dense, strided, begin, end);
  case 2:
    return copy_to<uint16_t>(plan, dense, strided, begin, end);
  case 4:
    return copy_to<uint32_t>(plan, dense, strided, begin, end);
  case 8:
    return copy_to<uint64_t>(plan, dense, strided, begin, end);
  case 16:
    return copy_to<Wide>(plan, dense, strided, begin, end);
  default:
    return;
  }
}

void copy_among(int size, const StridedPlan& plan, const void* dense, void* strided, int64_t total,
                const void* value, int64_t begin, int64_t end) {
  switch (size) {
  case 1:
    return copy_and_fill<uint8_t>(plan, dense, strided, total, value, begin, end);
  case 2:
    return copy_and_fill<uint16_t>(plan, dense, strided, total, value, begin, end);
  case 4:
    return copy_and_fill<uint32_t>(plan, dense, strided, total, value, begin, end);
  case 8:
    return copy_and_fill<uint64_t>(plan, dense, strided, total, value, begin, end);
  case 16:
    return copy_and_fill<Wide>(plan, dense, strided, total, value, begin, end);
  default:
    return;
  }
}

void copy_runs(const void* from, int64_t from_row, void* to, int64_t to_row, int64_t rows,
               int64_t bytes) {
  auto in = static_cast<const char*>(from);
  auto out = static_cast<char*>(to);
  switch (bytes) {
  case 1:
    return copy_short_runs<1>(in, from_row, out, to_row, rows);
  case 2:
    return copy_short_runs<2>(in, from_row, out, to_row, rows);
  case 4:
    return copy_short_runs<4>(in, from_row, out, to_row, rows);
  case 8:
    return copy_short_runs<8>(in, from_row, out, to_row, rows);
  case 12: // a pixel
    return copy_short_runs<12>(in, from_row, out, to_row, rows);
  case 16:
    return copy_short_runs<16>(in, from_row, out, to_row, rows);
  case 32:
    return copy_short_runs<32>(in, from_row, out, to_row, rows);
  case 64:
    return copy_short_runs<64>(in, from_row, out, to_row, rows);
  default:
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(out + r * to_row, in + r * from_row, static_cast<size_t>(bytes));
  }
}

int64_t find_bad_index(Type type, const void* indices, int64_t begin, int64_t end, int64_t limit) {
  return type == Type::int64 ? find_bad<int64_t>(indices, begin, end, limit)
                             : find_bad<int32_t>(indices, begin, end, limit);
}

void take_elements(int64_t size, const void* from, const int64_t* where, const void* otherwise,
                   void* out, int64_t n) {
  const auto* in = static_cast<const char*>(from);
  auto* to = static_cast<char*>(out);
  with_size(size, [&](auto bytes) {
    for (int64_t i = 0; i < n; ++i) {
      const void* element = where[i] < 0 ? otherwise : in + where[i] * bytes;
      if (element != nullptr)
        std::memcpy(to + i * bytes, element, static_cast<size_t>(bytes));
    }
  });
}

void put_elements(int64_t size, const void* from, int64_t step, const int64_t* where, void* out,
                  int64_t n) {
  const auto* in = static_cast<const char*>(from);
  auto* to = static_cast<char*>(out);
  with_size(size, [&](auto bytes) {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(to + where[i] * bytes, in + i * step * bytes, static_cast<size_t>(bytes));
  });
}

void gather_rows(Type index_type, const void* params, int64_t limit, int64_t row_bytes,
                 const void* indices, int64_t count, void* out, int64_t begin, int64_t end) {
  index_type == Type::int64
      ? gather<int64_t>(params, limit, row_bytes, indices, count, out, begin, end)
      : gather<int32_t>(params, limit, row_bytes, indices, count, out, begin, end);
}

} // namespace troupe::arith
