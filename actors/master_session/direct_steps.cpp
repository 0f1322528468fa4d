#include "actors/master_session/direct_steps.hpp"

#include <algorithm>

#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "core/trace/recorder.hpp"

namespace troupe {

namespace {

/// Signatures that a thread remembers.
constexpr std::size_t max_known = 16;
/// A step that takes longer keeps a thread from its other work.
constexpr std::int64_t long_step_us = 1000;
/// Requests for which a signature is left to the actors, after it has taken long: at first, and at
/// most.
constexpr int first_rests = 32, most_rests = 1 << 16;
/// Steps that have ended, kept for people.
constexpr std::size_t max_finished = 64;

std::optional<std::size_t> find(const std::vector<int>& in, int what) {
  auto at = std::find(in.begin(), in.end(), what);
  return at == in.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - in.begin()));
}

bool admits(const ClientGraph& graph, std::size_t index, const Tensor& feed) {
  if (!feed.has_value() ||
      (graph.feed_types[index] != DType::invalid && graph.feed_types[index] != feed.dtype()))
    return false;
  const PartialShape& shape = graph.feed_shapes[index];
  if (!shape.has_rank())
    return true;
  const Shape& given = feed.shape();
  if (shape.rank() != given.rank())
    return false;
  for (int i = 0; i < given.rank(); ++i)
    if (shape.dim(i) >= 0 && shape.dim(i) != given.dim(i))
      return false;
  return true;
}

std::vector<Tensor> values_of(const DirectGraph& graph, std::vector<Tensor>& retvals) {
  std::vector<Tensor> out;
  out.reserve(graph.fetched.size());
  for (std::size_t position : graph.fetched)
    out.push_back(graph.each_once ? std::move(retvals[position]) : retvals[position]);
  return out;
}

} // namespace

StepSignature StepSignature::of(const DirectRequest& request) {
  StepSignature out;
  for (const auto& [name, value] : request.named_feeds)
    out.feeds.push_back(name);
  out.fetches.assign(request.fetches.begin(), request.fetches.end());
  out.targets.assign(request.targets.begin(), request.targets.end());
  out.callable = request.callable;
  return out;
}

bool StepSignature::is_of(const DirectRequest& request) const {
  return callable == request.callable && std::ranges::equal(fetches, request.fetches) &&
         std::ranges::equal(targets, request.targets) &&
         std::ranges::equal(feeds, request.named_feeds, {}, {},
                            &std::pair<std::string, Tensor>::first);
}

std::shared_ptr<const DirectGraph> make_direct_graph(std::shared_ptr<const BoundSignature> bound,
                                                     std::uint64_t life) {
  const auto& plan = bound->graph->plan;
  if (!plan || plan->parts.size() != 1 || !plan->parts[0].executable || !plan->parts[0].manager)
    return nullptr;
  const RegisteredPart& part = plan->parts[0];
  auto out = std::make_shared<DirectGraph>();
  for (int feed : part.feed_of) {
    auto given = find(bound->feed_index, feed);
    if (!given)
      return nullptr;
    out->args.push_back(*given);
  }
  for (int fetch : bound->fetch_index) {
    auto retval = find(part.fetch_of, fetch);
    auto position =
        retval ? find(part.executable->retval_indices(), static_cast<int>(*retval)) : std::nullopt;
    if (!position)
      return nullptr;
    out->fetched.push_back(*position);
  }
  std::vector<std::size_t> sorted = out->fetched;
  std::ranges::sort(sorted);
  out->each_once = std::ranges::adjacent_find(sorted) == sorted.end();
  out->node_states = part.node_states;
  out->executable = part.executable;
  out->bound = std::move(bound);
  out->life = life;
  return out;
}

struct DirectSteps::Known {
  StepSignature signature;
  std::shared_ptr<const DirectGraph> graph;
  DirectRunner runner;
  int rests = 0;                ///< requests that are left to the actors yet
  int next_rests = first_rests; ///< after the next one that takes long

  Known(StepSignature of, std::shared_ptr<const DirectGraph> direct, Services services)
      : signature(std::move(of)), graph(std::move(direct)),
        // Counted with the lane's graph: what other threads count is left alone.
        runner(std::move(services), std::shared_ptr<NodeStates>(graph, graph->node_states.get()),
               std::shared_ptr<const Executable>(graph, graph->executable.get())) {}
};

/// What a thread has at hand. `known` belongs to whoever holds the lane; of the rest that one is
/// the only writer, and anybody may read. A reader of a finished step looks whether its place was
/// written anew meanwhile.
struct alignas(64) DirectSteps::Lane {
  std::vector<std::unique_ptr<Known>> known; // the latest first

  std::atomic<std::uint64_t> running{0}; // step id; 0: none
  std::atomic<const StepPlan*> plan{nullptr};
  std::atomic<std::int64_t> start_us{0};

  struct Finished {
    std::atomic<std::uint64_t> step_id{0};
    std::atomic<const StepPlan*> plan{nullptr};
    std::atomic<std::int64_t> start_us{0}, duration_us{0};
  };
  std::array<Finished, max_finished> finished;
  std::atomic<std::uint64_t> num_finished{0};

  Known* find(const DirectRequest& request) {
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i]->signature.is_of(request)) {
        if (i > 0)
          std::rotate(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(i),
                      known.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return known[0].get();
      }
    return nullptr;
  }

  Known* keep(StepSignature signature, std::shared_ptr<const DirectGraph> graph,
              const Services& services) {
    if (known.size() == max_known)
      known.pop_back();
    known.insert(known.begin(),
                 std::make_unique<Known>(std::move(signature), std::move(graph), services));
    return known.front().get();
  }

  void begin(std::uint64_t step_id, const StepPlan* what, std::int64_t now_us) {
    std::atomic_thread_fence(std::memory_order_release); // after the last one's end
    plan.store(what, std::memory_order_relaxed);
    start_us.store(now_us, std::memory_order_relaxed);
    running.store(step_id, std::memory_order_release);
  }
  void end_well(std::int64_t now_us) {
    std::uint64_t number = num_finished.load(std::memory_order_relaxed);
    Finished& place = finished[number % max_finished];
    // A reader that sees any of the new values sees the new number of those before.
    place.step_id.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    std::int64_t began_us = start_us.load(std::memory_order_relaxed);
    place.plan.store(plan.load(std::memory_order_relaxed), std::memory_order_relaxed);
    place.start_us.store(began_us, std::memory_order_relaxed);
    place.duration_us.store(now_us - began_us, std::memory_order_relaxed);
    place.step_id.store(running.load(std::memory_order_relaxed), std::memory_order_release);
    num_finished.store(number + 1, std::memory_order_relaxed);
  }

  /// Plans of steps that have ended are not there for ever. By its holder.
  void forget() {
    known.clear();
    for (Finished& place : finished)
      place.step_id.store(0, std::memory_order_release);
  }

  void append(std::vector<DirectStepInfo>& out) const {
    if (std::uint64_t id = running.load(std::memory_order_acquire)) {
      DirectStepInfo info{id, plan.load(std::memory_order_relaxed),
                          start_us.load(std::memory_order_relaxed), 0, true};
      std::atomic_thread_fence(std::memory_order_acquire);
      if (running.load(std::memory_order_relaxed) == id)
        out.push_back(info);
    }
    for (const Finished& place : finished) {
      std::uint64_t id = place.step_id.load(std::memory_order_acquire);
      if (id == 0)
        continue;
      DirectStepInfo info{id, place.plan.load(std::memory_order_relaxed),
                          place.start_us.load(std::memory_order_relaxed),
                          place.duration_us.load(std::memory_order_relaxed), false};
      std::atomic_thread_fence(std::memory_order_acquire);
      if (place.step_id.load(std::memory_order_relaxed) == id)
        out.push_back(info);
    }
  }
};

struct alignas(64) DirectSteps::Place {
  std::atomic<bool> taken{false};
  std::atomic<bool> is_stale{false}; ///< its lane is to be emptied by whoever has it
  std::atomic<Lane*> lane{nullptr};  ///< made by the first who takes it
  ~Place() { delete lane.load(); }
  /// If nobody has it; else its holder does.
  void empty() {
    if (taken.exchange(true))
      return;
    if (Lane* full = lane.load(std::memory_order_acquire))
      full->forget();
    is_stale.store(false);
    taken.store(false);
  }
};

/// A lane of the calling thread, or of a neighbour; none if all that were tried are held.
class DirectSteps::Held {
public:
  explicit Held(DirectSteps& steps) : steps_(steps) {
    const std::size_t first = thread_number();
    for (std::size_t i = 0; i < lanes_to_try && !place_; ++i)
      if (Place& place = steps.places_[(first + i) % num_lanes]; !place.taken.exchange(true))
        place_ = &place;
    if (place_ && !place_->lane.load(std::memory_order_relaxed))
      place_->lane.store(new Lane, std::memory_order_release);
  }
  // Whoever closes finds a lane free and empties it, or its holder finds that it is stale.
  ~Held() {
    if (!place_)
      return;
    place_->taken.store(false);
    if (place_->is_stale.load())
      place_->empty();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Lane* lane() const { return place_ ? place_->lane.load(std::memory_order_relaxed) : nullptr; }

private:
  DirectSteps& steps_;
  Place* place_ = nullptr;
};

DirectSteps::DirectSteps(Services services)
    : services_(std::move(services)), places_(new Place[num_lanes]) {}

DirectSteps::~DirectSteps() = default;

DirectOutcome DirectSteps::run(const DirectRequest& request) {
  Held held(*this);
  if (!held.lane() || !open_.load())
    return {};
  return run(*held.lane(), request);
}

DirectOutcome DirectSteps::run(Lane& lane, const DirectRequest& request) {
  DirectOutcome out;
  Known* known = lane.find(request);
  if (!known)
    known = known_by_all(lane, request);
  out.is_new = !known;
  if (!known)
    return out;
  if (request.only_short && known->rests > 0) {
    --known->rests;
    return out;
  }
  const DirectGraph& graph = *known->graph;
  const std::vector<int>& order = graph.bound->feed_index;
  if (order.size() != request.num_feeds())
    return out;
  auto feed = [&](std::size_t i) -> const Tensor& {
    return request.callable ? request.feeds[i] : request.named_feeds[i].second;
  };
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!admits(*graph.bound->graph, static_cast<std::size_t>(order[i]), feed(i)))
      return out; // the actors say why
  std::vector<Tensor> args;
  args.reserve(graph.args.size());
  for (std::size_t given : graph.args)
    args.push_back(feed(given));
  const std::uint64_t step_id = random_id() >> 8 | 1; // as TensorFlow's, with clear top bits
  const std::int64_t start_us = steady_micros();
  lane.begin(step_id, graph.bound->graph->plan.get(), start_us);
  std::vector<Tensor> retvals;
  if (auto part = known->runner.run(step_id, start_us, request.timeout_us, request.may_compute,
                                    std::move(args), retvals)) {
    out.begun =
        std::make_shared<BegunStep>(BegunStep{graph.bound, step_id, start_us, std::move(part)});
  } else {
    out.values = values_of(graph, retvals);
    lane.end_well(steady_micros());
  }
  if (request.only_short && (out.begun || steady_micros() - start_us > long_step_us)) {
    known->rests = known->next_rests;
    known->next_rests = std::min(2 * known->next_rests, most_rests);
  }
  lane.running.store(0, std::memory_order_release);
  return out;
}

void DirectSteps::learn(const DirectRequest& request, std::shared_ptr<const DirectGraph> graph) {
  Held held(*this);
  Lane* lane = held.lane();
  if (!lane || !open_.load() || graph->life != life() || lane->find(request))
    return;
  lane->keep(StepSignature::of(request), std::move(graph), services_);
}

void DirectSteps::learn_for_all(StepSignature signature, std::shared_ptr<const DirectGraph> graph) {
  std::shared_ptr<const DirectGraph> old; // dies outside of the lock
  std::scoped_lock guard(book_lock_);
  if (!open_.load() || graph->life != life())
    return;
  auto same =
      std::ranges::find_if(book_, [&](const auto& entry) { return entry.first == signature; });
  if (same == book_.end() && book_.size() == max_known)
    same = std::prev(same);
  if (same != book_.end()) {
    old = std::move(same->second);
    book_.erase(same);
  }
  book_.emplace(book_.begin(), std::move(signature), std::move(graph));
}

DirectSteps::Known* DirectSteps::known_by_all(Lane& lane, const DirectRequest& request) {
  StepSignature signature;
  std::shared_ptr<const DirectGraph> graph;
  {
    std::scoped_lock guard(book_lock_);
    for (const auto& [known, its] : book_)
      if (its->life == life() && known.is_of(request)) {
        signature = known;
        graph = its;
        break;
      }
  }
  return graph ? lane.keep(std::move(signature), std::move(graph), services_) : nullptr;
}

void DirectSteps::close() {
  open_.store(false);
  for (std::size_t i = 0; i < num_lanes; ++i) {
    places_[i].is_stale.store(true);
    places_[i].empty();
  }
  decltype(book_) unused; // dies outside of the lock
  std::scoped_lock guard(book_lock_);
  unused.swap(book_);
}

void DirectSteps::reopen() {
  life_.fetch_add(1);
  open_.store(true);
}

std::vector<DirectStepInfo> DirectSteps::list() const {
  std::vector<DirectStepInfo> out;
  for (std::size_t i = 0; i < num_lanes; ++i)
    if (const Lane* lane = places_[i].lane.load(std::memory_order_acquire);
        lane && !places_[i].is_stale.load())
      lane->append(out);
  return out;
}

std::int64_t DirectSteps::num_finished() const {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < num_lanes; ++i)
    if (const Lane* lane = places_[i].lane.load(std::memory_order_acquire))
      out += static_cast<std::int64_t>(lane->num_finished.load(std::memory_order_relaxed));
  return out;
}

} // namespace troupe
