// OpSchema: what an op takes and gives; the rule for its shapes and its gradient. Facts about
// graphs, none about devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op/attr_value.hpp"
#include "graph/op/roles.hpp"

namespace troupe {

class ShapeContext;
class GradContext;

/// Infers the output shapes of a node; runs while a graph is imported or built. Errors become
/// INVALID_ARGUMENT naming the node.
using ShapeFn = Status (*)(ShapeContext&);
/// Adds to the graph what computes the gradients of a node's inputs from those of its outputs.
using GradientFn = Status (*)(GradContext&);

/// One declared input or output: a tensor of fixed or attr-given dtype, N tensors of one dtype, or
/// a list of dtypes.
struct ArgDef {
  std::string name;
  DType type = DType::invalid; ///< fixed dtype, or
  std::string type_attr;       ///< … the attr that holds it, or
  std::string type_list_attr;  ///< … the attr that holds one dtype for each tensor
  std::string number_attr;     ///< the attr that says how many tensors of that dtype; empty: one
  bool is_ref = false;
};

struct AttrDef {
  std::string name;
  AttrType type;
  std::optional<AttrValue> default_value;
  std::vector<AttrValue> allowed; ///< dtypes or strings; empty: anything
  bool has_minimum = false;
  std::int64_t minimum = 0; ///< of an int's value, or of a list's length
};

struct OpSchema {
  std::string name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  bool is_stateful = false; ///< never folded, merged or pruned away as equal to another
  bool is_commutative = false;
  bool is_aggregate = false;
  bool allows_uninitialized_input = false; ///< its reference input may hold no value yet
  RoleSet roles;
  std::string doc;
  ShapeFn shape_fn = nullptr;
  GradientFn gradient = nullptr;
  std::string not_differentiable; ///< the reason, when gradient is null

  const AttrDef* find_attr(std::string_view attr) const;
  /// "MatMul(a: T, b: T) -> product: T; transpose_a: bool = false; T: type in {…}", one line, for
  /// people.
  std::string signature() const;
};

/// The whole schema in TensorFlow's words, for messages: "Op<name=MatMul; signature=a:T, b:T ->
/// product:T; attr=transpose_a:bool,default=false; …>".
std::string summarize_op(const OpSchema& schema);

/// Dtypes of a node's tensors, input lists flattened; references are marked (make_ref).
struct NodeTypes {
  std::vector<DType> inputs;
  std::vector<DType> outputs;
};

/// Resolves the declared args with a node's attrs. INVALID_ARGUMENT for a missing or ill-typed
/// attr.
Result<NodeTypes> resolve_types(const OpSchema& schema, const AttrMap& attrs);
/// Half-open ranges of flattened indices: which tensors belong to declared arg i.
struct ArgRange {
  int begin = 0;
  int end = 0;
};
Result<std::vector<ArgRange>> arg_ranges(const std::vector<ArgDef>& args, const AttrMap& attrs);

/// Fills in defaults, then checks that every attr is declared, present, of its type, allowed and
/// above its minimum; placeholders are for the bodies of functions, and refused here; attrs whose
/// name begins with '_' are always allowed. INVALID_ARGUMENT in TensorFlow's words ("NodeDef
/// missing attr 'T' from Op<…>", "Value for attr 'T' of int32 is not in the list of allowed values:
/// …").
Status complete_and_check_attrs(const OpSchema& schema, AttrMap& attrs);

/// Builds a schema from TensorFlow's notation. Mistakes are our own bugs and abort with the op's
/// name.
///
///   SchemaBuilder("AddV2").input("x: T").input("y: T").output("z: T").attr("T: {half,
///   float}").build()
///
///   inputs   "x: float"   "ref: Ref(T)"   "values: N * T"   "args: Tin" (Tin declared as list(type))
///   attrs    "T: type"   "T: {float, int32} = DT_INT32"   "N: int >= 2"   "strides: list(int)"
///            "padding: {'SAME', 'VALID'}"   "transpose_a: bool = false"   "eps: float = 0.001"
///            "shape: shape = { unknown_rank: true }"   "value: tensor"   "f: func"   "axes: list(int) = []"
///
/// Several may stand in one string, separated by ';', as TensorFlow lists them. "numbertype" and
/// "realnumbertype" name sets of dtypes.
class SchemaBuilder {
public:
  explicit SchemaBuilder(std::string_view name);
  SchemaBuilder& input(std::string_view spec);
  SchemaBuilder& output(std::string_view spec);
  SchemaBuilder& attr(std::string_view spec);
  SchemaBuilder& stateful() {
    schema_.is_stateful = true;
    return *this;
  }
  SchemaBuilder& commutative() {
    schema_.is_commutative = true;
    return *this;
  }
  SchemaBuilder& aggregate() {
    schema_.is_aggregate = true;
    return *this;
  }
  SchemaBuilder& allows_uninitialized_input() {
    schema_.allows_uninitialized_input = true;
    return *this;
  }
  /// Adds to the op's roles.
  SchemaBuilder& roles(RoleSet roles) {
    schema_.roles |= roles;
    return *this;
  }
  SchemaBuilder& shape_fn(ShapeFn fn) {
    schema_.shape_fn = fn;
    return *this;
  }
  SchemaBuilder& gradient(GradientFn fn) {
    schema_.gradient = fn;
    return *this;
  }
  SchemaBuilder& not_differentiable(std::string_view why) {
    schema_.not_differentiable = why;
    return *this;
  }
  SchemaBuilder& doc(std::string_view text) {
    schema_.doc = text;
    return *this;
  }
  /// Input specs may name attrs declared later, so everything is resolved here.
  OpSchema build();

private:
  OpSchema schema_;
  std::vector<std::string> input_specs_, output_specs_;
};

} // namespace troupe
