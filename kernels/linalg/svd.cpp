// Svd: singular values, largest first, and the vectors u and v with a = u s v^H.
#include <limits>

#include "kernels/linalg/internal/decompose.hpp"

namespace troupe::linalg_svd {
namespace {

using namespace linalg;

struct Factors {
  Tensor s;
  Matrices u, v;
};

template <class T>
void set_nan(Factors& out, std::int64_t i, std::int64_t p, bool vectors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(out.s.mutable_data<T>().data() + i * p, p, T(nan));
  if (!vectors)
    return;
  out.u.at_mutable<T>(i).setConstant(nan);
  out.v.at_mutable<T>(i).setConstant(nan);
}

template <class T>
void decompose(const ConstView<T>& a, std::int64_t i, bool vectors, bool full, Factors& out) {
  const std::int64_t p = std::min(a.rows(), a.cols());
  if (p == 0) {
    if (vectors && full) {
      out.u.at_mutable<T>(i).setIdentity();
      out.v.at_mutable<T>(i).setIdentity();
    }
    return;
  }
  if (!a.allFinite()) {
    set_nan<T>(out, i, p, vectors);
    return;
  }
  svd<T>(a, full, out.s.mutable_data<T>().data() + i * p,
         vectors ? out.u.at_mutable<T>(i).data() : nullptr,
         vectors ? out.v.at_mutable<T>(i).data() : nullptr);
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Matrices a, operand(c, 0));
  const auto outer = outer_dims(c.input(0).shape());
  const bool vectors = attr_or(c, "compute_uv", true), full = attr_or(c, "full_matrices", false);
  const std::int64_t p = std::min(a.rows, a.cols);
  Factors out;
  TROUPE_ASSIGN(out.s, result(c, 0, outer, {p}));
  if (vectors) {
    TROUPE_ASSIGN(out.u, result_matrices(c, 1, outer, a.rows, full ? a.rows : p));
    TROUPE_ASSIGN(out.v, result_matrices(c, 2, outer, a.cols, full ? a.cols : p));
  }
  TROUPE_TRY(dispatch(Wide{}, a.wide.dtype(), [&]<class T>() {
    const double cost = 20 * cubic(std::max(a.rows, a.cols));
    return for_each_matrix(c, linalg::product(outer), cost, [&](std::int64_t i) -> Status {
      decompose<T>(a.at<T>(i), i, vectors, full, out);
      return {};
    });
  }));
  TROUPE_TRY(narrow(c, 0, out.s));
  for (int i : {1, 2}) {
    if (vectors)
      TROUPE_TRY(narrow(c, i, (i == 1 ? out.u : out.v).wide));
    else
      TROUPE_TRY(c.allocate_output(i, Shape{0}).status());
  }
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_ASSIGN(const bool vectors, c.attr<bool>("compute_uv"));
  TROUPE_ASSIGN(const bool full, c.attr<bool>("full_matrices"));
  const PartialShape &a = c.input(0), outer = outer_of(a);
  const std::int64_t m = from_end(a, 2), n = from_end(a, 1);
  const std::int64_t p = m < 0 || n < 0 ? shape_rules::unknown_dim : std::min(m, n);
  TROUPE_TRY(c.set_output(0, with_inner(outer, {p})));
  TROUPE_TRY(c.set_output(1, vectors ? with_inner(outer, {m, full ? m : p}) : PartialShape{0}));
  return c.set_output(2, vectors ? with_inner(outer, {n, full ? n : p}) : PartialShape{0});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Svd")
      .input("input: T")
      .output("s: T; u: T; v: T")
      .attr("compute_uv: bool = true; full_matrices: bool = false")
      .attr("T: {double, float, half, complex64, complex128}")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("Singular values of each matrix, largest first, and the vectors to them.");
  library.op("BatchSvd")
      .input("input: T")
      .output("s: T; u: T; v: T")
      .attr("compute_uv: bool = true; full_matrices: bool = false")
      .attr("T: {double, float, complex64, complex128}")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, kernel_options())
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
}

} // namespace troupe::linalg_svd
