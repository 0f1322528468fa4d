// ShapeContext: what a shape function sees of its node, and where it puts the answer; shape
// functions used by many ops.
#pragma once

#include <string_view>
#include <vector>

#include "graph/op/schema.hpp"

namespace troupe {

class ShapeContext {
public:
  /// `input_values[i]` has no value where the input is not known to be constant. Lists are
  /// flattened.
  ShapeContext(const OpSchema& schema, const AttrMap& attrs, std::vector<PartialShape> inputs,
               std::vector<Tensor> input_values, int num_outputs);

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const AttrMap& attrs() const { return attrs_; }
  template <class T>
  Result<T> attr(std::string_view name) const {
    return attrs_.get<T>(name);
  }

  const PartialShape& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  /// Flattened indices of the declared input `name`.
  Result<ArgRange> input_range(std::string_view name) const;
  /// The input's value if it is a constant of the graph; otherwise a tensor without value.
  const Tensor& input_value(int i) const { return values_[static_cast<std::size_t>(i)]; }
  /// The constant int32 or int64 input as numbers (a scalar gives one), or nothing.
  std::optional<std::vector<std::int64_t>> input_as_ints(int i) const;
  /// A shape from a constant shape input (-1: unknown dimension); unknown values give the rank if
  /// that is known. INVALID_ARGUMENT if ill-formed.
  Result<PartialShape> input_as_shape(int i) const;

  /// Rank checks in TensorFlow's words: "Shape must be rank 2 but is rank 1".
  Status require_rank(int i, int rank);
  Status require_rank_at_least(int i, int rank);
  Status require_rank_at_most(int i, int rank);

  Status set_output(int i, PartialShape shape);
  /// Output i has the shape of input j; ok().
  Status output_like(int i, int j) { return set_output(i, input(j)); }
  const std::vector<PartialShape>& outputs() const { return outputs_; }
  /// Says what output i is, where the shapes of the inputs tell: for ops with Role::metadata.
  void set_output_value(int i, Tensor value);
  /// By output: a tensor without value where none was said. Empty if none was said at all.
  const std::vector<Tensor>& output_values() const { return output_values_; }
  const OpSchema& schema() const { return schema_; }

private:
  const OpSchema& schema_;
  const AttrMap& attrs_;
  std::vector<PartialShape> inputs_;
  std::vector<Tensor> values_;
  std::vector<PartialShape> outputs_;
  std::vector<Tensor> output_values_;
};

// Shape functions for `SchemaBuilder::shape_fn`.
Status shape_unchanged(ShapeContext& c);        ///< every output like input 0
Status shape_scalar(ShapeContext& c);           ///< every output []
Status shape_unknown(ShapeContext& c);          ///< nothing known
Status shape_none(ShapeContext& c);             ///< no outputs
Status shape_broadcast_binary(ShapeContext& c); ///< NumPy broadcasting of inputs 0 and 1
Status shape_merge_inputs(ShapeContext& c);     ///< all inputs have one shape, so has output 0
// For ops with Role::metadata: shapes of the outputs, and their values where they are known.
Status shape_of_dims(ShapeContext& c);         ///< output i: the dimensions of input i
Status shape_of_rank(ShapeContext& c);         ///< output 0: the rank of input 0
Status shape_of_num_elements(ShapeContext& c); ///< output 0: the number of elements of input 0

/// Broadcasting with unknown dimensions; INVALID_ARGUMENT "Dimensions must be equal, but are 2 and
/// 3 …".
Result<PartialShape> broadcast_partial(const PartialShape& a, const PartialShape& b);

} // namespace troupe
