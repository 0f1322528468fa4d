// The pictures and what they show, and the batches that training takes from them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe::fashion_mnist {

inline constexpr std::int64_t picture_side = 28;
inline constexpr std::int64_t classes = 10;

struct Examples {
  Tensor images; ///< uint8 [n, 784]
  Tensor labels; ///< int64 [n], 0 to 9
  std::int64_t size() const { return labels.num_elements(); }
};

struct Dataset {
  Examples train, test;
};

/// From the four files of the usual names in `folder`.
Result<Dataset> load_dataset(const std::string& folder);

/// A worker's share of the examples (every `shares`-th, beginning with number `share`), in an order
/// that is drawn anew, from its own seed, each time around.
class Batches {
public:
  Batches(const Examples& examples, std::int64_t batch, int share, int shares);
  /// Whole batches in one time around.
  std::int64_t per_epoch() const { return static_cast<std::int64_t>(order_.size()) / batch_; }
  /// Own copies of the next `batch` examples.
  Examples next();

private:
  const Examples& examples_;
  std::int64_t batch_;
  std::vector<std::int64_t> order_;
  std::size_t at_ = 0;
  std::mt19937 random_;
};

} // namespace troupe::fashion_mnist
