// Parses tensorflow.SequenceExample messages, a batch or one alone: features of their contexts, and
// lists of features, whose rows are one dimension more.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/parsing/internal/shapes.hpp"

namespace troupe::parsing {

/// What the attributes of an op say of the context's features or of the lists.
struct SequenceGroup {
  std::vector<DType> sparse, dense, ragged, ragged_splits;
  std::vector<Shape> shapes; ///< of the dense ones; of lists, of one row
};
struct SequenceSpec {
  SequenceGroup context, lists;
};

/// Names of attributes as the ops of a message's part have them.
struct SequenceAttrs {
  std::string_view sparse_types, dense_types, dense_shapes;
  std::string_view ragged_types = {}, ragged_splits = {}; ///< empty: the op has no ragged ones
};
/// INVALID_ARGUMENT for shapes that are not fully defined.
Result<SequenceGroup> make_sequence_group(const AttrMap& attrs, const SequenceAttrs& names);

struct SequenceKeys {
  std::vector<std::string_view> sparse = {}, dense = {}, ragged = {};
};

/// The words of refusals, in which TensorFlow's ops differ. All are INVALID_ARGUMENT.
class SequenceErrors {
public:
  /// A feature as a refusal names it.
  struct Place {
    std::string_view example; ///< its name
    std::string_view key;
    DType dtype = DType::invalid;
    bool is_list = false, is_dense = false;
    std::int64_t row = 0;
  };
  virtual ~SequenceErrors() = default;
  virtual Status no_message(std::string_view example, std::string_view text) const = 0;
  /// `feature`: what it is instead, in words.
  virtual Status wrong_kind(const Place& place, std::string_view feature) const = 0;
  // A count is compared with the shape that the attributes give; `most` is the largest of the
  // batch, of one feature or of the values of one list.
  virtual Status missing_context(const Place& place, std::int64_t most,
                                 const Shape& shape) const = 0;
  virtual Status wrong_count(const Place& place, std::int64_t count, std::int64_t most,
                             const Shape& shape) const = 0;
  virtual Status wrong_row(const Place& place, std::int64_t count, std::int64_t most,
                           const Shape& shape) const = 0;
  /// Whether a dense feature may have no kind, which is then the same as no values.
  virtual bool takes_no_kind() const = 0;
};

/// What a step brings.
struct SequenceInputs {
  std::span<const std::string> serialized;
  std::span<const std::string> names = {}; ///< of the examples, for errors; or none
  SequenceKeys context = {}, lists = {};
  std::vector<bool> may_be_missing = {}; ///< by dense list: then it is taken for empty
  int first_default = 0;   ///< the input with the default of the context's dense feature 0
  bool is_batch = true;    ///< otherwise one message, whose outputs have no dimension of the batch
  bool has_lengths = true; ///< whether there are outputs with the lengths of dense lists
};

/// Parses the messages and sets all outputs: of the context indices, values and shapes of sparse
/// features, dense ones, values and row splits of ragged ones; the same of the lists, with lengths
/// after the dense ones, and with outer and inner row splits.
Status parse_sequence_examples(KernelContext& c, const SequenceSpec& spec,
                               const SequenceInputs& inputs, const SequenceErrors& errors);

/// Shapes of all those outputs; `batch` is the shape of `serialized`.
Status infer_sequence_outputs(ShapeContext& c, const SequenceSpec& spec, const PartialShape& batch,
                              bool has_lengths);

} // namespace troupe::parsing
