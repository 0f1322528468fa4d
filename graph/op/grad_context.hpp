// GradContext: what a gradient rule sees of its node, and how it adds nodes to the graph.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "graph/op/schema.hpp"

namespace troupe {

/// One output of one node of the graph under differentiation, or nothing (no gradient flows).
struct Value {
  int node = -1;
  int slot = 0;
  bool is_none() const { return node < 0; }
  friend bool operator==(const Value&, const Value&) = default;
};

/// Implemented by graph/autodiff; gradient rules stay free of it. Nodes are added within the scope
/// "gradients/<node>_grad", on the node's device and colocated with it. A failed `op` is remembered
/// and returned by the rule's end: rules may chain calls without checks.
class GradContext {
public:
  virtual ~GradContext() = default;

  virtual int num_inputs() const = 0;
  virtual int num_outputs() const = 0;
  virtual Value input(int i) const = 0;
  virtual Value output(int i) const = 0;
  /// None when nothing depends on that output.
  virtual Value output_grad(int i) const = 0;
  virtual const AttrMap& attrs() const = 0;
  virtual DType dtype(Value v) const = 0;
  /// What is known of its shape.
  virtual PartialShape shape(Value v) const = 0;

  /// Adds a node and gives its output 0. Dtype attrs that its inputs determine are filled in; the
  /// rest come from `attrs` and defaults.
  virtual Value op(std::string_view type, std::initializer_list<Value> inputs,
                   AttrMap attrs = {}) = 0;
  virtual Value op(std::string_view type, const std::vector<Value>& inputs, AttrMap attrs = {}) = 0;
  /// Another output of a value's node.
  Value slot(Value v, int slot) const { return {v.node, slot}; }
  virtual Value constant(Tensor value) = 0;

  /// ok unless an `op` failed. An empty Value, or no call at all, means that no gradient flows to
  /// that input.
  virtual Status set_input_grad(int i, Value gradient) = 0;

  // Shorthands.
  Value add(Value a, Value b) { return op("AddV2", {a, b}); }
  Value sub(Value a, Value b) { return op("Sub", {a, b}); }
  Value mul(Value a, Value b) { return op("Mul", {a, b}); }
  Value div(Value a, Value b) { return op("RealDiv", {a, b}); }
  Value neg(Value a) { return op("Neg", {a}); }
  Value identity(Value a) { return op("Identity", {a}); }
  Value shape_of(Value a) { return op("Shape", {a}); }
  Value reshape(Value a, Value shape) { return op("Reshape", {a, shape}); }
  Value zeros_like(Value a) { return op("ZerosLike", {a}); }
  /// A scalar constant of `like`'s dtype.
  Value scalar_like(Value like, double value);
  /// int32 vector constant.
  Value ints(std::initializer_list<int> values);
  /// Sums `gradient` over the axes along which `a` was broadcast against `b`, and reshapes it to
  /// `a`'s shape; both ways: first for a, second for b. Adds no reduction when both static shapes
  /// are known and equal.
  std::pair<Value, Value> unbroadcast(Value a, Value b, Value gradient_a, Value gradient_b);
};

} // namespace troupe
