// RangeDataset: start, start + step and so on, up to before stop.
#include <algorithm>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_range {

using namespace data;

namespace {

class RangeDataset;

class RangeIterator final : public Iterator {
public:
  explicit RangeIterator(std::shared_ptr<const RangeDataset> dataset)
      : dataset_(std::move(dataset)) {}
  Async<Next> next(ElementPull& pull) override;
  TROUPE_DATA_KEEPS_NUMBER(given_)

private:
  std::shared_ptr<const RangeDataset> dataset_;
  std::int64_t given_ = 0;
};

class RangeDataset final : public Dataset {
public:
  RangeDataset(const KernelContext& c, std::int64_t start, std::int64_t step, std::int64_t count,
               bool is_open)
      : Dataset(c), start_(start), step_(step), count_(count), is_open_(is_open) {}
  // A range up to the largest number counts on: it is what TensorFlow's Python enumerates by.
  std::int64_t cardinality() const override { return is_open_ ? infinite : count_; }
  std::int64_t count() const { return count_; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>&) const override {
    return IteratorRef(std::make_unique<RangeIterator>(self<RangeDataset>()));
  }
  // Wraps around as the additions of TensorFlow's counter would, were it to go so far.
  std::int64_t at(std::int64_t i) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start_) +
                                     static_cast<std::uint64_t>(i) *
                                         static_cast<std::uint64_t>(step_));
  }

private:
  const std::int64_t start_, step_, count_;
  const bool is_open_;
};

template <class T>
Tensor number(std::int64_t value) {
  return Tensor::scalar(static_cast<T>(value));
}

Result<Tensor> number_of(DType type, std::int64_t value) {
  switch (type) {
  case DType::int8:
    return number<std::int8_t>(value);
  case DType::uint8:
    return number<std::uint8_t>(value);
  case DType::int16:
    return number<std::int16_t>(value);
  case DType::uint16:
    return number<std::uint16_t>(value);
  case DType::int32:
    return number<std::int32_t>(value);
  case DType::uint32:
    return number<std::uint32_t>(value);
  case DType::int64:
    return number<std::int64_t>(value);
  case DType::uint64:
    return number<std::uint64_t>(value);
  case DType::float32:
    return number<float>(value);
  case DType::float64:
    return number<double>(value);
  case DType::float16:
    return Tensor::scalar(Half(static_cast<float>(value)));
  case DType::bfloat16:
    return Tensor::scalar(BFloat16(static_cast<float>(value)));
  case DType::bool_:
    return Tensor::scalar(value != 0);
  default:
    return invalid_argument(str_cat("Unsupported data type: ", to_string(type)));
  }
}

Async<Next> RangeIterator::next(ElementPull&) {
  if (given_ >= dataset_->count())
    return end_of_sequence();
  Element element;
  for (DType type : dataset_->types()) {
    auto value = number_of(type, dataset_->at(given_));
    if (!value.ok())
      return Next(value.status());
    element.push_back(*std::move(value));
  }
  ++given_;
  return one_more(std::move(element));
}

std::int64_t count_of(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const bool up = step > 0;
  if (up ? start >= stop : start <= stop)
    return 0;
  const std::uint64_t way =
      up ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
         : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const std::uint64_t stride =
      up ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  const std::uint64_t count = (way - 1) / stride + 1;
  return static_cast<std::int64_t>(
      std::min(count, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(const auto start, scalar_input<std::int64_t>(c, 0));
  TROUPE_ASSIGN(const auto stop, scalar_input<std::int64_t>(c, 1));
  TROUPE_ASSIGN(const auto step, scalar_input<std::int64_t>(c, 2));
  if (step == 0)
    return invalid_argument("step must be a non-zero integer.");
  const bool is_open = stop == std::numeric_limits<std::int64_t>::max();
  return new_dataset<RangeDataset>(c, start, step, count_of(start, stop, step), is_open);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("RangeDataset")
      .input("start: int64; stop: int64; step: int64")
      .output("handle: variant")
      .attr(typed)
      .attr("metadata: string = ''; replicate_on_split: bool = false")
      .stateful()
      .shape_fn(shapes_of_scalars<0, 1, 2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The numbers from `start` up to before `stop`, by `step`.");
}

} // namespace troupe::data_range
