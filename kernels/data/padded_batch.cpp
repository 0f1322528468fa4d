// PaddedBatchDataset, PaddedBatchDatasetV2: several elements below each other as one, each padded
// to one shape.
#include "kernels/data/internal/batch.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_padded_batch {

using namespace data;

namespace {

class PaddedBatchDataset final : public UnaryDataset {
public:
  PaddedBatchDataset(const KernelContext& c, DatasetRef input, std::int64_t size,
                     bool drop_remainder, std::vector<Padding> paddings)
      : UnaryDataset(c, std::move(input)), size_(size), drop_remainder_(drop_remainder),
        paddings_(std::move(paddings)) {}
  std::int64_t cardinality() const override {
    return batches_of(input().cardinality(), size_, drop_remainder_);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Batches>(this, pipeline);
  }

private:
  class Batches final : public IteratorOver<PaddedBatchDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      Allocator& memory = pull.pipeline().memory();
      Elements elements(memory);
      TROUPE_CO_TRY(co_await collect(*input(), dataset().size_, elements, has_ended_, pull));
      const auto count = static_cast<std::int64_t>(elements.size());
      if (count == 0 || (dataset().drop_remainder_ && count < dataset().size_))
        co_return end_of_sequence();
      TROUPE_CO_ASSIGN(Element batch, make_padded_batch(elements, dataset().paddings_, memory));
      co_return one_more(std::move(batch));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("has_ended", has_ended_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(has_ended_, from.integer("has_ended"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    bool has_ended_ = false;
  };

  const std::int64_t size_;
  const bool drop_remainder_;
  const std::vector<Padding> paddings_;
};

Result<std::vector<Padding>> paddings_of(const KernelContext& c, const Dataset& input) {
  TROUPE_ASSIGN(const auto ranges, arg_ranges(c.node().schema->inputs, c.attrs()));
  const ArgRange shapes = ranges[2], values = ranges[3];
  const auto components = static_cast<int>(input.types().size());
  if (shapes.end - shapes.begin != components)
    return invalid_argument(str_cat("Number of padded shapes (", shapes.end - shapes.begin,
                                    ") must match the number of components in the input dataset's "
                                    "elements (",
                                    components, ")"));
  if (values.end - values.begin != components)
    return invalid_argument(str_cat("Number of padding values (", values.end - values.begin,
                                    ") must match the number of components in the input dataset's "
                                    "elements (",
                                    components, ")"));
  std::vector<Padding> out;
  for (int i = 0; i < components; ++i) {
    const Tensor& shape = c.input(shapes.begin + i);
    if (shape.shape().rank() != 1)
      return invalid_argument("All padded shapes must be vectors");
    const auto dims = shape.data<std::int64_t>();
    if (dims.size() > static_cast<std::size_t>(Shape::max_rank))
      return invalid_argument(str_cat("a padded shape has ", dims.size(), " dimensions; at most ",
                                      Shape::max_rank, " are possible"));
    for (std::int64_t dim : dims)
      if (dim < -1)
        return invalid_argument(str_cat("Dimension ", dim, " must be >= -1"));
    const Tensor& value = c.input(values.begin + i);
    if (!value.shape().is_scalar())
      return invalid_argument("All padding values must be scalars");
    const DType type = input.types()[static_cast<std::size_t>(i)];
    if (value.dtype() != type)
      return invalid_argument(str_cat("Mismatched type between padding value ", i,
                                      " and input dataset's component ", i, ": ",
                                      to_string(value.dtype()), " vs. ", to_string(type)));
    out.push_back({PartialShape(std::vector<std::int64_t>(dims.begin(), dims.end())), value});
  }
  return out;
}

template <bool second>
Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto size, scalar_input<std::int64_t>(c, 1));
  if (size <= 0)
    return invalid_argument("Batch size must be greater than zero.");
  bool drop_remainder = false;
  if constexpr (second) {
    TROUPE_ASSIGN(drop_remainder, scalar_input<bool>(c, c.num_inputs() - 1));
  }
  TROUPE_ASSIGN(auto paddings, paddings_of(c, *input));
  return new_dataset<PaddedBatchDataset>(c, std::move(input), size, drop_remainder,
                                         std::move(paddings));
}

template <bool second>
Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  if (second)
    TROUPE_TRY(c.require_rank(c.num_inputs() - 1, 0));
  return shape_scalar(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("PaddedBatchDataset")
      .input("input_dataset: variant; batch_size: int64; padded_shapes: N * int64")
      .input("padding_values: Toutput_types")
      .output("handle: variant")
      .attr("Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1")
      .attr(with_metadata)
      .shape_fn(infer_shapes<false>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<false>>)
      .doc(
          "Each `batch_size` elements below each other as one, each component padded to its padded "
          "shape (-1: as long as the longest).");
  library.op("PaddedBatchDatasetV2")
      .input("input_dataset: variant; batch_size: int64; padded_shapes: N * int64")
      .input("padding_values: Toutput_types; drop_remainder: bool")
      .output("handle: variant")
      .attr("parallel_copy: bool = false")
      .attr("Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1")
      .attr(with_metadata)
      .shape_fn(infer_shapes<true>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<true>>)
      .doc(
          "Each `batch_size` elements below each other as one, each component padded to its padded "
          "shape (-1: as long as the longest); without the last if it has fewer and "
          "`drop_remainder`.");
}

} // namespace troupe::data_padded_batch
