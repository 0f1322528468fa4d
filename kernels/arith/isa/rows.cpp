// Bias, softmax and cross entropy, row by row.  softmax(x)[c] = exp(x[c] - max) / sum exp(x - max)
#include "kernels/arith/isa/math.hpp"
#include "kernels/arith/isa/narrow.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

/// Neighbouring elements of a row: as many as a register has lanes, or, where N is an integer, the
/// first n of so many.
template <class T, class N>
struct Part {
  int64_t begin;
  N n;

  /// Those of a row, or of one element for all (`step` is 0).
  [[gnu::always_inline]] inline Full<T> of(const T* row, int64_t step = 1) const {
    return step == 0 ? spread<Full<T>>(*row) : load_first<Full<T>>(row + begin, n, T(0));
  }
  [[gnu::always_inline]] inline void put(const Full<T>& values, T* row) const {
    store_first(values, row + begin, n);
  }
  /// The values, and `rest` in lanes that are not of the row.
  [[gnu::always_inline]] inline Full<T> only(const Full<T>& values, T rest) const {
    if constexpr (std::is_integral_v<N>)
      return first_lanes<Full<T>, T>(n) ? values : spread<Full<T>>(rest);
    else
      return values;
  }
};

/// Calls body(part) for elements [begin, end).
template <class T, class Body>
TROUPE_INLINE void for_each_part(int64_t begin, int64_t end, Body body) {
  constexpr std::integral_constant<int64_t, lanes<T>> all;
  for (; begin + all <= end; begin += all)
    body(Part<T, std::remove_const_t<decltype(all)>>{begin, all});
  if (begin < end)
    body(Part<T, int64_t>{begin, end - begin});
}

struct Larger {
  template <class V>
  TROUPE_INLINE V step(const V& best, const V& value) {
    return value > best ? value : best;
  }
};
struct Added {
  template <class V>
  TROUPE_INLINE V step(const V& sum, const V& value) {
    return sum + value;
  }
};

/// F of a row's values: value(part) gives some of them, `first` is what F leaves as it is. Several
/// `chains` let steps that are quicker than one addition run side by side.
template <class F, int chains, class T, class Value>
TROUPE_INLINE T over_part(int64_t begin, int64_t end, T first, Value value) {
  constexpr std::integral_constant<int64_t, lanes<T>> all;
  using Whole = Part<T, std::remove_const_t<decltype(all)>>;
  Full<T> result[chains];
  TROUPE_UNROLL
  for (int k = 0; k < chains; ++k)
    result[k] = spread<Full<T>>(first);
  if constexpr (chains > 1)
    for (; begin + chains * all <= end; begin += chains * all) {
      TROUPE_UNROLL
      for (int k = 0; k < chains; ++k)
        result[k] = F::step(result[k], value(Whole{begin + k * all, all}));
    }
  for_each_part<T>(begin, end, [&](auto part) {
    result[0] = F::step(result[0], part.only(value(part), first));
  });
  TROUPE_UNROLL
  for (int k = 1; k < chains; ++k)
    result[0] = F::step(result[0], result[k]);
  return fold<F, T>(result[0]);
}

/// Largest element that is a number. A NaN needs no care here: its own exp makes the sum NaN.
template <class T>
TROUPE_INLINE T row_max(const T* x, int64_t n) {
  return over_part<Larger, 4>(0, n, -Real<T>::infinity, [x](auto part) { return part.of(x); });
}

/// Sum over a row: in lanes over short runs, and those in double, so that a row of ten million
/// elements keeps its digits.
template <class T, int chains = 1, class Value>
TROUPE_INLINE T row_sum(int64_t n, Value value) {
  constexpr int64_t run = 64 * chains * lanes<T>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += run)
    total += static_cast<double>(
        over_part<Added, chains>(begin, n - begin < run ? n : begin + run, T(0), value));
  return static_cast<T>(total);
}

/// How many rows are taken at once: what is done once for each row is then done in lanes, and what
/// a row's first loop wrote has reached the cache when the second reads it.
constexpr int64_t row_block = 16;
TROUPE_INLINE int64_t rows_at_once(int64_t columns) {
  return columns > 256 ? 1 : row_block;
}

template <class T>
void softmax_rows(const void* x, void* y, int64_t columns, int64_t begin, int64_t end) {
  const int64_t at_once = rows_at_once(columns);
  for (int64_t r = begin; r < end; r += at_once) {
    const int64_t rows = end - r < at_once ? end - r : at_once;
    const T* in = static_cast<const T*>(x) + r * columns;
    T* out = static_cast<T*>(y) + r * columns;
    T scale[row_block] = {};
    for (int64_t k = 0; k < rows; ++k) {
      const T* from = in + k * columns;
      T* to = out + k * columns;
      const T shift = row_max(from, columns);
      scale[k] = row_sum<T>(columns, [from, to, shift](auto part) {
        const Full<T> e = exp_of(part.of(from) - shift);
        part.put(e, to);
        return e;
      });
    }
    for (T& value : scale)
      value = T(1) / value;
    for (int64_t k = 0; k < rows; ++k) {
      T* to = out + k * columns;
      const T factor = scale[k];
      for_each_part<T>(0, columns, [to, factor](auto part) { part.put(part.of(to) * factor, to); });
    }
  }
}

template <class T>
void log_softmax_rows(const void* x, void* y, int64_t columns, int64_t begin, int64_t end) {
  const int64_t at_once = rows_at_once(columns);
  for (int64_t r = begin; r < end; r += at_once) {
    const int64_t rows = end - r < at_once ? end - r : at_once;
    const T* in = static_cast<const T*>(x) + r * columns;
    T* out = static_cast<T*>(y) + r * columns;
    T shifts[row_block], log_sums[row_block] = {};
    for (int64_t k = 0; k < rows; ++k) {
      const T* from = in + k * columns;
      const T shift = shifts[k] = row_max(from, columns);
      log_sums[k] =
          row_sum<T>(columns, [from, shift](auto part) { return exp_of(part.of(from) - shift); });
    }
    for (T& value : log_sums)
      value = log_of(value);
    for (int64_t k = 0; k < rows; ++k) {
      const T* from = in + k * columns;
      T* to = out + k * columns;
      const T shift = shifts[k], log_sum = log_sums[k];
      for_each_part<T>(0, columns,
                       [=](auto part) { part.put((part.of(from) - shift) - log_sum, to); });
    }
  }
}

template <class T>
void softmax_grad_rows(const void* y, const void* dy, void* dx, int64_t columns, int64_t begin,
                       int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* p = static_cast<const T*>(y) + r * columns;
    const T* gradient = static_cast<const T*>(dy) + r * columns;
    T* out = static_cast<T*>(dx) + r * columns;
    const T dot =
        row_sum<T, 4>(columns, [p, gradient](auto part) { return part.of(p) * part.of(gradient); });
    for_each_part<T>(0, columns,
                     [=](auto part) { part.put(part.of(p) * (part.of(gradient) - dot), out); });
  }
}

template <class T>
void xent_rows(SoftmaxXentInput logits, SoftmaxXentInput labels, void* loss, void* backprop,
               int64_t columns, int64_t begin, int64_t end) {
  const int64_t x_step = logits.column_stride, label_step = labels.column_stride;
  for (int64_t r = begin; r < end; ++r) {
    const T* x = static_cast<const T*>(logits.data) + r * logits.row_stride;
    const T* label = static_cast<const T*>(labels.data) + r * labels.row_stride;
    const T shift = x_step == 0 ? (columns > 0 ? x[0] : T(0)) : row_max(x, columns);
    const T sum =
        row_sum<T>(columns, [=](auto part) { return exp_of(part.of(x, x_step) - shift); });
    const T log_sum = log_of(sum);
    // As in TensorFlow, a label of 0 for a logit of -infinity makes the loss NaN.
    static_cast<T*>(loss)[r] = row_sum<T>(columns, [=](auto part) {
      return -part.of(label, label_step) * ((part.of(x, x_step) - shift) - log_sum);
    });
    if (backprop == nullptr)
      continue;
    T* out = static_cast<T*>(backprop) + r * columns;
    const T scale = T(1) / sum;
    for_each_part<T>(0, columns, [=](auto part) {
      part.put(exp_of(part.of(x, x_step) - shift) * scale - part.of(label, label_step), out);
    });
  }
}

template <class T, class Label>
void sparse_rows(const void* logits, const void* labels, void* loss, void* backprop,
                 int64_t columns, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* x = static_cast<const T*>(logits) + r * columns;
    T* out = backprop != nullptr ? static_cast<T*>(backprop) + r * columns : nullptr;
    const int64_t label = static_cast<const Label*>(labels)[r];
    if (label < 0 || label >= columns) {
      static_cast<T*>(loss)[r] = Real<T>::nan;
      for (int64_t c = 0; out != nullptr && c < columns; ++c)
        out[c] = Real<T>::nan;
      continue;
    }
    const T shift = row_max(x, columns);
    const T sum = row_sum<T>(columns, [x, shift](auto part) { return exp_of(part.of(x) - shift); });
    static_cast<T*>(loss)[r] = log_of(sum) - (x[label] - shift);
    if (out == nullptr)
      continue;
    const T scale = T(1) / sum;
    for_each_part<T>(0, columns,
                     [=](auto part) { part.put(exp_of(part.of(x) - shift) * scale, out); });
    out[label] -= T(1);
  }
}

template <class T>
void bias_rows(const void* x, const void* bias, void* y, int64_t columns, int64_t begin,
               int64_t end) {
  auto b = static_cast<const T*>(bias);
  for (int64_t r = begin; r < end; ++r) {
    const T* in = static_cast<const T*>(x) + r * columns;
    T* out = static_cast<T*>(y) + r * columns;
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c)
      out[c] = in[c] + b[c];
  }
}

/// The same of elements of 16 bits; each sum is rounded once.
template <class N>
void narrow_bias_rows(const void* x, const void* bias, void* y, int64_t columns, int64_t begin,
                      int64_t end) {
  constexpr int64_t width = lanes<float>, at_once = 32 * width;
  auto b = static_cast<const N*>(bias);
  for (int64_t first = 0; first < columns; first += at_once) {
    const int64_t n = columns - first < at_once ? columns - first : at_once;
    const int64_t whole = n / width, rest = n % width;
    Full<float> wide[at_once / width];
    for (int64_t k = 0; k < whole; ++k)
      wide[k] = load_narrow(b + first + k * width);
    if (rest > 0)
      wide[whole] = load_narrow(b + first + whole * width, rest);
    for (int64_t r = begin; r < end; ++r) {
      const N* in = static_cast<const N*>(x) + r * columns + first;
      N* out = static_cast<N*>(y) + r * columns + first;
      for (int64_t k = 0; k < whole; ++k)
        store_narrow(load_narrow(in + k * width) + wide[k], out + k * width);
      if (rest > 0)
        store_narrow(load_narrow(in + whole * width, rest) + wide[whole], out + whole * width,
                     rest);
    }
  }
}

template <class T>
constexpr Type type_of() {
  if (T(1) / T(2) != T(0))
    return sizeof(T) == 4 ? Type::float32 : Type::float64;
  return sizeof(T) == 4 ? Type::int32 : Type::int64;
}

/// Registers' worth of columns from the first part on: their sums stay in registers.
template <int registers, class T, class N>
TROUPE_INLINE void sum_columns(const T* factors, const int32_t* rows, int64_t count,
                               const T* matrix, int64_t columns, int64_t begin, N last, T* to) {
  constexpr std::integral_constant<int64_t, lanes<T>> all;
  Full<T> sums[registers] = {};
  for (int64_t e = 0; e < count; ++e) {
    const Full<T> factor = spread<Full<T>>(factors[e]);
    const T* terms = matrix + rows[e] * columns + begin;
    TROUPE_UNROLL
    for (int r = 0; r < registers - 1; ++r)
      sums[r] += factor * load_first<Full<T>>(terms + r * lanes<T>, all, T(0));
    sums[registers - 1] +=
        factor * load_first<Full<T>>(terms + (registers - 1) * lanes<T>, last, T(0));
  }
  TROUPE_UNROLL
  for (int r = 0; r < registers - 1; ++r)
    store_first(sums[r], to + begin + r * lanes<T>, all);
  store_first(sums[registers - 1], to + begin + (registers - 1) * lanes<T>, last);
}

template <class T>
void sum_of_rows(const void* factors, const int32_t* rows, int64_t count, const void* matrix,
                 int64_t columns, void* to) {
  constexpr std::integral_constant<int64_t, lanes<T>> all;
  constexpr int registers = 8;
  auto f = static_cast<const T*>(factors);
  auto m = static_cast<const T*>(matrix);
  auto y = static_cast<T*>(to);
  int64_t c = 0;
  for (; c + registers * all <= columns; c += registers * all)
    sum_columns<registers>(f, rows, count, m, columns, c, all, y);
  for (; c + all <= columns; c += all)
    sum_columns<1>(f, rows, count, m, columns, c, all, y);
  if (c < columns)
    sum_columns<1>(f, rows, count, m, columns, c, columns - c, y);
}

struct Multiplied {
  template <class V>
  TROUPE_INLINE V step(const V& product, const V& value) {
    return product * value;
  }
};
// The value if either is NaN.
struct Least {
  template <class V>
  TROUPE_INLINE V step(const V& best, const V& value) {
    return best < value ? best : value;
  }
};
struct Greatest {
  template <class V>
  TROUPE_INLINE V step(const V& best, const V& value) {
    return value < best ? best : value;
  }
};

/// Some columns of all rows, in registers.
template <class F, int registers, class T, class N>
TROUPE_INLINE void join_columns(const T* x, T first, int64_t rows, int64_t columns, N n, T* to) {
  Full<T> result[registers];
  TROUPE_UNROLL
  for (int k = 0; k < registers; ++k)
    result[k] = spread<Full<T>>(first);
  for (int64_t r = 0; r < rows; ++r, x += columns) {
    TROUPE_UNROLL
    for (int k = 0; k < registers; ++k)
      result[k] = F::step(result[k], load_first<Full<T>>(x + k * lanes<T>, n, T(0)));
  }
  TROUPE_UNROLL
  for (int k = 0; k < registers; ++k)
    store_first(result[k], to + k * lanes<T>, n);
}

template <class F, class T>
void join(const void* from, const void* neutral, int64_t rows, int64_t columns, void* to) {
  constexpr std::integral_constant<int64_t, lanes<T>> all;
  constexpr int registers = 4;
  const auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  const T first = *static_cast<const T*>(neutral);
  int64_t c = 0;
  for (; c + registers * all <= columns; c += registers * all)
    join_columns<F, registers>(x + c, first, rows, columns, all, y + c);
  for (; c + all <= columns; c += all)
    join_columns<F, 1>(x + c, first, rows, columns, all, y + c);
  if (c < columns)
    join_columns<F, 1>(x + c, first, rows, columns, columns - c, y + c);
}

template <class T>
JoinRowsFn join_of(BinaryOp op) {
  switch (op) {
  case BinaryOp::add:
    return join<Added, T>;
  case BinaryOp::mul:
    return join<Multiplied, T>;
  case BinaryOp::clip_above:
    return join<Least, T>;
  case BinaryOp::clip_below:
    return join<Greatest, T>;
  default:
    return nullptr;
  }
}

template <class T>
void bias_gradient(const void* dy, void* out, int64_t columns, int64_t begin, int64_t end) {
  constexpr int64_t width = 256;
  int64_t acc[width];
  const ReduceKernel sum = TROUPE_ISA::reduce(ReduceOp::sum, type_of<T>());
  for (int64_t c = 0; c < columns; c += width) {
    const int64_t n = columns - c < width ? columns - c : width;
    sum.init(acc, n);
    sum.columns(acc, static_cast<const T*>(dy) + begin * columns + c, end - begin, columns, n);
    sum.finish(acc, static_cast<T*>(out) + c, n, end - begin);
  }
}

} // namespace

BiasAddFn bias_add(Type type) {
  switch (type) {
  case Type::float32:
    return bias_rows<float>;
  case Type::float64:
    return bias_rows<double>;
  case Type::int32:
    return bias_rows<int32_t>;
  case Type::int64:
    return bias_rows<int64_t>;
  case Type::bfloat16:
    return narrow_bias_rows<Bfloat16>;
#if defined(__F16C__)
  case Type::float16:
    return narrow_bias_rows<Float16>;
#endif
  default:
    return nullptr;
  }
}

BiasAddGradFn bias_add_grad(Type type) {
  switch (type) {
  case Type::float32:
    return bias_gradient<float>;
  case Type::float64:
    return bias_gradient<double>;
  case Type::int32:
    return bias_gradient<int32_t>;
  case Type::int64:
    return bias_gradient<int64_t>;
  default:
    return nullptr;
  }
}

JoinRowsFn join_rows(BinaryOp op, Type type) {
  switch (type) {
  case Type::float32:
    return join_of<float>(op);
  case Type::float64:
    return join_of<double>(op);
  case Type::int32:
    return join_of<int32_t>(op);
  case Type::int64:
    return join_of<int64_t>(op);
  default:
    return nullptr;
  }
}

SumRowsFn sum_rows(Type type) {
  return type == Type::float32   ? sum_of_rows<float>
         : type == Type::float64 ? sum_of_rows<double>
                                 : nullptr;
}

SoftmaxFn softmax(Type type) {
  return type == Type::float32   ? softmax_rows<float>
         : type == Type::float64 ? softmax_rows<double>
                                 : nullptr;
}

SoftmaxFn log_softmax(Type type) {
  return type == Type::float32   ? log_softmax_rows<float>
         : type == Type::float64 ? log_softmax_rows<double>
                                 : nullptr;
}

SoftmaxGradFn softmax_grad(Type type) {
  return type == Type::float32   ? softmax_grad_rows<float>
         : type == Type::float64 ? softmax_grad_rows<double>
                                 : nullptr;
}

SoftmaxXentFn softmax_xent(Type type) {
  return type == Type::float32   ? xent_rows<float>
         : type == Type::float64 ? xent_rows<double>
                                 : nullptr;
}

SparseXentFn sparse_softmax_xent(Type type, Type label_type) {
  if (label_type != Type::int32 && label_type != Type::int64)
    return nullptr;
  const bool wide = label_type == Type::int64;
  switch (type) {
  case Type::float32:
    return wide ? sparse_rows<float, int64_t> : sparse_rows<float, int32_t>;
  case Type::float64:
    return wide ? sparse_rows<double, int64_t> : sparse_rows<double, int32_t>;
  default:
    return nullptr;
  }
}

} // namespace troupe::arith::TROUPE_ISA
