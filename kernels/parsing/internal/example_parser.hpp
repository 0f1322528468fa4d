// Parses a batch of tensorflow.Example messages, or one alone, into dense, sparse and ragged
// tensors.
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
  std::vector<const Tensor*> defaults = {}; ///< of the dense features
  bool is_batch = true; ///< otherwise one example, whose outputs have no dimension of the batch
};

/// Inputs [first, first + count) of the kernel.
std::vector<const Tensor*> default_inputs(const KernelContext& c, int first, std::size_t count);

/// Who has the examples parsed.
class ExampleHost {
public:
  virtual ~ExampleHost() = default;
  /// Output `i`, which the parser fills.
  virtual Result<Tensor> output(int i, DType dtype, const Shape& shape) = 0;
  virtual Result<Tensor> temporary(DType dtype, const Shape& shape) = 0;
  /// Calls the body for ranges of [0, count), perhaps at the same time.
  virtual void for_ranges(std::int64_t count, double cost_ns, KernelContext::LoopBody body) = 0;
};

/// INVALID_ARGUMENT for defaults that do not fit the features' shapes.
Status check_defaults(const ExampleSpec& spec, const std::vector<const Tensor*>& defaults);
/// Parses the examples and makes all outputs: indices, values and shapes of the sparse features,
/// the dense ones, values and row splits of the ragged ones. INVALID_ARGUMENT in TensorFlow's words
/// for the first example that is wrong, or for defaults.
Status parse_examples(ExampleHost& host, const ExampleSpec& spec, const ExampleInputs& inputs);
/// The same for a kernel with these outputs.
Status parse_examples(KernelContext& c, const ExampleSpec& spec, const ExampleInputs& inputs);

} // namespace troupe::parsing
