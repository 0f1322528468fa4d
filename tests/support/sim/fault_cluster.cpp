#include "tests/support/sim/fault_cluster.hpp"

#include <algorithm>
#include <cstdlib>

#include <cxxabi.h>

#include "core/base/check.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "tests/support/sim/internal/fault_wires.hpp"

namespace troupe::testing {

namespace {

constexpr SimTime never = SimTime::max();

// "troupe::RunStep" → "RunStep"; empty for types that are not ours. Asked for each event, so
// remembered.
std::string_view short_type_name(const std::type_info* type) {
  static std::map<const std::type_info*, std::string> known;
  if (!type)
    return {};
  auto [it, is_new] = known.try_emplace(type);
  if (is_new) {
    int status = 0;
    char* text = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    std::string_view name = text ? text : "";
    if (constexpr std::string_view ours = "troupe::"; name.substr(0, ours.size()) == ours)
      it->second = name.substr(ours.size());
    std::free(text);
  }
  return it->second;
}

} // namespace

std::string long_task_name(std::string_view short_name) {
  auto slash = short_name.find('/');
  return str_cat("/job:", short_name.substr(0, slash),
                 "/replica:0/task:", short_name.substr(slash + 1));
}

FaultCluster::FaultCluster(const std::vector<std::string>& tasks, std::uint64_t seed,
                           const Timeouts& timeouts)
    : names_(tasks), timeouts_(timeouts), random_(seed) {
  seed_random_ids(seed);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto name = DeviceName::parse(long_task_name(tasks[i]));
    TROUPE_CHECK(name.ok(), "a simulated task is named \"job/number\"");
    Status added = cluster_.add(*name->job, *name->task,
                                Address{"sim", static_cast<std::uint16_t>(first_port + i)});
    TROUPE_CHECK(added.ok(), added.message());
  }
  names_.push_back("client");
  nodes_.resize(names_.size());
}

FaultCluster::~FaultCluster() {
  observer = nullptr;
  agenda_.clear();
  links_.clear();
  while (!nodes_.empty())
    nodes_.pop_back();
}

void FaultCluster::start() {
  for (std::size_t i = 0; i < names_.size(); ++i)
    boot(i);
  bool whole = run_until([this] { return is_whole(); }, std::chrono::seconds(30));
  TROUPE_CHECK(whole, "a simulated cluster without faults connects");
}

void FaultCluster::boot(std::size_t index) {
  if (nodes_[index])
    return;
  nodes_[index] = std::make_unique<FaultNode>(*this, names_[index], index);
  for (auto& [who, dial] : dials_)
    if (who.first == index)
      dial = Dial{};
  note(str_cat("boot ", names_[index]));
  pump(index);
}

std::size_t FaultCluster::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name)
      return i;
  TROUPE_CHECK(false, str_cat("there is no simulated node '", name, "'"));
  return 0;
}

FaultNode* FaultCluster::find(std::string_view name) {
  return nodes_[index_of(name)].get();
}

void FaultCluster::note(std::string_view text) {
  for (char c : text)
    trace_ = (trace_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  if (narrate)
    narrate(str_cat(now_.count(), " us  ", text));
}

void FaultCluster::at(SimTime time, std::function<void()> action) {
  agenda_.emplace(std::max(time, now_), std::move(action));
}

SimTime FaultCluster::latency(std::size_t a, std::size_t b) {
  SimTime out(100 + pick(900));
  if (pick(16) == 0)
    out += SimTime(pick(20000));
  Pair& p = pair(a, b);
  if (p.slow_until > now_)
    out += p.slow_by;
  return out;
}

// What happens next.

void FaultCluster::run_job(std::size_t node_index, std::size_t job) {
  FaultNode& node = *nodes_[node_index];
  auto& jobs = node.scheduler.jobs;
  auto it = jobs.begin() + static_cast<std::ptrdiff_t>(job);
  std::rotate(jobs.begin(), it, it + 1);
  auto* actor = dynamic_cast<caf::scheduled_actor*>(jobs.front());
  if (!actor) {
    node.scheduler.try_run_once();
    return;
  }
  caf::strong_actor_ptr handle(actor->ctrl());
  SimEvent event{node, handle, actor->name(), {}, false};
  if (auto* element = actor->mailbox().peek()) {
    event.is_answer = element->mid.is_response();
    if (element->content().size() > 0)
      event.message = short_type_name(element->content().type(0).second);
  }
  note(narrate ? str_cat(node.name, " ", event.kind, "#", actor->id(), " ", event.message,
                         event.is_answer ? " (answer)" : "")
               : std::string(event.message));
  trace_ = (trace_ ^ (actor->id() * 64 + node_index)) * 1099511628211ull;
  if (observer)
    observer(event, false);
  node.scheduler.try_run_once();
  if (observer)
    observer(event, true);
}

bool FaultCluster::step() {
  candidates_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!runs(i))
      continue;
    for (std::size_t job = 0; job < nodes_[i]->scheduler.jobs.size(); ++job)
      candidates_.push_back({What::job, i, job, 0});
    if (!nodes_[i]->computing.empty())
      candidates_.push_back({What::compute, i, 0, 0});
    candidates_.push_back({What::net, i, 0, 0});
  }
  for (std::size_t l = 0; l < links_.size(); ++l)
    for (int side = 0; side < 2; ++side) {
      const End& end = links_[l]->ends[side];
      if (end.closed || !runs(end.node))
        continue;
      const Pair& p = pair(links_[l]->ends[0].node, links_[l]->ends[1].node);
      if (p.held_until > now_ && p.holds(links_[l]->ends[1 - side].node))
        continue;
      if (!nodes_[end.node]->net.impl_ptr(end.handle))
        continue; // nobody has taken up the connection yet
      if (!end.in.empty()) {
        if (end.in.front().due <= now_)
          candidates_.push_back({What::deliver, end.node, l, side});
      } else if (end.eof && end.eof_due <= now_) {
        candidates_.push_back({What::eof, end.node, l, side});
      }
    }
  while (!candidates_.empty()) {
    std::size_t chosen = pick(candidates_.size());
    Candidate c = candidates_[chosen];
    bool happened = true;
    switch (c.what) {
    case What::job:
      run_job(c.node, c.index);
      break;
    case What::compute: {
      auto work = std::move(nodes_[c.node]->computing.front());
      nodes_[c.node]->computing.pop_front();
      note("computes");
      work();
      break;
    }
    case What::net:
      happened =
          nodes_[c.node]->net.try_exec_runnable() || nodes_[c.node]->net.try_accept_connection();
      break;
    case What::deliver:
      deliver(*links_[c.index], c.end);
      break;
    case What::eof:
      close_end(*links_[c.index], c.end);
      break;
    }
    if (!happened) {
      candidates_[chosen] = candidates_.back();
      candidates_.pop_back();
      continue;
    }
    ++events;
    pump(c.node);
    if (c.what == What::eof || c.what == What::net) {
      std::erase_if(links_,
                    [](auto& link) { return link->ends[0].closed && link->ends[1].closed; });
      forget_guardians();
    }
    return true;
  }
  return false;
}

SimTime FaultCluster::next_time() const {
  SimTime next = agenda_.empty() ? never : agenda_.begin()->first;
  auto consider = [&](SimTime time) { next = std::min(next, std::max(time, now_)); };
  for (const auto& node : nodes_) {
    if (!node)
      continue;
    if (node->frozen_until > now_) {
      consider(node->frozen_until);
      continue;
    }
    const auto& clock = node->scheduler.clock();
    if (clock.has_pending_timeout()) {
      auto in = clock.schedule().begin()->first - clock.current_time;
      consider(node->time + std::chrono::ceil<SimTime>(in));
    }
  }
  for (const auto& link : links_) {
    const End* e = link->ends;
    auto held = pairs_.find(std::minmax(e[0].node, e[1].node));
    SimTime released(0);
    for (int side = 0; side < 2; ++side) {
      if (e[side].closed || !runs(e[side].node))
        continue;
      if (held != pairs_.end() && !held->second.holds(e[1 - side].node))
        released = SimTime(0);
      else if (held != pairs_.end())
        released = held->second.held_until;
      if (!e[side].in.empty() && std::max(e[side].in.front().due, released) > now_)
        consider(std::max(e[side].in.front().due, released));
      if (e[side].eof && std::max(e[side].eof_due, released) > now_)
        consider(std::max(e[side].eof_due, released));
    }
  }
  for (const auto& [who, dial] : dials_)
    if (!dial.under_way && dial.retry_at > now_)
      consider(dial.retry_at);
  for (const auto& [who, p] : pairs_)
    if (p.blocked_until > now_)
      consider(p.blocked_until);
  return next;
}

void FaultCluster::turn_clock(FaultNode& node) {
  SimTime passed = now_ - node.time;
  node.time = now_;
  node.scheduler.advance_time(passed); // none has passed: messages delayed by nothing are due
}

bool FaultCluster::run_until(const std::function<bool()>& done, SimTime budget) {
  SimTime end = now_ + budget;
  std::size_t event_limit = events + 400000;
  for (;;) {
    if (!doomed_.empty() || std::any_of(nodes_.begin(), nodes_.end(),
                                        [](auto& node) { return node && !node->ended.empty(); }))
      bury();
    if (done())
      return true;
    if (events > event_limit)
      return false;
    dial_missing();
    if (step())
      continue;
    SimTime next = std::min(next_time(), end);
    if (next == end && now_ == end)
      return false;
    now_ = next;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (runs(i))
        turn_clock(*nodes_[i]);
    while (!agenda_.empty() && agenda_.begin()->first <= now_) {
      auto action = std::move(agenda_.begin()->second);
      agenda_.erase(agenda_.begin());
      action();
    }
  }
}

void FaultCluster::run_for(SimTime time) {
  (void)run_until([] { return false; }, time);
}

} // namespace troupe::testing
