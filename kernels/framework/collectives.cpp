#include "kernels/framework/collectives.hpp"

#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::string_view state_name = "/collectives"; // no node has it: names begin with a letter
constexpr std::string_view container = "collectives";

std::shared_ptr<Collectives> collectives_of(const KernelContext& c) {
  return c.step().node_states ? c.step().node_states->get<Collectives>(
                                    state_name, [] { return std::shared_ptr<Collectives>(); })
                              : nullptr;
}

/// Tells, when the step's resources go, that its device is done with it.
class Seat final : public Resource {
public:
  Seat(std::shared_ptr<Collectives> collectives, std::string device, std::uint64_t step,
       const Cancellation& cancellation)
      : collectives_(std::move(collectives)), device_(std::move(device)), step_(step),
        cancellation_(cancellation) {}
  ~Seat() override { collectives_->step_ended(device_, step_, cancellation_.status()); }
  std::string description() const override { return "a step's place in its collectives"; }

private:
  std::shared_ptr<Collectives> collectives_;
  std::string device_;
  std::uint64_t step_;
  const Cancellation& cancellation_; // of the step: outlives its resources
};

Status run_alone(KernelContext& c, const CollectiveCall& call) {
  if (call.spec.kind == CollectiveKind::barrier)
    return c.set_output(0, call.output);
  if (call.spec.kind == CollectiveKind::broadcast && !call.is_source)
    return internal(str_cat("Instance ", call.spec.instance_key, " of group ", call.spec.group_key,
                            " found no source for broadcast: its only member receives. This could "
                            "mean that there were group_size=1 BcastRecvs but no BcastSend."));
  return c.set_output(0, call.input);
}

} // namespace

std::string_view to_string(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::reduce:
    return "all-reduce";
  case CollectiveKind::gather:
    return "all-gather";
  case CollectiveKind::broadcast:
    return "broadcast";
  case CollectiveKind::reduce_scatter:
    return "reduce-scatter";
  case CollectiveKind::all_to_all:
    return "all-to-all";
  case CollectiveKind::barrier:
    break;
  }
  return "barrier";
}

std::string_view to_string(MergeOp op) {
  constexpr std::string_view names[num_merge_ops] = {"none", "Add", "Mul", "Min", "Max"};
  return names[static_cast<std::size_t>(op)];
}

void keep_collectives(NodeStates& session, std::shared_ptr<Collectives> collectives) {
  session.get<Collectives>(state_name, [&] { return std::move(collectives); });
}

void run_collective(KernelContext& c, CollectiveCall call, KernelDone done) {
  if (call.spec.group_size ==
      1) // what is merged with nothing, or comes from nowhere else, is itself
    return done(run_alone(c, call));
  auto collectives = collectives_of(c);
  if (!collectives)
    return done(internal(str_cat("node '", c.node_name(), "' runs in a step without collectives")));
  call.node = c.node_name();
  call.device = c.device().name();
  call.step = c.step().step_id;
  call.frame = c.frame_id;
  call.iteration = c.iteration;
  call.step_devices =
      c.attrs().get_or<std::vector<std::string>>("_group_devices", std::vector<std::string>{});
  if (c.step().step_resources) {
    auto seat = c.step().step_resources->lookup_or_create<Seat>(
        container, call.device, [&]() -> Result<std::shared_ptr<Seat>> {
          return std::make_shared<Seat>(collectives, call.device, call.step, c.cancellation());
        });
    if (!seat.ok())
      return done(seat.status());
  }
  const std::uint64_t ticket = collectives->ticket();
  wait_for(
      c, std::move(done),
      [&](Arrived arrived) { collectives->begin(ticket, std::move(call), std::move(arrived)); },
      [collectives, ticket] { collectives->withdraw(ticket); },
      [&]() -> WaitText {
        return [collectives, ticket] { return collectives->waits_for(ticket); };
      });
}

} // namespace troupe
