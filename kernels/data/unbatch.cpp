// UnbatchDataset: the rows of the elements.
#include <limits>

#include "devices/resource/batches.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_unbatch {

using namespace data;
using data::unknown;

namespace {

class UnbatchDataset final : public UnaryDataset {
public:
  UnbatchDataset(const KernelContext& c, DatasetRef input) : UnaryDataset(c, std::move(input)) {
    for (const PartialShape& shape : this->input().shapes())
      if (shape.has_rank() && shape.rank() > 0 && shape.dim(0) >= 0)
        rows_ = shape.dim(0);
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (n < 0)
      return n;
    if (rows_ <= 0)
      return unknown;
    std::int64_t product = 0;
    return __builtin_mul_overflow(n, rows_, &product) ? std::numeric_limits<std::int64_t>::max()
                                                      : product;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Rows>(this, pipeline);
  }

private:
  class Rows final : public IteratorOver<UnbatchDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      while (at_ >= rows_) {
        TROUPE_CO_TRY(co_await pull.breathe());
        batch_.clear();
        at_ = rows_ = 0;
        TROUPE_CO_ASSIGN(std::optional<Element> batch, co_await input()->next(pull));
        if (!batch)
          co_return end_of_sequence();
        TROUPE_CO_TRY(check(*batch));
        batch_ = *std::move(batch);
        rows_ = batch_[0].shape().dim(0);
      }
      Element row;
      for (const Tensor& component : batch_) {
        TROUPE_CO_ASSIGN(Tensor one, row_of(component, at_, pull.pipeline().memory()));
        row.push_back(std::move(one));
      }
      ++at_;
      co_return one_more(std::move(row));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("at", at_);
      to.put("rows", rows_);
      to.put_all("batch", batch_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(at_, from.integer("at"));
      TROUPE_CO_ASSIGN(rows_, from.integer("rows"));
      TROUPE_CO_ASSIGN(batch_, from.all("batch"));
      if (at_ < 0 || (at_ < rows_ && (!check(batch_).ok() || batch_[0].shape().dim(0) != rows_)))
        co_return data_loss("the state of the iterator has no batch to go on with");
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    static Status check(const Element& batch) {
      if (batch.empty())
        return invalid_argument("Input element must have a component.");
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (batch[i].shape().rank() == 0)
          return invalid_argument("Input element must have a non-scalar value in each component.");
        if (batch[i].shape().dim(0) != batch[0].shape().dim(0))
          return invalid_argument(str_cat("Input element must have the same batch size in each "
                                          "component. Component 0 had size ",
                                          batch[0].shape().dim(0), " but component ", i,
                                          " had size, ", batch[i].shape().dim(0), "."));
      }
      return {};
    }

    Element batch_;
    std::int64_t at_ = 0, rows_ = 0;
  };

  std::int64_t rows_ = -1; ///< of each element, if it is known
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  return new_dataset<UnbatchDataset>(c, std::move(input));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("UnbatchDataset")
      .input("input_dataset: variant")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The rows of the elements, one after the other.");
}

} // namespace troupe::data_unbatch
