// ZipDataset: the components of one element of each input. ConcatenateDataset: one input behind the
// other.
#include <algorithm>

#include "kernels/data/internal/register.hpp"

namespace troupe::data_zip {

using namespace data;
using data::unknown;

namespace {

class ZipDataset final : public Dataset {
public:
  ZipDataset(const KernelContext& c, std::vector<DatasetRef> inputs)
      : Dataset(c), inputs_(std::move(inputs)) {}
  std::int64_t cardinality() const override {
    std::int64_t least = infinite;
    for (const DatasetRef& input : inputs_) {
      const std::int64_t n = input->cardinality();
      if (n == unknown)
        return unknown;
      if (n != infinite && (least == infinite || n < least))
        least = n;
    }
    return least;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    std::vector<IteratorRef> iterators;
    for (const DatasetRef& input : inputs_) {
      TROUPE_ASSIGN(IteratorRef iterator, input->iterate(pipeline));
      iterators.push_back(std::move(iterator));
    }
    return IteratorRef(std::make_unique<Zipped>(self<ZipDataset>(), std::move(iterators)));
  }

private:
  class Zipped final : public Iterator {
  public:
    Zipped(std::shared_ptr<const ZipDataset> dataset, std::vector<IteratorRef> inputs)
        : dataset_(std::move(dataset)), inputs_(std::move(inputs)) {}

    // Each input is asked for as many elements as the others, whatever they answer: so they stay in
    // step after an error, and a cache in each sees its end.
    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      Status status;
      Element out;
      for (IteratorRef& input : inputs_) {
        Next element = co_await input->next(pull);
        if (!element.ok()) {
          if (status.ok())
            status = element.status();
          continue;
        }
        if (!*element)
          has_ended_ = true;
        else
          out.insert(out.end(), (*element)->begin(), (*element)->end());
      }
      if (!status.ok())
        co_return status;
      co_return has_ended_ ? end_of_sequence() : one_more(std::move(out));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("has_ended", has_ended_);
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        TROUPE_CO_TRY(co_await inputs_[i]->save(pull, to.in("input", i)));
      co_return Status();
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(has_ended_, from.integer("has_ended"));
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        TROUPE_CO_TRY(co_await inputs_[i]->restore(pull, from.in("input", i)));
      co_return Status();
    }

  private:
    std::shared_ptr<const ZipDataset> dataset_;
    std::vector<IteratorRef> inputs_;
    bool has_ended_ = false;
  };

  const std::vector<DatasetRef> inputs_;
};

class ConcatenateDataset final : public Dataset {
public:
  ConcatenateDataset(const KernelContext& c, std::vector<PartialShape> shapes, DatasetRef first,
                     DatasetRef second)
      : Dataset(c, first->types(), std::move(shapes)), inputs_{std::move(first),
                                                               std::move(second)} {}
  std::int64_t cardinality() const override {
    const std::int64_t a = inputs_[0]->cardinality(), b = inputs_[1]->cardinality();
    if (a == infinite || b == infinite)
      return infinite;
    if (a == unknown || b == unknown)
      return unknown;
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(IteratorRef first, inputs_[0]->iterate(pipeline));
    return IteratorRef(
        std::make_unique<Chained>(self<ConcatenateDataset>(), std::move(first), pipeline));
  }

private:
  class Chained final : public Iterator {
  public:
    Chained(std::shared_ptr<const ConcatenateDataset> dataset, IteratorRef first,
            std::shared_ptr<Pipeline> pipeline)
        : dataset_(std::move(dataset)), current_(std::move(first)), pipeline_(std::move(pipeline)) {
    }
    Async<Next> next(ElementPull& pull) override {
      while (number_ < 2) {
        TROUPE_CO_ASSIGN(std::optional<Element> element, co_await current_->next(pull));
        if (element)
          co_return one_more(*std::move(element));
        TROUPE_CO_TRY(go_to(number_ + 1));
      }
      co_return end_of_sequence();
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("number", number_);
      if (!current_)
        return Status();
      return current_->save(pull, to.in("input"));
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(const std::int64_t number, from.integer("number"));
      if (number != 0)
        TROUPE_CO_TRY(go_to(number == 1 ? 1 : 2));
      if (current_)
        TROUPE_CO_TRY(co_await current_->restore(pull, from.in("input")));
      co_return Status();
    }

  private:
    Status go_to(std::int64_t number) {
      number_ = number;
      current_ = nullptr;
      if (number < 2) {
        TROUPE_ASSIGN(current_,
                      dataset_->inputs_[static_cast<std::size_t>(number)]->iterate(pipeline_));
      }
      return {};
    }

    std::shared_ptr<const ConcatenateDataset> dataset_;
    IteratorRef current_; // null once both have ended
    std::shared_ptr<Pipeline> pipeline_;
    std::int64_t number_ = 0;
  };

  const std::vector<DatasetRef> inputs_;
};

Result<DatasetRef> make_zip(KernelContext& c) {
  std::vector<DatasetRef> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    TROUPE_ASSIGN(DatasetRef input, input_dataset(c, i));
    inputs.push_back(std::move(input));
  }
  return new_dataset<ZipDataset>(c, std::move(inputs));
}

// What elements of both have.
PartialShape most_specific(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank())
    return {};
  std::vector<std::int64_t> dims = a.dims();
  for (int i = 0; i < b.rank(); ++i)
    if (dims[static_cast<std::size_t>(i)] != b.dim(i))
      dims[static_cast<std::size_t>(i)] = -1;
  return PartialShape(std::move(dims));
}

std::string text_of(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType type : types)
    names.push_back(to_string(type));
  return str_join(names, ", ");
}

Result<DatasetRef> make_concatenate(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef first, input_dataset(c, 0));
  TROUPE_ASSIGN(DatasetRef second, input_dataset(c, 1));
  if (first->types() != second->types())
    return invalid_argument(str_cat("input dataset and dataset to concatenate have different "
                                    "output_types ",
                                    text_of(first->types()), " and ", text_of(second->types())));
  std::vector<PartialShape> shapes;
  for (std::size_t i = 0; i < first->shapes().size() && i < second->shapes().size(); ++i)
    shapes.push_back(most_specific(first->shapes()[i], second->shapes()[i]));
  return new_dataset<ConcatenateDataset>(c, std::move(shapes), std::move(first), std::move(second));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ZipDataset")
      .input("input_datasets: N * variant")
      .output("handle: variant")
      .attr(typed)
      .attr("N: int >= 1; metadata: string = ''")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_zip>)
      .doc("Elements with the components of one element of each input; as many as the shortest "
           "has.");
  library.op("ConcatenateDataset")
      .input("input_dataset: variant; another_dataset: variant")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_concatenate>)
      .doc("The elements of one dataset, and then those of the other.");
}

} // namespace troupe::data_zip
