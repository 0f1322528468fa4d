#include "kernels/data/internal/lanes.hpp"

#include <algorithm>
#include <deque>

#include "kernels/data/internal/elements.hpp"

namespace troupe::data {
namespace {

/// What a lane takes, about.
constexpr std::size_t bytes_of_lane = 4096;

/// A dataset made of one element, and what was read of it.
struct Lane {
  Element made_of;
  IteratorRef iterator; // of who reads; null before it is made, and where it could not be
  std::deque<Next> ready;
  Gate room;               // for who reads
  Status failed;           // it gives this, and nothing else
  bool has_ended = false;  // nothing more is read
  bool is_waiting = false; // for its turn to read
  bool is_charged = false;
};
using LaneRef = std::shared_ptr<Lane>;

struct State {
  State(DatasetRef from, IteratorRef of, BoundFunction calls, std::shared_ptr<Pipeline> in,
        const LaneOptions& how)
      : dataset(std::move(from)), input(std::move(of)), function(std::move(calls)), options(how),
        charge(in->memory()), background(std::move(in)) {}

  DatasetRef dataset;
  IteratorRef input; // of the feeder
  BoundFunction function;
  const LaneOptions options;
  std::mutex lock;
  Gate has_room, has_more;     // for the feeder; for who takes elements
  std::deque<LaneRef> coming;  // in the order of the input
  std::vector<LaneRef> places; // of the cycle, as far as they were needed; null: empty
  std::deque<LaneRef> waiting; // to be read
  Charge charge;
  std::int64_t open = 0;    // lanes that are not over
  std::int64_t reading = 0; // lanes, now
  bool has_ended = false;   // the input
  bool is_feeding = false;  // the feeder is in the input
  bool is_paused = false;   // nobody is to go into an iterator
  Background background;    // the last member: it ends first
};
using StateRef = std::shared_ptr<State>;

// With the lock held, as it is afterwards.
void tell(std::unique_lock<std::mutex>& lock, Gate& gate, State& s) {
  gate.notify(lock, *s.background.pipeline());
  lock.lock();
}

// The next lane that waits for its turn has it. With the lock held.
void pass_turn(std::unique_lock<std::mutex>& lock, State& s) {
  if (s.waiting.empty())
    return;
  const LaneRef next = std::move(s.waiting.front());
  s.waiting.pop_front();
  next->is_waiting = false;
  tell(lock, next->room, s);
}

Async<Next> read(State& s, Lane& lane, ElementPull& pull) {
  if (!lane.iterator) {
    Result<IteratorRef> made =
        co_await iterator_of_element(s.function, lane.made_of, s.background.pipeline(), pull);
    if (!made.ok())
      co_return made.status();
    lane.iterator = *std::move(made);
  }
  co_return co_await lane.iterator->next(pull);
}

// Reads a lane ahead, until it or the iterator has ended.
Async<Status> read_ahead(StateRef s, LaneRef lane) {
  ElementPull pull(s->background.pipeline(), s->background.ended());
  std::unique_lock lock(s->lock);
  while (!lane->has_ended) {
    if (s->is_paused || static_cast<std::int64_t>(lane->ready.size()) >= s->options.ahead) {
      TROUPE_CO_TRY(co_await lane->room.wait(lock, pull));
      continue;
    }
    if (s->reading >= s->options.calls) {
      if (!std::exchange(lane->is_waiting, true))
        s->waiting.push_back(lane);
      TROUPE_CO_TRY(co_await lane->room.wait(lock, pull));
      continue;
    }
    ++s->reading;
    const bool is_new = !lane->iterator;
    lock.unlock();
    Next next = co_await read(*s, *lane, pull);
    lock.lock();
    --s->reading;
    if (s->background.ended().is_cancelled())
      co_return s->background.ended().status();
    if (is_new && !lane->iterator) {
      lane->failed = next.status();
      lane->has_ended = true;
    } else {
      lane->has_ended = next.ok() && !*next;
      lane->ready.push_back(std::move(next));
    }
    pass_turn(lock, *s);
    tell(lock, s->has_more, *s);
  }
  co_return Status();
}

// As many as there are empty places, and those beyond the cycle.
std::int64_t most_coming(const State& s) {
  const std::int64_t in_cycle = s.open - static_cast<std::int64_t>(s.coming.size());
  return s.options.coming + std::min(s.options.calls, s.options.cycle - in_cycle);
}

// Makes lanes of the input's elements, as many as may be open.
Async<Status> feed(StateRef s) {
  ElementPull pull(s->background.pipeline(), s->background.ended());
  std::unique_lock lock(s->lock);
  while (!s->has_ended) {
    if (s->is_paused || static_cast<std::int64_t>(s->coming.size()) >= most_coming(*s)) {
      TROUPE_CO_TRY(co_await s->has_room.wait(lock, pull));
      continue;
    }
    s->is_feeding = true;
    lock.unlock();
    TROUPE_CO_TRY(co_await pull.breathe());
    Next next = co_await s->input->next(pull);
    lock.lock();
    s->is_feeding = false;
    if (s->background.ended().is_cancelled())
      co_return s->background.ended().status();
    if (next.ok() && !*next) {
      s->has_ended = true;
    } else {
      auto lane = std::make_shared<Lane>();
      Status status = next.ok() ? s->charge.add(bytes_of_lane) : next.status();
      lane->failed = status;
      lane->has_ended = !status.ok();
      lane->is_charged = status.ok();
      if (status.ok())
        lane->made_of = **std::move(next);
      ++s->open;
      s->coming.push_back(lane);
      if (status.ok())
        s->background.run([s, lane] { return read_ahead(s, lane); });
    }
    tell(lock, s->has_more, *s);
  }
  co_return Status();
}

class LaneIterator final : public Iterator {
public:
  explicit LaneIterator(StateRef state) : state_(std::move(state)) {}
  ~LaneIterator() override { state_->background.end(); }

  Async<Next> next(ElementPull& pull) override {
    State& s = *state_;
    begin();
    std::unique_lock lock(s.lock);
    for (;;) {
      if (s.has_ended && s.open == 0)
        co_return end_of_sequence();
      Turn turn = s.options.in_order ? take_in_order(lock) : take_any(lock);
      if (turn.taken)
        co_return std::move(*turn.taken);
      if (turn.must_wait)
        TROUPE_CO_TRY(co_await s.has_more.wait(lock, pull));
    }
  }

  Async<Status> save(ElementPull& pull, StateWriter to) override {
    State& s = *state_;
    std::unique_lock lock(s.lock);
    s.is_paused = true;
    Status status;
    while (status.ok() && (s.is_feeding || s.reading > 0))
      status = co_await s.has_more.wait(lock, pull);
    lock.unlock();
    if (status.ok())
      status = co_await save_at_rest(pull, to);
    lock.lock();
    s.is_paused = false;
    std::vector<LaneRef> all(s.coming.begin(), s.coming.end());
    std::ranges::copy_if(s.places, std::back_inserter(all),
                         [](const LaneRef& lane) { return lane != nullptr; });
    for (const LaneRef& lane : all)
      tell(lock, lane->room, s);
    s.has_room.notify(lock, pull.pipeline());
    co_return status;
  }

  Async<Status> restore(ElementPull& pull, StateReader from) override {
    State& s = *state_;
    TROUPE_CO_ASSIGN(s.has_ended, from.integer("has_ended"));
    TROUPE_CO_ASSIGN(in_block_, from.integer("in_block"));
    TROUPE_CO_ASSIGN(at_, from.integer("at"));
    if (at_ < 0 || at_ >= s.options.cycle)
      co_return data_loss("the state of the iterator is beyond its cycle");
    TROUPE_CO_ASSIGN(const std::size_t places, from.count("places"));
    for (std::size_t i = 0; i < places; ++i) {
      TROUPE_CO_ASSIGN(LaneRef lane, co_await restore_lane(pull, from.in("place", i)));
      s.places.push_back(std::move(lane));
    }
    TROUPE_CO_ASSIGN(const std::size_t coming, from.count("coming"));
    for (std::size_t i = 0; i < coming; ++i) {
      TROUPE_CO_ASSIGN(LaneRef lane, co_await restore_lane(pull, from.in("lane", i)));
      if (lane)
        s.coming.push_back(std::move(lane));
    }
    co_return co_await s.input->restore(pull, from.in("input"));
  }

private:
  void begin() {
    if (std::exchange(has_begun_, true))
      return;
    State& s = *state_;
    for (const LaneRef& lane : s.places) // of a restored iterator
      if (lane)
        s.background.run([state = state_, lane] { return read_ahead(state, lane); });
    for (const LaneRef& lane : s.coming)
      s.background.run([state = state_, lane] { return read_ahead(state, lane); });
    // Last: it adds to `coming`, each lane with its reader.
    s.background.run([state = state_] { return feed(state); });
  }

  /// What a look at the places gave.
  struct Turn {
    std::optional<Next> taken = {};
    bool must_wait = false;
  };

  // Places come to be when they are needed: a cycle may be longer than its input.
  LaneRef* place(std::int64_t at) {
    auto& places = state_->places;
    return static_cast<std::size_t>(at) < places.size() ? &places[static_cast<std::size_t>(at)]
                                                        : nullptr;
  }
  void go_to_next() {
    in_block_ = 0;
    at_ = (at_ + 1) % state_->options.cycle;
    if (!place(at_) && state_->has_ended && state_->coming.empty())
      at_ = 0;
  }
  // The first lane that comes goes to the place.
  void settle(std::unique_lock<std::mutex>& lock, std::int64_t at) {
    State& s = *state_;
    LaneRef lane = std::move(s.coming.front());
    s.coming.pop_front();
    if (!place(at))
      s.places.resize(static_cast<std::size_t>(at) + 1);
    *place(at) = std::move(lane);
    tell(lock, s.has_room, s);
  }
  void end_lane(std::unique_lock<std::mutex>& lock, LaneRef& lane) {
    State& s = *state_;
    if (lane->is_charged)
      s.charge.release(bytes_of_lane);
    lane = nullptr;
    --s.open;
    tell(lock, s.has_room, s);
  }
  Next take(std::unique_lock<std::mutex>& lock, Lane& lane) {
    Next next = std::move(lane.ready.front());
    lane.ready.pop_front();
    tell(lock, lane.room, *state_);
    return next;
  }

  Turn take_in_order(std::unique_lock<std::mutex>& lock) {
    State& s = *state_;
    LaneRef* here = place(at_);
    if (!here || !*here) {
      if (!s.coming.empty())
        settle(lock, at_);
      else if (s.has_ended)
        go_to_next();
      else
        return {.must_wait = true};
      return {};
    }
    const LaneRef lane = *here;
    if (lane->ready.empty()) {
      if (lane->failed.ok())
        return {.must_wait = true};
      Next error = lane->failed;
      end_lane(lock, *here);
      return {.taken = std::move(error)};
    }
    Next next = take(lock, *lane);
    if (next.ok() && !*next) {
      end_lane(lock, *place(at_));
      go_to_next();
      return {};
    }
    if (next.ok() && ++in_block_ == s.options.block)
      go_to_next();
    return {.taken = std::move(next)};
  }

  Turn take_any(std::unique_lock<std::mutex>& lock) {
    State& s = *state_;
    for (std::int64_t at = 0; !s.coming.empty() && at < s.options.cycle; ++at)
      if (LaneRef* here = place(at); !here || !*here)
        settle(lock, at);
    const auto count = static_cast<std::int64_t>(s.places.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = (at_ + i) % count;
      const LaneRef lane = *place(at);
      if (!lane || (lane->ready.empty() && lane->failed.ok()))
        continue;
      if (at != at_) {
        at_ = at;
        in_block_ = 0;
      }
      return take_in_order(lock);
    }
    return {.must_wait = true};
  }

  Async<Status> save_at_rest(ElementPull& pull, StateWriter to) {
    State& s = *state_;
    to.put("has_ended", s.has_ended);
    to.put("in_block", in_block_);
    to.put("at", at_);
    to.put("places", static_cast<std::int64_t>(s.places.size()));
    for (std::size_t i = 0; i < s.places.size(); ++i)
      TROUPE_CO_TRY(co_await save_lane(pull, s.places[i].get(), to.in("place", i)));
    to.put("coming", static_cast<std::int64_t>(s.coming.size()));
    for (std::size_t i = 0; i < s.coming.size(); ++i)
      TROUPE_CO_TRY(co_await save_lane(pull, s.coming[i].get(), to.in("lane", i)));
    co_return co_await s.input->save(pull, to.in("input"));
  }
  static Async<Status> save_lane(ElementPull& pull, Lane* lane, StateWriter to) {
    to.put("is_there", lane != nullptr);
    if (!lane)
      co_return Status();
    to.put_status("failed", lane->failed);
    to.put("has_ended", lane->has_ended);
    to.put_all("made_of", lane->made_of);
    to.put("ready", static_cast<std::int64_t>(lane->ready.size()));
    for (std::size_t i = 0; i < lane->ready.size(); ++i) {
      const Next& next = lane->ready[i];
      to.put_status(str_cat("status", i), next.status());
      to.put(str_cat("is_end", i), next.ok() && !*next);
      to.put_all(str_cat("element", i), next.ok() && *next ? **next : Element());
    }
    to.put("has_iterator", lane->iterator != nullptr);
    if (lane->iterator)
      co_return co_await lane->iterator->save(pull, to.in("iterator"));
    co_return Status();
  }
  Async<Result<LaneRef>> restore_lane(ElementPull& pull, StateReader from) {
    State& s = *state_;
    TROUPE_CO_ASSIGN(const std::int64_t is_there, from.integer("is_there"));
    if (!is_there)
      co_return LaneRef();
    auto lane = std::make_shared<Lane>();
    TROUPE_CO_TRY(from.read_status("failed", lane->failed));
    TROUPE_CO_ASSIGN(lane->has_ended, from.integer("has_ended"));
    TROUPE_CO_ASSIGN(lane->made_of, from.all("made_of"));
    TROUPE_CO_ASSIGN(const std::size_t ready, from.count("ready"));
    for (std::size_t i = 0; i < ready; ++i) {
      Status status;
      TROUPE_CO_TRY(from.read_status(str_cat("status", i), status));
      TROUPE_CO_ASSIGN(const std::int64_t is_end, from.integer(str_cat("is_end", i)));
      TROUPE_CO_ASSIGN(Element element, from.all(str_cat("element", i)));
      if (!status.ok())
        lane->ready.emplace_back(status);
      else
        lane->ready.push_back(is_end ? end_of_sequence() : one_more(std::move(element)));
    }
    TROUPE_CO_TRY(s.charge.add(bytes_of_lane));
    lane->is_charged = true;
    ++s.open;
    TROUPE_CO_ASSIGN(const std::int64_t has_iterator, from.integer("has_iterator"));
    if (has_iterator) {
      TROUPE_CO_ASSIGN(lane->iterator, co_await iterator_of_element(s.function, lane->made_of,
                                                                    s.background.pipeline(), pull));
      TROUPE_CO_TRY(co_await lane->iterator->restore(pull, from.in("iterator")));
    }
    co_return lane;
  }

  StateRef state_;
  std::int64_t at_ = 0, in_block_ = 0;
  bool has_begun_ = false;
};

} // namespace

IteratorRef iterate_in_lanes(DatasetRef dataset, IteratorRef input, BoundFunction function,
                             std::shared_ptr<Pipeline> pipeline, const LaneOptions& options) {
  return std::make_unique<LaneIterator>(std::make_shared<State>(
      std::move(dataset), std::move(input), std::move(function), std::move(pipeline), options));
}

} // namespace troupe::data
