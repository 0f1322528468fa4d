// Conj, Real, Imag, ComplexAbs, Angle, Complex: complex numbers taken apart and put together.
// Gradients are those of a real loss: dx = d/d(real part) + i d/d(imaginary part).
#include <cmath>
#include <complex>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math_complex {
namespace {

using arith::ComplexPart;

ComplexPart part_of(std::string_view op) {
  return op == "Real"    ? ComplexPart::real
         : op == "Imag"  ? ComplexPart::imaginary
         : op == "Angle" ? ComplexPart::angle
                         : ComplexPart::length;
}

/// Output 0 = one real number for each complex one.
Status compute_part(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  const ComplexPart part = part_of(c.node().schema->name);
  const arith::UnaryFn fn = arith::complex_part(part, arith::type_of(x.dtype()));
  if (fn == nullptr)
    return unimplemented(str_cat("no parts of ", to_string(x.dtype())));
  const double cost = part == ComplexPart::angle    ? math::costly
                      : part == ComplexPart::length ? math::moderate
                                                    : math::cheap;
  c.parallel_for(x.num_elements(), cost, [&](std::int64_t begin, std::int64_t end) {
    fn(x.raw(), y.mutable_raw(), begin, end);
  });
  return {};
}

Status compute_conj(KernelContext& c) {
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  return dispatch(
      Types<std::complex<float>, std::complex<double>>{}, x.dtype(), [&]<class T>() -> Status {
        const T* from = x.data<T>().data();
        T* to = y.mutable_data<T>().data();
        c.parallel_for(x.num_elements(), math::moderate, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i)
            to[i] = std::conj(from[i]);
        });
        return {};
      });
}

template <class T>
bool join_row(const void* real, const void* imag, void* out, std::int64_t n, arith::RowMode mode) {
  const auto *a = static_cast<const T*>(real), *b = static_cast<const T*>(imag);
  auto* z = static_cast<std::complex<T>*>(out);
  for (std::int64_t i = 0; i < n; ++i)
    z[i] = {a[mode == arith::RowMode::left_scalar ? 0 : i],
            b[mode == arith::RowMode::right_scalar ? 0 : i]};
  return true;
}

Status compute_complex(KernelContext& c) {
  TROUPE_ASSIGN(const Shape shape, broadcast_shapes(c.input(0).shape(), c.input(1).shape()));
  const bool single = c.output_type(0) == DType::complex64;
  const int part = single ? sizeof(float) : sizeof(double);
  const arith::BinaryKernel kernel{
      .fn = single ? join_row<float> : join_row<double>, .in_size = part, .out_size = 2 * part};
  return math::run_binary(c, kernel, shape, math::moderate, "");
}

// ---- gradients

Value join(GradContext& g, Value real, Value imag) {
  const DType whole = g.dtype(real) == DType::float32 ? DType::complex64 : DType::complex128;
  return g.op("Complex", {real, imag}, {{"Tout", whole}});
}
Value part(GradContext& g, std::string_view op, Value whole) {
  const DType real = g.dtype(whole) == DType::complex64 ? DType::float32 : DType::float64;
  return g.op(op, {whole}, {{"Tout", real}});
}

Status of_conj(GradContext& g) {
  return g.set_input_grad(0, g.op("Conj", {g.output_grad(0)}));
}
Status of_real(GradContext& g) {
  return g.set_input_grad(0, join(g, g.output_grad(0), g.scalar_like(g.output_grad(0), 0)));
}
Status of_imag(GradContext& g) {
  return g.set_input_grad(0, join(g, g.scalar_like(g.output_grad(0), 0), g.output_grad(0)));
}
// d|x| = (real dreal + imag dimag) / |x|
Status of_abs(GradContext& g) {
  const Value x = g.input(0), scale = g.op("DivNoNan", {g.output_grad(0), g.output(0)});
  return g.set_input_grad(
      0, join(g, g.mul(scale, part(g, "Real", x)), g.mul(scale, part(g, "Imag", x))));
}
// d angle = (real dimag - imag dreal) / |x|^2
Status of_angle(GradContext& g) {
  const Value x = g.input(0), real = part(g, "Real", x), imag = part(g, "Imag", x);
  const Value square = g.add(g.mul(real, real), g.mul(imag, imag));
  const Value scale = g.div(g.output_grad(0), square);
  return g.set_input_grad(0, join(g, g.neg(g.mul(scale, imag)), g.mul(scale, real)));
}
Status of_complex(GradContext& g) {
  const Value dz = g.output_grad(0);
  const auto [real, imag] =
      g.unbroadcast(g.input(0), g.input(1), part(g, "Real", dz), part(g, "Imag", dz));
  TROUPE_TRY(g.set_input_grad(0, real));
  return g.set_input_grad(1, imag);
}

/// For float parts of complex64 and double parts of complex128.
void add_kernels(OpLibrary::Builder& op, KernelFn fn, const char* whole, const char* part) {
  for (const auto& [complex, real] :
       {std::pair{DType::complex64, DType::float32}, std::pair{DType::complex128, DType::float64}})
    op.cpu_kernel(fn, {.types = {{whole, {complex}}, {part, {real}}}, .expensive = true});
}

void add_part(OpLibrary& library, std::string_view name, std::string_view input,
              std::string_view output, GradientFn gradient, std::string_view doc) {
  OpLibrary::Builder op = library.op(name);
  op.input(input)
      .output(output)
      .attr("T: {complex64, complex128} = DT_COMPLEX64; Tout: {float, double} = DT_FLOAT")
      .shape_fn(shape_unchanged)
      .gradient(gradient)
      .doc(doc);
  add_kernels(op, compute_part, "T", "Tout");
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Conj")
      .input("input: T")
      .output("output: T")
      .attr("T: {complex64, complex128, variant} = DT_COMPLEX64")
      .shape_fn(shape_unchanged)
      .gradient(of_conj)
      .cpu_kernel(compute_conj, math::for_types({DType::complex64, DType::complex128}))
      .doc("The complex conjugate.");
  add_part(library, "Real", "input: T", "output: Tout", of_real, "The real part.");
  add_part(library, "Imag", "input: T", "output: Tout", of_imag, "The imaginary part.");
  add_part(library, "Angle", "input: T", "output: Tout", of_angle, "The angle, in radians.");
  add_part(library, "ComplexAbs", "x: T", "y: Tout", of_abs, "The absolute value.");
  OpLibrary::Builder complex = library.op("Complex");
  complex.input("real: T; imag: T")
      .output("out: Tout")
      .attr("T: {float, double} = DT_FLOAT; Tout: {complex64, complex128} = DT_COMPLEX64")
      .shape_fn(shape_broadcast_binary)
      .gradient(of_complex)
      .doc("The complex number of two parts.");
  add_kernels(complex, compute_complex, "Tout", "T");
}

} // namespace troupe::math_complex
