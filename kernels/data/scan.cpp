// ScanDataset: a function of a state and each element, which gives the next state and an element.
#include "kernels/data/internal/register.hpp"

namespace troupe::data_scan {

using namespace data;
using data::unknown;

namespace {

class ScanDataset final : public UnaryDataset {
public:
  ScanDataset(const KernelContext& c, DatasetRef input, CapturedFunction function, Tensors initial)
      : UnaryDataset(c, std::move(input)), function_(std::move(function)),
        initial_(std::move(initial)),
        keeps_cardinality_(c.attrs().get_or("preserve_cardinality", false)) {}
  std::int64_t cardinality() const override {
    return keeps_cardinality_ ? input().cardinality() : unknown;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction function, pipeline->bind(function_));
    return iterate_over<Scanned>(this, pipeline, std::move(function), initial_);
  }
  Status check_external_state() const override {
    TROUPE_TRY(function_.check_external_state());
    return Dataset::check_external_state();
  }

private:
  class Scanned final : public IteratorOver<ScanDataset> {
  public:
    Scanned(std::shared_ptr<const ScanDataset> dataset, IteratorRef input, BoundFunction function,
            Tensors state)
        : IteratorOver(std::move(dataset), std::move(input)), function_(std::move(function)),
          state_(std::move(state)) {}

    Async<Next> next(ElementPull& pull) override {
      TROUPE_CO_ASSIGN(const std::optional<Element> element, co_await input()->next(pull));
      if (!element)
        co_return end_of_sequence();
      Tensors args = state_;
      args.insert(args.end(), element->begin(), element->end());
      Result<Tensors> both = co_await function_(std::move(args), pull);
      if (!both.ok())
        co_return after_map(std::move(both), dataset().keeps_cardinality_);
      TROUPE_CO_TRY(check(*both));
      const auto split = both->begin() + static_cast<std::ptrdiff_t>(state_.size());
      Element out(split, both->end());
      both->erase(split, both->end());
      state_ = *std::move(both);
      co_return one_more(std::move(out));
    }
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put_all("state", state_);
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(state_, from.all("state"));
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Status check(const Tensors& both) const {
      const auto& types = dataset().types();
      if (both.size() != state_.size() + types.size())
        return invalid_argument(str_cat("scan_func returned ", both.size(), " values, expected ",
                                        state_.size() + types.size(), "."));
      for (std::size_t i = 0; i < both.size(); ++i) {
        const bool is_state = i < state_.size();
        const std::size_t k = is_state ? i : i - state_.size();
        const DType expected = is_state ? dataset().initial_[k].dtype() : types[k];
        if (both[i].dtype() != expected)
          return invalid_argument(str_cat("Got wrong type for scan_func return value ", i,
                                          " (expected ", to_string(expected), ", got ",
                                          to_string(both[i].dtype()), ")."));
        if (!is_state && !dataset().shapes()[k].is_compatible_with(both[i].shape()))
          return invalid_argument(str_cat("Got wrong shape for scan_func return value ", i,
                                          " (expected ", text_of(dataset().shapes()[k]), ", got ",
                                          both[i].shape(), ")."));
      }
      return {};
    }

    BoundFunction function_;
    Tensors state_;
  };

  const CapturedFunction function_;
  const Tensors initial_;
  const bool keeps_cardinality_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  const auto states = c.attrs().get_or<std::vector<DType>>("Tstate", {}).size();
  Tensors initial;
  for (std::size_t i = 0; i < states; ++i)
    initial.push_back(c.input(static_cast<int>(1 + i)));
  return new_dataset<ScanDataset>(c, std::move(input), std::move(function), std::move(initial));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ScanDataset")
      .input("input_dataset: variant; initial_state: Tstate; other_arguments: Targuments")
      .output("handle: variant")
      .attr("f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0")
      .attr(typed)
      .attr("preserve_cardinality: bool = false; use_default_device: bool = true")
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("`f` of a state and each element: the next state, and an element.");
}

} // namespace troupe::data_scan
