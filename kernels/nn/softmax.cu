// Softmax and the cross entropies of rows. A block computes a row; sums are those of its threads,
// joined pairwise.
#include "kernels/gpu/device.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::gpu {
namespace {

struct Larger {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T b) const {
    return a != a ? a : b != b || b > a ? b : a;
  }
};
struct Sum {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

/// A row of logits as this thread walks it.
template <class T>
struct Row {
  const T* at;
  std::int64_t step, columns;
  TROUPE_DEVICE WideOf<T> operator[](std::int64_t column) const { return widen(at[column * step]); }
};

/// The largest, and the sum of exp(x - largest).
template <class T>
struct Normaliser {
  WideOf<T> largest, sum;
};
template <class T>
TROUPE_DEVICE Normaliser<T> normaliser(const Row<T>& row) {
  using W = WideOf<T>;
  W largest = lowest<W>;
  for (std::int64_t j = thread_index(); j < row.columns; j += block_threads())
    largest = Larger()(largest, row[j]);
  largest = over_block_for_all(largest, lowest<W>, Larger());
  W sum = 0;
  for (std::int64_t j = thread_index(); j < row.columns; j += block_threads())
    sum += std::exp(row[j] - largest);
  return {largest, over_block_for_all(sum, W(0), Sum())};
}

#define SOFTMAX (bool is_log, const void* x, void* y, std::int64_t rows, std::int64_t columns)
/// Packs of a row that a thread keeps, so that the row is read once.
template <class T>
constexpr int kept_packs = sizeof(T) < 4 ? 4 : 8;
template <class T>
TROUPE_DEVICE void softmax_of_kept(bool is_log, const T* x, T* y, std::int64_t packs) {
  using W = WideOf<T>;
  Pack<T> kept[kept_packs<T>];
  W largest = lowest<W>, sum = 0;
  for (int k = 0; k < kept_packs<T>; ++k)
    if (const std::int64_t at = std::int64_t{block_threads()} * k + thread_index(); at < packs) {
      kept[k] = reinterpret_cast<const Pack<T>*>(x)[at];
      for (const T& value : kept[k].at)
        largest = Larger()(largest, widen(value));
    }
  largest = over_block_for_all(largest, lowest<W>, Larger());
  for (int k = 0; k < kept_packs<T>; ++k)
    if (std::int64_t{block_threads()} * k + thread_index() < packs)
      for (const T& value : kept[k].at)
        sum += std::exp(widen(value) - largest);
  sum = over_block_for_all(sum, W(0), Sum());
  const W log_sum = std::log(sum), inverse = 1 / sum;
  for (int k = 0; k < kept_packs<T>; ++k)
    if (const std::int64_t at = std::int64_t{block_threads()} * k + thread_index(); at < packs) {
      for (T& value : kept[k].at) {
        const W centred = widen(value) - largest;
        value = narrow<T>(is_log ? centred - log_sum : std::exp(centred) * inverse);
      }
      reinterpret_cast<Pack<T>*>(y)[at] = kept[k];
    }
}

TROUPE_GPU_KERNEL(softmax, SOFTMAX) {
  if (columns % Pack<T>::size == 0 && holds_packs(x) && holds_packs(y) &&
      columns / Pack<T>::size <= std::int64_t{kept_packs<T>} * block_threads()) {
    for (std::int64_t r = block_index(); r < rows; r += blocks())
      softmax_of_kept(is_log, elements<T>(x) + r * columns, elements<T>(y) + r * columns,
                      columns / Pack<T>::size);
    return;
  }
  for (std::int64_t r = block_index(); r < rows; r += blocks()) {
    const Row<T> row{elements<T>(x) + r * columns, 1, columns};
    const auto [largest, sum] = normaliser(row);
    T* out = elements<T>(y) + r * columns;
    const WideOf<T> log_sum = std::log(sum);
    for (std::int64_t j = thread_index(); j < columns; j += block_threads())
      out[j] = narrow<T>(is_log ? row[j] - largest - log_sum : std::exp(row[j] - largest) / sum);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_COOPERATIVE, softmax, SOFTMAX, (is_log, x, y, rows, columns))

#define CROSS_ENTROPY                                                                              \
  (const void* logits, std::int64_t logits_row, std::int64_t logits_column, const void* labels,    \
   std::int64_t labels_row, std::int64_t labels_column, void* loss, void* backprop,                \
   std::int64_t rows, std::int64_t columns)
TROUPE_GPU_KERNEL(cross_entropy, CROSS_ENTROPY) {
  using W = WideOf<T>;
  for (std::int64_t r = block_index(); r < rows; r += blocks()) {
    const Row<T> row{elements<T>(logits) + r * logits_row, logits_column, columns};
    const Row<T> wanted{elements<T>(labels) + r * labels_row, labels_column, columns};
    const auto [largest, sum] = normaliser(row);
    const W log_sum = std::log(sum);
    W entropy = 0;
    for (std::int64_t j = thread_index(); j < columns; j += block_threads()) {
      const W x = row[j] - largest, label = wanted[j];
      entropy += label * (log_sum - x);
      elements<T>(backprop)[r * columns + j] = narrow<T>(std::exp(x) / sum - label);
    }
    entropy = over_block(entropy, W(0), Sum());
    if (thread_index() == 0)
      elements<T>(loss)[r] = narrow<T>(entropy);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_COOPERATIVE, cross_entropy, CROSS_ENTROPY,
                  (logits, logits_row, logits_column, labels, labels_row, labels_column, loss,
                   backprop, rows, columns))

#define SPARSE_CROSS_ENTROPY                                                                       \
  (bool is_int64, const void* logits, const void* labels, void* loss, void* backprop,              \
   std::int64_t rows, std::int64_t columns)
TROUPE_GPU_KERNEL(sparse_cross_entropy, SPARSE_CROSS_ENTROPY) {
  using W = WideOf<T>;
  for (std::int64_t r = block_index(); r < rows; r += blocks()) {
    const Row<T> row{elements<T>(logits) + r * columns, 1, columns};
    const std::int64_t label =
        is_int64 ? elements<std::int64_t>(labels)[r] : elements<std::int32_t>(labels)[r];
    const bool is_class = label >= 0 && label < columns;
    const W of_label = is_class ? row[label] : W(0); // backprop may lie where the logits do
    const auto [largest, sum] = normaliser(row);
    const W nan = lowest<W> - lowest<W>;
    for (std::int64_t j = thread_index(); j < columns; j += block_threads()) {
      const W probability = std::exp(row[j] - largest) / sum;
      elements<T>(backprop)[r * columns + j] =
          narrow<T>(!is_class ? nan : probability - (j == label ? W(1) : W(0)));
    }
    if (thread_index() == 0)
      elements<T>(loss)[r] = narrow<T>(is_class ? std::log(sum) - (of_label - largest) : nan);
  }
}
TROUPE_GPU_FLOATS(TROUPE_GPU_COOPERATIVE, sparse_cross_entropy, SPARSE_CROSS_ENTROPY,
                  (is_int64, logits, labels, loss, backprop, rows, columns))

} // namespace
} // namespace troupe::gpu
