// GroupByWindowDataset: elements of one key are collected, and a function makes a dataset of them.
#include <map>

#include "kernels/data/internal/register.hpp"
#include "kernels/data/internal/window.hpp"

namespace troupe::data_group_by_window {

using namespace data;
using data::unknown;

namespace {

constexpr auto not_a_key = "`key_func` must return a scalar int64.";
constexpr auto not_a_size = "`window_size_func` must return a scalar int64.";

class GroupByWindowDataset final : public UnaryDataset {
public:
  GroupByWindowDataset(const KernelContext& c, DatasetRef input, CapturedFunction key,
                       CapturedFunction reduce, CapturedFunction window_size)
      : UnaryDataset(c, std::move(input)), key_(std::move(key)), reduce_(std::move(reduce)),
        window_size_(std::move(window_size)) {}
  std::int64_t cardinality() const override {
    return input().cardinality() == infinite ? infinite : unknown;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    Bound functions;
    TROUPE_ASSIGN(functions.key, pipeline->bind(key_));
    TROUPE_ASSIGN(functions.reduce, pipeline->bind(reduce_));
    TROUPE_ASSIGN(functions.window_size, pipeline->bind(window_size_));
    return iterate_over<Grouped>(this, pipeline, std::move(functions), pipeline);
  }
  Status check_external_state() const override {
    for (const CapturedFunction* function : {&key_, &reduce_, &window_size_})
      TROUPE_TRY(function->check_external_state());
    return Dataset::check_external_state();
  }

private:
  struct Bound {
    BoundFunction key, reduce, window_size;
  };

  class Grouped final : public IteratorOver<GroupByWindowDataset> {
  public:
    Grouped(std::shared_ptr<const GroupByWindowDataset> dataset, IteratorRef input, Bound functions,
            std::shared_ptr<Pipeline> pipeline)
        : IteratorOver(std::move(dataset), std::move(input)), functions_(std::move(functions)),
          pipeline_(std::move(pipeline)) {}

    Async<Next> next(ElementPull& pull) override {
      for (;;) {
        if (current_) {
          TROUPE_CO_ASSIGN(std::optional<Element> element, co_await current_->next(pull));
          if (element)
            co_return one_more(*std::move(element));
          current_ = nullptr;
        }
        if (!input_has_ended_)
          TROUPE_CO_TRY(co_await fill_a_group(pull));
        if (current_)
          continue;
        // The input has ended: what is left goes in the order of the keys.
        if (groups_.empty())
          co_return end_of_sequence();
        TROUPE_CO_TRY(co_await flush(groups_.begin()->first, pull));
      }
    }

    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("input_has_ended", input_has_ended_);
      to.put("groups", static_cast<std::int64_t>(groups_.size()));
      std::size_t i = 0;
      for (const auto& [key, group] : groups_) {
        to.put(str_cat("key", i), key);
        group.save(to.in("group", i++));
      }
      to.put("sizes", static_cast<std::int64_t>(sizes_.size()));
      i = 0;
      for (const auto& [key, size] : sizes_) {
        to.put(str_cat("size_key", i), key);
        to.put(str_cat("size", i++), size);
      }
      to.put("has_current", current_ != nullptr);
      if (current_) {
        to.put("current_key", current_key_);
        Elements of_current(pipeline_->memory());
        for (const Element& element : current_elements_)
          TROUPE_CO_TRY(of_current.push(element));
        of_current.save(to.in("current_elements"));
        TROUPE_CO_TRY(co_await current_->save(pull, to.in("current")));
      }
      co_return co_await IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(input_has_ended_, from.integer("input_has_ended"));
      TROUPE_CO_ASSIGN(const std::size_t groups, from.count("groups"));
      for (std::size_t i = 0; i < groups; ++i) {
        TROUPE_CO_ASSIGN(const std::int64_t key, from.integer(str_cat("key", i)));
        TROUPE_CO_TRY(group_of(key).restore(from.in("group", i)));
      }
      TROUPE_CO_ASSIGN(const std::size_t sizes, from.count("sizes"));
      for (std::size_t i = 0; i < sizes; ++i) {
        TROUPE_CO_ASSIGN(const std::int64_t key, from.integer(str_cat("size_key", i)));
        TROUPE_CO_ASSIGN(sizes_[key], from.integer(str_cat("size", i)));
      }
      TROUPE_CO_ASSIGN(const std::int64_t has_current, from.integer("has_current"));
      if (has_current) {
        TROUPE_CO_ASSIGN(const std::int64_t key, from.integer("current_key"));
        Elements elements(pipeline_->memory());
        TROUPE_CO_TRY(elements.restore(from.in("current_elements")));
        TROUPE_CO_TRY(co_await begin(key, std::move(elements), pull));
        TROUPE_CO_TRY(co_await current_->restore(pull, from.in("current")));
      }
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Elements& group_of(std::int64_t key) {
      return groups_.try_emplace(key, pipeline_->memory()).first->second;
    }

    static Result<std::int64_t> number_in(const Tensors& values, const char* wrong) {
      if (values.size() != 1 || values[0].dtype() != DType::int64 || values[0].num_elements() != 1)
        return invalid_argument(wrong);
      return values[0].data<std::int64_t>()[0];
    }

    // Until a group is whole, and begun, or the input has ended.
    Async<Status> fill_a_group(ElementPull& pull) {
      for (;;) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
        if (!element) {
          input_has_ended_ = true;
          co_return Status();
        }
        TROUPE_CO_ASSIGN(const Tensors keys, co_await functions_.key(*element, pull));
        TROUPE_CO_ASSIGN(const std::int64_t key, number_in(keys, not_a_key));
        auto size = sizes_.find(key);
        if (size == sizes_.end()) {
          TROUPE_CO_ASSIGN(const Tensors sizes, co_await functions_.window_size(keys, pull));
          TROUPE_CO_ASSIGN(const std::int64_t wanted, number_in(sizes, not_a_size));
          if (wanted <= 0)
            co_return invalid_argument(
                str_cat("Window size must be greater than zero, but got ", wanted, "."));
          size = sizes_.emplace(key, wanted).first;
        }
        Elements& group = group_of(key);
        TROUPE_CO_TRY(group.push(*std::move(element)));
        if (static_cast<std::int64_t>(group.size()) == size->second)
          co_return co_await flush(key, pull);
      }
    }

    Async<Status> flush(std::int64_t key, ElementPull& pull) {
      auto group = groups_.extract(key);
      co_return co_await begin(key, std::move(group.mapped()), pull);
    }

    Async<Status> begin(std::int64_t key, Elements elements, ElementPull& pull) {
      current_key_ = key;
      current_elements_.assign(elements.begin(), elements.end());
      const Dataset& input = dataset().input();
      Tensors args{Tensor::scalar(key), tensor_of(dataset_of_elements(
                                            std::move(elements), input.types(), input.shapes()))};
      TROUPE_CO_ASSIGN(current_, co_await iterator_of_element(functions_.reduce, std::move(args),
                                                              pipeline_, pull));
      co_return Status();
    }

    Bound functions_;
    std::shared_ptr<Pipeline> pipeline_;
    std::map<std::int64_t, Elements> groups_;
    std::map<std::int64_t, std::int64_t> sizes_;
    std::int64_t current_key_ = 0;
    std::vector<Element> current_elements_;
    IteratorRef current_; // over what was made of these
    bool input_has_ended_ = false;
  };

  const CapturedFunction key_, reduce_, window_size_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(auto key, captured_function(c, "key_func", "key_func_other_arguments"));
  TROUPE_ASSIGN(auto reduce, captured_function(c, "reduce_func", "reduce_func_other_arguments"));
  TROUPE_ASSIGN(auto size,
                captured_function(c, "window_size_func", "window_size_func_other_arguments"));
  return new_dataset<GroupByWindowDataset>(c, std::move(input), std::move(key), std::move(reduce),
                                           std::move(size));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("GroupByWindowDataset")
      .input("input_dataset: variant; key_func_other_arguments: Tkey_func_other_arguments")
      .input("reduce_func_other_arguments: Treduce_func_other_arguments")
      .input("window_size_func_other_arguments: Twindow_size_func_other_arguments")
      .output("handle: variant")
      .attr("key_func: func; reduce_func: func; window_size_func: func")
      .attr("Tkey_func_other_arguments: list(type) >= 0")
      .attr("Treduce_func_other_arguments: list(type) >= 0")
      .attr("Twindow_size_func_other_arguments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The datasets that `reduce_func` makes of `window_size_func(key)` elements of one key, "
           "one "
           "behind the other.");
}

} // namespace troupe::data_group_by_window
