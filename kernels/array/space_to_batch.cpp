// SpaceToBatchND, BatchToSpaceND and their forms for images, SpaceToBatch and BatchToSpace: blocks
// of the padded spatial dimensions become batches, and back.
#include <algorithm>

#include "kernels/array/internal/element_bits.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/wrapping.hpp"

namespace troupe::array_space_to_batch {
namespace {

using array::Dims;

/// Extents of the blocks, and what is added before and after each spatial dimension (or cut off).
struct Blocks {
  Dims size, before, after;
  std::size_t rank() const { return size.size(); }
};

Status check_blocks(const Dims& size) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] < 1)
      return invalid_argument(str_cat("All values in block_shape must be positive, got value, ",
                                      size[i], " at index ", i, "."));
    if (__builtin_mul_overflow(product, size[i], &product))
      return invalid_argument("Product of block sizes is beyond 2^63 - 1");
  }
  return {};
}

Status set_amounts(std::span<const std::int64_t> amounts, std::string_view what, Blocks& blocks) {
  for (std::size_t i = 0; i < blocks.rank(); ++i) {
    blocks.before.push_back(amounts[2 * i]);
    blocks.after.push_back(amounts[2 * i + 1]);
    if (amounts[2 * i] < 0 || amounts[2 * i + 1] < 0)
      return invalid_argument(str_cat(what, " must be non-negative"));
  }
  return {};
}

/// From the inputs; `what` is "paddings" or "crops".
Result<Blocks> read_blocks(KernelContext& c, std::string_view what, std::string_view in_sentence) {
  Blocks blocks;
  const bool image = c.num_inputs() == 2;
  const Tensor& amounts = c.input(image ? 1 : 2);
  if (image) {
    TROUPE_ASSIGN(const auto size, c.attr<std::int64_t>("block_size"));
    if (c.input(0).shape().rank() != 4)
      return invalid_argument(
          str_cat("Input rank should be: 4instead of: ", c.input(0).shape().rank()));
    blocks.size = {size, size};
  } else {
    if (c.input(1).shape().rank() != 1)
      return invalid_argument(
          str_cat("block_shape rank should be 1 instead of ", c.input(1).shape().rank()));
    TROUPE_ASSIGN(const Integers size, integers(c.input(1)));
    blocks.size.assign(size.begin(), size.end());
  }
  const auto m = static_cast<std::int64_t>(blocks.rank());
  if (c.input(0).shape().rank() < 1 + m)
    return invalid_argument(
        str_cat("input rank should be >= ", 1 + m, " instead of ", c.input(0).shape().rank()));
  if (amounts.shape().rank() != 2 || amounts.shape()[0] != m || amounts.shape()[1] != 2)
    return invalid_argument(
        str_cat(what, " should have shape [", m, ", 2] instead of ", amounts.shape()));
  if (what == "crops") { // whose sentence is about the product
    std::int64_t product = 1;
    for (std::int64_t size : blocks.size)
      product = multiply_wrapping(product, size);
    if (product < 1)
      return invalid_argument(str_cat("Product of block sizes must be positive, got ", product));
  }
  TROUPE_TRY(check_blocks(blocks.size));
  TROUPE_ASSIGN(const Integers numbers, integers(amounts));
  TROUPE_TRY(set_amounts(numbers, in_sentence, blocks));
  return blocks;
}

/// The padded spatial extents. INVALID_ARGUMENT where blocks do not divide them.
Result<Dims> padded_extents(std::span<const std::int64_t> dims, const Blocks& blocks) {
  Dims out;
  for (std::size_t i = 0; i < blocks.rank(); ++i) {
    std::int64_t padded = dims[i + 1];
    if (padded >= 0) {
      TROUPE_ASSIGN(padded, shape_rules::add_dims(padded, blocks.before[i]));
      TROUPE_ASSIGN(padded, shape_rules::add_dims(padded, blocks.after[i]));
      if (padded % blocks.size[i] != 0)
        return invalid_argument(str_cat("padded_shape[", i, "]=", padded,
                                        " is not divisible by block_shape[", i,
                                        "]=", blocks.size[i]));
    }
    out.push_back(padded);
  }
  return out;
}

std::int64_t product(const Dims& dims) {
  std::int64_t out = 1;
  for (std::int64_t d : dims)
    out *= d;
  return out;
}

/// Output dimensions of SpaceToBatch; -1 where an input's is.
Result<Dims> batched_dims(std::span<const std::int64_t> dims, const Blocks& blocks) {
  TROUPE_ASSIGN(const Dims padded, padded_extents(dims, blocks));
  Dims out(dims.begin(), dims.end());
  TROUPE_ASSIGN(out[0], shape_rules::multiply_dims(dims[0], product(blocks.size)));
  for (std::size_t i = 0; i < padded.size(); ++i)
    out[i + 1] = padded[i] < 0 ? -1 : padded[i] / blocks.size[i];
  return out;
}

/// Output dimensions of BatchToSpace.
Result<Dims> spaced_dims(std::span<const std::int64_t> dims, const Blocks& blocks) {
  Dims out(dims.begin(), dims.end());
  const std::int64_t block = product(blocks.size);
  if (dims[0] >= 0) {
    if (dims[0] % block != 0)
      return invalid_argument(str_cat("Input batch dimension (", dims[0],
                                      ") is not divisible by product of block sizes (", block,
                                      ")"));
    out[0] = dims[0] / block;
  }
  for (std::size_t i = 0; i < blocks.rank(); ++i) {
    TROUPE_ASSIGN(std::int64_t cropped, shape_rules::multiply_dims(dims[i + 1], blocks.size[i]));
    if (cropped >= 0) {
      if (__builtin_sub_overflow(cropped, blocks.before[i], &cropped) ||
          __builtin_sub_overflow(cropped, blocks.after[i], &cropped) || cropped < 0)
        return invalid_argument(
            str_cat("cropped_shape[", i, "]=", cropped, " must be non-negative"));
    }
    out[i + 1] = cropped;
  }
  return out;
}

Status moved(KernelContext& c, const Tensor& from, const Dims& dims, const std::vector<int>& perm,
             Tensor& to) {
  arith::StridedPlan plan;
  if (!arith::make_transpose_plan(dims, perm, plan))
    return array::too_many_dimensions(from.shape());
  return array::copy_from_strided(c, plan, from, to);
}

/// What lies behind the spatial dimensions, as one.
std::int64_t behind(const Shape& shape, const Blocks& blocks) {
  std::int64_t out = 1;
  for (int i = 1 + static_cast<int>(blocks.rank()); i < shape.rank(); ++i)
    out *= shape[i];
  return out;
}

Status compute_to_batch(KernelContext& c) {
  TROUPE_ASSIGN(const Blocks blocks, read_blocks(c, "paddings", "Paddings"));
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(const Dims dims, batched_dims(x.shape().dims(), blocks));
  TROUPE_ASSIGN(const Dims extents, padded_extents(x.shape().dims(), blocks));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  const std::int64_t rest = behind(x.shape(), blocks);
  Tensor padded = x;
  if (product(extents) * x.shape()[0] * rest != x.num_elements()) {
    Dims begin{0}, sizes{x.shape()[0]}, whole{x.shape()[0]};
    for (std::size_t i = 0; i < blocks.rank(); ++i) {
      begin.push_back(blocks.before[i]);
      sizes.push_back(x.shape()[static_cast<int>(i) + 1]);
      whole.push_back(extents[i]);
    }
    begin.push_back(0);
    sizes.push_back(rest);
    whole.push_back(rest);
    TROUPE_ASSIGN(const Shape padded_shape, Shape::make(whole));
    TROUPE_ASSIGN(padded, c.allocate_temp(x.dtype(), padded_shape));
    TROUPE_TRY(array::fill_with_zeros(c, padded));
    arith::StridedPlan plan;
    if (!arith::make_slice_plan(whole, begin, Dims(sizes.size(), 1), sizes, plan))
      return array::too_many_dimensions(padded_shape);
    if (x.num_elements() > 0)
      TROUPE_TRY(array::copy_to_strided(c, plan, x, padded));
  }
  // [batch, e0 / b0, b0, e1 / b1, b1, …, rest] to [b0, b1, …, batch, e0 / b0, e1 / b1, …, rest]
  Dims split{x.shape()[0]};
  std::vector<int> perm;
  for (std::size_t i = 0; i < blocks.rank(); ++i) {
    split.insert(split.end(), {extents[i] / blocks.size[i], blocks.size[i]});
    perm.push_back(static_cast<int>(2 * i + 2));
  }
  split.push_back(rest);
  perm.push_back(0);
  for (std::size_t i = 0; i < blocks.rank(); ++i)
    perm.push_back(static_cast<int>(2 * i + 1));
  perm.push_back(static_cast<int>(split.size()) - 1);
  return moved(c, padded, split, perm, out);
}

Status compute_to_space(KernelContext& c) {
  TROUPE_ASSIGN(const Blocks blocks, read_blocks(c, "crops", "Crops"));
  const Tensor x = c.input(0);
  TROUPE_ASSIGN(const Dims dims, spaced_dims(x.shape().dims(), blocks));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  const std::int64_t rest = behind(x.shape(), blocks);
  // [b0, b1, …, batch, s0, s1, …, rest] to [batch, s0, b0, s1, b1, …, rest]
  const auto m = static_cast<int>(blocks.rank());
  Dims split(blocks.size), whole{dims[0]};
  split.push_back(dims[0]);
  std::vector<int> perm{m};
  bool cropped = false;
  for (int i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    split.push_back(x.shape()[i + 1]);
    perm.insert(perm.end(), {m + 1 + i, i});
    whole.push_back(x.shape()[i + 1] * blocks.size[at]);
    cropped = cropped || whole.back() != dims[at + 1];
  }
  split.push_back(rest);
  whole.push_back(rest);
  perm.push_back(2 * m + 1);
  if (!cropped)
    return moved(c, x, split, perm, out);
  TROUPE_ASSIGN(const Shape whole_shape, Shape::make(whole));
  TROUPE_ASSIGN(Tensor uncropped, c.allocate_temp(x.dtype(), whole_shape));
  TROUPE_TRY(moved(c, x, split, perm, uncropped));
  Dims begin{0}, sizes{dims[0]};
  begin.insert(begin.end(), blocks.before.begin(), blocks.before.end());
  begin.push_back(0);
  sizes.insert(sizes.end(), dims.begin() + 1, dims.begin() + 1 + m);
  sizes.push_back(rest);
  arith::StridedPlan plan;
  if (!arith::make_slice_plan(whole, begin, Dims(sizes.size(), 1), sizes, plan))
    return array::too_many_dimensions(whole_shape);
  return array::copy_from_strided(c, plan, uncropped, out);
}

Status infer(ShapeContext& c, bool to_batch) {
  const bool image = c.num_inputs() == 2;
  const int at = image ? 1 : 2;
  Blocks blocks;
  if (image) {
    TROUPE_TRY(c.require_rank(0, 4));
    TROUPE_ASSIGN(const auto size, c.attr<std::int64_t>("block_size"));
    blocks.size = {size, size};
  } else {
    TROUPE_TRY(c.require_rank(1, 1));
    if (const auto size = c.input_as_ints(1))
      blocks.size = *size;
    else
      return c.input(0).has_rank()
                 ? c.set_output(0, PartialShape(Dims(c.input(0).dims().size(), -1)))
                 : Status{};
    TROUPE_TRY(c.require_rank_at_least(0, 1 + static_cast<int>(blocks.rank())));
  }
  TROUPE_TRY(c.require_rank(at, 2));
  TROUPE_TRY(check_blocks(blocks.size));
  const PartialShape& x = c.input(0);
  if (!x.has_rank())
    return {};
  const auto amounts = c.input_as_ints(at);
  if (!amounts)
    return c.set_output(0, PartialShape(Dims(x.dims().size(), -1)));
  if (amounts->size() != 2 * blocks.rank())
    return invalid_argument(str_cat(to_batch ? "paddings" : "crops", " should have shape [",
                                    blocks.rank(), ", 2] instead of ", c.input(at)));
  TROUPE_TRY(set_amounts(*amounts, to_batch ? "Paddings" : "Crops", blocks));
  TROUPE_ASSIGN(Dims dims,
                to_batch ? batched_dims(x.dims(), blocks) : spaced_dims(x.dims(), blocks));
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_to_batch(ShapeContext& c) {
  return infer(c, true);
}
Status infer_to_space(ShapeContext& c) {
  return infer(c, false);
}

Status differentiate(GradContext& g, std::string_view back) {
  if (g.num_inputs() == 3)
    return g.set_input_grad(0, g.op(back, {g.output_grad(0), g.input(1), g.input(2)}));
  AttrMap attrs;
  attrs.set("block_size", g.attrs().get_or("block_size", std::int64_t{2}));
  return g.set_input_grad(0, g.op(back, {g.output_grad(0), g.input(1)}, std::move(attrs)));
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T", array::pod_dtypes()}};
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SpaceToBatchND")
      .input("input: T; block_shape: Tblock_shape; paddings: Tpaddings")
      .output("output: T")
      .attr("T: type; Tblock_shape: {int32, int64} = DT_INT32")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .shape_fn(infer_to_batch)
      .gradient([](GradContext& g) { return differentiate(g, "BatchToSpaceND"); })
      .cpu_kernel(compute_to_batch, options())
      .doc("Blocks of the padded spatial dimensions, moved to the batch dimension.");
  library.op("BatchToSpaceND")
      .input("input: T; block_shape: Tblock_shape; crops: Tcrops")
      .output("output: T")
      .attr("T: type; Tblock_shape: {int32, int64} = DT_INT32; Tcrops: {int32, int64} = DT_INT32")
      .shape_fn(infer_to_space)
      .gradient([](GradContext& g) { return differentiate(g, "SpaceToBatchND"); })
      .cpu_kernel(compute_to_space, options())
      .doc("The way back of SpaceToBatchND: batches become blocks of spatial dimensions.");
  library.op("SpaceToBatch")
      .input("input: T; paddings: Tpaddings")
      .output("output: T")
      .attr("T: type; Tpaddings: {int32, int64} = DT_INT32; block_size: int >= 2")
      .shape_fn(infer_to_batch)
      .gradient([](GradContext& g) { return differentiate(g, "BatchToSpace"); })
      .cpu_kernel(compute_to_batch, options())
      .doc("SpaceToBatchND of images with square blocks.");
  library.op("BatchToSpace")
      .input("input: T; crops: Tidx")
      .output("output: T")
      .attr("T: type; block_size: int >= 2; Tidx: {int32, int64} = DT_INT32")
      .shape_fn(infer_to_space)
      .gradient([](GradContext& g) { return differentiate(g, "SpaceToBatch"); })
      .cpu_kernel(compute_to_space, options())
      .doc("BatchToSpaceND of images with square blocks.");
}

} // namespace troupe::array_space_to_batch
