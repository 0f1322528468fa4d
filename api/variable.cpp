#include "api/variable.hpp"

#include <map>

#include "core/base/strings.hpp"

namespace troupe {

GraphVariable variable(const Scope& scope, std::string_view name, DType dtype, const Shape& shape,
                       Input initial, VariableKind kind) {
  GraphVariable out;
  out.kind_ = kind;
  out.dtype_ = dtype;
  out.shape_ = shape;
  AttrMap attrs;
  attrs.set("dtype", dtype);
  attrs.set("shape", PartialShape(shape));
  bool resource = kind == VariableKind::resource;
  out.handle_ =
      scope.named(name)
          .add(resource ? "VarHandleOp" : "VariableV2", std::vector<Output>{}, std::move(attrs))
          .output(0);
  if (out.handle_.is_valid()) // two of one name in different scopes are two
    scope.graph()
        ->node(out.handle_.endpoint().node)
        ->attrs.set("shared_name", out.handle_.node_name());
  Scope inner = scope.sub(name).colocated_with(out.handle_);
  Output value = initial.resolve(inner.named("initial_value"));
  // AssignVariableOp would take any value; the variable is read as what it was declared.
  const bool is_other_dtype = value.is_valid() && value.dtype() != dtype;
  const bool is_other_shape = initial.tensor() && initial.tensor()->shape() != shape;
  if (is_other_dtype || is_other_shape) {
    scope.fail(invalid_argument(
        str_cat("variable '", name, "' is ", to_string(dtype), " of shape ", shape,
                ", but its initial value is ", to_string(value.dtype()),
                initial.tensor() ? str_cat(" of shape ", initial.tensor()->shape()) : "",
                "; give both the same")));
    return out;
  }
  if (resource) {
    out.initializer_ =
        inner.named("assign").add("AssignVariableOp", std::vector<Output>{out.handle_, value});
    AttrMap read;
    read.set("dtype", dtype);
    out.read_ = inner.named("read")
                    .add("ReadVariableOp", std::vector<Output>{out.handle_}, std::move(read))
                    .output(0);
  } else {
    out.initializer_ = inner.named("assign").add("Assign", std::vector<Output>{out.handle_, value});
    out.read_ = inner.named("read").add("Identity", std::vector<Output>{out.handle_}).output(0);
  }
  return out;
}

Operation initialize_all(const Scope& scope, const std::vector<GraphVariable>& variables) {
  std::vector<Operation> initializers;
  for (const GraphVariable& v : variables)
    initializers.push_back(v.initializer());
  return scope.after(initializers).named("init").add("NoOp", std::vector<Output>{});
}

namespace {

// What every optimizer does: gradients, then one update op for each variable, beside it.
template <class Update>
Minimized minimize(const Scope& scope, const Output& loss,
                   const std::vector<GraphVariable>& variables, Update update) {
  Minimized out;
  if (variables.empty())
    scope.fail(invalid_argument("an optimizer needs at least one variable"));
  std::vector<Output> wanted;
  for (const GraphVariable& v : variables)
    wanted.push_back(v.handle());
  std::vector<Output> grads = gradients(scope, {loss}, wanted);
  std::vector<Operation> updates;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!scope.status().ok())
      return out;
    if (!grads[i].is_valid()) {
      scope.fail(invalid_argument(str_cat("the loss does not depend on variable '",
                                          variables[i].handle().node_name(), "'")));
      return out;
    }
    updates.push_back(update(scope.sub("train").colocated_with(variables[i].handle()), variables[i],
                             grads[i], out.slots));
  }
  out.step = scope.after(updates).named("train_step").add("NoOp", std::vector<Output>{});
  return out;
}

Tensor filled(DType dtype, const Shape& shape, double value) {
  Tensor out = Tensor::zeros(dtype, shape);
  for (std::int64_t i = 0; value != 0 && i < out.num_elements(); ++i)
    if (dtype == DType::float64)
      out.mutable_data<double>()[static_cast<std::size_t>(i)] = value;
    else
      out.mutable_data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(value);
  return out;
}

// Numbers of an optimizer that its ops want in their variable's dtype; one Const for each dtype.
class Number {
public:
  Number(const Scope& scope, std::string_view name, double value)
      : scope_(scope.sub("train").named(name)), value_(value) {}
  Output as(DType dtype) {
    auto [entry, is_new] = made_.try_emplace(dtype);
    if (is_new)
      entry->second = scope_.constant(filled(dtype, {}, value_));
    return entry->second;
  }

private:
  Scope scope_;
  double value_;
  std::map<DType, Output> made_;
};

bool has_optimizer_dtype(const Scope& scope, const GraphVariable& v) {
  bool has = v.dtype() == DType::float32 || v.dtype() == DType::float64;
  if (!has)
    scope.fail(invalid_argument(str_cat("variable '", v.handle().node_name(), "' has dtype ",
                                        to_string(v.dtype()),
                                        ", and this optimizer moves float and double only")));
  return has;
}

// State of an optimizer beside its variable; reference variables get reference slots, as their
// update ops want.
GraphVariable slot(const Scope& scope, const GraphVariable& v, std::string_view name,
                   const Shape& shape, double initial) {
  std::string full = str_cat(v.handle().node_name(), "/", name);
  Input value = shape.num_elements() > 16 && initial == 0
                    ? Input(scope
                                .add("Fill",
                                     std::vector<Output>{
                                         scope.constant(Tensor::vector<std::int64_t>(shape.dims())),
                                         scope.constant(filled(v.dtype(), {}, 0))},
                                     {{"index_type", DType::int64}})
                                .output(0))
                    : Input(filled(v.dtype(), shape, initial));
  return variable(scope, full, v.dtype(), shape, value, v.kind());
}

std::string op_name(const GraphVariable& v, std::string_view op) {
  return str_cat(v.kind() == VariableKind::resource ? "Resource" : "", op);
}

} // namespace

Minimized minimize_sgd(const Scope& scope, const Output& loss,
                       const std::vector<GraphVariable>& variables, Input learning_rate) {
  Output rate = learning_rate.resolve(scope.sub("train").named("learning_rate"));
  return minimize(scope, loss, variables,
                  [&](const Scope& s, const GraphVariable& v, const Output& grad, auto&) {
                    return s.add(op_name(v, "ApplyGradientDescent"),
                                 std::vector<Output>{v.handle(), rate, grad});
                  });
}

Minimized minimize_momentum(const Scope& scope, const Output& loss,
                            const std::vector<GraphVariable>& variables, Input learning_rate,
                            const MomentumOptions& options) {
  Output rate = learning_rate.resolve(scope.sub("train").named("learning_rate"));
  Number momentum(scope, "momentum", options.momentum);
  return minimize(scope, loss, variables,
                  [&](const Scope& s, const GraphVariable& v, const Output& grad, auto& slots) {
                    if (!has_optimizer_dtype(s, v))
                      return Operation();
                    slots.push_back(
                        slot(scope.colocated_with(v.handle()), v, "momentum", v.shape(), 0));
                    return s.add(op_name(v, "ApplyMomentum"),
                                 std::vector<Output>{v.handle(), slots.back().handle(), rate, grad,
                                                     momentum.as(v.dtype())},
                                 {{"use_nesterov", options.use_nesterov}});
                  });
}

Minimized minimize_adam(const Scope& scope, const Output& loss,
                        const std::vector<GraphVariable>& variables, Input learning_rate,
                        const AdamOptions& options) {
  Scope train = scope.sub("train");
  Output rate = learning_rate.resolve(train.named("learning_rate"));
  Number first(scope, "beta1", options.beta1), other(scope, "beta2", options.beta2),
      tiny(scope, "epsilon", options.epsilon);
  return minimize(
      scope, loss, variables,
      [&](const Scope& s, const GraphVariable& v, const Output& grad, auto& slots) {
        if (!has_optimizer_dtype(s, v))
          return Operation();
        Output beta1 = first.as(v.dtype()), beta2 = other.as(v.dtype()),
               epsilon = tiny.as(v.dtype());
        Scope beside = scope.colocated_with(v.handle());
        GraphVariable m = slot(beside, v, "adam_m", v.shape(), 0),
                      second = slot(beside, v, "adam_v", v.shape(), 0);
        GraphVariable power1 = slot(beside, v, "beta1_power", {}, options.beta1),
                      power2 = slot(beside, v, "beta2_power", {}, options.beta2);
        slots.insert(slots.end(), {m, second, power1, power2});
        bool resource = v.kind() == VariableKind::resource;
        // The powers are read before they move on; the update waits for nothing else.
        Output p1 = resource ? power1.read() : power1.handle(),
               p2 = resource ? power2.read() : power2.handle();
        Operation update = s.add(op_name(v, "ApplyAdam"),
                                 std::vector<Output>{v.handle(), m.handle(), second.handle(), p1,
                                                     p2, rate, beta1, beta2, epsilon, grad});
        Scope next = s.after({update});
        std::vector<Operation> moved;
        for (auto [power, beta] : {std::pair{&power1, &beta1}, std::pair{&power2, &beta2}}) {
          Output product = next.add("Mul", std::vector<Output>{power->read(), *beta}).output(0);
          moved.push_back(next.add(resource ? "AssignVariableOp" : "Assign",
                                   std::vector<Output>{power->handle(), product}));
        }
        return s.after(moved).add("NoOp", std::vector<Output>{});
      });
}

} // namespace troupe
