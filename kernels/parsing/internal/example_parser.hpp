// Parses a batch of tensorflow.Example messages, or one alone, into dense, sparse and ragged tensors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/parsing/internal/shapes.hpp"

namespace troupe::parsing {

/// What the attributes of an op say of the features.
struct ExampleSpec {
  std::vector<DType> sparse, dense, ragged, ragged_splits;
  std::vector<DenseShape> shapes; ///< of the dense ones
};

/// INVALID_ARGUMENT if the lists do not fit together.
Result<ExampleSpec> make_example_spec(const AttrMap& attrs);

/// What a step brings.
struct ExampleInputs {
  std::span<const std::string> serialized;
  std::span<const std::string> names = {}; ///< of the examples, for errors; or none
  std::vector<std::string_view> sparse_keys = {}, dense_keys = {}, ragged_keys = {};
  int first_default = 0; ///< the input with the default of dense feature 0
  bool is_batch = true;  ///< otherwise one example, whose outputs have no dimension of the batch
};

/// Parses the examples and sets all outputs: indices, values and shapes of the sparse features, the
/// dense ones, values and row splits of the ragged ones. INVALID_ARGUMENT in TensorFlow's words
/// for the first example that is wrong.
Status parse_examples(KernelContext& c, const ExampleSpec& spec, const ExampleInputs& inputs);

} // namespace troupe::parsing
