#include "kernels/data/internal/window.hpp"

#include <algorithm>

#include "kernels/data/internal/register.hpp"

namespace troupe::data {
namespace {

constexpr std::int64_t unknown_rank = -1;

class WindowOfElements final : public Dataset {
public:
  WindowOfElements(Elements elements, std::vector<DType> types, std::vector<PartialShape> shapes)
      : Dataset("Window", std::move(types), std::move(shapes)), elements_(std::move(elements)) {
    for (const Element& element : elements_)
      for (const Tensor& component : element)
        note_held(component);
  }
  std::int64_t cardinality() const override { return static_cast<std::int64_t>(elements_.size()); }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>&) const override {
    return IteratorRef(std::make_unique<All>(self<WindowOfElements>()));
  }
  // The dtypes as text; a tensor for the shape of each component, then the elements' components.
  Result<VariantParts> parts() const override {
    VariantParts out;
    std::vector<std::string> names;
    for (DType type : types())
      names.push_back(to_string(type));
    out.metadata = str_join(names, ",");
    for (const PartialShape& shape : shapes())
      out.tensors.push_back(shape.has_rank() ? Tensor::vector<std::int64_t>(shape.dims())
                                             : Tensor::scalar<std::int64_t>(unknown_rank));
    for (const Element& element : elements_)
      out.tensors.insert(out.tensors.end(), element.begin(), element.end());
    return out;
  }

private:
  class All final : public Iterator {
  public:
    explicit All(std::shared_ptr<const WindowOfElements> dataset) : dataset_(std::move(dataset)) {}
    Async<Next> next(ElementPull&) override {
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

Result<DatasetRef> dataset_of_parts(const VariantParts& parts) {
  std::vector<DType> types;
  for (std::string_view name : str_split(parts.metadata, ',')) {
    const auto type = parse_dtype(name);
    if (!type)
      return data_loss(
          str_cat("a window that was saved has elements of '", name, "', which is no dtype"));
    types.push_back(*type);
  }
  const std::size_t width = types.size();
  if (parts.tensors.size() < width || parts.tensors.size() % width != 0)
    return data_loss(str_cat("a window that was saved has ", parts.tensors.size(),
                             " tensors for elements of ", width, " components"));
  std::vector<PartialShape> shapes;
  for (std::size_t i = 0; i < width; ++i) {
    const Tensor& dims = parts.tensors[i];
    if (dims.dtype() != DType::int64 || dims.shape().rank() > 1)
      return data_loss("a window that was saved has a shape that is no list of numbers");
    if (dims.shape().is_scalar()) {
      shapes.emplace_back();
      continue;
    }
    const auto all = dims.data<std::int64_t>();
    if (all.size() > static_cast<std::size_t>(Shape::max_rank) ||
        std::ranges::any_of(all, [](std::int64_t dim) { return dim < -1; }))
      return data_loss("a window that was saved has a shape that is none");
    shapes.emplace_back(std::vector<std::int64_t>(all.begin(), all.end()));
  }
  Elements elements(host_allocator());
  for (std::size_t at = width; at < parts.tensors.size(); at += width) {
    const auto first = parts.tensors.begin() + static_cast<std::ptrdiff_t>(at);
    Element element(first, first + static_cast<std::ptrdiff_t>(width));
    TROUPE_TRY(check_element(types, shapes, element));
    TROUPE_TRY(elements.push(std::move(element)));
  }
  return dataset_of_elements(std::move(elements), std::move(types), std::move(shapes));
}

} // namespace troupe::data
