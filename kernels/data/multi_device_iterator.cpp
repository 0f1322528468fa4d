// MultiDeviceIterator: an iterator that deals its elements to several devices in turn. Init begins
// it, GetNextFromShard asks for a device's next one; ToStringHandle and FromStringHandle as of
// iterators.
#include <deque>

#include "kernels/data/internal/handle_text.hpp"
#include "kernels/data/internal/iterator_resource.hpp"
#include "kernels/data/internal/register.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/shape_by_attr.hpp"

namespace troupe::data_multi_device_iterator {

using namespace data;

namespace {

/// One way through a dataset. Elements are asked of it in order, by whichever shard wants one; what
/// is another's waits for that, `most` at a time.
class Dealt {
public:
  Dealt(std::shared_ptr<Iteration> iteration, std::size_t shards, std::int64_t most)
      : iteration_(std::move(iteration)),
        most_(static_cast<std::size_t>(std::max<std::int64_t>(most, 0))), waiting_(shards) {}

  std::size_t num_shards() const { return waiting_.size(); }
  const std::shared_ptr<Iteration>& iteration() const { return iteration_; }

  Async<Next> next(std::size_t shard, Cancellation& cancellation) {
    ElementPull pull(iteration_->pipeline(), cancellation);
    std::unique_lock lock(lock_);
    for (;;) {
      if (is_over_)
        co_return cancelled("Cancelled Multidevice iterator");
      if (auto& own = waiting_[shard]; !own.empty()) {
        Next out = std::move(own.front());
        own.pop_front();
        changed_.notify(lock, *iteration_->pipeline());
        co_return out;
      }
      if (has_ended_)
        co_return end_of_sequence();
      if (is_asking_ || (turn_ != shard && waiting_[turn_].size() >= most_)) {
        TROUPE_CO_TRY(co_await changed_.wait(lock, pull));
        continue;
      }
      is_asking_ = true;
      lock.unlock();
      Next got = co_await iteration_->next(cancellation);
      lock.lock();
      is_asking_ = false;
      const bool gave_up = !got.ok() && cancellation.is_cancelled();
      if (got.ok() && !*got) {
        has_ended_ = true;
      } else if (!gave_up) {
        waiting_[turn_].push_back(std::move(got));
        turn_ = (turn_ + 1) % waiting_.size();
      }
      changed_.notify(lock, *iteration_->pipeline());
      if (gave_up)
        co_return got.status();
      lock.lock();
    }
  }

  /// Another one has been begun in its place.
  void end() {
    std::unique_lock lock(lock_);
    is_over_ = true;
    changed_.notify(lock, *iteration_->pipeline());
  }

private:
  const std::shared_ptr<Iteration> iteration_;
  const std::size_t most_;
  std::mutex lock_; // guards what follows
  Gate changed_;
  std::vector<std::deque<Next>> waiting_; ///< elements, and errors, by shard
  std::size_t turn_ = 0;                  ///< whose the next element is
  bool is_asking_ = false, has_ended_ = false, is_over_ = false;
};

class MultiDeviceIterator final : public Resource {
public:
  MultiDeviceIterator(std::vector<DType> types, std::vector<PartialShape> shapes,
                      std::size_t shards)
      : types_(std::move(types)), shapes_(std::move(shapes)), shards_(shards) {}

  const std::vector<DType>& types() const { return types_; }
  const std::vector<PartialShape>& shapes() const { return shapes_; }
  /// Returns the incarnation. INVALID_ARGUMENT for a dataset of other elements.
  Result<std::int64_t> begin(std::shared_ptr<Iteration> iteration, std::int64_t most) {
    TROUPE_TRY(check_types(types_, iteration->dataset()->types()));
    TROUPE_TRY(check_shapes(shapes_, iteration->dataset()->shapes()));
    auto dealt = std::make_shared<Dealt>(std::move(iteration), shards_, most);
    std::int64_t incarnation = 0;
    {
      std::scoped_lock guard(lock_);
      std::swap(current_, dealt);
      incarnation = ++incarnation_;
    }
    if (dealt)
      dealt->end();
    return incarnation;
  }
  Result<std::shared_ptr<Dealt>> find(std::int64_t incarnation) const {
    std::scoped_lock guard(lock_);
    if (!current_)
      return failed_precondition("the MultiDeviceIterator has not been initialized; run the op "
                                 "MultiDeviceIteratorInit first");
    if (incarnation != incarnation_)
      return invalid_argument(
          str_cat("Invalid incarnation id. Provided: ", incarnation, "; Expected: ", incarnation_));
    return current_;
  }
  std::string description() const override {
    return str_cat("MultiDeviceIterator for ", shards_, " devices");
  }

private:
  const std::vector<DType> types_;
  const std::vector<PartialShape> shapes_;
  const std::size_t shards_;
  mutable std::mutex lock_; // guards what follows
  std::shared_ptr<Dealt> current_;
  std::int64_t incarnation_ = 0;
};

Status give_handle(KernelContext& c) {
  const auto& spec = c.prepared<IteratorSpec>();
  const auto devices = c.attrs().get_or<std::vector<std::string>>("devices", {});
  TROUPE_ASSIGN(auto found,
                node_resource<MultiDeviceIterator>(
                    c, spec.resource,
                    [&](const std::string&) -> Result<std::shared_ptr<MultiDeviceIterator>> {
                      return std::make_shared<MultiDeviceIterator>(spec.types, spec.shapes,
                                                                   devices.size());
                    }));
  TROUPE_TRY(check_types(spec.types, found->types()));
  return check_shapes(spec.shapes, found->shapes());
}

Status init(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef dataset, input_dataset(c, 0));
  TROUPE_ASSIGN(auto resource, input_resource<MultiDeviceIterator>(c, 1));
  TROUPE_ASSIGN(const auto most, scalar_input<std::int64_t>(c, 2));
  TROUPE_ASSIGN(auto iteration, begin_iteration(c, std::move(dataset)));
  TROUPE_ASSIGN(const std::int64_t incarnation, resource->begin(std::move(iteration), most));
  return c.set_output(0, Tensor::scalar(incarnation));
}

Async<Status> get(KernelContext& c, std::shared_ptr<Dealt> dealt, std::size_t shard) {
  Async<Next> next = dealt->next(shard, c.cancellation());
  std::optional<PipelineNote> note;
  if (!next.is_ready())
    note.emplace(c, dealt->iteration()->pipeline());
  TROUPE_CO_ASSIGN(std::optional<Element> element, co_await std::move(next));
  if (!element)
    co_return out_of_range("End of sequence");
  const auto& expected = c.prepared<IteratorSpec>();
  co_return give_element(c, expected.types, expected.shapes, *std::move(element));
}

struct Asked {
  std::shared_ptr<Dealt> dealt;
  std::size_t shard = 0;
};
Result<Asked> asked(KernelContext& c) {
  TROUPE_ASSIGN(auto resource, input_resource<MultiDeviceIterator>(c, 0));
  TROUPE_ASSIGN(const auto shard, scalar_input<int>(c, 1));
  TROUPE_ASSIGN(const auto incarnation, scalar_input<std::int64_t>(c, 2));
  TROUPE_ASSIGN(auto dealt, resource->find(incarnation));
  if (shard < 0 || static_cast<std::size_t>(shard) >= dealt->num_shards())
    return invalid_argument(
        str_cat("shard_num is ", shard, ", and there are ", dealt->num_shards(), " devices"));
  return Asked{std::move(dealt), static_cast<std::size_t>(shard)};
}

void get_next(KernelContext& c, KernelDone done) {
  auto from = asked(c);
  if (!from.ok())
    return done(from.status());
  Iteration::run(from->dealt->iteration(), [&c, done = std::move(done), from = *from] {
    when_done<Status>(get(c, from.dealt, from.shard), done);
  });
}

Status shapes_of_next(ShapeContext& c) {
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  return shape_by_attr(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MultiDeviceIterator")
      .output("handle: resource")
      .attr("devices: list(string) >= 1; shared_name: string; container: string")
      .attr(typed)
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(give_handle, {.prepare = prepare_iterator})
      .doc("The handle of an iterator that deals elements to `devices` in turn.");
  library.op("MultiDeviceIteratorInit")
      .input("dataset: variant; multi_device_iterator: resource; max_buffer_size: int64")
      .output("incarnation_id: int64")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(init, {.expensive = true})
      .doc("Begins the iterator anew, with this dataset.");
  library.op("MultiDeviceIteratorGetNextFromShard")
      .input("multi_device_iterator: resource; shard_num: int32; incarnation_id: int64")
      .output("components: output_types")
      .attr(typed)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shapes_of_next)
      .not_differentiable("its outputs come from a dataset")
      .cpu_kernel_async(get_next, {.prepare = prepare_elements})
      .doc("A device's next element; OUT_OF_RANGE at the end.");
  library.op("MultiDeviceIteratorToStringHandle")
      .input("multi_device_iterator: resource")
      .output("string_handle: string")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(give_text_of_handle<MultiDeviceIterator>)
      .doc("The handle of the iterator as text that can be fed.");
  library.op("MultiDeviceIteratorFromStringHandle")
      .input("string_handle: string")
      .output("multi_device_iterator: resource")
      .attr("output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(give_handle_of_text<MultiDeviceIterator>)
      .doc("The handle of the iterator that a text names.");
}

} // namespace troupe::data_multi_device_iterator
