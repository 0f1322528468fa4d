// MapDataset: a function of each element.
#include "kernels/data/internal/register.hpp"

namespace troupe::data_map {

using namespace data;
using data::unknown;

namespace {

class MapDataset final : public UnaryDataset {
public:
  MapDataset(const KernelContext& c, DatasetRef input, CapturedFunction function)
      : UnaryDataset(c, std::move(input)), function_(std::move(function)),
        keeps_cardinality_(c.attrs().get_or("preserve_cardinality", false)) {}
  std::int64_t cardinality() const override {
    return keeps_cardinality_ ? input().cardinality() : unknown;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction function, pipeline->bind(function_));
    return iterate_over<Mapped>(this, pipeline, std::move(function));
  }
  Status check_external_state() const override {
    TROUPE_TRY(function_.check_external_state());
    return Dataset::check_external_state();
  }

private:
  class Mapped final : public IteratorOver<MapDataset> {
  public:
    Mapped(std::shared_ptr<const MapDataset> dataset, IteratorRef input, BoundFunction function)
        : IteratorOver(std::move(dataset), std::move(input)), function_(std::move(function)) {}
    Async<Next> next(ElementPull& pull) override {
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
      if (!element)
        co_return end_of_sequence();
      Result<Tensors> mapped = co_await function_(*std::move(element), pull);
      co_return after_map(std::move(mapped), dataset().keeps_cardinality_);
    }

  private:
    BoundFunction function_;
  };

  const CapturedFunction function_;
  const bool keeps_cardinality_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  return new_dataset<MapDataset>(c, std::move(input), std::move(function));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MapDataset")
      .input("input_dataset: variant; other_arguments: Targuments")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr("use_inter_op_parallelism: bool = true; preserve_cardinality: bool = false")
      .attr("force_synchronous: bool = false; metadata: string = ''")
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("`f` of each element.");
}

} // namespace troupe::data_map
