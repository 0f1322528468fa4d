// What the files of dataset ops register with, and iterators over one input.
#pragma once

#include "kernels/data/internal/pipeline.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::data {

inline constexpr auto no_gradient = "datasets have no gradient";
inline constexpr auto typed = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1";
inline constexpr auto with_metadata = "metadata: string = ''";

template <class D, class... Args>
Result<DatasetRef> new_dataset(Args&&... args) {
  return DatasetRef(std::make_shared<const D>(std::forward<Args>(args)...));
}

/// The kernel of an op that makes a dataset.
template <Result<DatasetRef> (*make)(KernelContext&)>
Status compute(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef dataset, make(c));
  return give_dataset(c, std::move(dataset));
}

/// Shape function: the inputs of these numbers are scalars, and so are all outputs.
template <int... scalars>
Status shapes_of_scalars(ShapeContext& c) {
  for (int i : std::initializer_list<int>{scalars...})
    TROUPE_TRY(c.require_rank(i, 0));
  return shape_scalar(c);
}

/// Iterates over an input that is there from the beginning.
template <class D>
class IteratorOver : public Iterator {
public:
  IteratorOver(std::shared_ptr<const D> dataset, IteratorRef input)
      : dataset_(std::move(dataset)), input_(std::move(input)) {}
  Async<Status> save(ElementPull& pull, StateWriter to) override {
    return input_->save(pull, to.in("input"));
  }
  Async<Status> restore(ElementPull& pull, StateReader from) override {
    return input_->restore(pull, from.in("input"));
  }

protected:
  const D& dataset() const { return *dataset_; }
  IteratorRef& input() { return input_; }

private:
  std::shared_ptr<const D> dataset_;
  IteratorRef input_;
};

/// A dataset whose elements come from one other.
class UnaryDataset : public Dataset {
public:
  UnaryDataset(const KernelContext& c, DatasetRef input) : Dataset(c), input_(std::move(input)) {}
  const Dataset& input() const { return *input_; }
  std::int64_t cardinality() const override { return input_->cardinality(); }

protected:
  UnaryDataset(std::string op, std::vector<DType> types, std::vector<PartialShape> shapes,
               DatasetRef input)
      : Dataset(std::move(op), std::move(types), std::move(shapes)), input_(std::move(input)) {}
  /// `T(this, iterator of the input, more…)`; the first argument is `this`.
  template <class T, class D, class... More>
  Result<IteratorRef> iterate_over(const D*, const std::shared_ptr<Pipeline>& pipeline,
                                   More&&... more) const {
    TROUPE_ASSIGN(IteratorRef input, input_->iterate(pipeline));
    return IteratorRef(std::make_unique<T>(this->template self<D>(), std::move(input),
                                           std::forward<More>(more)...));
  }

private:
  DatasetRef input_;
};

/// A state that is one number.
#define TROUPE_DATA_KEEPS_NUMBER(NAME)                                                             \
  Async<Status> save(ElementPull&, StateWriter to) override {                                      \
    to.put(#NAME, static_cast<std::int64_t>(NAME));                                                \
    return Status();                                                                               \
  }                                                                                                \
  Async<Status> restore(ElementPull&, StateReader from) override {                                 \
    auto value = from.integer(#NAME);                                                              \
    if (!value.ok())                                                                               \
      return value.status();                                                                       \
    NAME = *value;                                                                                 \
    return Status();                                                                               \
  }

} // namespace troupe::data
