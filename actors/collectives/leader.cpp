#include "actors/collectives/internal/parts.hpp"
#include "actors/family/ask.hpp"
#include "core/base/strings.hpp"

namespace troupe::collectives_parts {

namespace {

// Each task by the address that the cluster gives it; of a node without a cluster there is one.
bool on_one_host(const std::vector<std::string>& tasks, const NodeServices& services) {
  std::string host;
  for (const std::string& task : tasks) {
    const auto address = services.cluster.address_of(task);
    if (!address.ok())
      continue;
    if (!host.empty() && host != address->host)
      return false;
    host = address->host;
  }
  return true;
}
Result<CollectiveMember> member_of(const JoinCollective& m) {
  const auto dtype = static_cast<DType>(m.dtype);
  if (m.kind >= num_collective_kinds || m.merge >= num_merge_ops || !is_known(dtype) ||
      is_ref(dtype))
    return invalid_argument("a join names an operation or a dtype that there is not");
  CollectiveMember out;
  out.spec.kind = static_cast<CollectiveKind>(m.kind);
  out.spec.merge = static_cast<MergeOp>(m.merge);
  out.spec.dtype = static_cast<DType>(m.dtype);
  out.spec.divides = m.divides;
  out.spec.group_key = m.group_key;
  out.spec.instance_key = m.instance_key;
  out.spec.group_size = m.group_size;
  TROUPE_ASSIGN(out.spec.shape, Shape::make(m.dims));
  if (m.value.is_ticket())
    return invalid_argument("a join has a value that is elsewhere");
  out.node = m.node;
  out.device = m.device;
  out.task = m.task;
  out.session = m.session;
  out.step = m.step;
  out.frame = m.frame;
  out.iteration = m.iteration;
  out.rank = m.rank;
  out.is_source = m.is_source;
  out.in_step = m.in_step;
  out.timeout_us = std::max<std::int64_t>(0, m.timeout_us);
  return out;
}

} // namespace

void deliver(Self self, const Parts& parts, CollectiveGroups::Effects effects) {
  auto& state = self->state;
  for (const auto& failed : effects.failed)
    for (CollectiveGroups::Waiter waiter : failed.waiters)
      if (auto join = state.joins.extract(waiter); !join.empty())
        join.mapped().promise.deliver(to_error(failed.why));
  for (const auto& doomed : effects.doomed)
    for (const std::string& task : doomed.tasks)
      send_abort(self, parts, task, doomed.gang, doomed.why);
  if (effects.formed) {
    auto& f = *effects.formed;
    CollectiveFormed out{
        f.id,  f.gang, 0, f.source, f.devices, f.tasks, !on_one_host(f.tasks, *parts.services),
        false, {}};
    std::vector<WaitingJoin> members;
    for (CollectiveGroups::Waiter waiter : f.waiters)
      members.push_back(std::move(state.joins.extract(waiter).mapped()));
    out.is_small = std::ranges::all_of(members, [](const WaitingJoin& x) { return x.is_small; });
    if (out.is_small)
      for (WaitingJoin& member : members)
        out.values.push_back(std::move(member.value));
    for (WaitingJoin& member : members) {
      member.promise.deliver(out);
      ++out.rank;
    }
  }
  schedule(self);
}

caf::result<CollectiveFormed> join(Self self, const Parts& parts, JoinCollective& m) {
  auto& state = self->state;
  auto member = member_of(m);
  if (!member.ok())
    return to_error(member.status());
  member->timeout_us = bounded_timeout(member->timeout_us, parts.services->timeouts);
  const CollectiveGroups::Waiter waiter = ++state.last_waiter;
  caf::strong_actor_ptr sender = self->current_sender(); // the promise takes it away
  auto promise = self->make_response_promise<CollectiveFormed>();
  state.joins.emplace(
      waiter,
      WaitingJoin{promise, std::move(sender), m.ticket, {}, m.is_small, std::move(m.value)});
  // Whoever leads hears of the member's loss.
  with_peer(self, parts, member->task,
            [=, task = member->task](const Status& status, const CollectivesActor&) {
              if (!status.ok())
                deliver(self, parts, self->state.groups->task_lost(task, status, now_us(self)));
            });
  deliver(self, parts, state.groups->join(waiter, *member, now_us(self)));
  return promise;
}
void tell_waiting(Self self) {
  for (auto& [waiter, join] : self->state.joins) {
    std::string text = self->state.groups->describe(waiter);
    if (text.empty() || text == join.told || !join.member)
      continue;
    join.told = text;
    caf::anon_send(typed<CollectivesActor>(join.member),
                   CollectiveWaits{join.ticket, std::move(text)});
  }
}
} // namespace troupe::collectives_parts
