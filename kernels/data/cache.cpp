// CacheDataset, CacheDatasetV2: the elements of the first whole iteration, kept in memory or in a
// file for later ones. AnonymousMemoryCache, DummyMemoryCache, DeleteMemoryCache: a cache in memory
// that several datasets have in common.
#include "kernels/data/internal/anonymous.hpp"
#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/file_cache.hpp"

namespace troupe::data_cache {

using namespace data;

namespace {

/// The elements once they are all there. Any thread.
class MemoryCache final : public Resource {
public:
  /// Null before.
  std::shared_ptr<const Elements> elements() const {
    std::scoped_lock guard(lock_);
    return elements_;
  }
  /// Unless they are there.
  void complete(std::shared_ptr<const Elements> elements) {
    std::scoped_lock guard(lock_);
    if (!elements_)
      elements_ = std::move(elements);
  }
  void replace(std::shared_ptr<const Elements> elements) {
    std::scoped_lock guard(lock_);
    std::swap(elements_, elements); // the old ones go after the lock
  }
  std::string description() const override { return "cache of a dataset"; }

private:
  mutable std::mutex lock_;
  std::shared_ptr<const Elements> elements_;
};

class MemoryCacheDataset final : public UnaryDataset {
public:
  MemoryCacheDataset(const KernelContext& c, DatasetRef input, std::shared_ptr<MemoryCache> cache)
      : UnaryDataset(c, std::move(input)), cache_(std::move(cache)) {}
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return IteratorRef(std::make_unique<Cached>(self<MemoryCacheDataset>(), pipeline));
  }

private:
  /// Reads the cache if it was complete when it was begun; else fills one of its own.
  class Cached final : public Iterator {
  public:
    Cached(std::shared_ptr<const MemoryCacheDataset> dataset, std::shared_ptr<Pipeline> pipeline)
        : dataset_(std::move(dataset)), pipeline_(std::move(pipeline)),
          complete_(dataset_->cache_->elements()) {}

    Async<Next> next(ElementPull& pull) override {
      if (complete_) {
        if (at_ >= complete_->size())
          co_return end_of_sequence();
        co_return one_more((*complete_)[at_++]);
      }
      TROUPE_CO_TRY(begin());
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input_->next(pull));
      if (!element) {
        finish();
        co_return end_of_sequence();
      }
      if (filling_) {
        TROUPE_CO_TRY(filling_->push(*element));
        // Who takes all elements and does not ask for another has read it all, too.
        if (static_cast<std::int64_t>(filling_->size()) == dataset_->input().cardinality())
          finish();
      }
      co_return one_more(*std::move(element));
    }

    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("reads", complete_ != nullptr);
      const auto all = complete_ ? complete_ : dataset_->cache_->elements();
      to.put("is_complete", all != nullptr);
      if (all)
        all->save(to.in("cache"));
      if (complete_) {
        to.put("at", static_cast<std::int64_t>(at_));
        co_return Status();
      }
      to.put("has_begun", input_ != nullptr);
      if (!input_)
        co_return Status();
      to.put("fills", filling_ != nullptr);
      if (filling_)
        filling_->save(to.in("filling"));
      co_return co_await input_->save(pull, to.in("input"));
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(const std::int64_t reads, from.integer("reads"));
      TROUPE_CO_ASSIGN(const std::int64_t is_complete, from.integer("is_complete"));
      std::shared_ptr<Elements> all;
      if (is_complete) {
        all = std::make_shared<Elements>(pipeline_->memory());
        TROUPE_CO_TRY(all->restore(from.in("cache")));
      }
      dataset_->cache_->replace(all);
      complete_ = reads ? all : nullptr;
      if (reads) {
        if (!complete_)
          co_return data_loss("the state of the iterator has no cache to read");
        TROUPE_CO_ASSIGN(const std::int64_t at, from.integer("at"));
        at_ = static_cast<std::size_t>(std::max<std::int64_t>(at, 0));
        co_return Status();
      }
      TROUPE_CO_ASSIGN(const std::int64_t has_begun, from.integer("has_begun"));
      if (!has_begun)
        co_return Status();
      TROUPE_CO_TRY(begin());
      TROUPE_CO_ASSIGN(const std::int64_t fills, from.integer("fills"));
      if (fills)
        TROUPE_CO_TRY(filling_->restore(from.in("filling")));
      else
        filling_ = nullptr;
      co_return co_await input_->restore(pull, from.in("input"));
    }

  private:
    Status begin() {
      if (input_)
        return {};
      TROUPE_ASSIGN(input_, dataset_->input().iterate(pipeline_));
      filling_ = std::make_shared<Elements>(pipeline_->memory());
      return {};
    }
    void finish() {
      if (filling_)
        dataset_->cache_->complete(std::exchange(filling_, nullptr));
    }

    std::shared_ptr<const MemoryCacheDataset> dataset_;
    std::shared_ptr<Pipeline> pipeline_;
    std::shared_ptr<const Elements> complete_;
    std::size_t at_ = 0;
    IteratorRef input_; // null before the beginning, and of who reads
    std::shared_ptr<Elements> filling_;
  };

  const std::shared_ptr<MemoryCache> cache_;
};

template <bool second>
Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(auto name, scalar_input<std::string>(c, 1));
  if (!name.empty())
    return file_cache(c, std::move(input), std::move(name));
  std::shared_ptr<MemoryCache> cache;
  if constexpr (second) {
    auto named = input_resource<MemoryCache>(c, 2);
    if (named.ok())
      cache = *named;
    else if (named.status().code() != Code::not_found)
      return named.status();
  }
  if (!cache)
    cache = std::make_shared<MemoryCache>();
  return new_dataset<MemoryCacheDataset>(c, std::move(input), std::move(cache));
}

Status make_anonymous(KernelContext& c) {
  return give_anonymous(c, std::make_shared<MemoryCache>());
}

Status delete_cache(KernelContext& c) {
  const Status status = delete_anonymous<MemoryCache>(c);
  return status.code() == Code::not_found ? Status() : status;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("CacheDataset")
      .input("input_dataset: variant; filename: string")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::random) // equal nodes have caches of their own
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<false>>)
      .doc("The elements, which the first whole iteration keeps for later ones: in memory, or in "
           "the "
           "file `filename`.");
  library.op("CacheDatasetV2")
      .input("input_dataset: variant; filename: string; cache: resource")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .shape_fn(shapes_of_scalars<1, 2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<true>>)
      .doc(
          "The elements, which the first whole iteration keeps for later ones: in the cache, or in "
          "the file `filename`.");
  library.op("AnonymousMemoryCache")
      .output("handle: resource; deleter: variant")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(make_anonymous)
      .doc("A cache in memory.");
  library.op("DummyMemoryCache")
      .output("handle: resource")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(give_dummy)
      .doc("A handle that names no cache.");
  library.op("DeleteMemoryCache")
      .input("handle: resource; deleter: variant")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(delete_cache)
      .doc("Ends a cache in memory.");
}

} // namespace troupe::data_cache
