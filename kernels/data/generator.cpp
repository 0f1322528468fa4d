// GeneratorDataset: elements that a function makes of a state, until it says OUT_OF_RANGE.
#include <memory>

#include "kernels/data/internal/register.hpp"

namespace troupe::data_generator {

using namespace data;
using data::unknown;

namespace {

class GeneratorDataset final : public Dataset {
public:
  struct Functions {
    CapturedFunction init, next, finalize;
  };
  GeneratorDataset(const KernelContext& c, Functions functions)
      : Dataset(c), functions_(std::move(functions)) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    Bound bound;
    TROUPE_ASSIGN(bound.init, pipeline->bind(functions_.init));
    TROUPE_ASSIGN(bound.next, pipeline->bind(functions_.next));
    TROUPE_ASSIGN(bound.finalize, pipeline->bind(functions_.finalize));
    return IteratorRef(
        std::make_unique<Generated>(self<GeneratorDataset>(), std::move(bound), pipeline));
  }
  Status check_external_state() const override {
    for (const CapturedFunction* function :
         {&functions_.init, &functions_.next, &functions_.finalize})
      TROUPE_TRY(function->check_external_state());
    return Dataset::check_external_state();
  }

private:
  struct Bound {
    BoundFunction init, next, finalize;
  };

  /// The last call of an iterator that went away before its end. The functions' session ends it at
  /// the latest.
  struct LastCall {
    BoundFunction function;
    Tensors state;
    Cancellation cancellation;
    ElementPull pull;
    LastCall(BoundFunction f, Tensors args, const std::shared_ptr<Pipeline>& pipeline)
        : function(std::move(f)), state(std::move(args)), pull(pipeline, cancellation) {}
    Async<Status> run() {
      TROUPE_CO_TRY((co_await function(std::move(state), pull)).status());
      co_return Status();
    }
  };

  class Generated final : public Iterator {
  public:
    Generated(std::shared_ptr<const GeneratorDataset> dataset, Bound functions,
              std::shared_ptr<Pipeline> pipeline)
        : dataset_(std::move(dataset)), functions_(std::move(functions)),
          pipeline_(std::move(pipeline)) {}
    ~Generated() override {
      if (!has_begun_ || has_ended_)
        return;
      auto last =
          std::make_shared<LastCall>(std::move(functions_.finalize), std::move(state_), pipeline_);
      // Nobody is left whom its error could be told.
      pipeline_->submit([last] { when_done<Status>(last->run(), [last](Status) {}); });
    }

    Async<Next> next(ElementPull& pull) override {
      if (has_ended_)
        co_return end_of_sequence();
      if (!has_begun_) {
        TROUPE_CO_ASSIGN(state_, co_await functions_.init({}, pull));
        has_begun_ = true;
      }
      Result<Tensors> element = co_await functions_.next(state_, pull);
      if (element.ok()) {
        TROUPE_CO_TRY(check_element(dataset_->types(), dataset_->shapes(), *element));
        co_return one_more(*std::move(element));
      }
      if (element.status().code() != Code::out_of_range)
        co_return element.status();
      has_ended_ = true;
      TROUPE_CO_TRY((co_await functions_.finalize(std::move(state_), pull)).status());
      co_return end_of_sequence();
    }

    Async<Status> save(ElementPull&, StateWriter) override { return not_saved(); }
    Async<Status> restore(ElementPull&, StateReader) override { return not_saved(); }

  private:
    static Status not_saved() {
      return unimplemented("GeneratorDataset does not support checkpointing.");
    }

    std::shared_ptr<const GeneratorDataset> dataset_;
    Bound functions_;
    std::shared_ptr<Pipeline> pipeline_;
    Tensors state_;
    bool has_begun_ = false, has_ended_ = false;
  };

  const Functions functions_;
};

Result<DatasetRef> make(KernelContext& c) {
  GeneratorDataset::Functions f;
  TROUPE_ASSIGN(f.init, captured_function(c, "init_func", "init_func_other_args"));
  TROUPE_ASSIGN(f.next, captured_function(c, "next_func", "next_func_other_args"));
  TROUPE_ASSIGN(f.finalize, captured_function(c, "finalize_func", "finalize_func_other_args"));
  return new_dataset<GeneratorDataset>(c, std::move(f));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("GeneratorDataset")
      .input("init_func_other_args: Tinit_func_args; next_func_other_args: Tnext_func_args")
      .input("finalize_func_other_args: Tfinalize_func_args")
      .output("handle: variant")
      .attr("init_func: func; next_func: func; finalize_func: func")
      .attr("Tinit_func_args: list(type) >= 0; Tnext_func_args: list(type) >= 0")
      .attr("Tfinalize_func_args: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("What `next_func` makes of the state that `init_func` gives, until it ends "
           "OUT_OF_RANGE; then `finalize_func` is called with the state.");
}

} // namespace troupe::data_generator
