// DirectedInterleaveDataset: elements of several datasets in the order that a dataset of their
// numbers gives.
#include "kernels/data/internal/register.hpp"

namespace troupe::data_directed_interleave {

using namespace data;
using data::unknown;

namespace {

class DirectedInterleaveDataset final : public Dataset {
public:
  DirectedInterleaveDataset(const KernelContext& c, DatasetRef selector,
                            std::vector<DatasetRef> inputs)
      : Dataset(c), selector_(std::move(selector)), inputs_(std::move(inputs)),
        stops_when_empty_(c.attrs().get_or("stop_on_empty_dataset", false)) {}
  // As TensorFlow counts: unless one ends the others, they all come.
  std::int64_t cardinality() const override {
    for (const DatasetRef& input : inputs_)
      if (input->cardinality() == infinite)
        return infinite;
    return unknown;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(IteratorRef selector, selector_->iterate(pipeline));
    std::vector<IteratorRef> inputs;
    for (const DatasetRef& input : inputs_) {
      TROUPE_ASSIGN(IteratorRef iterator, input->iterate(pipeline));
      inputs.push_back(std::move(iterator));
    }
    return IteratorRef(std::make_unique<Directed>(self<DirectedInterleaveDataset>(),
                                                  std::move(selector), std::move(inputs)));
  }

private:
  class Directed final : public Iterator {
  public:
    Directed(std::shared_ptr<const DirectedInterleaveDataset> dataset, IteratorRef selector,
             std::vector<IteratorRef> inputs)
        : dataset_(std::move(dataset)), selector_(std::move(selector)), inputs_(std::move(inputs)),
          left_(inputs_.size()) {}

    Async<Next> next(ElementPull& pull) override {
      while (left_ > 0) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(const std::optional<Element> choice, co_await selector_->next(pull));
        if (!choice) {
          left_ = 0;
          break;
        }
        TROUPE_CO_ASSIGN(const std::size_t number, number_of(*choice));
        IteratorRef& input = inputs_[number];
        if (!input)
          continue; // it has ended
        TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input->next(pull));
        if (element)
          co_return one_more(*std::move(element));
        input = nullptr;
        left_ = dataset_->stops_when_empty_ ? 0 : left_ - 1;
      }
      co_return end_of_sequence();
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("left", static_cast<std::int64_t>(left_));
      TROUPE_CO_TRY(co_await selector_->save(pull, to.in("selector")));
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        to.put(str_cat("is_open", i), inputs_[i] != nullptr);
        if (inputs_[i])
          TROUPE_CO_TRY(co_await inputs_[i]->save(pull, to.in("input", i)));
      }
      co_return Status();
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(left_, from.count("left"));
      TROUPE_CO_TRY(co_await selector_->restore(pull, from.in("selector")));
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        TROUPE_CO_ASSIGN(const std::int64_t is_open, from.integer(str_cat("is_open", i)));
        if (is_open)
          TROUPE_CO_TRY(co_await inputs_[i]->restore(pull, from.in("input", i)));
        else
          inputs_[i] = nullptr;
      }
      co_return Status();
    }

  private:
    Result<std::size_t> number_of(const Element& choice) const {
      if (choice.size() != 1 || choice[0].dtype() != DType::int64 || choice[0].num_elements() != 1)
        return invalid_argument("The selector dataset must give scalar int64 elements.");
      const std::int64_t number = choice[0].data<std::int64_t>()[0];
      if (number < 0 || static_cast<std::size_t>(number) >= inputs_.size())
        return invalid_argument(
            str_cat("Selector index out of range: ", number, " >= ", inputs_.size()));
      return static_cast<std::size_t>(number);
    }

    std::shared_ptr<const DirectedInterleaveDataset> dataset_;
    IteratorRef selector_;
    std::vector<IteratorRef> inputs_; // null: it has ended
    std::size_t left_;
  };

  const DatasetRef selector_;
  const std::vector<DatasetRef> inputs_;
  const bool stops_when_empty_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef selector, input_dataset(c, 0));
  if (selector->types() != std::vector<DType>{DType::int64})
    return invalid_argument("The selector input must be a dataset of scalar int64 elements.");
  std::vector<DatasetRef> inputs;
  for (int i = 1; i < c.num_inputs(); ++i) {
    TROUPE_ASSIGN(DatasetRef input, input_dataset(c, i));
    if (!inputs.empty() && input->types() != inputs[0]->types())
      return invalid_argument(
          str_cat("All inputs must have the same output_dtypes. First input has "
                  "other types than input ",
                  i - 1));
    inputs.push_back(std::move(input));
  }
  return new_dataset<DirectedInterleaveDataset>(c, std::move(selector), std::move(inputs));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DirectedInterleaveDataset")
      .input("selector_input_dataset: variant; data_input_datasets: N * variant")
      .output("handle: variant")
      .attr(typed)
      .attr("N: int >= 1; stop_on_empty_dataset: bool = false")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("Elements of the datasets, each of the one whose number the selector gives.");
}

} // namespace troupe::data_directed_interleave
