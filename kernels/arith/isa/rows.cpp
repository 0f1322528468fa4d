// Bias, softmax and cross entropy, row by row.  softmax(x)[c] = exp(x[c] - max) / sum exp(x - max)
#include "kernels/arith/isa/math.hpp"

namespace troupe::arith::TROUPE_ISA {
namespace {

template <class T>
constexpr int lane_count = 64 / sizeof(T);

/// Largest element that is a number. A NaN needs no care here: its own exp makes the sum NaN.
template <class T>
TROUPE_INLINE T row_max(const T* x, int64_t n) {
  constexpr int width = 4 * lane_count<T>;
  T lanes[width];
  for (int l = 0; l < width; ++l)
    lanes[l] = -Real<T>::infinity;
  int64_t i = 0;
  for (; i + width <= n; i += width)
    for (int l = 0; l < width; ++l)
      lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
  T best = -Real<T>::infinity;
  for (int l = 0; l < width; ++l)
    best = lanes[l] > best ? lanes[l] : best;
  for (; i < n; ++i)
    best = x[i] > best ? x[i] : best;
  return best;
}

/// Sum of F over a row: in lanes over short runs, and those in double, so that a row of ten million
/// elements keeps its digits.
template <class T, class F>
TROUPE_INLINE T row_sum(int64_t n, F value) {
  constexpr int width = lane_count<T>;
  constexpr int64_t run = 64 * width;
  double total = 0;
  int64_t i = 0;
  while (i + width <= n) {
    const int64_t end = n - i > run ? i + run : n;
    T lanes[width] = {};
    for (; i + width <= end; i += width)
      for (int l = 0; l < width; ++l)
        lanes[l] += value(i + l);
    T sum = 0;
    for (int l = 0; l < width; ++l)
      sum += lanes[l];
    total += static_cast<double>(sum);
  }
  for (; i < n; ++i)
    total += static_cast<double>(value(i));
  return static_cast<T>(total);
}

template <class T>
void softmax_rows(const void* x, void* y, int64_t columns, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* in = static_cast<const T*>(x) + r * columns;
    T* out = static_cast<T*>(y) + r * columns;
    const T shift = row_max(in, columns);
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c)
      out[c] = exp_of(in[c] - shift);
    const T scale = T(1) / row_sum<T>(columns, [out](int64_t c) { return out[c]; });
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c)
      out[c] *= scale;
  }
}

template <class T>
void log_softmax_rows(const void* x, void* y, int64_t columns, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* in = static_cast<const T*>(x) + r * columns;
    T* out = static_cast<T*>(y) + r * columns;
    const T shift = row_max(in, columns);
    const T sum = row_sum<T>(columns, [in, shift](int64_t c) { return exp_of(in[c] - shift); });
    const T log_sum = log_of(sum);
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c)
      out[c] = (in[c] - shift) - log_sum;
  }
}

template <class T>
void softmax_grad_rows(const void* y, const void* dy, void* dx, int64_t columns, int64_t begin,
                       int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* p = static_cast<const T*>(y) + r * columns;
    const T* gradient = static_cast<const T*>(dy) + r * columns;
    T* out = static_cast<T*>(dx) + r * columns;
    const T dot = row_sum<T>(columns, [p, gradient](int64_t c) { return p[c] * gradient[c]; });
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c)
      out[c] = p[c] * (gradient[c] - dot);
  }
}

/// As in TensorFlow, a label of 0 for a logit of -infinity makes the loss NaN.
template <class T>
TROUPE_INLINE T xent_term(T label, T log_probability) {
  return -label * log_probability;
}

template <class T>
void xent_rows(SoftmaxXentInput logits, SoftmaxXentInput labels, void* loss, void* backprop,
               int64_t columns, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T* x = static_cast<const T*>(logits.data) + r * logits.row_stride;
    const T* label = static_cast<const T*>(labels.data) + r * labels.row_stride;
    const int64_t x_step = logits.column_stride, label_step = labels.column_stride;
    const bool dense = x_step == 1 && label_step == 1;
    const T shift = x_step == 0 ? (columns > 0 ? x[0] : T(0)) : row_max(x, columns);
    T sum, total;
    if (dense) {
      sum = row_sum<T>(columns, [=](int64_t c) { return exp_of(x[c] - shift); });
      const T log_sum = log_of(sum);
      total = row_sum<T>(columns,
                         [=](int64_t c) { return xent_term(label[c], (x[c] - shift) - log_sum); });
    } else {
      sum = row_sum<T>(columns, [=](int64_t c) { return exp_of(x[c * x_step] - shift); });
      const T log_sum = log_of(sum);
      total = row_sum<T>(columns, [=](int64_t c) {
        return xent_term(label[c * label_step], (x[c * x_step] - shift) - log_sum);
      });
    }
    static_cast<T*>(loss)[r] = total;
    if (backprop == nullptr)
      continue;
    T* out = static_cast<T*>(backprop) + r * columns;
    const T scale = T(1) / sum;
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c)
      out[c] = exp_of(x[c * x_step] - shift) * scale - label[c * label_step];
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
    const T sum = row_sum<T>(columns, [x, shift](int64_t c) { return exp_of(x[c] - shift); });
    static_cast<T*>(loss)[r] = log_of(sum) - (x[label] - shift);
    if (out == nullptr)
      continue;
    const T scale = T(1) / sum;
    TROUPE_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c)
      out[c] = exp_of(x[c] - shift) * scale;
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

template <class T>
constexpr Type type_of() {
  if (T(1) / T(2) != T(0))
    return sizeof(T) == 4 ? Type::float32 : Type::float64;
  return sizeof(T) == 4 ? Type::int32 : Type::int64;
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
