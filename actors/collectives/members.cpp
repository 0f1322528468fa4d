#include "actors/collectives/internal/parts.hpp"
#include "actors/family/ask.hpp"
#include "actors/transport/transport.hpp"
#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe::collectives_parts {

namespace {

/// What a group may hold together for its values to travel with the joins.
constexpr std::int64_t max_small_bytes = max_inline_tensor;
/// Of a value that travels from member to member. Copying or merging one takes some 100 µs.
constexpr std::int64_t piece_bytes = std::int64_t{1} << 20;
/// Pieces of values up to this are sent, merged and copied at once: waking a thread takes longer.
constexpr std::int64_t max_at_once = std::int64_t{1} << 20;
/// Pieces that may wait for their call to form here, and their bytes.
constexpr std::size_t max_early = 1 << 14;
constexpr std::size_t max_early_bytes = std::size_t{64} << 20;
/// After its deadline a member waits so long for its leader, which has the better words.
constexpr std::int64_t leader_grace_us = 2'000'000;
/// Names the receiver, too: several members may be devices of one task.
std::uint64_t piece_id(std::uint64_t id, int receiver) {
  return id + 1 + static_cast<std::uint64_t>(receiver);
}
std::int64_t bytes_of(const CollectiveSpec& spec) {
  return spec.shape.num_elements() * static_cast<std::int64_t>(dtype_size(spec.dtype));
}

bool is_small(const CollectiveSpec& spec) {
  return bytes_of(spec) <= max_small_bytes / std::max(1, spec.group_size);
}

// Whoever joins a group with devices of other steps has to name the same leader.
std::string default_leader(const NodeServices& services) {
  for (const char* task : {"/job:chief/replica:0/task:0", "/job:worker/replica:0/task:0"})
    if (services.cluster.contains(task))
      return task;
  const auto tasks = services.cluster.tasks();
  return tasks.empty() ? services.task : tasks.front();
}

bool is_in_step(const CollectiveCall& call) {
  return call.spec.group_size > 0 &&
         call.step_devices.size() >= static_cast<std::size_t>(call.spec.group_size);
}

std::string leader_of(const CollectiveCall& call, const NodeServices& services) {
  return is_in_step(call) ? task_of_device(*std::ranges::min_element(call.step_devices))
                          : default_leader(services);
}

void perform(Self self, const Parts& parts, std::uint64_t ticket,
             CollectiveExchange::Effects effects);

} // namespace

MemberCall* find_call(Self self, std::uint64_t ticket) {
  auto it = self->state.calls.find(ticket);
  return it == self->state.calls.end() ? nullptr : &it->second;
}

namespace {

void forget_call(Self self, std::uint64_t ticket) {
  auto call = self->state.calls.extract(ticket);
  if (call.empty())
    return;
  if (call.mapped().id != 0) {
    const std::uint64_t id = piece_id(call.mapped().id, call.mapped().rank);
    self->state.tickets.erase(id);
    self->state.ended.add(id, true);
  }
  self->state.notes->forget(ticket);
}

void finish(Self self, std::uint64_t ticket) {
  MemberCall* call = find_call(self, ticket);
  auto pending = call->pending;
  forget_call(self, ticket);
  pending->answer(Tensors{pending->call.output});
}

} // namespace

// `tells`: the other members do not know yet.
void fail_call(Self self, const Parts& parts, std::uint64_t ticket, const Status& why, bool tells) {
  MemberCall* call = find_call(self, ticket);
  if (!call)
    return;
  auto pending = call->pending;
  withdraw(parts.services, parts.transport, call->offered);
  if (call->gang != 0 && tells) {
    const Code code = why.code() == Code::cancelled ? Code::aborted : why.code();
    const Status told =
        Status(code, str_cat("the step of ", pending->call.device,
                             ", a member of collective group ", pending->call.spec.group_key,
                             ", has ended (", to_string(why.code()), ": ", why.message(),
                             "): the other members' steps end, too; run the step again on all "
                             "of them"))
            .as_derived();
    std::set<std::string> tasks(call->tasks.begin(), call->tasks.end());
    tasks.erase(parts.services->task);
    for (const std::string& task : tasks)
      send_abort(self, parts, task, call->gang, told);
    self->send(self, AbortCollective{call->gang, {told}}); // other devices of ours
  }
  forget_call(self, ticket);
  pending->answer(why);
}

namespace {

void go_on(Self self, std::uint64_t ticket) {
  MemberCall* call = find_call(self, ticket);
  if (call && call->exchange && call->exchange->is_done() && call->sending == 0)
    finish(self, ticket);
}

void piece_arrived(Self self, const Parts& parts, std::uint64_t ticket, int from,
                   const PieceName& name, Tensor part) {
  MemberCall* call = find_call(self, ticket);
  if (!call || !call->exchange)
    return;
  auto effects = call->exchange->arrived(from, name, std::move(part));
  if (!effects.ok())
    return fail_call(self, parts, ticket, effects.status(), true);
  perform(self, parts, ticket, *std::move(effects));
}

void take_piece(Self self, const Parts& parts, std::uint64_t ticket, CollectivePiece& m) {
  if (!m.part.is_ticket())
    return piece_arrived(self, parts, ticket, m.from, m.name, std::move(m.part.tensor));
  from_wire(self, parts.services, parts.transport, {std::move(m.part)},
            [=, from = m.from, name = m.name](Status status, std::vector<Tensor> tensors) {
              if (status.ok())
                piece_arrived(self, parts, ticket, from, name, std::move(tensors.front()));
              else
                fail_call(self, parts, ticket, status, true);
            });
}

std::size_t bytes_in(const CollectivePiece& m) {
  return m.part.tensor.has_value() ? m.part.tensor.byte_size() : 0;
}

} // namespace

// Its call, should it ever form, fails.
void drop_earliest(Self self) {
  auto& state = self->state;
  const CollectivePiece& oldest = state.early.front().second;
  state.early_bytes -= bytes_in(oldest);
  state.dropped.add(oldest.id, true);
  state.early.pop_front();
}

void piece(Self self, const Parts& parts, CollectivePiece& m) {
  auto& state = self->state;
  if (auto it = state.tickets.find(m.id); it != state.tickets.end())
    return take_piece(self, parts, it->second, m);
  if (state.ended.find(m.id))
    return;
  state.early_bytes += bytes_in(m);
  while (!state.early.empty() &&
         (state.early.size() >= max_early || state.early_bytes > max_early_bytes))
    drop_earliest(self);
  state.early.emplace_back(now_us(self), std::move(m));
  schedule(self);
}

namespace {

// On a compute thread, unless it takes about as long as waking one.
template <class Work>
void run_work(const Parts& parts, const CollectiveCall& what, Work work) {
  if (bytes_of(what.spec) <= max_at_once)
    work();
  else
    parts.services->threads->run(std::move(work));
}

void send_piece(Self self, const Parts& parts, std::uint64_t ticket, MemberCall& call,
                CollectiveExchange::Send& send) {
  const std::string& task = call.tasks[static_cast<std::size_t>(send.to)];
  CollectivePiece out{piece_id(call.id, send.to), call.rank, send.name, {}};
  if (task == parts.services->task) {
    out.part = std::move(send.part);
    self->send(self, std::move(out));
    return;
  }
  ++call.sending;
  with_peer(self, parts, task,
            [=, pending = call.pending, part = std::move(send.part),
             out = std::move(out)](const Status& status, const CollectivesActor& peer) mutable {
              if (!status.ok())
                return fail_call(self, parts, ticket, status, true);
              auto work = [=, services = parts.services, transport = parts.transport,
                           own = self->node(), address = self->address()]() mutable {
                out.part = to_wire(std::move(part), services, own, peer, transport);
                CollectiveWorked done{ticket, 0, {}};
                if (out.part.is_ticket())
                  done.offered.push_back(out.part.ticket->id);
                caf::anon_send(peer, std::move(out));
                if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
                  caf::anon_send(typed<CollectivesActor>(actor), std::move(done));
              };
              run_work(parts, pending->call, std::move(work));
            });
}

void perform(Self self, const Parts& parts, std::uint64_t ticket,
             CollectiveExchange::Effects effects) {
  for (auto& effect : effects) {
    MemberCall* call = find_call(self, ticket);
    if (!call)
      return;
    if (auto* send = std::get_if<CollectiveExchange::Send>(&effect)) {
      send_piece(self, parts, ticket, *call, *send);
      continue;
    }
    auto tell = [ticket, address = self->address()](std::uint64_t job) {
      if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
        caf::anon_send(typed<CollectivesActor>(actor), CollectiveWorked{ticket, job, {}});
    };
    const CollectiveCall& what = call->pending->call;
    if (auto* merge = std::get_if<CollectiveExchange::Merge>(&effect))
      parts.services->threads->run(
          [=, math = what.math, size = what.spec.group_size, merge = std::move(*merge)]() mutable {
            merge_parts(*math, merge.parts, merge.out, merge.divide, size);
            merge.parts.clear(); // they go back before the result leaves
            tell(merge.job);
          });
    else if (auto* copy = std::get_if<CollectiveExchange::Copy>(&effect))
      run_work(parts, what, [=, copy = std::move(*copy)]() mutable {
        std::copy_n(static_cast<const std::byte*>(copy.from.raw()), copy.from.bytes().size(),
                    static_cast<std::byte*>(copy.out.mutable_raw()));
        copy.from = {};
        tell(copy.job);
      });
  }
  go_on(self, ticket);
}

} // namespace

void worked(Self self, const Parts& parts, CollectiveWorked& m) {
  MemberCall* call = find_call(self, m.ticket);
  if (!call)
    return withdraw(parts.services, parts.transport, m.offered); // it has failed
  if (m.job == 0) {
    --call->sending;
    call->offered.insert(call->offered.end(), m.offered.begin(), m.offered.end());
    return go_on(self, m.ticket);
  }
  perform(self, parts, m.ticket, call->exchange->job_done(m.job));
}

namespace {

Status check_formed(const CollectiveFormed& m, const CollectiveCall& call) {
  const auto size = static_cast<std::size_t>(call.spec.group_size);
  const bool fits =
      m.id != 0 && m.gang != 0 && m.devices.size() == size && m.tasks.size() == size &&
      m.rank >= 0 && static_cast<std::size_t>(m.rank) < size &&
      m.devices[static_cast<std::size_t>(m.rank)] == call.device &&
      m.is_small == is_small(call.spec) && m.values.size() == (m.is_small ? size : 0) &&
      (call.spec.kind != CollectiveKind::broadcast ||
       (m.source >= 0 && static_cast<std::size_t>(m.source) < size &&
        (m.source == m.rank) == call.is_source));
  return fits ? Status{}
              : internal(str_cat("the leader of collective group ", call.spec.group_key,
                                 " has answered with a group that ", call.device, " is not in"));
}

void formed(Self self, const Parts& parts, std::uint64_t ticket, CollectiveFormed& m) {
  auto& state = self->state;
  MemberCall* call = find_call(self, ticket);
  if (!call)
    return; // withdrawn
  const CollectiveCall& what = call->pending->call;
  if (Status wrong = check_formed(m, what); !wrong.ok())
    return fail_call(self, parts, ticket, wrong, false);
  call->gang = m.gang;
  call->rank = m.rank;
  call->tasks = std::move(m.tasks);
  call->devices = std::move(m.devices);
  if (const Status* why = state.aborted.find(m.gang))
    return fail_call(self, parts, ticket, *why, false);
  if (m.is_small) {
    std::vector<Tensor> values;
    for (WireTensor& value : m.values)
      values.push_back(std::move(value.tensor));
    Status status =
        combine_small(what.spec, m.rank, m.source, values, what.math.get(), what.output);
    if (status.ok())
      finish(self, ticket);
    else
      fail_call(self, parts, ticket, status, true);
    return;
  }
  call->id = m.id;
  const std::uint64_t own_id = piece_id(m.id, m.rank);
  state.tickets.emplace(own_id, ticket);
  if (state.dropped.find(own_id))
    return fail_call(
        self, parts, ticket,
        resource_exhausted(str_cat("pieces of a collective of group ", what.spec.group_key,
                                   " had to be dropped on ", parts.services->task,
                                   " before it had joined; run the step again")),
        true);
  const auto route = m.is_ring ? CollectiveRoute::ring : CollectiveRoute::direct;
  call->exchange.emplace(CollectiveExchange::Setup{what.spec, route, m.rank, m.source, what.input,
                                                   what.output, piece_bytes});
  perform(self, parts, ticket, call->exchange->start());
  std::vector<CollectivePiece> waiting;
  std::erase_if(state.early, [&](auto& entry) {
    if (entry.second.id != own_id)
      return false;
    state.early_bytes -= bytes_in(entry.second);
    waiting.push_back(std::move(entry.second));
    return true;
  });
  for (CollectivePiece& early : waiting)
    if (find_call(self, ticket))
      take_piece(self, parts, ticket, early);
}

JoinCollective join_of(std::uint64_t ticket, const CollectiveCall& call, const std::string& session,
                       const std::string& task) {
  JoinCollective m;
  m.ticket = ticket;
  const CollectiveSpec& spec = call.spec;
  m.kind = static_cast<std::uint8_t>(spec.kind);
  m.merge = static_cast<std::uint8_t>(spec.merge);
  m.dtype = static_cast<std::uint8_t>(spec.dtype);
  m.divides = spec.divides;
  m.group_key = spec.group_key;
  m.instance_key = spec.instance_key;
  m.group_size = spec.group_size;
  m.dims.assign(spec.shape.dims().begin(), spec.shape.dims().end());
  m.node = call.node;
  m.device = call.device;
  m.task = task;
  m.session = session;
  m.step = call.step;
  m.frame = call.frame;
  m.iteration = call.iteration;
  m.rank = call.rank;
  m.is_source = call.is_source;
  m.in_step = is_in_step(call);
  m.timeout_us = call.timeout_us;
  m.is_small = is_small(spec);
  if (m.is_small)
    m.value = call.input;
  return m;
}

} // namespace

void begin(Self self, const Parts& parts, BeginCollective& m) {
  auto& state = self->state;
  const CollectiveCall& what = m.call->call;
  MemberCall& call = state.calls[m.ticket];
  call.pending = m.call;
  call.leader = leader_of(what, *parts.services);
  if (what.timeout_us > 0)
    call.due_us = now_us(self) + what.timeout_us + leader_grace_us;
  state.seats[{m.call->session, what.step, what.device}].insert(call.leader);
  schedule(self);
  with_peer(
      self, parts, call.leader,
      [=, ticket = m.ticket, leader = call.leader](const Status& status,
                                                   const CollectivesActor& actor) {
        MemberCall* call = find_call(self, ticket);
        if (!call)
          return; // withdrawn
        if (!status.ok())
          return fail_call(self, parts, ticket,
                           status.with_context(str_cat("the leader of collective group ",
                                                       call->pending->call.spec.group_key,
                                                       " cannot be reached")),
                           false);
        ask(self, actor, parts.services->timeouts.step,
            join_of(ticket, call->pending->call, call->pending->session, parts.services->task))
            .then([=](CollectiveFormed& m) { formed(self, parts, ticket, m); },
                  [=](caf::error& error) {
                    fail_call(self, parts, ticket,
                              to_status(error, str_cat("joining a collective group at ", leader)),
                              false);
                  });
      });
}

namespace {

void leave(Self self, const Parts& parts, const std::string& leader, LeaveCollective message) {
  with_peer(self, parts, leader,
            [message = std::move(message)](const Status& status, const CollectivesActor& actor) {
              if (status.ok())
                caf::anon_send(actor, message);
            });
}

} // namespace

// The leader hears of it before the step has ended, which other kernels may delay.
void withdraw_call(Self self, const Parts& parts, std::uint64_t ticket) {
  MemberCall* call = find_call(self, ticket);
  if (!call)
    return;
  const CollectiveCall& what = call->pending->call;
  const Status why = cancelled("its step was cancelled");
  leave(self, parts, call->leader,
        LeaveCollective{call->pending->session, what.device, what.step, {why}});
  fail_call(self, parts, ticket, why.as_derived(), true);
}

void seat_ended(Self self, const Parts& parts, const SeatEnded& m) {
  auto seat = self->state.seats.extract({m.session, m.step, m.device});
  if (seat.empty())
    return;
  for (const std::string& leader : seat.mapped())
    leave(self, parts, leader, LeaveCollective{m.session, m.device, m.step, m.status});
}

void abort(Self self, const Parts& parts, const AbortCollective& m) {
  const Status why = reason_of(m.status);
  self->state.aborted.add(m.gang, why);
  std::vector<std::uint64_t> hit;
  for (const auto& [ticket, call] : self->state.calls)
    if (call.gang == m.gang)
      hit.push_back(ticket);
  for (std::uint64_t ticket : hit)
    fail_call(self, parts, ticket, why, false);
}

void write_notes(Self self) {
  for (const auto& [ticket, call] : self->state.calls) {
    const CollectiveSpec& spec = call.pending->call.spec;
    if (!call.exchange) {
      std::string text = call.waits_for;
      if (text.empty())
        text = str_cat("the ", spec.group_size, " members of group ", spec.group_key,
                       " to reach instance ", spec.instance_key);
      self->state.notes->set(
          ticket, str_cat(to_string(spec.kind), ", led by ", call.leader, ": ", std::move(text)));
      continue;
    }
    std::vector<std::string> devices;
    for (int rank : call.exchange->waits_for())
      devices.push_back(call.devices[static_cast<std::size_t>(rank)]);
    self->state.notes->set(ticket, str_cat("pieces of ", to_string(spec.kind), " instance ",
                                           spec.instance_key, " of group ", spec.group_key,
                                           " from ", str_join(devices, ", ")));
  }
}

} // namespace troupe::collectives_parts
