// DenseToSparseBatchDataset: several elements of different shapes as the rows of a sparse tensor,
// which is a variant of indices, values and shape.
#include <algorithm>

#include "devices/resource/batches.hpp"
#include "kernels/data/internal/batch.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_dense_to_sparse_batch {

using namespace data;

namespace {

constexpr auto tensor_type = "tensorflow::Tensor"; // of a variant that holds one

/// -1: as long as the longest.
using Dims = std::vector<std::int64_t>;

class DenseToSparseBatchDataset final : public UnaryDataset {
public:
  DenseToSparseBatchDataset(const KernelContext& c, DatasetRef input, std::int64_t size, Dims row)
      : UnaryDataset(c, std::move(input)), size_(size), row_(std::move(row)) {}
  std::int64_t cardinality() const override {
    return batches_of(input().cardinality(), size_, false);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Batches>(this, pipeline);
  }

private:
  class Batches final : public IteratorOver<DenseToSparseBatchDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      Allocator& memory = pull.pipeline().memory();
      Elements elements(memory);
      TROUPE_CO_TRY(co_await collect(*input(), dataset().size_, elements, has_ended_, pull));
      if (elements.empty())
        co_return end_of_sequence();
      TROUPE_CO_ASSIGN(Tensor batch, dataset().batch(elements, memory));
      co_return one_more({std::move(batch)});
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

  /// The batch's shape.
  Result<Dims> shape_of(const Elements& elements) const {
    Dims out{static_cast<std::int64_t>(elements.size())};
    for (std::int64_t dim : row_)
      out.push_back(std::max<std::int64_t>(dim, 0));
    const auto said = [&](const Shape& shape, std::string_view what) {
      return str_cat("Input element had shape (", shape, ") that is ", what, " the row shape (",
                     PartialShape(row_).to_string(), ").");
    };
    for (const Element& element : elements) {
      const Shape& shape = element[0].shape();
      if (shape.rank() != static_cast<int>(row_.size()))
        return invalid_argument(said(shape, "incompatible with"));
      for (int i = 0; i < shape.rank(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (row_[at] < 0)
          out[at + 1] = std::max(out[at + 1], shape.dim(i));
        else if (shape.dim(i) > row_[at])
          return data_loss(said(shape, "larger than"));
      }
    }
    return out;
  }

  Result<Tensor> batch(const Elements& elements, Allocator& memory) const {
    const DType dtype = input().types()[0];
    std::int64_t count = 0;
    for (const Element& element : elements) {
      if (element.size() != 1 || element[0].dtype() != dtype)
        return invalid_argument(str_cat("Data type mismatch at component 0: expected ",
                                        to_string(dtype), " but got ",
                                        to_string(element.at(0).dtype()), "."));
      count += element[0].num_elements();
    }
    TROUPE_ASSIGN(const Dims shape, shape_of(elements));
    const auto rank = static_cast<std::int64_t>(shape.size());
    TROUPE_ASSIGN(Tensor indices, Tensor::allocate(memory, DType::int64, Shape{count, rank}));
    TROUPE_ASSIGN(Tensor values, Tensor::allocate(memory, dtype, Shape{count}));
    const auto to = indices.mutable_data<std::int64_t>();
    std::int64_t at = 0;
    for (std::size_t row = 0; row < elements.size(); ++row) {
      const Tensor& value = elements[row][0];
      copy_elements(value, 0, values, at, value.num_elements());
      for (std::int64_t i = 0; i < value.num_elements(); ++i, ++at) {
        to[static_cast<std::size_t>(at * rank)] = static_cast<std::int64_t>(row);
        for (std::int64_t k = rank - 1, left = i; k > 0; --k) {
          const std::int64_t dim = value.shape().dim(static_cast<int>(k - 1));
          to[static_cast<std::size_t>(at * rank + k)] = left % dim;
          left /= dim;
        }
      }
    }
    TROUPE_TRY(values.settle(memory));
    Tensor out = Tensor::make(DType::variant, Shape{3});
    const auto parts = out.mutable_data<Variant>();
    parts[0] = make_variant(tensor_type, {.metadata = {}, .tensors = {std::move(indices)}});
    parts[1] = make_variant(tensor_type, {.metadata = {}, .tensors = {std::move(values)}});
    parts[2] = make_variant(tensor_type,
                            {.metadata = {}, .tensors = {Tensor::vector<std::int64_t>(shape)}});
    return out;
  }

  const std::int64_t size_;
  const Dims row_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  if (input->types().size() != 1)
    return invalid_argument(
        "DenseToSparseBatchDataset only supports inputs with a single component.");
  const DType dtype = input->types()[0];
  if (dtype == DType::resource || dtype == DType::variant)
    return unimplemented(
        str_cat("DenseToSparseBatchDataset unhandled data type: ", to_string(dtype)));
  TROUPE_ASSIGN(const auto size, scalar_input<std::int64_t>(c, 1));
  if (size <= 0)
    return invalid_argument("Batch size must be greater than zero.");
  TROUPE_ASSIGN(Dims row, vector_input<std::int64_t>(c, 2));
  if (row.size() >= static_cast<std::size_t>(Shape::max_rank))
    return invalid_argument(str_cat("row_shape has ", row.size(), " dimensions, at most ",
                                    Shape::max_rank - 1, " are possible"));
  for (std::int64_t dim : row)
    if (dim < -1)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= -1"));
  return new_dataset<DenseToSparseBatchDataset>(c, std::move(input), size, std::move(row));
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const char* name : {"DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"})
    library.op(name)
        .input("input_dataset: variant; batch_size: int64; row_shape: int64")
        .output("handle: variant")
        .attr(typed)
        .shape_fn(shapes_of_scalars<1>)
        .not_differentiable(no_gradient)
        .cpu_kernel(compute<make>)
        .doc("Each `batch_size` elements as a sparse tensor, of which they are the rows.");
}

} // namespace troupe::data_dense_to_sparse_batch
