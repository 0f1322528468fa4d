// FFT, RFFT, their inverses, and all of them over the last two and three dimensions. Computed in
// the precision of the elements.
#include <array>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/fourier.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::linalg_fft {
namespace {

enum class Kind : std::uint8_t { complex, to_complex, to_real };

using Dims = std::array<std::int64_t, 3>;

/// A transform over up to three dimensions; those that an op lacks are 1.
struct Plan {
  bool inverse = false;
  Kind kind = Kind::complex;
  std::int64_t batch = 1;
  Dims in = {1, 1, 1}, out = {1, 1, 1}, size = {1, 1, 1};

  double scale() const {
    return inverse ? 1.0 / static_cast<double>(size[0] * size[1] * size[2]) : 1.0;
  }
};

std::int64_t volume(const Dims& dims) {
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

double cost_of(std::int64_t elements) {
  return 3.0 * static_cast<double>(elements) + 100;
}

/// Transforms along dimension `axis` (0 or 1) of `batch` blocks of these dimensions, in place.
template <class T>
void transform_axis(KernelContext& c, const Plan& plan, std::size_t axis, const Dims& dims,
                    std::complex<T>* x) {
  const std::int64_t n = dims[axis];
  if (n == 1)
    return;
  const auto fourier = arith::Fourier<T>::of(n);
  const std::int64_t width = axis == 0 ? dims[1] * dims[2] : dims[2];
  // A task is some columns of one group of rows.
  constexpr std::int64_t columns = 64;
  const std::int64_t tasks = (width + columns - 1) / columns;
  c.parallel_for(plan.batch * volume(dims) / (n * width) * tasks, cost_of(n * columns),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const std::int64_t first = i % tasks * columns;
                     std::complex<T>* at = x + i / tasks * n * width + first;
                     fourier->transform(at, width, at, width, std::min(columns, width - first),
                                        plan.inverse, 1);
                   }
                 });
}

/// Calls `body(input row, output row)` for the rows that the input has of those that are
/// transformed; the others of the output become zeros.
template <class From, class To>
void for_each_row(KernelContext& c, const Plan& plan, const Dims& to_dims, const From* from, To* to,
                  auto body) {
  const std::int64_t rows = to_dims[0] * to_dims[1];
  c.parallel_for(
      plan.batch * rows, cost_of(plan.size[2]), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t a = i % rows / to_dims[1], b = i % to_dims[1];
          To* out = to + i * to_dims[2];
          if (a < plan.in[0] && b < plan.in[1])
            body(from + ((i / rows * plan.in[0] + a) * plan.in[1] + b) * plan.in[2], out);
          else
            std::fill_n(out, to_dims[2], To{});
        }
      });
}

template <class T>
void run_complex(KernelContext& c, const Plan& plan, const std::complex<T>* from,
                 std::complex<T>* to) {
  const std::int64_t n = plan.size[2];
  const auto fourier = arith::Fourier<T>::of(n);
  for_each_row(c, plan, plan.out, from, to, [&](const auto* in, auto* out) {
    fourier->transform(in, 1, out, 1, 1, plan.inverse, plan.scale());
  });
  transform_axis(c, plan, 1, plan.out, to);
  transform_axis(c, plan, 0, plan.out, to);
}

template <class T>
void run_to_complex(KernelContext& c, const Plan& plan, const T* from, std::complex<T>* to) {
  const std::int64_t n = plan.size[2], given = plan.in[2];
  const arith::RealFourier<T> fourier(n);
  for_each_row(c, plan, plan.out, from, to, [&](const T* in, std::complex<T>* out) {
    if (given >= n)
      return fourier.forward(in, out);
    std::vector<T> padded(static_cast<std::size_t>(n));
    std::copy_n(in, given, padded.begin());
    fourier.forward(padded.data(), out);
  });
  transform_axis(c, plan, 1, plan.out, to);
  transform_axis(c, plan, 0, plan.out, to);
}

template <class T>
Status run_to_real(KernelContext& c, const Plan& plan, const std::complex<T>* from, T* to) {
  const std::int64_t n = plan.size[2], half = n / 2 + 1, given = std::min(half, plan.in[2]);
  const Dims dims = {plan.size[0], plan.size[1], half};
  const std::int64_t all[] = {plan.batch, dims[0], dims[1], half};
  TROUPE_ASSIGN(const Shape shape, Shape::make(all));
  TROUPE_ASSIGN(Tensor work, c.allocate_temp(dtype_of<std::complex<T>>, shape));
  auto* x = work.mutable_data<std::complex<T>>().data();
  for_each_row(c, plan, dims, from, x, [&](const auto* in, auto* out) {
    std::copy_n(in, given, out);
    std::fill_n(out + given, half - given, std::complex<T>{});
  });
  transform_axis(c, plan, 0, dims, x);
  transform_axis(c, plan, 1, dims, x);
  const arith::RealFourier<T> fourier(n);
  c.parallel_for(plan.batch * dims[0] * dims[1], cost_of(n),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     fourier.inverse(x + i * half, to + i * n, plan.scale());
                 });
  return {};
}

template <class T>
Status run(KernelContext& c, const Plan& plan, const Tensor& x, Tensor& y) {
  using Complex = std::complex<T>;
  switch (plan.kind) {
  case Kind::complex:
    run_complex<T>(c, plan, x.data<Complex>().data(), y.mutable_data<Complex>().data());
    return {};
  case Kind::to_complex:
    run_to_complex<T>(c, plan, x.data<T>().data(), y.mutable_data<Complex>().data());
    return {};
  case Kind::to_real:
    return run_to_real<T>(c, plan, x.data<Complex>().data(), y.mutable_data<T>().data());
  }
  return {};
}

bool is_double(DType t) {
  return t == DType::float64 || t == DType::complex128;
}

Status compute(KernelContext& c, int rank, Kind kind, bool inverse) {
  const Tensor& x = c.input(0);
  const Shape& in = x.shape();
  if (in.rank() < rank)
    return invalid_argument(str_cat("Input must have rank of at least ", rank, " but got: ", in));
  if (is_double(x.dtype()) != is_double(c.output_type(0)))
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
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() == 0)
    return {};
  return is_double(x.dtype()) ? run<double>(c, plan, x, y) : run<float>(c, plan, x, y);
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
