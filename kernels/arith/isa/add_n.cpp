// Sums of many arrays.
#include "kernels/arith/isa/narrow.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

/// out = a + inputs[0] + … + inputs[count - 1], added in this order.
template <int count, class T>
TROUPE_INLINE void add_to(const T* a, const void* const* inputs, T* out, int64_t begin,
                          int64_t end) {
  const T* in[count];
  for (int k = 0; k < count; ++k)
    in[k] = static_cast<const T*>(inputs[k]);
  TROUPE_INDEPENDENT
  for (int64_t i = begin; i < end; ++i) {
    T sum = a[i];
    TROUPE_UNROLL
    for (int k = 0; k < count; ++k)
      sum += in[k][i];
    out[i] = sum;
  }
}

template <class T>
void add_arrays(const void* const* inputs, int count, void* sum, int64_t begin, int64_t end) {
  constexpr int at_once = 7;
  auto out = static_cast<T*>(sum);
  auto a = static_cast<const T*>(inputs[0]);
  int k = 1;
  if (count == 1)
    add_to<0>(a, inputs, out, begin, end);
  for (; k + at_once <= count; k += at_once, a = out)
    add_to<at_once>(a, inputs + k, out, begin, end);
  for (; k + 3 <= count; k += 3, a = out)
    add_to<3>(a, inputs + k, out, begin, end);
  for (; k < count; ++k, a = out)
    add_to<1>(a, inputs + k, out, begin, end);
}

/// The same of elements of 16 bits, rounded once.
template <class N>
void add_narrow_arrays(const void* const* inputs, int count, void* sum, int64_t begin,
                       int64_t end) {
  const auto add = [=](int64_t i, int64_t n) {
    Full<float> total = load_narrow(static_cast<const N*>(inputs[0]) + i, n);
    for (int k = 1; k < count; ++k)
      total += load_narrow(static_cast<const N*>(inputs[k]) + i, n);
    store_narrow(total, static_cast<N*>(sum) + i, n);
  };
  for (; begin + lanes<float> <= end; begin += lanes<float>)
    add(begin, lanes<float>);
  if (begin < end)
    add(begin, end - begin);
}

} // namespace

AddNFn add_n(Type type) {
  switch (type) {
  case Type::float32:
    return add_arrays<float>;
  case Type::float64:
    return add_arrays<double>;
  case Type::int32:
    return add_arrays<int32_t>;
  case Type::int64:
    return add_arrays<int64_t>;
  case Type::bfloat16:
    return add_narrow_arrays<Bfloat16>;
#if defined(__F16C__)
  case Type::float16:
    return add_narrow_arrays<Float16>;
#endif
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
