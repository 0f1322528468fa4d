// The two networks: fully connected layers, and convolutions.
#pragma once

#include <string>
#include <vector>

#include "api/variable.hpp"

namespace troupe::fashion_mnist {

/// Where the parts of a model stand; empty: wherever the session likes.
struct Devices {
  std::string compute;
  std::vector<std::string> variables; ///< taken in turn
};

/// A graph that trains and judges.
struct Model {
  Output images;  ///< fed: uint8 [n, 784]
  Output labels;  ///< fed: int64 [n]
  Output rate;    ///< fed to train: float [], the learning rate
  Output loss;    ///< float []: mean cross entropy
  Output correct; ///< float []: how many of the batch are recognised
  Operation train;
  Operation initialize;
  std::vector<Output> is_initialized; ///< bool [] each: of every variable
};

/// INVALID_ARGUMENT for a name other than "mlp" and "cnn", or the scope's own error.
Result<Model> build_model(const Scope& root, const std::string& name, const Devices& devices);

} // namespace troupe::fashion_mnist
