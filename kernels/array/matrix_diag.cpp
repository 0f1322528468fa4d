// MatrixDiag, MatrixDiagPart, MatrixSetDiag in three versions each: matrices made of diagonals, the
// diagonals of matrices, and matrices with other diagonals. V2 has bands of diagonals, V3 says on
// which side shorter ones are padded.
#include "kernels/array/internal/diagonals.hpp"
#include "kernels/array/internal/element_bits.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_matrix_diag {
namespace {

using array::Diagonals;
using array::Dims;

Dims leading(std::span<const std::int64_t> dims, int without) {
  return {dims.begin(), dims.end() - without};
}

std::string align_of(const AttrMap& attrs) {
  return attrs.get_or("align", std::string());
}

// ---- shapes that are known before a step

/// The band where `k` is constant; nothing where it is not.
Result<std::optional<Diagonals>> constant_band(ShapeContext& c, int k) {
  Diagonals band;
  if (k >= c.num_inputs())
    return std::optional(band);
  TROUPE_TRY(c.require_rank_at_most(k, 1));
  const Tensor& value = c.input_value(k);
  if (!value.has_value())
    return std::optional<Diagonals>();
  TROUPE_TRY(array::read_k(value, band));
  TROUPE_TRY(array::check_order(band));
  return std::optional(band);
}

Status infer_part(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  if (c.num_inputs() > 2)
    TROUPE_TRY(c.require_rank(2, 0));
  TROUPE_ASSIGN(std::optional<Diagonals> band, constant_band(c, 1));
  const PartialShape& x = c.input(0);
  if (!x.has_rank() || !band)
    return {};
  Dims dims = leading(x.dims(), 2);
  if (band->low != band->high)
    dims.push_back(band->count());
  band->rows = x.dim(x.rank() - 2);
  band->columns = x.dim(x.rank() - 1);
  if (band->rows < 0 || band->columns < 0) {
    dims.push_back(-1);
  } else {
    TROUPE_TRY(array::check_range(*band));
    dims.push_back(band->longest);
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_set(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(c.require_rank_at_least(1, 1));
  TROUPE_TRY(constant_band(c, 2).status());
  return c.output_like(0, 0);
}

/// The size of the matrices that diagonals make; -1 for what is not asked for.
Status set_size(Diagonals& band, std::int64_t rows, std::int64_t columns) {
  const std::int64_t least_rows = band.longest - std::min<std::int64_t>(band.high, 0);
  const std::int64_t least_columns = band.longest + std::max<std::int64_t>(band.low, 0);
  if (rows != -1 && rows < least_rows)
    return invalid_argument("The number of rows is too small.");
  if (columns != -1 && columns < least_columns)
    return invalid_argument("The number of columns is too small.");
  if (rows == -1 && columns == -1)
    rows = columns = std::max(least_rows, least_columns);
  else if (rows == -1)
    rows = least_rows;
  else if (columns == -1)
    columns = least_columns;
  if (rows != least_rows && columns != least_columns)
    return invalid_argument("The number of rows or columns is not consistent with the specified "
                            "d_lower, d_upper, and diagonal.");
  band.rows = rows;
  band.columns = columns;
  return {};
}

Status infer_diag(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  for (int i = 2; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  TROUPE_ASSIGN(std::optional<Diagonals> band, constant_band(c, 1));
  const PartialShape& x = c.input(0);
  if (!x.has_rank() || !band)
    return {};
  const bool one = band->low == band->high;
  if (!one) {
    TROUPE_TRY(c.require_rank_at_least(0, 2));
    if (x.dim(x.rank() - 2) >= 0 && x.dim(x.rank() - 2) != band->count())
      return invalid_argument("The number of diagonals provided in the input does not match the "
                              "lower_diag_index and upper_diag_index range.");
  }
  Dims dims = leading(x.dims(), one ? 1 : 2);
  band->longest = x.dim(x.rank() - 1);
  const auto size = [&](int i) -> std::optional<std::int64_t> {
    if (i >= c.num_inputs())
      return -1;
    const auto value = c.input_as_ints(i);
    return value ? std::optional((*value)[0]) : std::nullopt;
  };
  const auto rows = size(2), columns = size(3);
  if (band->longest < 0 || !rows || !columns) {
    dims.insert(dims.end(), {-1, -1});
  } else {
    TROUPE_TRY(set_size(*band, *rows, *columns));
    dims.insert(dims.end(), {band->rows, band->columns});
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

// ---- kernels

Result<Diagonals> read_band(KernelContext& c, int k, std::string_view none = {}) {
  Diagonals band;
  array::set_alignment(band, align_of(c.attrs()));
  if (k < c.num_inputs() && none.empty())
    TROUPE_TRY(array::read_k(c.input(k), band));
  else if (k < c.num_inputs())
    TROUPE_TRY(array::read_k(c.input(k), band, none));
  return band;
}

Result<std::int64_t> scalar_of(KernelContext& c, int i, std::string_view name) {
  if (i >= c.num_inputs())
    return -1;
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(str_cat(name, " must be a scalar"));
  return c.input(i).value<std::int32_t>();
}

template <class Bits>
Bits padding_of(KernelContext& c, int i) {
  return i < c.num_inputs() ? *static_cast<const Bits*>(c.input(i).raw()) : Bits{};
}

Status compute_diag(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Diagonals band, read_band(c, 1));
  TROUPE_ASSIGN(const std::int64_t rows, scalar_of(c, 2, "num_rows"));
  TROUPE_ASSIGN(const std::int64_t columns, scalar_of(c, 3, "num_cols"));
  if (c.num_inputs() > 4 && !c.input(4).shape().is_scalar())
    return invalid_argument("padding_value must be a scalar");
  if (x.shape().rank() < 1)
    return invalid_argument(
        str_cat("diagonal must be at least 1-dim, received shape: ", x.shape()));
  TROUPE_TRY(array::check_order(band));
  const bool one = band.low == band.high;
  const int rank = x.shape().rank();
  if (!one && (rank < 2 || x.shape()[rank - 2] != band.count()))
    return invalid_argument("The number of diagonals provided in the input does not match the "
                            "lower_diag_index and upper_diag_index range.");
  band.longest = x.shape()[rank - 1];
  TROUPE_TRY(set_size(band, rows, columns));
  Dims dims = leading(x.shape().dims(), one ? 1 : 2);
  dims.insert(dims.end(), {band.rows, band.columns});
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  array::by_element_size(dtype_size(x.dtype()), [&]<class Bits>() {
    const Bits padding = padding_of<Bits>(c, 4);
    const Bits* from = static_cast<const Bits*>(x.raw());
    Bits* to = static_cast<Bits*>(out.mutable_raw());
    const std::int64_t width = band.columns;
    c.parallel_for(shape.num_elements() / width, 1 + static_cast<double>(width),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t r = first; r < last; ++r) {
                       const std::int64_t batch = r / band.rows, row = r % band.rows;
                       const Bits* matrix = from + batch * band.count() * band.longest;
                       for (std::int64_t j = 0; j < width; ++j) {
                         const std::int64_t d = j - row;
                         to[r * width + j] =
                             d < band.low || d > band.high
                                 ? padding
                                 : matrix[(band.high - d) * band.longest + j -
                                          std::max<std::int64_t>(d, 0) + band.offset(d)];
                       }
                     }
                   });
  });
  return {};
}

Status set_matrix(KernelContext& c, Diagonals& band) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() < 2)
    return invalid_argument(str_cat("input must be at least 2-dim, received shape: ", shape));
  band.rows = shape[shape.rank() - 2];
  band.columns = shape[shape.rank() - 1];
  return {};
}

Status compute_part(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Diagonals band, read_band(c, 1));
  TROUPE_TRY(set_matrix(c, band));
  TROUPE_TRY(array::check_range(band, {".", ""}));
  if (c.num_inputs() > 2 && c.input(2).num_elements() != 1)
    return invalid_argument("Padding must be scalar.");
  Dims dims = leading(x.shape().dims(), 2);
  if (band.low != band.high)
    dims.push_back(band.count());
  dims.push_back(band.longest);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  array::by_element_size(dtype_size(x.dtype()), [&]<class Bits>() {
    const Bits padding = padding_of<Bits>(c, 2);
    const Bits* from = static_cast<const Bits*>(x.raw());
    Bits* to = static_cast<Bits*>(out.mutable_raw());
    c.parallel_for(shape.num_elements() / band.longest, 1 + static_cast<double>(band.longest),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t r = first; r < last; ++r) {
                       const std::int64_t batch = r / band.count();
                       const std::int64_t d = band.high - r % band.count();
                       const Bits* at = from + batch * band.rows * band.columns +
                                        std::max<std::int64_t>(-d, 0) * band.columns +
                                        std::max<std::int64_t>(d, 0);
                       Bits* row = to + r * band.longest;
                       std::fill_n(row, band.longest, padding);
                       row += band.offset(d);
                       for (std::int64_t i = 0; i < band.length(d); ++i)
                         row[i] = at[i * (band.columns + 1)];
                     }
                   });
  });
  return {};
}

Status check_new_diagonals(const Shape& x, const Shape& diagonal, const Diagonals& band) {
  Dims expected = leading(x.dims(), 2);
  if (band.low != band.high)
    expected.push_back(band.count());
  expected.push_back(band.longest);
  if (std::ranges::equal(expected, diagonal.dims()))
    return {};
  return invalid_argument(str_cat(
      "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is "
      "not equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\nInput "
      "shape: ",
      x, "\nDiagonal shape: ", diagonal, "\nExpected diagonal shape: [", str_join(expected, ","),
      "]"));
}

Status compute_set(KernelContext& c) {
  TROUPE_ASSIGN(Diagonals band, read_band(c, 2, "diag_index must have at least one element"));
  TROUPE_TRY(set_matrix(c, band));
  const Shape shape = c.input(0).shape();
  const Tensor diagonal = c.input(1);
  const int rank = diagonal.shape().rank();
  if (rank < 1)
    return invalid_argument(
        str_cat("diagonal must be at least 1-dim, received shape: ", diagonal.shape()));
  TROUPE_TRY(array::check_range(band, {"", ""}));
  const int before_count =
      shape.rank() - 2; // dimensions of the diagonals before that of their number
  if (band.low != band.high && rank <= before_count)
    return invalid_argument(str_cat("Diagonal tensor rank must be large enough to contain a "
                                    "diagonal-count dimension. Input rank: ",
                                    shape.rank(), ", Expected diagonal rank >= ", before_count + 1,
                                    ", Received diagonal rank: ", rank));
  if (band.low != band.high && diagonal.shape()[before_count] != band.count())
    return invalid_argument("The number of diagonals provided in `diag` is not consistent with "
                            "`lower_diag_index` and `upper_diag_index`");
  TROUPE_TRY(check_new_diagonals(shape, diagonal.shape(), band));
  const void* before = c.input(0).raw();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  if (out.raw() != before)
    array::copy_elements(c.input(0), 0, out, 0, shape.num_elements());
  if (diagonal.num_elements() == 0)
    return {};
  array::by_element_size(dtype_size(out.dtype()), [&]<class Bits>() {
    const Bits* from = static_cast<const Bits*>(diagonal.raw());
    Bits* to = static_cast<Bits*>(out.mutable_raw());
    for (std::int64_t r = 0; r < diagonal.num_elements() / band.longest; ++r) {
      const std::int64_t batch = r / band.count(), d = band.high - r % band.count();
      Bits* at = to + batch * band.rows * band.columns +
                 std::max<std::int64_t>(-d, 0) * band.columns + std::max<std::int64_t>(d, 0);
      for (std::int64_t i = 0; i < band.length(d); ++i)
        at[i * (band.columns + 1)] = from[r * band.longest + band.offset(d) + i];
    }
  });
  return {};
}

// ---- gradients; those of V3 pass the alignment on

AttrMap alignment(GradContext& g) {
  const std::string align = align_of(g.attrs());
  AttrMap out;
  out.set("align", align.empty() ? std::string("LEFT_LEFT") : align);
  return out;
}
Value band_of(GradContext& g, int i) {
  return i < g.num_inputs() ? g.input(i) : array::int_scalar(g, 0);
}

Status differentiate_diag(GradContext& g) {
  const Value dy = g.output_grad(0);
  return g.set_input_grad(
      0, g.op("MatrixDiagPartV3", {dy, band_of(g, 1), g.scalar_like(dy, 0)}, alignment(g)));
}

Status differentiate_part(GradContext& g) {
  const Value dy = g.output_grad(0);
  return g.set_input_grad(
      0, g.op("MatrixSetDiagV3", {g.zeros_like(g.input(0)), dy, band_of(g, 1)}, alignment(g)));
}

Status differentiate_set(GradContext& g) {
  const Value dy = g.output_grad(0), k = band_of(g, 2);
  TROUPE_TRY(g.set_input_grad(
      0, g.op("MatrixSetDiagV3", {dy, g.zeros_like(g.input(1)), k}, alignment(g))));
  return g.set_input_grad(1, g.op("MatrixDiagPartV3", {dy, k, g.scalar_like(dy, 0)}, alignment(g)));
}

constexpr auto align_attr = "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = "
                            "'RIGHT_LEFT'";

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T", array::pod_dtypes()}};
  out.expensive = true;
  return out;
}

struct Version {
  std::string_view name, inputs;
  bool aligned = false;
};

void add(OpLibrary& library, const Version& version, std::string_view output, ShapeFn shape,
         GradientFn gradient, KernelFn fn, std::string_view doc) {
  auto op = library.op(version.name);
  op.input(version.inputs).output(output).attr("T: type").shape_fn(shape).gradient(gradient);
  if (version.aligned)
    op.attr(align_attr);
  op.cpu_kernel(fn, options()).doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr std::string_view size = "diagonal: T; k: int32; num_rows: int32; num_cols: int32; "
                                    "padding_value: T";
  for (const Version& v :
       {Version{"MatrixDiag", "diagonal: T"}, Version{"MatrixDiagV2", size},
        Version{"MatrixDiagV3", size, true}, Version{"BatchMatrixDiag", "diagonal: T"}})
    add(library, v, "output: T", infer_diag, differentiate_diag, compute_diag,
        "Matrices with the given diagonals, and padding elsewhere.");
  for (const Version& v :
       {Version{"MatrixDiagPart", "input: T"},
        Version{"MatrixDiagPartV2", "input: T; k: int32; padding_value: T"},
        Version{"MatrixDiagPartV3", "input: T; k: int32; padding_value: T", true},
        Version{"BatchMatrixDiagPart", "input: T"}})
    add(library, v, "diagonal: T", infer_part, differentiate_part, compute_part,
        "Diagonals of matrices; shorter ones are padded.");
  for (const Version& v : {Version{"MatrixSetDiag", "input: T; diagonal: T"},
                           Version{"MatrixSetDiagV2", "input: T; diagonal: T; k: int32"},
                           Version{"MatrixSetDiagV3", "input: T; diagonal: T; k: int32", true},
                           Version{"BatchMatrixSetDiag", "input: T; diagonal: T"}})
    add(library, v, "output: T", infer_set, differentiate_set, compute_set,
        "Matrices with other diagonals.");
}

} // namespace troupe::array_matrix_diag
