// PrefetchDataset: elements are made ahead of those who ask for them.
#include <algorithm>

#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_prefetch {

using namespace data;

namespace {

/// Where the size is left to us: it doubles, up to this, each time that somebody finds the buffer
/// empty.
constexpr std::int64_t most_by_itself = 64;

class PrefetchDataset final : public UnaryDataset {
public:
  PrefetchDataset(const KernelContext& c, DatasetRef input, std::int64_t size)
      : UnaryDataset(c, std::move(input)), size_(size) {}
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    if (size_ == 0)
      return input().iterate(pipeline);
    return iterate_over<Ahead>(this, pipeline, pipeline, size_);
  }

private:
  /// What came of the input, an error or the end among it.
  struct Place {
    Next next;
    std::size_t bytes = 0;
  };

  /// What the iterator and its background have in common.
  struct Buffer {
    Buffer(std::shared_ptr<const PrefetchDataset> from, IteratorRef of,
           std::shared_ptr<Pipeline> in, std::int64_t wanted)
        : dataset(std::move(from)), input(std::move(of)), charge(in->memory()),
          grows(wanted == autotune), limit(grows ? 2 : wanted), background(std::move(in)) {}

    std::shared_ptr<const PrefetchDataset> dataset;
    IteratorRef input; // of whoever has the turn
    std::mutex lock;
    Gate has_room, has_more;
    std::deque<Place> places;
    Charge charge;
    const bool grows;
    std::int64_t limit;
    bool has_ended = false;  // the input
    bool is_pulling = false; // the background is in the input
    bool is_paused = false;  // it is not to go into the input
    Background background;   // the last member: it ends first
  };

  // Until the input has ended, or the iterator.
  static Async<Status> fill(std::shared_ptr<Buffer> b) {
    ElementPull pull(b->background.pipeline(), b->background.ended());
    std::unique_lock lock(b->lock);
    while (!b->has_ended) {
      if (b->is_paused || static_cast<std::int64_t>(b->places.size()) >= b->limit) {
        TROUPE_CO_TRY(co_await b->has_room.wait(lock, pull));
        continue;
      }
      b->is_pulling = true;
      lock.unlock();
      TROUPE_CO_TRY(co_await pull.breathe());
      Next next = co_await b->input->next(pull);
      lock.lock();
      b->is_pulling = false;
      if (b->background.ended().is_cancelled())
        co_return b->background.ended().status();
      keep(*b, Place{std::move(next), 0});
      b->has_more.notify(lock, pull.pipeline());
      lock.lock();
    }
    co_return Status();
  }

  // With the lock held.
  static void keep(Buffer& b, Place place) {
    if (place.next.ok() && *place.next) {
      place.bytes = bytes_of_holding(**place.next);
      if (Status status = b.charge.add(place.bytes); !status.ok())
        place = {status, 0};
    }
    b.has_ended = place.next.ok() && !*place.next;
    b.places.push_back(std::move(place));
  }

  class Ahead final : public Iterator {
  public:
    Ahead(std::shared_ptr<const PrefetchDataset> dataset, IteratorRef input,
          std::shared_ptr<Pipeline> pipeline, std::int64_t size)
        : buffer_(std::make_shared<Buffer>(std::move(dataset), std::move(input),
                                           std::move(pipeline), size)) {}
    ~Ahead() override { buffer_->background.end(); }

    Async<Next> next(ElementPull& pull) override {
      Buffer& b = *buffer_;
      begin();
      std::unique_lock lock(b.lock);
      while (b.places.empty()) {
        if (b.has_ended)
          co_return end_of_sequence();
        if (b.grows)
          b.limit = std::min(2 * b.limit, most_by_itself);
        TROUPE_CO_TRY(co_await b.has_more.wait(lock, pull));
      }
      Place place = std::move(b.places.front());
      b.places.pop_front();
      b.charge.release(place.bytes);
      b.has_room.notify(lock, pull.pipeline());
      co_return std::move(place.next);
    }

    // Nobody is in the input meanwhile.
    Async<Status> save(ElementPull& pull, StateWriter to) override {
      Buffer& b = *buffer_;
      std::unique_lock lock(b.lock);
      b.is_paused = true;
      Status status;
      while (status.ok() && b.is_pulling)
        status = co_await b.has_more.wait(lock, pull);
      if (status.ok()) {
        to.put("has_ended", b.has_ended);
        to.put("size", static_cast<std::int64_t>(b.places.size()));
        for (std::size_t i = 0; i < b.places.size(); ++i) {
          const Next& next = b.places[i].next;
          to.put_status(str_cat("status", i), next.status());
          to.put(str_cat("is_end", i), next.ok() && !*next);
          to.put_all(str_cat("element", i), next.ok() && *next ? **next : Element());
        }
        lock.unlock();
        status = co_await b.input->save(pull, to.in("input"));
        lock.lock();
      }
      b.is_paused = false;
      b.has_room.notify(lock, pull.pipeline());
      co_return status;
    }
    // Before anything is done in the background.
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      Buffer& b = *buffer_;
      TROUPE_CO_ASSIGN(const std::size_t size, from.count("size"));
      for (std::size_t i = 0; i < size; ++i) {
        Status status;
        TROUPE_CO_TRY(from.read_status(str_cat("status", i), status));
        TROUPE_CO_ASSIGN(const std::int64_t is_end, from.integer(str_cat("is_end", i)));
        TROUPE_CO_ASSIGN(Element element, from.all(str_cat("element", i)));
        if (!status.ok())
          keep(b, {status, 0});
        else
          keep(b, {is_end ? end_of_sequence() : one_more(std::move(element)), 0});
      }
      TROUPE_CO_ASSIGN(b.has_ended, from.integer("has_ended"));
      co_return co_await b.input->restore(pull, from.in("input"));
    }

  private:
    void begin() {
      if (std::exchange(has_begun_, true))
        return;
      buffer_->background.run([buffer = buffer_] { return fill(buffer); });
    }

    std::shared_ptr<Buffer> buffer_;
    bool has_begun_ = false;
  };

  const std::int64_t size_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto size, scalar_input<std::int64_t>(c, 1));
  if (size < 0 && size != autotune)
    return invalid_argument(str_cat("buffer_size must be >= 0 or set buffer_size to be ", autotune,
                                    " for auto-tuning"));
  return new_dataset<PrefetchDataset>(c, std::move(input), size);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("PrefetchDataset")
      .input("input_dataset: variant; buffer_size: int64")
      .output("handle: variant")
      .attr(typed)
      .attr("slack_period: int = 0; legacy_autotune: bool = true; buffer_size_min: int = 0")
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The elements, of which up to `buffer_size` are made ahead; -1: as many as pays.");
}

} // namespace troupe::data_prefetch
