// Ops that compute each element from the elements at the same place, broadcast dimensions aside:
// what may become one node. Both the pass that fuses them and the kernel that runs the result read
// this list.
#pragma once

#include <string_view>

namespace troupe {

/// How an op treats its inputs.
enum class ElementwiseForm : unsigned char {
  unary,
  broadcast, ///< two inputs of shapes that broadcast
  bias,      ///< the second is a vector along the last dimension of the first
  same_size, ///< two inputs with as many elements; the first one's shape
  same_shape ///< any number of inputs of one shape
};

struct ElementwiseOp {
  std::string_view name;
  ElementwiseForm form;
};

inline constexpr ElementwiseOp elementwise_ops[] = {
    {"Abs", ElementwiseForm::unary},
    {"Ceil", ElementwiseForm::unary},
    {"Cos", ElementwiseForm::unary},
    {"Elu", ElementwiseForm::unary},
    {"Erf", ElementwiseForm::unary},
    {"Exp", ElementwiseForm::unary},
    {"Expm1", ElementwiseForm::unary},
    {"Floor", ElementwiseForm::unary},
    {"Inv", ElementwiseForm::unary},
    {"Log", ElementwiseForm::unary},
    {"Log1p", ElementwiseForm::unary},
    {"Neg", ElementwiseForm::unary},
    {"Reciprocal", ElementwiseForm::unary},
    {"Relu", ElementwiseForm::unary},
    {"Relu6", ElementwiseForm::unary},
    {"Rsqrt", ElementwiseForm::unary},
    {"Sigmoid", ElementwiseForm::unary},
    {"Sign", ElementwiseForm::unary},
    {"Sin", ElementwiseForm::unary},
    {"Softplus", ElementwiseForm::unary},
    {"Sqrt", ElementwiseForm::unary},
    {"Square", ElementwiseForm::unary},
    {"Tanh", ElementwiseForm::unary},
    {"Add", ElementwiseForm::broadcast},
    {"AddV2", ElementwiseForm::broadcast},
    {"DivNoNan", ElementwiseForm::broadcast},
    {"Maximum", ElementwiseForm::broadcast},
    {"Minimum", ElementwiseForm::broadcast},
    {"Mul", ElementwiseForm::broadcast},
    {"MulNoNan", ElementwiseForm::broadcast},
    {"Pow", ElementwiseForm::broadcast},
    {"RealDiv", ElementwiseForm::broadcast},
    {"SquaredDifference", ElementwiseForm::broadcast},
    {"Sub", ElementwiseForm::broadcast},
    {"BiasAdd", ElementwiseForm::bias},
    {"EluGrad", ElementwiseForm::same_size},
    {"InvGrad", ElementwiseForm::same_size},
    {"ReciprocalGrad", ElementwiseForm::same_size},
    {"Relu6Grad", ElementwiseForm::same_size},
    {"ReluGrad", ElementwiseForm::same_size},
    {"RsqrtGrad", ElementwiseForm::same_size},
    {"SigmoidGrad", ElementwiseForm::same_size},
    {"SoftplusGrad", ElementwiseForm::same_size},
    {"SqrtGrad", ElementwiseForm::same_size},
    {"TanhGrad", ElementwiseForm::same_size},
    {"AddN", ElementwiseForm::same_shape},
};

/// Null for another op.
constexpr const ElementwiseOp* find_elementwise_op(std::string_view name) {
  for (const ElementwiseOp& op : elementwise_ops)
    if (op.name == name)
      return &op;
  return nullptr;
}

} // namespace troupe
