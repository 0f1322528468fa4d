// Ops that compute each element from the elements at the same place, broadcast dimensions aside:
// what may become one node. Both the pass that fuses them and the kernel that runs the result read
// this list, which is that of elementwise.def.
#pragma once

#include <string_view>

namespace troupe {

/// How an op treats its inputs.
enum class ElementwiseForm : unsigned char {
  unary,
  broadcast,      ///< two inputs of shapes that broadcast
  bias,           ///< the second is a vector along the last dimension of the first
  gradient_first, ///< a gradient and a value with as many elements; the first one's shape
  gradient_last,  ///< a value and a gradient with as many elements; the first one's shape
  same_shape      ///< any number of inputs of one shape
};
constexpr bool is_gradient(ElementwiseForm form) {
  return form == ElementwiseForm::gradient_first || form == ElementwiseForm::gradient_last;
}

struct ElementwiseOp {
  std::string_view name;
  ElementwiseForm form;
};

inline constexpr ElementwiseOp elementwise_ops[] = {
#define TROUPE_FUSIBLE(op, form, function) {#op, ElementwiseForm::form},
#include "graph/op/elementwise.def"
};

/// Null for another op.
constexpr const ElementwiseOp* find_elementwise_op(std::string_view name) {
  for (const ElementwiseOp& op : elementwise_ops)
    if (op.name == name)
      return &op;
  return nullptr;
}

} // namespace troupe
