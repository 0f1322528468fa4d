#include "tests/schedules/schedule.hpp"

#include <algorithm>
#include <array>

#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/schedules/workload.hpp"

namespace troupe::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* watched_counters[] = {
    "worker_sessions", "graphs", "rendezvous", "steps", "master_sessions", "transport_offers"};

Timeouts simulated_timeouts() {
  Timeouts out;
  out.orphan = milliseconds(8000); // so that what nobody comes for is gone soon
  return out;
}

// Watches for the moments of a plan, and does what it says.
class Saboteur {
public:
  Saboteur(FaultCluster& cluster, const FaultPlan& plan) : cluster_(cluster) {
    for (const Fault& fault : plan.faults)
      watches_.push_back({fault, 0, nullptr, false});
    cluster.observer = [this](const SimEvent& event, bool handled) { see(event, handled); };
    for (Watch& watch : watches_)
      if (watch.fault.point == Fault::Point::at_time)
        cluster.at(cluster.now() + milliseconds(watch.fault.at_ms), [this, &watch] {
          if (!stopped_)
            fire(watch, nullptr);
        });
  }
  ~Saboteur() { cluster_.observer = nullptr; }
  void stop() {
    stopped_ = true;
    cluster_.observer = nullptr;
  }
  const std::vector<KillPoint>& kills() const { return kills_; }
  std::size_t fired() const {
    return static_cast<std::size_t>(
        std::count_if(watches_.begin(), watches_.end(), [](auto& w) { return w.done; }));
  }

private:
  struct Watch {
    Fault fault;
    int seen = 0;
    caf::actor_addr armed; ///< whose next message is awaited
    bool done = false;
  };

  void see(const SimEvent& event, bool handled) {
    for (Watch& watch : watches_) {
      const Fault& fault = watch.fault;
      if (watch.done || fault.point == Fault::Point::at_time || event.node.name != fault.node ||
          event.kind != fault.actor)
        continue;
      if (watch.armed) {
        if (!handled && event.actor->get()->address() == watch.armed)
          fire(watch, event.actor);
        continue;
      }
      if (fault.message != "any" && fault.message != event.message)
        continue;
      if (fault.point == Fault::Point::before) {
        if (!handled && ++watch.seen == fault.nth)
          fire(watch, event.actor);
      } else if (handled && ++watch.seen == fault.nth) {
        if (fault.point == Fault::Point::after)
          fire(watch, event.actor);
        else
          watch.armed = event.actor->get()->address();
      }
    }
  }

  void fire(Watch& watch, const caf::strong_actor_ptr& actor) {
    watch.done = true;
    const Fault& fault = watch.fault;
    milliseconds time(fault.for_ms);
    cluster_.note(str_cat("fault: ", fault.to_text()));
    switch (fault.action) {
    case Fault::Action::kill:
      if (!actor->get()->getf(caf::abstract_actor::is_cleaned_up_flag))
        kills_.push_back({fault.actor, fault.point});
      // Before everything else in its mailbox.
      actor->enqueue(nullptr, caf::make_message_id(caf::message_priority::high),
                     caf::make_message(caf::exit_msg{caf::actor_addr{}, caf::exit_reason::kill}),
                     nullptr);
      break;
    case Fault::Action::crash:
      cluster_.crash(fault.a, time);
      break;
    case Fault::Action::freeze:
      cluster_.freeze(fault.a, time);
      break;
    case Fault::Action::cut:
      cluster_.cut(fault.a, fault.b, time);
      break;
    case Fault::Action::hold:
      cluster_.hold(fault.a, fault.b, time);
      break;
    case Fault::Action::slow:
      cluster_.slow(fault.a, fault.b, milliseconds(200), time);
      break;
    }
  }

  FaultCluster& cluster_;
  std::vector<Watch> watches_;
  std::vector<KillPoint> kills_;
  bool stopped_ = false;
};

// What is there now that was not there at the beginning.
class Leftovers {
public:
  explicit Leftovers(FaultCluster& cluster) : cluster_(cluster) {
    for (const char* name : watched_counters)
      counters_[name] = counter(name).value();
  }
  /// Empty when nothing is left.
  std::string list() const {
    std::string out;
    for (const auto& [name, before] : counters_)
      if (std::int64_t now = counter(name).value(); now != before)
        out += str_cat(out.empty() ? "" : ", ", now - before, " ", name);
    for (const auto& node : cluster_.nodes()) {
      if (!node)
        continue;
      // The client's driver is one more.
      std::size_t usual = node->baseline_actors + (node->name == "client" ? 1 : 0);
      if (std::size_t now = node->num_actors(); now != usual)
        out +=
            str_cat(out.empty() ? "" : ", ", now, " actors instead of ", usual, " on ", node->name);
    }
    return out;
  }

private:
  FaultCluster& cluster_;
  std::map<std::string, std::int64_t> counters_;
};

bool may_fail_with(Code code) {
  return code == Code::unavailable || code == Code::aborted || code == Code::cancelled ||
         code == Code::deadline_exceeded;
}

std::string judge(const Call& call, bool anything_fired) {
  if (call.answers == 0)
    return str_cat("'", call.what, "' is not answered");
  if (call.answers > 1)
    return str_cat("'", call.what, "' is answered ", call.answers, " times");
  const Status& status = call.status;
  if (status.ok())
    return {};
  const std::string& text = status.message();
  std::string said = str_cat("'", call.what, "' ended ", status.to_string());
  if (call.what == "to be cancelled" && status.code() == Code::cancelled)
    return {};
  if (call.what == "with a deadline" && status.code() == Code::deadline_exceeded)
    return {};
  if (!anything_fired)
    return said + ", though nothing went wrong";
  if (status.code() == Code::failed_precondition) {
    bool known = text.find("ninitialized") != std::string::npos ||
                 text.find("Session is closed") != std::string::npos ||
                 text.find("Session::Close") != std::string::npos ||
                 text.find("does not exist") != std::string::npos;
    return known ? std::string() : said;
  }
  if (!may_fail_with(status.code()))
    return said + ", a code that no fault may give";
  bool names_somebody =
      text.find("/job:") != std::string::npos || text.find("ession") != std::string::npos ||
      text.find("step ") != std::string::npos || text.find("the master") != std::string::npos ||
      status.origin().device.find("/job:") != std::string::npos;
  if (!names_somebody)
    return said + ", which names no task";
  return {};
}

std::string tell(const std::vector<Call>& calls) {
  std::string out;
  for (const Call& call : calls)
    out += str_cat("  ", call.asked.count() / 1000, " ms  ", call.what, " → ",
                   call.answers == 0 ? "no answer"
                                     : str_cat(call.status.to_string(), " after ",
                                               (call.answered - call.asked).count() / 1000, " ms"),
                   "\n");
  return out;
}

class Run {
public:
  explicit Run(const ScheduleOptions& options)
      : options_(options),
        cluster_({"ps/0", "worker/0", "worker/1"}, options.seed, simulated_timeouts()) {
    cluster_.narrate = options.narrate;
  }

  ScheduleResult run() {
    ScheduleResult out;
    cluster_.start();
    Leftovers leftovers(cluster_);
    Saboteur saboteur(cluster_, options_.plan);
    Workload workload(cluster_);
    out.failure = go(workload, saboteur, leftovers);
    out.fired = saboteur.fired();
    out.kills = saboteur.kills();
    out.story = tell(workload.calls());
    out.trace = cluster_.trace();
    out.events = cluster_.events;
    out.virtual_seconds = static_cast<double>(cluster_.now().count()) / 1e6;
    for (const Call& call : workload.calls())
      out.longest_call = std::max(out.longest_call,
                                  static_cast<double>((call.answered - call.asked).count()) / 1e6);
    return out;
  }

private:
  std::string go(Workload& workload, Saboteur& saboteur, Leftovers& leftovers) {
    SimTime limit = seconds(60) + milliseconds(options_.plan.total_ms());
    workload.start(2 + static_cast<int>(cluster_.pick(5)));
    if (std::string wrong = finish(workload, limit, "working"); !wrong.empty())
      return wrong;
    saboteur.stop();
    bool fired = saboteur.fired() > 0;
    workload.finish();
    if (std::string wrong = finish(workload, limit, "closing"); !wrong.empty())
      return wrong;
    // Sometimes the living must tidy up while the dead are still dead.
    if (cluster_.pick(2) == 0)
      cluster_.heal();
    if (std::string left = sweep(leftovers); !left.empty())
      return str_cat("after the faults there is left: ", left);
    cluster_.heal();
    if (!cluster_.run_until([&] { return cluster_.is_whole(); }, seconds(20)))
      return "the cluster does not come together again";
    // Within a heartbeat both ends of each connection agree on what was lost.
    cluster_.run_for(milliseconds(1500));
    std::size_t before = 0;
    for (int attempt = 1; attempt <= 3; ++attempt) {
      before = workload.calls().size();
      workload.start_check();
      if (std::string wrong = finish(workload, limit, "checking"); !wrong.empty())
        return wrong;
      // A real dial tries for seconds, the simulated one but once.
      if (std::none_of(workload.calls().begin() + static_cast<std::ptrdiff_t>(before),
                       workload.calls().end(), [](const Call& call) {
                         return call.status.message().find("on the simulated wire") !=
                                std::string::npos;
                       }))
        break;
    }
    for (std::size_t i = 0; i < workload.calls().size(); ++i) {
      const Call& call = workload.calls()[i];
      if (std::string wrong = judge(call, fired); !wrong.empty())
        return wrong;
      if (i >= before && call.what != "open" && !call.status.ok())
        return str_cat("after everything is healed, '", call.what, "' still ends ",
                       call.status.to_string());
    }
    std::int64_t value = workload.counter_value();
    if (value < workload.least() || value > workload.most())
      return str_cat("the counter is ", value, "; acknowledged ", workload.least(), ", attempted ",
                     workload.most());
    workload.finish();
    if (std::string wrong = finish(workload, limit, "closing again"); !wrong.empty())
      return wrong;
    if (std::string left = sweep(leftovers); !left.empty())
      return str_cat("after a session without faults there is left: ", left);
    if (options_.extra_check) {
      std::vector<Status> statuses;
      for (const Call& call : workload.calls())
        statuses.push_back(call.status);
      if (std::string wrong = options_.extra_check(statuses); !wrong.empty())
        return wrong;
    }
    return cluster_.pick(3) == 0 ? come_back(workload, leftovers) : std::string();
  }

  // A task is started again under a session with nothing to do: its client waits while it is told
  // UNAVAILABLE, makes a new session when it is told ABORTED, and need not do so twice.
  std::string come_back(Workload& workload, Leftovers& leftovers) {
    const std::string task = cluster_.pick(2) == 0 ? "ps/0" : "worker/1";
    constexpr std::array<int, 6> times{1, 20, 300, 900, 2500, 7000};
    const milliseconds away(times[cluster_.pick(times.size())]);
    if (std::string wrong = new_session(workload); !wrong.empty())
      return wrong;
    cluster_.crash(task, away);
    if (cluster_.pick(2) == 0) // nobody asks in the meantime
      cluster_.run_for(away + milliseconds(cluster_.pick(2000)));
    const SimTime begun = cluster_.now();
    for (bool is_back = false; !is_back;) {
      workload.start_step();
      if (std::string wrong = finish(workload, seconds(60), "a task comes back"); !wrong.empty())
        return wrong;
      const Status& said = workload.calls().back().status;
      is_back = said.code() == Code::aborted;
      const std::string what = str_cat("with ", task, " started again after ", away.count(),
                                       " ms the old session says ", said.to_string(), " ");
      if (!is_back && said.code() != Code::unavailable)
        return what + "instead of UNAVAILABLE, and ABORTED in the end";
      if (said.message().find(long_task_name(task)) == std::string::npos)
        return what + "and does not name the task";
      if (is_back && said.message().find("new session") == std::string::npos)
        return what + "and does not ask for a new session";
      if (cluster_.now() - begun > away + seconds(15))
        return what + "for too long instead of ABORTED";
      cluster_.run_for(milliseconds(cluster_.pick(400)));
    }
    if (cluster_.pick(2) == 0) {
      workload.start_step();
      if (std::string wrong = finish(workload, seconds(60), "asking again"); !wrong.empty())
        return wrong;
      if (const Status& said = workload.calls().back().status; said.code() != Code::aborted)
        return str_cat("after ABORTED the old session says ", said.to_string());
    }
    if (std::string wrong = new_session(workload); !wrong.empty())
      return wrong;
    for (int i = 0; i < 2; ++i) { // past the time in which old news may still arrive
      cluster_.run_for(milliseconds(1500));
      workload.start_step();
      if (std::string wrong = finish(workload, seconds(60), "going on"); !wrong.empty())
        return wrong;
      if (const Status& said = workload.calls().back().status; !said.ok())
        return str_cat("a session made after ABORTED says ", said.to_string());
    }
    workload.finish();
    if (std::string wrong = finish(workload, seconds(60), "closing the last"); !wrong.empty())
      return wrong;
    for (const Call& call : workload.calls())
      if (call.answers != 1)
        return str_cat("'", call.what, "' is answered ", call.answers, " times");
    std::string left = sweep(leftovers);
    return left.empty() ? left : str_cat("after a task was started again there is left: ", left);
  }

  // Opens one and takes a step. A real dial tries for seconds, the simulated one but once.
  std::string new_session(Workload& workload) {
    for (int attempt = 1;; ++attempt) {
      workload.start_session();
      if (std::string wrong = finish(workload, seconds(60), "opening a session"); !wrong.empty())
        return wrong;
      if (workload.calls().back().status.ok()) {
        workload.start_step();
        if (std::string wrong = finish(workload, seconds(60), "taking a step"); !wrong.empty())
          return wrong;
      }
      const Call& last = workload.calls().back();
      if (last.status.ok())
        return {};
      bool simulated = last.status.message().find("on the simulated wire") != std::string::npos;
      if (!simulated || attempt == 3)
        return str_cat("a new session cannot begin: '", last.what, "' ends ",
                       last.status.to_string());
    }
  }

  // Until the client has nothing left to do. Each call has `limit`.
  std::string finish(Workload& workload, SimTime limit, std::string_view phase) {
    bool in_time = true;
    std::size_t events = cluster_.events;
    bool done = cluster_.run_until(
        [&] {
          for (std::size_t i = first_open_; i < workload.calls().size(); ++i) {
            const Call& call = workload.calls()[i];
            if (call.answers == 0 && cluster_.now() - call.asked > limit)
              in_time = false;
            else if (call.answers > 0 && i == first_open_)
              ++first_open_;
          }
          return workload.is_done() || !in_time;
        },
        seconds(600));
    if (done && in_time)
      return {};
    for (const Call& call : workload.calls())
      if (call.answers == 0)
        return str_cat(
            "while ", phase, ", '", call.what, "' is not answered within ", limit.count() / 1000000,
            " s", cluster_.events - events > 300000 ? ", and messages go round in circles" : "");
    return str_cat("while ", phase, ", the client comes to no end");
  }

  std::string sweep(Leftovers& leftovers) {
    (void)cluster_.run_until([&] { return leftovers.list().empty(); }, seconds(45));
    return leftovers.list();
  }

  const ScheduleOptions& options_;
  FaultCluster cluster_;
  std::size_t first_open_ = 0;
};

} // namespace

ScheduleResult run_schedule(const ScheduleOptions& options) {
  return Run(options).run();
}

FaultPlan shrink(ScheduleOptions options, const std::function<void(const FaultPlan&)>& progress) {
  auto fails = [&](const FaultPlan& plan) {
    options.plan = plan;
    return !run_schedule(options).failure.empty();
  };
  FaultPlan best = options.plan;
  auto try_plan = [&](const FaultPlan& plan) {
    if (plan == best || !fails(plan))
      return false;
    best = plan;
    if (progress)
      progress(best);
    return true;
  };
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (std::size_t i = best.faults.size(); i-- > 0;) {
      FaultPlan less = best;
      less.faults.erase(less.faults.begin() + static_cast<std::ptrdiff_t>(i));
      shorter = try_plan(less) || shorter;
    }
    for (std::size_t i = 0; i < best.faults.size(); ++i) {
      auto try_change = [&](auto change) {
        FaultPlan changed = best;
        change(changed.faults[i]);
        shorter = try_plan(changed) || shorter;
      };
      if (best.faults[i].for_ms > 1)
        try_change([](Fault& f) { f.for_ms /= 2; });
      if (best.faults[i].at_ms > 0)
        try_change([](Fault& f) { f.at_ms /= 2; });
      if (best.faults[i].nth > 1)
        try_change([](Fault& f) { f.nth = 1; });
    }
  }
  return best;
}

} // namespace troupe::testing
