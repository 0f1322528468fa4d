// TensorDataset: one element, given as tensors. TensorSliceDataset: their rows, one after the
// other.
#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_tensor {

using namespace data;

namespace {

class TensorDataset final : public Dataset {
public:
  explicit TensorDataset(const KernelContext& c) : Dataset(c) {}
  std::int64_t cardinality() const override { return 1; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>&) const override {
    return IteratorRef(std::make_unique<Once>(self<TensorDataset>()));
  }

private:
  class Once final : public Iterator {
  public:
    explicit Once(std::shared_ptr<const TensorDataset> dataset) : dataset_(std::move(dataset)) {}
    Async<Next> next(ElementPull&) override {
      if (given_)
        return end_of_sequence();
      given_ = 1;
      return one_more(dataset_->recipe().inputs);
    }
    TROUPE_DATA_KEEPS_NUMBER(given_)

  private:
    std::shared_ptr<const TensorDataset> dataset_;
    std::int64_t given_ = 0;
  };
};

class TensorSliceDataset final : public Dataset {
public:
  explicit TensorSliceDataset(const KernelContext& c)
      : Dataset(c), rows_(recipe().inputs[0].shape().dim(0)) {}
  std::int64_t cardinality() const override { return rows_; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return IteratorRef(std::make_unique<Rows>(self<TensorSliceDataset>(), pipeline->memory()));
  }

private:
  class Rows final : public Iterator {
  public:
    Rows(std::shared_ptr<const TensorSliceDataset> dataset, Allocator& memory)
        : dataset_(std::move(dataset)), memory_(memory) {}
    Async<Next> next(ElementPull&) override {
      if (given_ >= dataset_->rows_)
        return end_of_sequence();
      Element element;
      for (const Tensor& all : dataset_->recipe().inputs) {
        auto row = row_of(all, given_, memory_);
        if (!row.ok())
          return Next(row.status());
        element.push_back(*std::move(row));
      }
      ++given_;
      return one_more(std::move(element));
    }
    TROUPE_DATA_KEEPS_NUMBER(given_)

  private:
    std::shared_ptr<const TensorSliceDataset> dataset_;
    Allocator& memory_;
    std::int64_t given_ = 0;
  };

  const std::int64_t rows_;
};

Status check_inputs(const KernelContext& c) {
  const std::size_t shapes =
      c.attrs().get_or<std::vector<PartialShape>>("output_shapes", {}).size();
  if (shapes != static_cast<std::size_t>(c.num_inputs()))
    return invalid_argument(str_cat("Number of components does not match: expected ", shapes,
                                    " shapes but got ", c.num_inputs(), "."));
  return {};
}

Result<DatasetRef> make_tensor(KernelContext& c) {
  TROUPE_TRY(check_inputs(c));
  auto dataset = std::make_shared<const TensorDataset>(c);
  TROUPE_TRY(check_element(dataset->types(), dataset->shapes(), dataset->recipe().inputs));
  return DatasetRef(dataset);
}

Result<DatasetRef> make_slices(KernelContext& c) {
  TROUPE_TRY(check_inputs(c));
  const auto shapes = c.attrs().get_or<std::vector<PartialShape>>("output_shapes", {});
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& shape = c.input(i).shape();
    if (shape.rank() == 0)
      return invalid_argument("All components must be at least 1-dimensional");
    if (shape.dim(0) != c.input(0).shape().dim(0))
      return invalid_argument("All components must have the same size in the 0th dimension");
    const PartialShape row(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
    if (!shapes[static_cast<std::size_t>(i)].merge(row))
      return invalid_argument(str_cat("Incompatible shapes at component ", i, ": expected ",
                                      text_of(shapes[static_cast<std::size_t>(i)]), " but got ",
                                      text_of(row), "."));
  }
  return new_dataset<TensorSliceDataset>(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TensorDataset")
      .input("components: Toutput_types")
      .output("handle: variant")
      .attr("Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1")
      .attr(with_metadata)
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_tensor>)
      .doc("One element: the components.");
  library.op("TensorSliceDataset")
      .input("components: Toutput_types")
      .output("handle: variant")
      .attr("Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1")
      .attr("is_files: bool = false; metadata: string = ''; replicate_on_split: bool = false")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_slices>)
      .doc("The rows of the components, one after the other.");
}

} // namespace troupe::data_tensor
