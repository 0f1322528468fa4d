// SparseTensorSliceDataset: the rows of a sparse tensor, each as the three tensors of a sparse one.
#include <algorithm>
#include <functional>

#include "devices/resource/batches.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_sparse_tensor_slice {

using namespace data;

namespace {

class SparseTensorSliceDataset final : public Dataset {
public:
  SparseTensorSliceDataset(const KernelContext& c, std::vector<PartialShape> shapes)
      : Dataset(c, {DType::int64, c.input(1).dtype(), DType::int64}, std::move(shapes)),
        rows_(recipe().inputs[2].data<std::int64_t>()[0]) {}
  std::int64_t cardinality() const override { return rows_; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>&) const override {
    return IteratorRef(std::make_unique<Rows>(self<SparseTensorSliceDataset>()));
  }

private:
  class Rows final : public Iterator {
  public:
    explicit Rows(std::shared_ptr<const SparseTensorSliceDataset> dataset)
        : dataset_(std::move(dataset)) {}
    Async<Next> next(ElementPull& pull) override {
      if (row_ >= dataset_->rows_)
        return end_of_sequence();
      auto element = dataset_->row(row_, pull.pipeline().memory());
      if (!element.ok())
        return Next(element.status());
      ++row_;
      return one_more(*std::move(element));
    }
    TROUPE_DATA_KEEPS_NUMBER(row_)

  private:
    std::shared_ptr<const SparseTensorSliceDataset> dataset_;
    std::int64_t row_ = 0;
  };

  // Entries are in order of their rows.
  Result<Element> row(std::int64_t row, Allocator& memory) const {
    const Tensor &indices = recipe().inputs[0], &values = recipe().inputs[1];
    const std::int64_t rank = indices.shape().dim(1);
    const auto all = indices.data<std::int64_t>();
    const auto first_of = [&](std::int64_t wanted) {
      std::int64_t low = 0, high = values.num_elements();
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (all[static_cast<std::size_t>(middle * rank)] < wanted)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    const std::int64_t begin = first_of(row), end = first_of(row + 1), count = end - begin;
    TROUPE_ASSIGN(Tensor its_indices,
                  Tensor::allocate(memory, DType::int64, Shape{count, rank - 1}));
    auto to = its_indices.mutable_data<std::int64_t>().begin();
    for (std::int64_t i = begin; i < end; ++i)
      to = std::copy_n(all.begin() + i * rank + 1, rank - 1, to);
    TROUPE_ASSIGN(Tensor its_values, Tensor::allocate(memory, values.dtype(), Shape{count}));
    copy_elements(values, begin, its_values, 0, count);
    TROUPE_TRY(its_values.settle(memory));
    const auto dims = recipe().inputs[2].data<std::int64_t>();
    return Element{std::move(its_indices), std::move(its_values),
                   Tensor::vector<std::int64_t>(dims.subspan(1))};
  }

  const std::int64_t rows_;
};

Result<DatasetRef> make(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  if (indices.shape().rank() != 2)
    return invalid_argument(str_cat("Input indices must be a matrix. Got: ", indices.shape()));
  if (values.shape().rank() != 1)
    return invalid_argument(str_cat("Input values must be a vector. Got: ", values.shape()));
  if (shape.shape().rank() != 1)
    return invalid_argument(str_cat("Input shape must be a vector. Got: ", shape.shape()));
  if (values.shape().dim(0) != indices.shape().dim(0))
    return invalid_argument(str_cat("Number of values must match first dimension of indices. Got ",
                                    values.shape().dim(0),
                                    " values, indices shape: ", indices.shape()));
  const std::int64_t rank = shape.shape().dim(0);
  if (rank != indices.shape().dim(1))
    return invalid_argument(
        str_cat("Number of dimensions must match second dimension of indices. Got ", rank,
                " dimensions, indices shape: ", indices.shape()));
  if (rank == 0)
    return invalid_argument("The shape argument requires at least one element.");
  TROUPE_TRY(Shape::make(shape.data<std::int64_t>()).status());
  const auto all = indices.data<std::int64_t>();
  const auto dims = shape.data<std::int64_t>();
  std::int64_t before = -1;
  for (std::int64_t i = 0; i < values.num_elements(); ++i) {
    const std::int64_t row = all[static_cast<std::size_t>(i * rank)];
    if (row < before)
      return unimplemented("The SparseTensor must be ordered in the batch dimension; handling "
                           "arbitrarily ordered input is not currently supported.");
    before = row;
  }
  if (before >= dims[0])
    return invalid_argument(str_cat("the indices name row ", before, ", and there are ", dims[0]));
  std::vector<PartialShape> shapes{PartialShape{-1, rank - 1}, PartialShape{-1},
                                   PartialShape{rank - 1}};
  return new_dataset<SparseTensorSliceDataset>(c, std::move(shapes));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SparseTensorSliceDataset")
      .input("indices: int64; values: Tvalues; dense_shape: int64")
      .output("handle: variant")
      .attr("Tvalues: type")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The rows of a sparse tensor, each as indices, values and shape of a sparse one.");
}

} // namespace troupe::data_sparse_tensor_slice
