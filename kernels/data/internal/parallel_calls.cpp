#include "kernels/data/internal/parallel_calls.hpp"

#include <algorithm>
#include <deque>

#include "kernels/data/internal/elements.hpp"

namespace troupe::data {
namespace {

/// More calls at once than this only wait for each other.
constexpr std::int64_t most_calls = 1024;

/// One element of the input and what came of it.
struct Place {
  bool is_there = false;
  Result<Tensors> result = Tensors();
};

struct Calls {
  Calls(DatasetRef from, IteratorRef of, BoundFunction calls, std::shared_ptr<Pipeline> in,
        const ParallelOptions& how)
      : dataset(std::move(from)), input(std::move(of)), function(std::move(calls)), options(how),
        background(std::move(in)) {}

  DatasetRef dataset;
  IteratorRef input;
  BoundFunction function;
  const ParallelOptions options;
  std::mutex lock;
  Gate has_room, has_more;
  std::deque<std::shared_ptr<Place>> places; // in the order of the input
  bool has_ended = false;                    // the input
  bool is_pulling = false;                   // the background is in the input
  bool is_paused = false;                    // it is not to go into the input
  std::size_t running = 0;                   // calls
  Background background;                     // the last member: it ends first
};
using CallsRef = std::shared_ptr<Calls>;

void settle(Calls& s, Place& place, Result<Tensors> result) {
  std::unique_lock lock(s.lock);
  --s.running;
  place.result = std::move(result);
  place.is_there = true;
  s.has_more.notify(lock, *s.background.pipeline());
}

Async<Status> call(CallsRef s, std::shared_ptr<Place> place, Element element) {
  ElementPull pull(s->background.pipeline(), s->background.ended());
  Result<Tensors> result = co_await s->function.elsewhere(std::move(element), pull);
  settle(*s, *place, std::move(result));
  co_return Status();
}

// Takes elements of the input and begins their calls, until the input has ended, or the iterator.
Async<Status> begin_calls(CallsRef s) {
  ElementPull pull(s->background.pipeline(), s->background.ended());
  std::unique_lock lock(s->lock);
  while (!s->has_ended) {
    if (s->is_paused || static_cast<std::int64_t>(s->places.size()) >= s->options.calls) {
      TROUPE_CO_TRY(co_await s->has_room.wait(lock, pull));
      continue;
    }
    s->is_pulling = true;
    lock.unlock();
    TROUPE_CO_TRY(co_await pull.breathe());
    Next next = co_await s->input->next(pull);
    lock.lock();
    s->is_pulling = false;
    if (s->background.ended().is_cancelled())
      co_return s->background.ended().status();
    if (next.ok() && !*next) {
      s->has_ended = true;
    } else {
      auto place = std::make_shared<Place>();
      s->places.push_back(place);
      if (next.ok()) {
        ++s->running;
        lock.unlock();
        when_done<Status>(call(s, place, **std::move(next)), [](Status) {});
        lock.lock();
      } else {
        place->result = next.status();
        place->is_there = true;
      }
    }
    s->has_more.notify(lock, pull.pipeline());
    lock.lock();
  }
  co_return Status();
}

class ParallelIterator final : public Iterator {
public:
  explicit ParallelIterator(CallsRef state) : state_(std::move(state)) {}
  ~ParallelIterator() override { state_->background.end(); }

  Async<Next> next(ElementPull& pull) override {
    Calls& s = *state_;
    begin();
    std::unique_lock lock(s.lock);
    for (;;) {
      if (auto at = ready(); at != s.places.end()) {
        auto place = std::move(*at);
        s.places.erase(at);
        s.has_room.notify(lock, pull.pipeline());
        co_return after_map(std::move(place->result), s.options.keeps_cardinality);
      }
      if (s.has_ended && s.places.empty())
        co_return end_of_sequence();
      TROUPE_CO_TRY(co_await s.has_more.wait(lock, pull));
    }
  }

  // No call runs meanwhile, and nobody is in the input.
  Async<Status> save(ElementPull& pull, StateWriter to) override {
    Calls& s = *state_;
    std::unique_lock lock(s.lock);
    s.is_paused = true;
    Status status;
    while (status.ok() && (s.is_pulling || s.running > 0))
      status = co_await s.has_more.wait(lock, pull);
    if (status.ok()) {
      to.put("has_ended", s.has_ended);
      to.put("size", static_cast<std::int64_t>(s.places.size()));
      for (std::size_t i = 0; i < s.places.size(); ++i) {
        const Result<Tensors>& result = s.places[i]->result;
        to.put_status(str_cat("status", i), result.status());
        to.put_all(str_cat("result", i), result.ok() ? *result : Tensors());
      }
      lock.unlock();
      status = co_await s.input->save(pull, to.in("input"));
      lock.lock();
    }
    s.is_paused = false;
    s.has_room.notify(lock, pull.pipeline());
    co_return status;
  }
  Async<Status> restore(ElementPull& pull, StateReader from) override {
    Calls& s = *state_;
    TROUPE_CO_ASSIGN(s.has_ended, from.integer("has_ended"));
    TROUPE_CO_ASSIGN(const std::size_t size, from.count("size"));
    for (std::size_t i = 0; i < size; ++i) {
      Status status;
      TROUPE_CO_TRY(from.read_status(str_cat("status", i), status));
      TROUPE_CO_ASSIGN(Tensors result, from.all(str_cat("result", i)));
      auto place = std::make_shared<Place>();
      place->is_there = true;
      place->result = status.ok() ? Result<Tensors>(std::move(result)) : Result<Tensors>(status);
      s.places.push_back(std::move(place));
    }
    co_return co_await s.input->restore(pull, from.in("input"));
  }

private:
  void begin() {
    if (std::exchange(has_begun_, true))
      return;
    state_->background.run([state = state_] { return begin_calls(state); });
  }
  // With the lock held: what can go now.
  std::deque<std::shared_ptr<Place>>::iterator ready() {
    auto& places = state_->places;
    if (state_->options.in_order)
      return !places.empty() && places.front()->is_there ? places.begin() : places.end();
    return std::ranges::find_if(places, [](const auto& place) { return place->is_there; });
  }

  CallsRef state_;
  bool has_begun_ = false;
};

} // namespace

Result<std::int64_t> parallel_calls(const KernelContext& c, std::int64_t wanted) {
  if (wanted == autotune)
    return std::int64_t{c.device().compute().threads()};
  if (wanted <= 0)
    return invalid_argument("num_parallel_calls must be greater than zero.");
  return std::min(wanted, most_calls);
}

Result<std::optional<bool>> asks_for_order(const KernelContext& c) {
  if (c.attrs().contains("sloppy")) {
    if (c.attrs().get_or("sloppy", false))
      return std::optional<bool>(false);
    return std::optional<bool>();
  }
  const auto text = c.attrs().get_or<std::string>("deterministic", "default");
  if (text == "true")
    return std::optional<bool>(true);
  if (text == "false")
    return std::optional<bool>(false);
  if (text == "default")
    return std::optional<bool>();
  return invalid_argument(str_cat("Unrecognized determinism policy: ", text));
}

IteratorRef iterate_with_calls(DatasetRef dataset, IteratorRef input, BoundFunction function,
                               std::shared_ptr<Pipeline> pipeline, ParallelOptions options) {
  return std::make_unique<ParallelIterator>(std::make_shared<Calls>(
      std::move(dataset), std::move(input), std::move(function), std::move(pipeline), options));
}

} // namespace troupe::data
