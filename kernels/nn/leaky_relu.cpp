// LeakyRelu, Selu and Softsign, and the ops of their gradients.
#include <cstring>
#include <type_traits>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::nn_leaky_relu {
namespace {

constexpr double selu_scale = 1.0507009873554804934193349852946;
constexpr double selu_scale_alpha = 1.7580993408473768599402175208123;

/// Elements side by side, computed without a branch: which sign a feature has nobody can foretell.
template <class T>
struct Lanes {
  static constexpr std::int64_t count = 16 / sizeof(T); // a register of any processor
  using Type [[gnu::vector_size(16)]] = T;

  static Type load(const T* from) {
    Type x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  static void store(const Type& x, T* to) { std::memcpy(to, &x, sizeof x); }
};

// The functions are of V, an element or lanes of them.
struct Leaky {
  template <class T, class V>
  static V value(V x, T alpha) {
    return x > T(0) ? x : x * alpha;
  }
  template <class T, class V>
  static V gradient(V dy, V x, T alpha) {
    return x > T(0) ? dy : dy * alpha;
  }
};
/// Of what Elu gives, which is exp(x) - 1 below zero. The gradient is given the output.
struct Selu {
  template <class T, class V>
  static V value(V elu, T) {
    return elu < T(0) ? elu * T(selu_scale_alpha) : elu * T(selu_scale);
  }
  template <class T, class V>
  static V gradient(V dy, V y, T) {
    return y < T(0) ? dy * (y + T(selu_scale_alpha)) : dy * T(selu_scale);
  }
};
struct Softsign {
  template <class T, class V>
  static V value(V x, T) {
    return x / (T(1) + (x < T(0) ? -x : x));
  }
  template <class T, class V>
  static V gradient(V dy, V x, T) {
    const V below = T(1) + (x < T(0) ? -x : x);
    return dy / (below * below);
  }
};

// The slope is a number of the dtype, also where the rest is computed in a wider one.
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  const float alpha = c.attrs().get_or("alpha", 0.0F);
  const DType dtype = c.input_type(0);
  if (dtype == DType::float16)
    return prepared(static_cast<double>(static_cast<float>(Half(alpha))));
  if (dtype == DType::bfloat16)
    return prepared(static_cast<double>(static_cast<float>(BFloat16(alpha))));
  return prepared(static_cast<double>(alpha));
}

template <class Function>
Status compute(KernelContext& c) {
  Tensor x = c.input(0);
  TROUPE_ASSIGN(Tensor y, c.forward_or_allocate(0, 0, x.shape()));
  if constexpr (std::is_same_v<Function, Selu>) {
    TROUPE_ASSIGN(const auto elu, arith::unary(arith::UnaryOp::elu, x.dtype()));
    c.parallel_for(
        x.num_elements(), math::nanoseconds(arith::cost_of(arith::UnaryOp::elu)),
        [&](std::int64_t begin, std::int64_t end) { elu(x.raw(), y.mutable_raw(), begin, end); });
    x = y;
  }
  return dispatch(Floats{}, x.dtype(), [&]<class T>() -> Status {
    const auto alpha = static_cast<T>(c.prepared<double>());
    const T* from = x.data<T>().data();
    T* to = y.mutable_data<T>().data();
    c.parallel_for(x.num_elements(), 1, [&](std::int64_t begin, std::int64_t end) {
      using L = Lanes<T>;
      std::int64_t i = begin;
      for (; i + L::count <= end; i += L::count)
        L::store(Function::value(L::load(from + i), alpha), to + i);
      for (; i < end; ++i)
        to[i] = Function::value(from[i], alpha);
    });
    return {};
  });
}

template <class Function>
Status compute_grad(KernelContext& c) {
  const Tensor dy = c.input(0), x = c.input(1);
  if (dy.shape() != x.shape())
    return invalid_argument(str_cat(
        "Inputs to operation ", c.node_name(), " of type ", c.node().schema->name,
        " must have the same size and shape.  Input 0: ", dy.shape(), " != input 1: ", x.shape()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, x.shape()));
  return dispatch(Floats{}, x.dtype(), [&]<class T>() -> Status {
    const auto alpha = static_cast<T>(c.prepared<double>());
    const T *gradient = dy.data<T>().data(), *from = x.data<T>().data();
    T* to = dx.mutable_data<T>().data();
    c.parallel_for(x.num_elements(), 1, [&](std::int64_t begin, std::int64_t end) {
      using L = Lanes<T>;
      std::int64_t i = begin;
      for (; i + L::count <= end; i += L::count)
        L::store(Function::gradient(L::load(gradient + i), L::load(from + i), alpha), to + i);
      for (; i < end; ++i)
        to[i] = Function::gradient(gradient[i], from[i], alpha);
    });
    return {};
  });
}

Status infer_grad(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape out, shape_rules::merge_shapes(c.input(0), c.input(1)));
  return c.set_output(0, std::move(out));
}

AttrMap alpha_of(GradContext& g) {
  return {{"alpha", g.attrs().get_or("alpha", 0.2F)}};
}
Status differentiate_leaky(GradContext& g) {
  return g.set_input_grad(0, g.op("LeakyReluGrad", {g.output_grad(0), g.input(0)}, alpha_of(g)));
}
Status differentiate_leaky_grad(GradContext& g) {
  TROUPE_TRY(
      g.set_input_grad(0, g.op("LeakyReluGrad", {g.output_grad(0), g.input(1)}, alpha_of(g))));
  return g.set_input_grad(1, g.zeros_like(g.input(1)));
}
Status differentiate_selu(GradContext& g) {
  return g.set_input_grad(0, g.op("SeluGrad", {g.output_grad(0), g.output(0)}));
}
Status differentiate_softsign(GradContext& g) {
  return g.set_input_grad(0, g.op("SoftsignGrad", {g.output_grad(0), g.input(0)}));
}

struct Row {
  std::string_view name, gradient_name, second;
  std::string_view extra; ///< an attribute
  KernelFn value, value_narrow, grad, grad_narrow;
  GradientFn differentiate, differentiate_grad;
  std::string_view doc, grad_doc;
};

void add(OpLibrary& library, const Row& row) {
  constexpr auto floats = "T: {half, bfloat16, float, double}";
  KernelOptions wide, narrow;
  wide.types = {{"T", {DType::float32, DType::float64}}};
  narrow.types = {{"T", {DType::float16, DType::bfloat16}}};
  wide.prepare = narrow.prepare = prepare;
  const std::string attrs =
      row.extra.empty() ? std::string(floats) : str_cat(row.extra, "; ", floats, " = DT_FLOAT");
  library.op(row.name)
      .input("features: T")
      .output("activations: T")
      .attr(attrs)
      .shape_fn(shape_unchanged)
      .gradient(row.differentiate)
      .cpu_kernel(row.value, wide)
      .cpu_kernel(row.value_narrow, narrow)
      .doc(row.doc);
  OpLibrary::Builder gradient = library.op(row.gradient_name);
  gradient.input(str_cat("gradients: T; ", row.second, ": T"))
      .output("backprops: T")
      .attr(attrs)
      .shape_fn(infer_grad)
      .cpu_kernel(row.grad, wide)
      .cpu_kernel(row.grad_narrow, narrow)
      .doc(row.grad_doc);
  if (row.differentiate_grad)
    gradient.gradient(row.differentiate_grad);
  else
    gradient.not_differentiable("its gradient is made where graphs are written");
}

} // namespace

void register_ops(OpLibrary& library) {
  add(library, {"LeakyRelu", "LeakyReluGrad", "features", "alpha: float = 0.20000000298023224",
                compute<Leaky>, in_wider<compute<Leaky>>, compute_grad<Leaky>,
                in_wider<compute_grad<Leaky>>, differentiate_leaky, differentiate_leaky_grad,
                "x where it is positive, else alpha x.", "The gradient of LeakyRelu."});
  add(library, {"Selu", "SeluGrad", "outputs", "", compute<Selu>, in_wider<compute<Selu>>,
                compute_grad<Selu>, in_wider<compute_grad<Selu>>, differentiate_selu, nullptr,
                "scale x where x is positive, else scale alpha (exp(x) - 1).",
                "The gradient of Selu, from its outputs."});
  add(library,
      {"Softsign", "SoftsignGrad", "features", "", compute<Softsign>, in_wider<compute<Softsign>>,
       compute_grad<Softsign>, in_wider<compute_grad<Softsign>>, differentiate_softsign, nullptr,
       "x / (1 + |x|).", "The gradient of Softsign."});
}

} // namespace troupe::nn_leaky_relu
