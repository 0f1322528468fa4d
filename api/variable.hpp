// Variables and optimizers: what a training program needs beyond single ops.
#pragma once

#include <string_view>
#include <vector>

#include "api/scope.hpp"

namespace troupe {

enum class VariableKind { resource, reference };

/// A trainable or other state tensor: the op that owns it, its initialiser and its reads.
class GraphVariable {
public:
  GraphVariable() = default;
  VariableKind kind() const { return kind_; }
  /// The handle (resource) or the reference.
  const Output& handle() const { return handle_; }
  /// The value, as an ordinary tensor.
  const Output& read() const { return read_; }
  /// Gives it its initial value.
  const Operation& initializer() const { return initializer_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }

private:
  friend GraphVariable variable(const Scope&, std::string_view, DType, const Shape&, Input,
                                VariableKind);
  VariableKind kind_ = VariableKind::resource;
  Output handle_, read_;
  Operation initializer_;
  DType dtype_ = DType::invalid;
  Shape shape_;
};

/// Makes VarHandleOp (or VariableV2), its initialiser and its read, on the scope's device. The name
/// of its node, scopes and all, is also its shared name.
GraphVariable variable(const Scope& scope, std::string_view name, DType dtype, const Shape& shape,
                       Input initial, VariableKind kind = VariableKind::resource);
/// A NoOp after all initialisers.
Operation initialize_all(const Scope& scope, const std::vector<GraphVariable>& variables);

/// Steps that move variables against a loss's gradient. Slots are made on their variable's device
/// and initialised by `slots`; those that have any are for variables of float or double.
struct Minimized {
  Operation step;                   ///< run this
  std::vector<GraphVariable> slots; ///< to be initialised with the variables
};
Minimized minimize_sgd(const Scope& scope, const Output& loss,
                       const std::vector<GraphVariable>& variables, Input learning_rate);
struct MomentumOptions {
  float momentum = 0.9f;
  bool use_nesterov = false;
};
Minimized minimize_momentum(const Scope& scope, const Output& loss,
                            const std::vector<GraphVariable>& variables, Input learning_rate,
                            const MomentumOptions& options = {});
struct AdamOptions {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
};
Minimized minimize_adam(const Scope& scope, const Output& loss,
                        const std::vector<GraphVariable>& variables, Input learning_rate,
                        const AdamOptions& options = {});

} // namespace troupe
