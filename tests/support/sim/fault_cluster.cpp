#include "tests/support/sim/fault_cluster.hpp"

#include <cstdlib>

#include <caf/event_based_actor.hpp>
#include <cxxabi.h>

#include "actors/guardian/guardian.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/check.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"

namespace troupe::testing {

namespace {

constexpr std::uint16_t first_port = 4201;
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

// Known to have ended, or behind a connection that has closed.
bool is_gone(const caf::strong_actor_ptr& actor) {
  return actor->get()->getf(caf::abstract_actor::is_cleaned_up_flag);
}

caf::behavior keeper(caf::event_based_actor* self,
                     std::function<void(std::uint64_t, caf::strong_actor_ptr)> dialled) {
  return {[=](caf::connect_atom, std::uint64_t to, std::uint16_t port) {
    self->request(self->system().middleman().actor_handle(),
                  caf::infinite, // answered by the simulated wire, at the latest when it closes
                  caf::connect_atom::value, std::string("sim"), port)
        .then([=](const caf::node_id&, const caf::strong_actor_ptr& actor,
                  const std::set<std::string>&) { dialled(to, actor); },
              [=](caf::error&) { dialled(to, nullptr); });
  }};
}

} // namespace

std::string long_task_name(std::string_view short_name) {
  auto slash = short_name.find('/');
  return str_cat("/job:", short_name.substr(0, slash),
                 "/replica:0/task:", short_name.substr(slash + 1));
}

// A node.

FaultNode::FaultNode(FaultCluster& owner, std::string short_name, std::size_t place)
    : name(std::move(short_name)), index(place),
      scheduler(dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())),
      net(dynamic_cast<caf::io::network::test_multiplexer&>(system.middleman().backend())) {
  time = owner.now();
  bool is_client = name == "client";
  services->task = is_client ? name : long_task_name(name);
  services->incarnation = random_id();
  services->cluster = owner.cluster();
  services->library = &op_library();
  services->timeouts = owner.timeouts();
  services->threads = std::make_shared<SimThreads>(
      [this](std::function<void()> work) { computing.push_back(std::move(work)); },
      owner.pick(2) ? Duration::max() : Duration(0));
  services->network = std::make_shared<SimNetwork>([this](const std::string& address) {
    auto it = guardians.find(address);
    return it == guardians.end() || is_gone(it->second) ? nullptr : it->second;
  });
  keeper = system.spawn(testing::keeper, [this, &owner](std::uint64_t to, caf::strong_actor_ptr x) {
    owner.dialled(index, to, std::move(x));
  });
  if (is_client) {
    transport = system.spawn(troupe::transport, Services(services));
  } else {
    services->host_memory = host->allocator.get();
    for (auto& device : make_cpu_devices(*host, services->task, 1))
      services->devices.add(std::move(device));
    guardian = system.spawn(troupe::guardian, Services(services), [this](std::string why, bool) {
      ended = why.empty() ? "its tree stopped" : std::move(why);
    });
  }
  while (step_alone()) {
  }
  if (!is_client) {
    net.provide_acceptor(port(), caf::io::accept_handle::from_int(port()));
    scheduler.inline_next_enqueue();
    auto published = system.middleman().publish(guardian, port());
    TROUPE_CHECK(published, "a simulated port can be published");
  }
  while (step_alone()) {
  }
  baseline_actors = num_actors();
}

FaultNode::~FaultNode() {
  guardians.clear();
  net.pending_connects().clear(); // CAF would still accept them, without its broker
  computing.clear();
  if (guardian)
    caf::anon_send_exit(guardian, caf::exit_reason::user_shutdown);
  if (transport)
    caf::anon_send_exit(transport, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(keeper, caf::exit_reason::user_shutdown);
  guardian = GuardianActor{};
  transport = TransportActor{};
  keeper = nullptr;
  for (int second = 0; second < 8; ++second) {
    while (step_alone()) {
    }
    scheduler.advance_time(std::chrono::seconds(1));
  }
  // What is left waits for something that never comes; a process that ends takes it along.
  if (num_actors() > 0)
    system.await_actors_before_shutdown(false);
}

std::uint16_t FaultNode::port() const {
  return static_cast<std::uint16_t>(first_port + index);
}

bool FaultNode::step_alone() {
  if (!computing.empty()) {
    auto work = std::move(computing.front());
    computing.pop_front();
    work();
    return true;
  }
  return scheduler.try_run_once() || net.try_exec_runnable();
}

// The cluster.

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

// Wires.

bool FaultCluster::is_whole() const {
  for (std::size_t from = 0; from < nodes_.size(); ++from) {
    if (!runs(from))
      return false;
    for (std::size_t to = 0; to + 1 < nodes_.size(); ++to)
      if (from != to &&
          (!nodes_[to] || !nodes_[from]->guardians.count(str_cat("sim:", nodes_[to]->port()))))
        return false;
  }
  return true;
}

void FaultCluster::dial_missing() {
  for (auto& node : nodes_)
    if (node)
      std::erase_if(node->guardians, [](auto& entry) { return is_gone(entry.second); });
  for (std::size_t from = 0; from < nodes_.size(); ++from)
    for (std::size_t to = 0; to + 1 < nodes_.size(); ++to) {
      if (from == to || !runs(from) || !nodes_[to])
        continue;
      FaultNode& a = *nodes_[from];
      FaultNode& b = *nodes_[to];
      Dial& dial = dials_[{from, to}];
      if (dial.under_way || dial.retry_at > now_ || pair(from, to).blocked_until > now_ ||
          a.guardians.count(str_cat("sim:", b.port())))
        continue;
      dial.under_way = true;
      // A dial that CAF answered from its memory has left its socket unused: that one is taken.
      if (!a.net.has_pending_scribe("sim", b.port())) {
        auto link = std::make_unique<Link>();
        link->ends[0].node = from;
        link->ends[0].handle = caf::io::connection_handle::from_int(next_handle_++);
        link->ends[1].node = to;
        link->ends[1].handle = caf::io::connection_handle::from_int(next_handle_++);
        a.net.provide_scribe("sim", b.port(), link->ends[0].handle);
        b.net.add_pending_connect(caf::io::accept_handle::from_int(b.port()), link->ends[1].handle);
        links_.push_back(std::move(link));
      }
      caf::anon_send(a.keeper, caf::connect_atom::value, std::uint64_t{to}, b.port());
    }
}

void FaultCluster::dialled(std::size_t from, std::size_t to, caf::strong_actor_ptr guardian) {
  Dial& dial = dials_[{from, to}];
  dial.under_way = false;
  dial.retry_at = now_ + std::chrono::milliseconds(100);
  bool open = std::any_of(links_.begin(), links_.end(), [&](const auto& link) {
    const End* e = link->ends;
    bool ours = (e[0].node == from && e[1].node == to) || (e[0].node == to && e[1].node == from);
    return ours && !e[0].closed && !e[1].closed && !e[0].eof && !e[1].eof;
  });
  // CAF answers from its memory until it has heard that the old connection is gone.
  if (guardian && is_gone(guardian))
    open = false;
  note(str_cat(names_[from], " has dialled ", names_[to], guardian && open ? "" : " in vain"));
  if (guardian && open && nodes_[from] && nodes_[to])
    nodes_[from]->guardians[str_cat("sim:", nodes_[to]->port())] = std::move(guardian);
}

void FaultCluster::pump(std::size_t node) {
  if (!nodes_[node])
    return;
  auto& net = nodes_[node]->net;
  for (auto& link : links_)
    for (int side = 0; side < 2; ++side) {
      End& end = link->ends[side];
      End& other = link->ends[1 - side];
      if (end.node != node || end.closed)
        continue;
      auto& out = net.output_buffer(end.handle);
      if (!out.empty()) {
        if (!other.closed && !other.eof) {
          other.last_due = std::max(other.last_due, now_ + latency(end.node, other.node));
          other.in.push_back({other.last_due, std::move(out)});
        }
        out.clear();
      }
      bool is_attached = net.impl_ptr(end.handle) != nullptr;
      end.attached = end.attached || is_attached;
      if (end.attached && (!is_attached || net.stopped_reading(end.handle))) {
        end.closed = true;
        other.eof = true;
        other.eof_due = std::max(other.last_due, now_ + latency(end.node, other.node));
      }
    }
}

void FaultCluster::deliver(Link& link, int side) {
  End& end = link.ends[side];
  FaultNode& node = *nodes_[end.node];
  Packet packet = std::move(end.in.front());
  end.in.pop_front();
  auto& buffer = node.net.virtual_network_buffer(end.handle);
  buffer.insert(buffer.end(), packet.bytes.begin(), packet.bytes.end());
  note(str_cat(node.name, " reads ", packet.bytes.size()));
  node.net.read_data(end.handle);
}

void FaultCluster::close_end(Link& link, int side) {
  End& end = link.ends[side];
  End& other = link.ends[1 - side];
  end.closed = true;
  FaultNode& node = *nodes_[end.node];
  note(str_cat(node.name, " loses a connection"));
  if (auto& scribe = node.net.impl_ptr(end.handle))
    scribe->io_failure(&node.net, caf::io::network::operation::read);
  if (!other.closed && !other.eof) {
    other.eof = true;
    other.eof_due = std::max(other.last_due, now_ + latency(end.node, other.node));
  }
}

void FaultCluster::forget_guardians() {
  std::set<std::pair<std::size_t, std::size_t>> connected;
  for (auto& link : links_)
    if (!link->ends[0].closed && !link->ends[1].closed)
      connected.insert(std::minmax(link->ends[0].node, link->ends[1].node));
  for (auto& from : nodes_)
    if (from)
      std::erase_if(from->guardians, [&](auto& entry) {
        std::size_t to = static_cast<std::size_t>(std::atoi(entry.first.c_str() + 4)) - first_port;
        return !connected.count(std::minmax(from->index, to));
      });
}

// Cuts a connection in the middle of whatever is under way: each side still reads some of it.
void FaultCluster::sever(Link& link, bool at_once, std::size_t dead) {
  for (int side = 0; side < 2; ++side) {
    End& end = link.ends[side];
    if (end.node == dead) {
      end.closed = true;
      end.in.clear();
      continue;
    }
    if (end.closed || end.eof)
      continue;
    std::size_t bytes = 0;
    for (const Packet& packet : end.in)
      bytes += packet.bytes.size();
    std::size_t kept = pick(3) == 0 ? bytes : pick(bytes + 1);
    std::deque<Packet> left;
    for (Packet& packet : end.in) {
      packet.bytes.resize(std::min(kept, packet.bytes.size()));
      kept -= packet.bytes.size();
      if (!packet.bytes.empty())
        left.push_back(std::move(packet));
    }
    end.in = std::move(left);
    end.eof = true;
    end.eof_due = std::max(end.last_due,
                           at_once ? now_ : now_ + latency(link.ends[0].node, link.ends[1].node));
  }
}

// Faults.

void FaultCluster::crash(const std::string& name, SimTime away) {
  std::size_t node = index_of(name);
  if (!nodes_[node])
    return;
  note(str_cat("fault: ", name, " crashes"));
  doomed_.push_back({node, away});
}

void FaultCluster::freeze(const std::string& name, SimTime duration) {
  if (FaultNode* node = find(name)) {
    note(str_cat("fault: ", name, " freezes"));
    node->frozen_until = std::max(node->frozen_until, now_ + duration);
  }
}

void FaultCluster::cut(const std::string& a, const std::string& b, SimTime duration) {
  std::size_t x = index_of(a), y = index_of(b);
  note(str_cat("fault: ", a, " and ", b, " are cut"));
  for (auto& link : links_)
    if (std::minmax(link->ends[0].node, link->ends[1].node) == std::minmax(x, y))
      sever(*link, false, names_.size());
  Pair& p = pair(x, y);
  p.blocked_until = std::max(p.blocked_until, now_ + duration);
}

void FaultCluster::hold(const std::string& a, const std::string& b, SimTime duration) {
  note(str_cat("fault: between ", a, " and ", b, " everything stands still"));
  Pair& p = pair(index_of(a), index_of(b));
  p.held_from = Pair::all;
  p.held_until = std::max(p.held_until, now_ + duration);
}

void FaultCluster::hold_one_way(const std::string& from, const std::string& to, SimTime duration) {
  note(str_cat("fault: from ", from, " to ", to, " everything stands still"));
  Pair& p = pair(index_of(from), index_of(to));
  p.held_from = index_of(from);
  p.held_until = std::max(p.held_until, now_ + duration);
}

void FaultCluster::slow(const std::string& a, const std::string& b, SimTime extra,
                        SimTime duration) {
  note(str_cat("fault: between ", a, " and ", b, " everything takes longer"));
  Pair& p = pair(index_of(a), index_of(b));
  p.slow_by = extra;
  p.slow_until = std::max(p.slow_until, now_ + duration);
}

void FaultCluster::heal() {
  for (auto& [who, p] : pairs_)
    p = Pair{};
  for (auto& node : nodes_)
    if (node && node->frozen_until > now_)
      node->frozen_until = now_;
  bury();
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    boot(i);
  for (auto& node : nodes_)
    turn_clock(*node);
}

void FaultCluster::bury() {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i] && !nodes_[i]->ended.empty() &&
        std::none_of(doomed_.begin(), doomed_.end(), [&](auto& d) { return d.node == i; })) {
      note(str_cat(names_[i], ": ", nodes_[i]->ended));
      doomed_.push_back({i, std::chrono::milliseconds(300)});
    }
  for (auto doomed = std::move(doomed_); auto [index, away] : doomed) {
    if (!nodes_[index])
      continue;
    pump(index); // what it has written already is under way
    for (auto& link : links_)
      if (link->ends[0].node == index || link->ends[1].node == index)
        sever(*link, false, index);
    for (auto& [who, dial] : dials_)
      if (who.first == index)
        dial = Dial{};
    nodes_[index].reset();
    at(now_ + away, [this, index = index] { boot(index); });
  }
  doomed_.clear();
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
