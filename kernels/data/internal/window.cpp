#include "kernels/data/internal/window.hpp"

#include "kernels/data/internal/register.hpp"

namespace troupe::data {
namespace {

class WindowOfElements final : public Dataset {
public:
  WindowOfElements(Elements elements, std::vector<DType> types, std::vector<PartialShape> shapes)
      : Dataset("Window", std::move(types), std::move(shapes)), elements_(std::move(elements)) {}
  std::int64_t cardinality() const override { return static_cast<std::int64_t>(elements_.size()); }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>&) const override {
    return IteratorRef(std::make_unique<All>(self<WindowOfElements>()));
  }

private:
  class All final : public Iterator {
  public:
    explicit All(std::shared_ptr<const WindowOfElements> dataset) : dataset_(std::move(dataset)) {}
    Async<Next> next(Pull&) override {
      if (at_ >= dataset_->cardinality())
        return end_of_sequence();
      return one_more(dataset_->elements_[static_cast<std::size_t>(at_++)]);
    }
    TROUPE_DATA_KEEPS_NUMBER(at_)

  private:
    std::shared_ptr<const WindowOfElements> dataset_;
    std::int64_t at_ = 0;
  };

  const Elements elements_;
};

} // namespace

DatasetRef dataset_of_elements(Elements elements, std::vector<DType> types,
                               std::vector<PartialShape> shapes) {
  return std::make_shared<const WindowOfElements>(std::move(elements), std::move(types),
                                                  std::move(shapes));
}

} // namespace troupe::data
