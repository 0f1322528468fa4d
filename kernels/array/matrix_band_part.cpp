// MatrixBandPart: a matrix with zeros outside a band around its diagonal.
#include <algorithm>

#include "graph/op/grad_context.hpp"
#include "kernels/array/internal/element_bits.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_matrix_band_part {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_TRY(c.require_rank(2, 0));
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  return c.output_like(0, 0);
}

Status differentiate(GradContext& g) {
  return g.set_input_grad(0, g.op("MatrixBandPart", {g.output_grad(0), g.input(1), g.input(2)}));
}

Result<std::int64_t> width(KernelContext& c, int i, std::string_view name, std::int64_t extent,
                           std::string_view of) {
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(str_cat(name, " must be scalar, got shape ", c.input(i).shape()));
  TROUPE_ASSIGN(const Integers number, integers(c.input(i)));
  if (number[0] > extent)
    return invalid_argument(str_cat(name, " must be negative or less or equal to number of ", of,
                                    " (", extent, ") got: ", number[0]));
  return number[0] < 0 ? extent : number[0];
}

Status compute(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  if (shape.rank() < 2)
    return invalid_argument(str_cat("input must be at least 2-dim, received shape: ", shape));
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  TROUPE_ASSIGN(const std::int64_t lower, width(c, 1, "num_lower", rows, "rows"));
  TROUPE_ASSIGN(const std::int64_t upper, width(c, 2, "num_upper", columns, "columns"));
  if (shape.num_elements() == 0)
    return c.allocate_output(0, shape).status();
  const void* from = c.input(0).raw();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  const auto run = [&]<class Bits>() {
    const Bits* x = static_cast<const Bits*>(from);
    Bits* y = static_cast<Bits*>(out.mutable_raw());
    c.parallel_for(shape.num_elements() / columns, 1 + 0.2 * static_cast<double>(columns),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t r = first; r < last; ++r) {
                       const std::int64_t row = r % rows;
                       const std::int64_t begin = std::clamp<std::int64_t>(row - lower, 0, columns);
                       const std::int64_t end =
                           std::clamp<std::int64_t>(row + upper + 1, begin, columns);
                       Bits* to = y + r * columns;
                       std::fill(to, to + begin, Bits{});
                       if (x != y)
                         std::copy_n(x + r * columns + begin, end - begin, to + begin);
                       std::fill(to + end, to + columns, Bits{});
                     }
                   });
  };
  array::by_element_size(dtype_size(out.dtype()), run);
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", array::pod_dtypes()}};
  options.expensive = true;
  library.op("MatrixBandPart")
      .input("input: T; num_lower: Tindex; num_upper: Tindex")
      .output("band: T")
      .attr("T: type; Tindex: {int32, int64} = DT_INT64")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, options)
      .doc("Matrices with zeros outside a band: num_lower diagonals below the main one and "
           "num_upper above are kept, all where the number is negative.");
  library.op("BatchMatrixBandPart")
      .input("input: T; num_lower: int64; num_upper: int64")
      .output("band: T")
      .attr("T: type")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, options)
      .doc("The same, by its name in graphs before TensorFlow 1.0.");
}

} // namespace troupe::array_matrix_band_part
