// MirrorPad: elements before and after in every dimension, mirrored at the border; REFLECT leaves
// the border itself out, SYMMETRIC repeats it. MirrorPadGrad folds such a tensor back, summing.
#include <complex>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::array_mirror_pad {
namespace {

using array::Dims;

/// 1 where the border is not repeated (REFLECT), 0 where it is.
Result<std::int64_t> offset_of(const AttrMap& attrs) {
  TROUPE_ASSIGN(const auto mode, attrs.get<std::string>("mode"));
  return mode == "REFLECT" ? 1 : 0;
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const std::int64_t offset, offset_of(c.attrs()));
  return prepared(offset);
}

/// The paddings of one dimension, against the extent that they mirror.
Status check(std::int64_t before, std::int64_t after, std::int64_t extent, std::int64_t offset) {
  if (before < 0 || after < 0)
    return invalid_argument(str_cat("paddings must be non-negative: ", before, " ", after));
  if (extent < 0 || (before <= extent - offset && after <= extent - offset))
    return {};
  if (offset == 0)
    return invalid_argument(str_cat("paddings must be no greater than the dimension size: ", before,
                                    ", ", after, " greater than ", extent));
  return invalid_argument(str_cat("paddings must be less than the dimension size: ", before, ", ",
                                  after, " not less than ", extent));
}

/// The extent after padding, or, with `back`, before it.
Result<std::int64_t> other_extent(std::int64_t extent, std::int64_t before, std::int64_t after,
                                  std::int64_t offset, bool back) {
  if (!back) {
    TROUPE_TRY(check(before, after, extent, offset));
    TROUPE_ASSIGN(const std::int64_t some, shape_rules::add_dims(extent, before));
    return shape_rules::add_dims(some, after);
  }
  if (before < 0 || after < 0)
    return invalid_argument(str_cat("Paddings must be non-negative: ", before, ", ", after));
  if (extent < 0)
    return extent;
  std::int64_t total = 0;
  if (__builtin_add_overflow(before, after, &total))
    total = std::numeric_limits<std::int64_t>::max();
  if (total >= extent)
    return invalid_argument(str_cat("Total paddings must be less than the input dimension size: ",
                                    total, " was not less than ", extent));
  if (before > extent - total - offset || after > extent - total - offset)
    return invalid_argument(
        offset == 0
            ? str_cat("paddings must be no greater than the output dimension size: ", before, ", ",
                      after, " greater than ", extent - total)
            : str_cat("paddings must be less than the output dimension size: ", before, ", ", after,
                      " not less than ", extent - total));
  return extent - total;
}

Status infer(ShapeContext& c, bool back) {
  TROUPE_TRY(c.require_rank(1, 2));
  const PartialShape &x = c.input(0), &paddings = c.input(1);
  if (paddings.has_rank())
    TROUPE_TRY(shape_rules::merge_dims(paddings.dim(1), 2).status());
  std::int64_t rank = paddings.has_rank() ? paddings.dim(0) : -1;
  if (x.has_rank()) {
    TROUPE_ASSIGN(rank, shape_rules::merge_dims(x.rank(), rank));
  }
  if (rank < 0)
    return {};
  TROUPE_TRY(shape_rules::check_rank(rank));
  Dims dims(static_cast<std::size_t>(rank), -1);
  TROUPE_ASSIGN(const std::int64_t offset, offset_of(c.attrs()));
  const auto amounts = c.input_as_ints(1);
  for (std::size_t i = 0; amounts && x.has_rank() && i < dims.size(); ++i) {
    TROUPE_ASSIGN(dims[i], other_extent(x.dim(static_cast<int>(i)), (*amounts)[2 * i],
                                        (*amounts)[2 * i + 1], offset, back));
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

/// For each position along a padded dimension, where its element comes from.
std::vector<Dims> sources(const Shape& small, const Integers& amounts, std::int64_t offset) {
  std::vector<Dims> out;
  for (int i = 0; i < small.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t before = amounts[2 * at], after = amounts[2 * at + 1], extent = small[i];
    Dims from;
    for (std::int64_t k = 0; k < before + extent + after; ++k) {
      const std::int64_t place = k - before;
      from.push_back(place < 0         ? offset - 1 - place
                     : place >= extent ? 2 * extent - 1 - offset - place
                                       : place);
    }
    out.push_back(std::move(from));
  }
  return out;
}

/// Calls use(small, large, row) for each row of the padded tensor: where its last dimension begins
/// in both, in elements.
template <class Use>
void for_each_row(const Shape& small, const Shape& large, const std::vector<Dims>& from, Use use) {
  const int last = large.rank() - 1;
  const std::int64_t rows = large.num_elements() / large[last];
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t rest = r, at = 0, stride = small[last];
    for (int k = last - 1; k >= 0; --k) {
      at += from[static_cast<std::size_t>(k)][static_cast<std::size_t>(rest % large[k])] * stride;
      rest /= large[k];
      stride *= small[k];
    }
    use(at, r * large[last]);
  }
}

Result<Shape> result_shape(KernelContext& c, const Integers& amounts, bool back) {
  const Shape& shape = c.input(0).shape();
  Dims dims;
  for (int i = 0; i < shape.rank(); ++i) {
    const auto at = 2 * static_cast<std::size_t>(i);
    TROUPE_ASSIGN(const std::int64_t extent, other_extent(shape[i], amounts[at], amounts[at + 1],
                                                          c.prepared<std::int64_t>(), back));
    dims.push_back(extent);
  }
  return Shape::make(dims);
}

Status check_paddings(const Shape& shape, const Shape& paddings) {
  if (paddings.rank() != 2 || paddings[1] != 2)
    return invalid_argument(str_cat("paddings must be a matrix with 2 columns: ", paddings));
  if (paddings[0] != shape.rank())
    return invalid_argument(str_cat("The first dimension of paddings must be the rank of inputs",
                                    paddings, ", ", shape));
  return {};
}

Status compute_pad(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_TRY(check_paddings(x.shape(), c.input(1).shape()));
  TROUPE_ASSIGN(const Integers amounts, integers(c.input(1)));
  TROUPE_ASSIGN(const Shape shape, result_shape(c, amounts, false));
  if (shape == x.shape())
    return c.set_output(0, x);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  if (is_object(x.dtype())) // every text comes at most so often
    TROUPE_TRY(out.charge(array::text_bytes(x, 0, x.num_elements()) *
                          static_cast<std::size_t>(shape.num_elements() / x.num_elements() + 1)));
  const auto from = sources(x.shape(), amounts, c.prepared<std::int64_t>());
  const std::int64_t before = amounts[amounts.size() - 2];
  const std::int64_t middle = x.shape()[x.shape().rank() - 1];
  for_each_row(x.shape(), shape, from, [&](std::int64_t row, std::int64_t to) {
    array::copy_elements(x, row, out, to + before, middle);
    const auto width = static_cast<std::int64_t>(from.back().size());
    for (std::int64_t k = before == 0 ? middle : 0; k < width;
         k = k + 1 == before ? before + middle : k + 1)
      array::copy_elements(x, row + from.back()[static_cast<std::size_t>(k)], out, to + k, 1);
  });
  return {};
}

Status compute_fold(KernelContext& c) {
  TROUPE_TRY(check_paddings(c.input(0).shape(), c.input(1).shape()));
  TROUPE_ASSIGN(const Integers amounts, integers(c.input(1)));
  TROUPE_ASSIGN(const Shape shape, result_shape(c, amounts, true));
  TROUPE_ASSIGN(const Tensor x, widened(c, c.input(0)));
  TROUPE_ASSIGN(Tensor out, allocate_widened(c, 0, shape));
  TROUPE_TRY(array::fill_with_zeros(c, out));
  if (shape.rank() == 0) {
    array::copy_elements(x, 0, out, 0, 1);
    return narrow(c, 0, out);
  }
  const auto from = sources(shape, amounts, c.prepared<std::int64_t>());
  TROUPE_TRY(dispatch(Types<float, double, std::int32_t, std::int64_t, std::complex<double>>{},
                      out.dtype(), [&]<class T>() -> Status {
                        const T* data = x.data<T>().data();
                        T* to = out.mutable_data<T>().data();
                        for_each_row(
                            shape, x.shape(), from, [&](std::int64_t row, std::int64_t at) {
                              for (std::size_t k = 0; k < from.back().size(); ++k)
                                to[row + from.back()[k]] += data[at + static_cast<std::int64_t>(k)];
                            });
                        return {};
                      }));
  return narrow(c, 0, out);
}

Status differentiate(GradContext& g, std::string_view back) {
  AttrMap attrs;
  attrs.set("mode", g.attrs().get_or("mode", std::string("REFLECT")));
  return g.set_input_grad(0, g.op(back, {g.output_grad(0), g.input(1)}, std::move(attrs)));
}

KernelOptions options() {
  KernelOptions out;
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto attrs = "T: type; Tpaddings: {int32, int64} = DT_INT32; "
                         "mode: {'REFLECT', 'SYMMETRIC'}";
  library.op("MirrorPad")
      .input("input: T; paddings: Tpaddings")
      .output("output: T")
      .attr(attrs)
      .shape_fn([](ShapeContext& c) { return infer(c, false); })
      .gradient([](GradContext& g) { return differentiate(g, "MirrorPadGrad"); })
      .cpu_kernel(compute_pad, options())
      .doc("The input with its own elements before and after it in every dimension, mirrored.");
  KernelOptions fold = options();
  fold.types = {{"T", arith::dtypes_of(arith::BinaryOp::add)}};
  library.op("MirrorPadGrad")
      .input("input: T; paddings: Tpaddings")
      .output("output: T")
      .attr(attrs)
      .shape_fn([](ShapeContext& c) { return infer(c, true); })
      .gradient([](GradContext& g) { return differentiate(g, "MirrorPad"); })
      .cpu_kernel(compute_fold, std::move(fold))
      .doc("The gradient of MirrorPad: what was mirrored, added to where it came from.");
}

} // namespace troupe::array_mirror_pad
