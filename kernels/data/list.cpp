// ListDataset: elements given one by one, as tensors.
#include "core/base/strings.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_list {

using namespace data;

namespace {

class ListDataset final : public Dataset {
public:
  explicit ListDataset(const KernelContext& c) : Dataset(c) {}
  std::int64_t cardinality() const override {
    return static_cast<std::int64_t>(recipe().inputs.size() / types().size());
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>&) const override {
    return IteratorRef(std::make_unique<All>(self<ListDataset>()));
  }
  /// Requires that there is one.
  Element element(std::int64_t i) const {
    const auto width = static_cast<std::ptrdiff_t>(types().size());
    const auto begin = recipe().inputs.begin() + i * width;
    return {begin, begin + width};
  }

private:
  class All final : public Iterator {
  public:
    explicit All(std::shared_ptr<const ListDataset> dataset) : dataset_(std::move(dataset)) {}
    Async<Next> next(ElementPull&) override {
      if (given_ >= dataset_->cardinality())
        return end_of_sequence();
      return one_more(dataset_->element(given_++));
    }
    TROUPE_DATA_KEEPS_NUMBER(given_)

  private:
    std::shared_ptr<const ListDataset> dataset_;
    std::int64_t given_ = 0;
  };
};

Result<DatasetRef> make(KernelContext& c) {
  auto dataset = std::make_shared<const ListDataset>(c);
  const std::size_t width = dataset->types().size(), count = dataset->recipe().inputs.size();
  if (count % width != 0)
    return invalid_argument(str_cat("the list has ", count, " tensors, which make no elements of ",
                                    width, " components"));
  for (std::int64_t i = 0; i < dataset->cardinality(); ++i)
    TROUPE_TRY(check_element(dataset->types(), dataset->shapes(), dataset->element(i)));
  return DatasetRef(dataset);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ListDataset")
      .input("tensors: Tinput_types")
      .output("handle: variant")
      .attr("Tinput_types: list(type) >= 1")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The elements whose components the tensors are, one element after the other.");
}

} // namespace troupe::data_list
