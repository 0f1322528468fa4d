#include "kernels/data/internal/dataset.hpp"

#include <algorithm>

#include "kernels/data/internal/pipeline.hpp"
#include "kernels/data/internal/window.hpp"

namespace troupe::data {
namespace {

constexpr auto variant_type = "tensorflow::DatasetVariantWrapper";

std::vector<DType> types_of(const KernelContext& c) {
  for (const char* name : {"output_types", "Toutput_types"})
    if (c.attrs().contains(name))
      return c.attrs().get_or<std::vector<DType>>(name, {});
  return {};
}

} // namespace

Dataset::Dataset(const KernelContext& c)
    : Dataset(c, types_of(c), c.attrs().get_or<std::vector<PartialShape>>("output_shapes", {})) {}

Dataset::Dataset(const KernelContext& c, std::vector<DType> types, std::vector<PartialShape> shapes)
    : recipe_{c.node().schema->name, c.attrs(), {}}, types_(std::move(types)),
      shapes_(std::move(shapes)) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    recipe_.inputs.push_back(c.input(i));
    if (c.input(i).dtype() != DType::variant)
      continue;
    auto source = dataset_in(c.input(i));
    if (!source.ok())
      continue;
    depth_ = std::max(depth_, (*source)->depth() + 1);
    set_options((*source)->options());
    sources_.push_back(*std::move(source));
  }
}

Dataset::Dataset(std::string op, std::vector<DType> types, std::vector<PartialShape> shapes)
    : recipe_{std::move(op), {}, {}}, types_(std::move(types)), shapes_(std::move(shapes)) {}

void Dataset::set_options(const PipelineOptions& options) {
  if (options.deterministic)
    options_.deterministic = options.deterministic;
}

Result<VariantParts> Dataset::parts() const {
  return unimplemented(str_cat("a dataset (", recipe_.op,
                               ") cannot leave its task; put what uses it, such as its iterator, "
                               "on the same task"));
}

Status Dataset::check_external_state() const {
  for (const DatasetRef& source : sources_)
    TROUPE_TRY(source->check_external_state());
  return {};
}

Result<DatasetRef> dataset_in(const Tensor& tensor) {
  if (tensor.dtype() != DType::variant || !tensor.shape().is_scalar())
    return invalid_argument("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  const Variant& variant = tensor.data<Variant>()[0];
  if (const auto* read = dynamic_cast<const VariantTensors*>(variant.value.get()))
    if (variant.type_name == variant_type)
      return dataset_of_parts(read->stored());
  auto dataset = std::dynamic_pointer_cast<const Dataset>(variant.value);
  if (!dataset)
    return invalid_argument("Tensor must be a Dataset object.");
  return dataset;
}

Tensor tensor_of(DatasetRef dataset) {
  return Tensor::scalar(
      Variant{.type_name = variant_type, .metadata = {}, .value = std::move(dataset)});
}

Result<DatasetRef> input_dataset(const KernelContext& c, int i) {
  return dataset_in(c.input(i));
}

Result<std::string> name_of_input(const KernelContext& c, int i) {
  const auto& inputs = c.node().schema->inputs;
  TROUPE_ASSIGN(const auto ranges, arg_ranges(inputs, c.attrs()));
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (i >= ranges[k].begin && i < ranges[k].end)
      return inputs[k].name;
  return str_cat("input ", i);
}

Status give_dataset(KernelContext& c, DatasetRef dataset) {
  if (dataset->depth() > max_dataset_depth)
    return resource_exhausted(str_cat("datasets are more than ", max_dataset_depth,
                                      " deep within each other; join several at once, as with "
                                      "Dataset.from_tensor_slices(files).flat_map(…)"));
  return c.set_output(0, tensor_of(std::move(dataset)));
}

Status check_types(const std::vector<DType>& expected, const std::vector<DType>& got) {
  if (expected.size() != got.size())
    return invalid_argument(str_cat("Number of components does not match: expected ",
                                    expected.size(), " types but got ", got.size(), "."));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != got[i])
      return invalid_argument(str_cat("Data type mismatch at component ", i, ": expected ",
                                      to_string(expected[i]), " but got ", to_string(got[i]), "."));
  return {};
}

Status check_shapes(const std::vector<PartialShape>& expected,
                    const std::vector<PartialShape>& got) {
  if (expected.size() != got.size())
    return invalid_argument(str_cat("Number of components does not match: expected ",
                                    expected.size(), " shapes but got ", got.size(), "."));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!expected[i].merge(got[i]))
      return invalid_argument(str_cat("Incompatible shapes at component ", i, ": expected ",
                                      text_of(expected[i]), " but got ", text_of(got[i]), "."));
  return {};
}

Status check_element(const std::vector<DType>& types, const std::vector<PartialShape>& shapes,
                     const Element& element) {
  if (types.size() != element.size())
    return invalid_argument(str_cat("Number of components does not match: expected ", types.size(),
                                    " types but got ", element.size(), "."));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != element[i].dtype())
      return invalid_argument(str_cat("Data type mismatch at component ", i, ": expected ",
                                      to_string(types[i]), " but got ",
                                      to_string(element[i].dtype()), "."));
    if (i < shapes.size() && !shapes[i].is_compatible_with(element[i].shape()))
      return invalid_argument(str_cat("Incompatible shapes at component ", i, ": expected ",
                                      text_of(shapes[i]), " but got ", element[i].shape(), "."));
  }
  return {};
}

Status give_element(KernelContext& c, const std::vector<DType>& types,
                    const std::vector<PartialShape>& shapes, Element element) {
  TROUPE_TRY(check_element(types, shapes, element));
  for (std::size_t i = 0; i < element.size(); ++i)
    TROUPE_TRY(c.set_output(static_cast<int>(i), std::move(element[i])));
  return {};
}

std::string text_of(const PartialShape& shape) {
  return shape.has_rank() ? shape.to_string() : "<unknown>";
}

} // namespace troupe::data
