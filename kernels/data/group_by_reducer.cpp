// GroupByReducerDataset, ExperimentalGroupByReducerDataset: elements of one key are folded into a
// state, of which a function makes an element at the end.
#include <map>

#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_group_by_reducer {

using namespace data;
using data::unknown;

namespace {

class GroupByReducerDataset final : public UnaryDataset {
public:
  struct Functions {
    CapturedFunction key, init, reduce, finalize;
  };
  GroupByReducerDataset(const KernelContext& c, DatasetRef input, Functions functions)
      : UnaryDataset(c, std::move(input)), functions_(std::move(functions)) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    Bound bound;
    TROUPE_ASSIGN(bound.key, pipeline->bind(functions_.key));
    TROUPE_ASSIGN(bound.init, pipeline->bind(functions_.init));
    TROUPE_ASSIGN(bound.reduce, pipeline->bind(functions_.reduce));
    TROUPE_ASSIGN(bound.finalize, pipeline->bind(functions_.finalize));
    return iterate_over<Reduced>(this, pipeline, std::move(bound), pipeline->memory());
  }
  Status check_external_state() const override {
    for (const CapturedFunction* function :
         {&functions_.key, &functions_.init, &functions_.reduce, &functions_.finalize})
      TROUPE_TRY(function->check_external_state());
    return Dataset::check_external_state();
  }

private:
  struct Bound {
    BoundFunction key, init, reduce, finalize;
  };

  class Reduced final : public IteratorOver<GroupByReducerDataset> {
  public:
    Reduced(std::shared_ptr<const GroupByReducerDataset> dataset, IteratorRef input,
            Bound functions, Allocator& memory)
        : IteratorOver(std::move(dataset), std::move(input)), functions_(std::move(functions)),
          charge_(memory) {}

    Async<Next> next(ElementPull& pull) override {
      while (!input_has_ended_)
        TROUPE_CO_TRY(co_await reduce_one(pull));
      if (states_.empty())
        co_return end_of_sequence();
      // In the order of the keys.
      auto first = states_.extract(states_.begin());
      TROUPE_CO_ASSIGN(Element element,
                       co_await functions_.finalize(std::move(first.mapped()), pull));
      co_return one_more(std::move(element));
    }

    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("input_has_ended", input_has_ended_);
      to.put("states", static_cast<std::int64_t>(states_.size()));
      std::size_t i = 0;
      for (const auto& [key, state] : states_) {
        to.put(str_cat("key", i), key);
        to.put_all(str_cat("state", i++), state);
      }
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(input_has_ended_, from.integer("input_has_ended"));
      TROUPE_CO_ASSIGN(const std::size_t states, from.count("states"));
      for (std::size_t i = 0; i < states; ++i) {
        TROUPE_CO_ASSIGN(const std::int64_t key, from.integer(str_cat("key", i)));
        TROUPE_CO_ASSIGN(states_[key], from.all(str_cat("state", i)));
      }
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Async<Status> reduce_one(ElementPull& pull) {
      TROUPE_CO_TRY(co_await pull.breathe());
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
      if (!element) {
        input_has_ended_ = true;
        co_return Status();
      }
      TROUPE_CO_ASSIGN(Tensors keys, co_await functions_.key(*element, pull));
      if (keys.size() != 1 || keys[0].dtype() != DType::int64 || keys[0].num_elements() != 1)
        co_return invalid_argument("`key_func` must return a scalar int64.");
      const std::int64_t key = keys[0].data<std::int64_t>()[0];
      auto state = states_.find(key);
      if (state == states_.end()) {
        TROUPE_CO_ASSIGN(Tensors initial, co_await functions_.init(std::move(keys), pull));
        TROUPE_CO_TRY(charge_.add(bytes_of_holding(initial)));
        state = states_.emplace(key, std::move(initial)).first;
      }
      Tensors args = state->second;
      args.insert(args.end(), element->begin(), element->end());
      TROUPE_CO_ASSIGN(state->second, co_await functions_.reduce(std::move(args), pull));
      co_return Status();
    }

    Bound functions_;
    Charge charge_;
    std::map<std::int64_t, Tensors> states_;
    bool input_has_ended_ = false;
  };

  const Functions functions_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  GroupByReducerDataset::Functions f;
  TROUPE_ASSIGN(f.key, captured_function(c, "key_func", "key_func_other_arguments"));
  TROUPE_ASSIGN(f.init, captured_function(c, "init_func", "init_func_other_arguments"));
  TROUPE_ASSIGN(f.reduce, captured_function(c, "reduce_func", "reduce_func_other_arguments"));
  TROUPE_ASSIGN(f.finalize, captured_function(c, "finalize_func", "finalize_func_other_arguments"));
  return new_dataset<GroupByReducerDataset>(c, std::move(input), std::move(f));
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const char* name : {"GroupByReducerDataset", "ExperimentalGroupByReducerDataset"})
    library.op(name)
        .input("input_dataset: variant; key_func_other_arguments: Tkey_func_other_arguments")
        .input("init_func_other_arguments: Tinit_func_other_arguments")
        .input("reduce_func_other_arguments: Treduce_func_other_arguments")
        .input("finalize_func_other_arguments: Tfinalize_func_other_arguments")
        .output("handle: variant")
        .attr("key_func: func; init_func: func; reduce_func: func; finalize_func: func")
        .attr("Tkey_func_other_arguments: list(type) >= 0")
        .attr("Tinit_func_other_arguments: list(type) >= 0")
        .attr("Treduce_func_other_arguments: list(type) >= 0")
        .attr("Tfinalize_func_other_arguments: list(type) >= 0")
        .attr(typed)
        .stateful()
        .roles(Role::runs_functions)
        .shape_fn(shape_scalar)
        .not_differentiable(no_gradient)
        .cpu_kernel(compute<make>)
        .doc("For each key what `finalize_func` makes of the state into which `reduce_func` has "
             "folded "
             "the key's elements.");
}

} // namespace troupe::data_group_by_reducer
