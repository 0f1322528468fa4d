// ReverseSequence: for each slice along batch_dim, its first seq_lengths[i] elements along seq_dim
// in reverse; the others as they are.
#include <algorithm>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_reverse_sequence {
namespace {

struct Attrs {
  std::int64_t sequence = 0, batch = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const auto sequence, c.attr<std::int64_t>("seq_dim"));
  TROUPE_ASSIGN(const auto batch, c.attr<std::int64_t>("batch_dim"));
  return prepared(Attrs{sequence, batch});
}

Status check_dims(const Attrs& attrs, std::int64_t rank) {
  if (attrs.batch < 0)
    return invalid_argument(str_cat("Invalid batch_dim ", attrs.batch));
  if (attrs.sequence < 0)
    return invalid_argument(str_cat("Invalid seq_dim ", attrs.sequence));
  if (attrs.batch == attrs.sequence)
    return invalid_argument(str_cat("batch_dim == seq_dim == ", attrs.sequence));
  if (attrs.sequence >= rank)
    return invalid_argument(
        str_cat("seq_dim must be < input rank ( ", attrs.sequence, " vs. ", rank, ")"));
  if (attrs.batch >= rank)
    return invalid_argument(
        str_cat("batch_dim must be < input rank ( ", attrs.batch, " vs. ", rank, ")"));
  return {};
}

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 1));
  const PartialShape &x = c.input(0), &lengths = c.input(1);
  if (!x.has_rank())
    return {};
  TROUPE_ASSIGN(const auto sequence, c.attr<std::int64_t>("seq_dim"));
  TROUPE_ASSIGN(const auto batch, c.attr<std::int64_t>("batch_dim"));
  TROUPE_TRY(check_dims({sequence, batch}, x.rank()));
  if (lengths.has_rank())
    TROUPE_TRY(shape_rules::merge_dims(x.dim(static_cast<int>(batch)), lengths.dim(0)).status());
  return c.output_like(0, 0);
}

Status differentiate(GradContext& g) {
  AttrMap attrs;
  attrs.set("seq_dim", g.attrs().get_or("seq_dim", std::int64_t{0}));
  attrs.set("batch_dim", g.attrs().get_or("batch_dim", std::int64_t{0}));
  return g.set_input_grad(
      0, g.op("ReverseSequence", {g.output_grad(0), g.input(1)}, std::move(attrs)));
}

Result<Integers> read_lengths(KernelContext& c, const Attrs& attrs) {
  const Shape &shape = c.input(0).shape(), &given = c.input(1).shape();
  if (given.rank() != 1)
    return invalid_argument(str_cat("seq_lengths must be 1-dim, not ", given.rank()));
  TROUPE_TRY(check_dims(attrs, shape.rank()));
  const std::int64_t batches = shape[static_cast<int>(attrs.batch)];
  if (given[0] != batches)
    return invalid_argument(str_cat("Length of seq_lengths != input.dims(", attrs.batch, "), (",
                                    given[0], " vs. ", batches, ")"));
  TROUPE_ASSIGN(Integers lengths, integers(c.input(1)));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0)
      return invalid_argument(str_cat("seq_lens(", i, ") < 0"));
    if (lengths[i] > shape[static_cast<int>(attrs.sequence)])
      return invalid_argument(str_cat("seq_lens(", i, ") > input.dims(", attrs.sequence, ")"));
  }
  return lengths;
}

Status compute(KernelContext& c) {
  const auto& attrs = c.prepared<Attrs>();
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(const Integers lengths, read_lengths(c, attrs));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  if (x.num_elements() == 0)
    return {};
  TROUPE_TRY(array::charge_text(x, out));
  const auto sequence = array::around_axis(x.shape(), static_cast<int>(attrs.sequence));
  const auto batch = array::around_axis(x.shape(), static_cast<int>(attrs.batch));
  const std::int64_t block = std::min(sequence.inner, batch.inner); // moves as a whole
  c.parallel_for(x.num_elements() / block, 5 + 0.2 * static_cast<double>(block),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) {
                     const std::int64_t at = r * block;
                     const auto b = static_cast<std::size_t>(at / batch.inner % batch.middle);
                     const std::int64_t s = at / sequence.inner % sequence.middle;
                     const std::int64_t from =
                         s < lengths[b] ? at + (lengths[b] - 1 - 2 * s) * sequence.inner : at;
                     array::copy_elements(x, from, out, at, block);
                   }
                 });
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.prepare = prepare;
  options.expensive = true;
  library.op("ReverseSequence")
      .input("input: T; seq_lengths: Tlen")
      .output("output: T")
      .attr("seq_dim: int; batch_dim: int = 0; T: type; Tlen: {int32, int64} = DT_INT64")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .doc("Sequences of the given lengths in reverse, each in its slice of the batch.");
}

} // namespace troupe::array_reverse_sequence
