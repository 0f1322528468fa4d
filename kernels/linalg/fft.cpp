// FFT, RFFT, their inverses, and all of them over the last two and three dimensions. Computed in
// double precision.
#include <array>

#include "graph/op/grad_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/linalg/internal/fourier.hpp"

namespace troupe::linalg_fft {
namespace {

using linalg::Fourier;
using Complex = std::complex<double>;

enum class Kind : std::uint8_t { complex, to_complex, to_real };

/// A transform over up to three dimensions; those that an op lacks are 1.
struct Plan {
  bool inverse = false;
  Kind kind = Kind::complex;
  std::int64_t batch = 1;
  std::array<std::int64_t, 3> in = {1, 1, 1}, out = {1, 1, 1}, size = {1, 1, 1};
  std::vector<Fourier> transforms; // by dimension

  std::int64_t elements() const { return size[0] * size[1] * size[2]; }
};

std::int64_t volume(const std::array<std::int64_t, 3>& dims) {
  return dims[0] * dims[1] * dims[2];
}

/// Sets the dimensions that input 1 asks for. `dims` are the output's.
Status read_lengths(KernelContext& c, int rank, Plan& plan, std::vector<std::int64_t>& dims) {
  const Tensor& lengths = c.input(1);
  const Shape& in = c.input(0).shape();
  if (lengths.shape() != Shape{rank})
    return invalid_argument(str_cat("fft_length must have shape [", rank, "]"));
  TROUPE_ASSIGN(const Integers wanted, integers(lengths));
  for (int i = 0; i < rank; ++i) {
    const std::int64_t n = wanted[static_cast<std::size_t>(i)];
    if (n < 0)
      return invalid_argument(str_cat("fft_length[", i, "] must >= 0, but got: ", n));
    const bool innermost = i == rank - 1;
    const std::int64_t needed = plan.kind == Kind::to_real && innermost ? n / 2 + 1 : n;
    const int axis = in.rank() - rank + i;
    if (in[axis] != 0 && in[axis] < needed)
      return invalid_argument(str_cat("Input dimension ", axis, " must have length of at least ",
                                      needed, " but got: ", in[axis]));
    plan.size[static_cast<std::size_t>(3 - rank + i)] = n;
    dims[static_cast<std::size_t>(axis)] =
        plan.kind == Kind::to_complex && innermost && n != 0 ? n / 2 + 1 : n;
  }
  return {};
}

/// Reads what the input has of the part that is transformed.
template <class T>
void load(const Plan& plan, const T* from, Complex* to) {
  std::array<std::int64_t, 3> part = plan.size;
  if (plan.kind == Kind::to_real)
    part[2] = plan.size[2] / 2 + 1;
  for (std::size_t i = 0; i < 3; ++i)
    part[i] = std::min(part[i], plan.in[i]);
  for (std::int64_t a = 0; a < part[0]; ++a)
    for (std::int64_t b = 0; b < part[1]; ++b)
      for (std::int64_t i = 0; i < part[2]; ++i)
        to[(a * plan.size[1] + b) * plan.size[2] + i] = from[(a * plan.in[1] + b) * plan.in[2] + i];
}

template <class T>
void store(const Plan& plan, const Complex* from, T* to) {
  const double scale = plan.inverse ? 1.0 / static_cast<double>(plan.elements()) : 1.0;
  for (std::int64_t a = 0; a < plan.out[0]; ++a)
    for (std::int64_t b = 0; b < plan.out[1]; ++b)
      for (std::int64_t i = 0; i < plan.out[2]; ++i) {
        const Complex value = from[(a * plan.size[1] + b) * plan.size[2] + i] * scale;
        if constexpr (std::is_same_v<T, Complex>)
          to[(a * plan.out[1] + b) * plan.out[2] + i] = value;
        else
          to[(a * plan.out[1] + b) * plan.out[2] + i] = value.real();
      }
}

/// Transforms along dimension `axis` of the whole.
void transform_axis(const Plan& plan, std::size_t axis, Complex* x, std::vector<Complex>& line) {
  const std::int64_t n = plan.size[axis];
  if (n == 1)
    return;
  std::int64_t stride = 1;
  for (std::size_t i = axis + 1; i < 3; ++i)
    stride *= plan.size[i];
  line.resize(static_cast<std::size_t>(n));
  for (std::int64_t start = 0; start < plan.elements(); ++start) {
    if (start / stride % n != 0)
      continue;
    Complex* first = x + start;
    for (std::int64_t k = 0; k < n; ++k)
      line[static_cast<std::size_t>(k)] = first[k * stride];
    plan.transforms[axis].transform(line.data(), plan.inverse);
    for (std::int64_t k = 0; k < n; ++k)
      first[k * stride] = line[static_cast<std::size_t>(k)];
  }
}

/// The half of each innermost row that a real signal's other half implies.
void mirror(const Plan& plan, Complex* x) {
  const std::int64_t n = plan.size[2];
  for (std::int64_t row = 0; row < plan.size[0] * plan.size[1]; ++row) {
    Complex* at = x + row * n;
    at[0] = at[0].real();
    if (n % 2 == 0)
      at[n / 2] = at[n / 2].real();
    for (std::int64_t k = n / 2 + 1; k < n; ++k)
      at[k] = std::conj(at[n - k]);
  }
}

template <class From, class To>
void run(const Plan& plan, const From* from, To* to) {
  std::vector<Complex> work(static_cast<std::size_t>(plan.elements())), line;
  load(plan, from, work.data());
  transform_axis(plan, 0, work.data(), line);
  transform_axis(plan, 1, work.data(), line);
  if (plan.kind == Kind::to_real)
    mirror(plan, work.data());
  transform_axis(plan, 2, work.data(), line);
  store(plan, work.data(), to);
}

template <class From, class To>
void run_all(KernelContext& c, const Plan& plan, const Tensor& x, Tensor& y) {
  const From* from = x.data<From>().data();
  To* to = y.mutable_data<To>().data();
  const double cost = 20.0 * static_cast<double>(plan.elements()) + 100;
  c.parallel_for(plan.batch, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      run(plan, from + i * volume(plan.in), to + i * volume(plan.out));
  });
}

DType wide(DType t) {
  return is_complex(t) ? DType::complex128 : DType::float64;
}

Status compute(KernelContext& c, int rank, Kind kind, bool inverse) {
  const Tensor& x = c.input(0);
  const Shape& in = x.shape();
  if (in.rank() < rank)
    return invalid_argument(str_cat("Input must have rank of at least ", rank, " but got: ", in));
  if ((x.dtype() == wide(x.dtype())) != (c.output_type(0) == wide(c.output_type(0))))
    return invalid_argument(str_cat(
        "Wrong types for ", inverse ? "backward" : "forward", kind == Kind::complex ? "" : " real",
        " FFT: in=", static_cast<int>(x.dtype()), " out=", static_cast<int>(c.output_type(0))));
  Plan plan;
  plan.inverse = inverse;
  plan.kind = kind;
  std::vector<std::int64_t> dims(in.dims().begin(), in.dims().end());
  const auto inner = [&](const std::vector<std::int64_t>& all, auto& three) {
    std::copy(all.end() - rank, all.end(), three.end() - rank);
  };
  inner(dims, plan.in);
  inner(dims, plan.size);
  for (int i = 0; i < in.rank() - rank; ++i)
    plan.batch *= in[i];
  if (kind != Kind::complex)
    TROUPE_TRY(read_lengths(c, rank, plan, dims));
  inner(dims, plan.out);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  const DType result = wide(c.output_type(0));
  TROUPE_ASSIGN(Tensor y, result == c.output_type(0) ? c.allocate_output(0, shape)
                                                     : c.allocate_temp(result, shape));
  if (y.num_elements() == 0)
    return narrow(c, 0, y);
  for (std::int64_t n : plan.size)
    plan.transforms.emplace_back(n);
  TROUPE_ASSIGN(const Tensor from, widened(c, x, wide(x.dtype())));
  if (kind == Kind::complex)
    run_all<Complex, Complex>(c, plan, from, y);
  else if (kind == Kind::to_complex)
    run_all<double, Complex>(c, plan, from, y);
  else
    run_all<Complex, double>(c, plan, from, y);
  return narrow(c, 0, y);
}

template <int rank, Kind kind, bool inverse>
Status compute(KernelContext& c) {
  return compute(c, rank, kind, inverse);
}

template <int rank>
Status infer_complex(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, rank));
  return c.output_like(0, 0);
}

template <int rank, Kind kind>
Status infer_real(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, rank));
  TROUPE_TRY(c.require_rank(1, 1));
  if (c.input(1).has_rank() && c.input(1).dim(0) >= 0 && c.input(1).dim(0) != rank)
    return invalid_argument(str_cat("Dimension must be ", rank, " but is ", c.input(1).dim(0)));
  if (!c.input(0).has_rank())
    return {};
  std::vector<std::int64_t> dims = c.input(0).dims();
  const auto lengths = c.input_as_ints(1);
  for (int i = 0; i < rank; ++i) {
    const std::int64_t n = lengths ? (*lengths)[static_cast<std::size_t>(i)] : -1;
    dims[dims.size() - static_cast<std::size_t>(rank - i)] =
        kind == Kind::to_complex && i == rank - 1 && n > 0 ? n / 2 + 1 : n;
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

// The adjoint of a transform is the other one, but for the scale.
Status differentiate(GradContext& g, std::string_view other, int rank, bool inverse) {
  const Value dy = g.output_grad(0);
  const Value sizes =
      g.op("StridedSlice", {g.shape_of(g.input(0)), g.ints({-rank}), g.ints({0}), g.ints({1})},
           {{"end_mask", std::int64_t{1}}});
  const Value size = g.op("Cast", {g.op("Prod", {sizes, g.ints({0})})}, {{"DstT", g.dtype(dy)}});
  const Value turned = g.op(other, {dy});
  return g.set_input_grad(0, inverse ? g.div(turned, size) : g.mul(turned, size));
}

template <int rank>
void add_rank(OpLibrary& library) {
  static const std::string suffix = rank == 1 ? "" : str_cat(rank, "D");
  static const std::string forward = "FFT" + suffix, backward = "IFFT" + suffix;
  KernelOptions options;
  options.expensive = true;
  library.op(forward)
      .input("input: Tcomplex")
      .output("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
      .shape_fn(infer_complex<rank>)
      .gradient([](GradContext& g) { return differentiate(g, backward, rank, false); })
      .cpu_kernel(compute<rank, Kind::complex, false>, options)
      .doc(str_cat("The Fourier transform over the last dimensions, ", rank, " of them."));
  library.op(backward)
      .input("input: Tcomplex")
      .output("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
      .shape_fn(infer_complex<rank>)
      .gradient([](GradContext& g) { return differentiate(g, forward, rank, true); })
      .cpu_kernel(compute<rank, Kind::complex, true>, options)
      .doc(str_cat("The inverse Fourier transform over the last dimensions, ", rank, " of them."));
  options.host_inputs = {"fft_length"};
  library.op("R" + forward)
      .input("input: Treal; fft_length: int32")
      .output("output: Tcomplex")
      .attr("Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64")
      .shape_fn(infer_real<rank, Kind::to_complex>)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute<rank, Kind::to_complex, false>, options)
      .doc(
          "The Fourier transform of real numbers; of the last dimension, the half that tells all.");
  library.op("IR" + forward)
      .input("input: Tcomplex; fft_length: int32")
      .output("output: Treal")
      .attr("Treal: {float, double} = DT_FLOAT; Tcomplex: {complex64, complex128} = DT_COMPLEX64")
      .shape_fn(infer_real<rank, Kind::to_real>)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute<rank, Kind::to_real, true>, options)
      .doc("The real numbers whose Fourier transform this is half of.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add_rank<1>(library);
  add_rank<2>(library);
  add_rank<3>(library);
}

} // namespace troupe::linalg_fft
