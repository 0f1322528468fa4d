// Walks broadcast plans row by row; the rows are computed by code made for the instruction set.
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/internal/isa_table.hpp"
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace troupe::arith {
namespace {

/// Calls row(output position, n, input offsets) for runs of outputs within the innermost dimension.
template <class Row>
void for_each_row(const BroadcastPlan& plan, int64_t begin, int64_t end, Row row) {
  const int inner = plan.rank - 1;
  const int64_t length = plan.rank > 0 ? plan.dims[inner] : 1;
  int64_t index[BroadcastPlan::max_rank] = {};
  int64_t offset[BroadcastPlan::max_inputs] = {};
  int64_t rest = begin;
  for (int k = inner; k >= 0; --k) {
    index[k] = rest % plan.dims[k];
    rest /= plan.dims[k];
    for (int i = 0; i < plan.inputs; ++i)
      offset[i] += index[k] * plan.strides[i][k];
  }
  for (int64_t at = begin; at < end;) {
    const int64_t column = plan.rank > 0 ? index[inner] : 0;
    const int64_t n = std::min(length - column, end - at);
    row(at, n, offset);
    at += n;
    if (at >= end)
      return;
    for (int i = 0; i < plan.inputs; ++i)
      offset[i] -= column * plan.strides[i][inner];
    index[inner] = 0;
    for (int k = inner - 1; k >= 0; --k) {
      const bool carry = ++index[k] == plan.dims[k];
      for (int i = 0; i < plan.inputs; ++i)
        offset[i] += carry ? -(plan.dims[k] - 1) * plan.strides[i][k] : plan.strides[i][k];
      if (!carry)
        break;
      index[k] = 0;
    }
  }
}

const char* bytes(const void* p) {
  return static_cast<const char*>(p);
}

template <class T>
void fill_with(const void* value, void* out, int64_t begin, int64_t end) {
  const auto* parts = static_cast<const unsigned char*>(value); // of equal bytes memset is quicker
  if (std::all_of(parts, parts + sizeof(T), [parts](unsigned char c) { return c == *parts; })) {
    std::memset(static_cast<T*>(out) + begin, *parts, static_cast<size_t>(end - begin) * sizeof(T));
    return;
  }
  if (const SpreadFn spread = isa_table().spread_rows(sizeof(T)))
    return spread(value, 0, 1, end - begin, static_cast<T*>(out) + begin);
  T element;
  std::memcpy(&element, value, sizeof element);
  std::fill(static_cast<T*>(out) + begin, static_cast<T*>(out) + end, element);
}

struct Wide {
  uint64_t low, high;
};

/// The input that is one short row for all rows of the other, which is dense; -1 if there is none.
int repeated_input(const BroadcastPlan& plan) {
  constexpr int64_t short_row = 64;
  if (plan.rank != 2 || plan.dims[1] > short_row)
    return -1;
  for (int i = 0; i < 2; ++i)
    if (plan.strides[i][0] == 0 && plan.strides[i][1] == 1 &&
        plan.strides[1 - i][0] == plan.dims[1] && plan.strides[1 - i][1] == 1)
      return i;
  return -1;
}

} // namespace

// Rows of few elements cost a call each. Where one input is such a row for all of the other's, it
// is laid out several times side by side.
bool BinaryKernel::run_repeated(const BroadcastPlan& plan, int repeated, const void* a,
                                const void* b, void* out, int64_t begin, int64_t end) const {
  constexpr int64_t room = 4096; // bytes
  alignas(64) char rows[room];
  const int64_t length = plan.dims[1], row_bytes = length * in_size;
  const int64_t count = room / row_bytes;
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(rows + i * row_bytes, repeated == 0 ? a : b, static_cast<size_t>(row_bytes));
  bool ok = true;
  for (int64_t at = begin; at < end;) {
    const int64_t first = at % length;
    const int64_t n = std::min(count * length - first, end - at);
    const char* same = rows + first * in_size;
    const char* other = bytes(repeated == 0 ? b : a) + at * in_size;
    ok &= row(repeated == 0 ? same : other, repeated == 0 ? other : same,
              static_cast<char*>(out) + at * out_size, n, RowMode::both_rows);
    at += n;
  }
  return ok;
}

bool BinaryKernel::operator()(const BroadcastPlan& plan, const void* a, const void* b, void* out,
                              int64_t begin, int64_t end) const {
  if (begin >= end)
    return true;
  RowMode mode = RowMode::both_rows;
  if (plan.rank > 0 && plan.strides[0][plan.rank - 1] == 0)
    mode = RowMode::left_scalar;
  else if (plan.rank > 0 && plan.strides[1][plan.rank - 1] == 0)
    mode = RowMode::right_scalar;
  bool ok = true;
  if (const int repeated = repeated_input(plan); repeated >= 0 && end - begin > 4 * plan.dims[1])
    return run_repeated(plan, repeated, a, b, out, begin, end);
  for_each_row(plan, begin, end, [&](int64_t at, int64_t n, const int64_t* offset) {
    ok &= row(bytes(a) + offset[0] * in_size, bytes(b) + offset[1] * in_size,
              static_cast<char*>(out) + at * out_size, n, mode);
  });
  return ok;
}

void select(int size, const BroadcastPlan& plan, const void* cond, const void* a, const void* b,
            void* out, int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  const SelectRow row = isa_table().select(size);
  int step[3] = {};
  for (int i = 0; i < 3 && plan.rank > 0; ++i)
    step[i] = static_cast<int>(plan.strides[i][plan.rank - 1]);
  for_each_row(plan, begin, end, [&](int64_t at, int64_t n, const int64_t* offset) {
    row(bytes(cond) + offset[0], step[0], bytes(a) + offset[1] * size, step[1],
        bytes(b) + offset[2] * size, step[2], static_cast<char*>(out) + at * size, n);
  });
}

template <class T>
void range(T start, T delta, T* out, int64_t begin, int64_t end) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    const auto step = static_cast<Bits>(delta);
    const auto first =
        static_cast<Bits>(static_cast<Bits>(start) + static_cast<Bits>(begin) * step);
    auto to = reinterpret_cast<Bits*>(out + begin);
    if constexpr (sizeof(T) == 4)
      isa_table().range32(first, step, to, end - begin);
    else
      isa_table().range64(first, step, to, end - begin);
  } else {
    // A small counter becomes a float by one instruction for several elements.
    const auto quick =
        static_cast<int32_t>(std::min<int64_t>(end, std::numeric_limits<int32_t>::max()));
    for (auto i = static_cast<int32_t>(std::min<int64_t>(begin, quick)); i < quick; ++i)
      out[i] = start + static_cast<T>(i) * delta;
    for (int64_t i = std::max<int64_t>(begin, quick); i < end; ++i)
      out[i] = start + static_cast<T>(i) * delta;
  }
}
template void range(float, float, float*, int64_t, int64_t);
template void range(double, double, double*, int64_t, int64_t);
template void range(int32_t, int32_t, int32_t*, int64_t, int64_t);
template void range(int64_t, int64_t, int64_t*, int64_t, int64_t);

void fill(int size, const void* value, void* out, int64_t begin, int64_t end) {
  switch (size) {
  case 1:
    return fill_with<uint8_t>(value, out, begin, end);
  case 2:
    return fill_with<uint16_t>(value, out, begin, end);
  case 4:
    return fill_with<uint32_t>(value, out, begin, end);
  case 8:
    return fill_with<uint64_t>(value, out, begin, end);
  case 16:
    return fill_with<Wide>(value, out, begin, end);
  default:
    return;
  }
}

UnaryFn complex_part(ComplexPart part, Type type) {
  return isa_table().complex_part(part, type);
}

} // namespace troupe::arith
