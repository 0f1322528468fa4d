// AssertCardinalityDataset: fails unless there are so many elements. IgnoreErrorsDataset: without
// the elements that fail. UniqueDataset: without those that were there before.
#include <unordered_set>

#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_assert_cardinality {

using namespace data;
using data::unknown;

namespace {

std::string elements_text(std::int64_t n) {
  if (n == infinite)
    return "an infinite number of elements";
  return str_cat(n, n == 1 ? " element" : " elements");
}

class AssertCardinalityDataset final : public UnaryDataset {
public:
  AssertCardinalityDataset(const KernelContext& c, DatasetRef input, std::int64_t cardinality)
      : UnaryDataset(c, std::move(input)), expected_(cardinality) {}
  std::int64_t cardinality() const override { return expected_; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Counted>(this, pipeline);
  }

private:
  class Counted final : public IteratorOver<AssertCardinalityDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
      const std::int64_t expected = dataset().expected_;
      if (!element && count_ != expected)
        co_return wrong(" but contained only ");
      if (!element)
        co_return end_of_sequence();
      ++count_;
      if (expected != infinite && count_ > expected)
        co_return wrong(" but contained at least ");
      co_return one_more(*std::move(element));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("count", count_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(count_, from.integer("count"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Status wrong(std::string_view but) const {
      return failed_precondition(str_cat("Input dataset was expected to contain ",
                                         elements_text(dataset().expected_), but,
                                         elements_text(count_), "."));
    }
    std::int64_t count_ = 0;
  };

  const std::int64_t expected_;
};

class IgnoreErrorsDataset final : public UnaryDataset {
public:
  using UnaryDataset::UnaryDataset;
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Sound>(this, pipeline);
  }

private:
  class Sound final : public IteratorOver<IgnoreErrorsDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      for (;;) {
        Next element = co_await input()->next(pull);
        if (element.ok() || element.status().code() == Code::cancelled ||
            pull.cancellation().is_cancelled())
          co_return element;
        TROUPE_CO_TRY(co_await pull.breathe());
      }
    }
  };
};

/// An element by its bytes.
std::string bytes_of(const Tensor& tensor) {
  std::string out = str_cat(tensor.shape(), ":");
  if (tensor.dtype() == DType::string) {
    for (const std::string& text : tensor.data<std::string>())
      str_append(out, text.size(), ":", text);
  } else {
    const auto bytes = tensor.bytes();
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return out;
}

class UniqueDataset final : public UnaryDataset {
public:
  using UnaryDataset::UnaryDataset;
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Unseen>(this, pipeline, pipeline->memory());
  }

private:
  class Unseen final : public IteratorOver<UniqueDataset> {
  public:
    Unseen(std::shared_ptr<const UniqueDataset> dataset, IteratorRef input, Allocator& memory)
        : IteratorOver(std::move(dataset), std::move(input)), charge_(memory) {}
    Async<Next> next(ElementPull& pull) override {
      for (;;) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
        if (!element)
          co_return end_of_sequence();
        if (element->size() != 1)
          co_return invalid_argument("UniqueDataset only supports inputs with one component.");
        std::string bytes = bytes_of((*element)[0]);
        if (seen_.contains(bytes))
          continue;
        TROUPE_CO_TRY(remember(std::move(bytes)));
        co_return one_more(*std::move(element));
      }
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      Tensor all = Tensor::make(DType::string, Shape{static_cast<std::int64_t>(seen_.size())});
      std::copy(seen_.begin(), seen_.end(), all.mutable_data<std::string>().begin());
      to.put("seen", std::move(all));
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(const Tensor all, from.tensor("seen"));
      if (all.dtype() != DType::string)
        co_return data_loss("the state of the iterator does not tell what it has seen");
      for (const std::string& bytes : all.data<std::string>())
        TROUPE_CO_TRY(remember(bytes));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Status remember(std::string bytes) {
      TROUPE_TRY(charge_.add(bytes.size() + 128));
      seen_.insert(std::move(bytes));
      return {};
    }
    Charge charge_;
    std::unordered_set<std::string> seen_;
  };
};

Result<DatasetRef> make_assert(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto cardinality, scalar_input<std::int64_t>(c, 1));
  return new_dataset<AssertCardinalityDataset>(c, std::move(input), cardinality);
}

Result<DatasetRef> make_ignore(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  return new_dataset<IgnoreErrorsDataset>(c, std::move(input));
}

Result<DatasetRef> make_unique_dataset(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  if (input->types().size() != 1)
    return invalid_argument("UniqueDataset only supports inputs with one component.");
  const DType type = input->types()[0];
  if (type != DType::int32 && type != DType::int64 && type != DType::string)
    return invalid_argument(str_cat("UniqueDataset only supports inputs with a single `tf.int32`, "
                                    "`tf.int64`, or `tf.string` component, and this one is ",
                                    to_string(type), "."));
  return new_dataset<UniqueDataset>(c, std::move(input));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("AssertCardinalityDataset")
      .input("input_dataset: variant; cardinality: int64")
      .output("handle: variant")
      .attr(typed)
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_assert>)
      .doc("The input; an error if it has not `cardinality` elements.");
  library.op("IgnoreErrorsDataset")
      .input("input_dataset: variant")
      .output("handle: variant")
      .attr(typed)
      .attr("log_warning: bool = false")
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_ignore>)
      .doc("The elements that do not fail.");
  library.op("UniqueDataset")
      .input("input_dataset: variant")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_unique_dataset>)
      .doc("Each element once.");
}

} // namespace troupe::data_assert_cardinality
