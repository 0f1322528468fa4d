#include "actors/rendezvous/rendezvous.hpp"

#include <algorithm>

#include "actors/transport/transport.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = RendezvousActor::stateful_pointer<RendezvousState>;

/// Keys that an explanation names.
constexpr std::size_t max_described = 1000;

/// Values that wait for the flush are sent at once when they are more than this, so that no message
/// of many small ones gets large.
constexpr std::size_t max_outbox_bytes = 64 << 10;

// To a kernel of ours, by way of its executor; `self` is null when the rendezvous itself is gone.
void answer_kernel(RendezvousActor::pointer self, EdgeWaiter& waiter, const std::string& key,
                   const Status& status, EdgeValue value, std::string transfer) {
  auto owner = caf::actor_cast<caf::strong_actor_ptr>(waiter.owner);
  if (!owner)
    return; // its executor has ended; the receive ends with its last reference
  EdgeTaken taken{std::move(waiter.kernel), status, std::move(value.tensor), value.is_dead, key,
                  std::move(transfer)};
  if (self)
    self->send(typed<ExecutorActor>(owner), std::move(taken));
  else
    caf::anon_send(typed<ExecutorActor>(owner), std::move(taken));
}

Status has_ended(const RendezvousSetup& setup, std::uint64_t step_id) {
  return aborted(str_cat("step ", step_id, " has ended on ", setup.services->task)).as_derived();
}

// The step that a message means, if it is the one that we serve.
RendezvousStep* current(Self self, std::uint64_t step_id) {
  auto& step = self->state.step;
  return step && step->step_id == step_id ? &*step : nullptr;
}

} // namespace

/// Does what a step's exchange decides. What comes of it later finds the step gone, or another.
class EdgeDelivery final : public StepExchange::Effects {
public:
  EdgeDelivery(Self self, std::uint64_t step_id) : self_(self), step_id_(step_id) {}
  /// The actor is gone; the step's waiters are not.
  void outlive_actor() { self_ = nullptr; }
  void drop_outbox() { outbox_.clear(); }

  void answer(EdgeWaiter& waiter, const std::string& key, const Status& status, EdgeValue value,
              std::string transfer) override {
    answer_kernel(self_, waiter, key, status, std::move(value), std::move(transfer));
  }
  void send(const WorkerSessionActor& peer, const std::string& key, EdgeValue value) override;
  void pull(const std::string& key, WireEdge edge) override;
  void ask(const std::string& task, const std::vector<std::string>& keys) override;
  // Behind the sends and receives that wait in the mailbox already.
  void flush_soon() override {
    if (!std::exchange(self_->state.flush_posted, true))
      self_->send(self_, FlushEdges{});
  }
  void send_now() override;
  void lose_later(const std::string& task, const Status& told) override {
    self_->delayed_send(self_, self_->state.setup->services->timeouts.explain,
                        EdgesLost{step_id_, task, {told}});
  }

private:
  Self self_;
  const std::uint64_t step_id_;
  std::vector<std::pair<WorkerSessionActor, EdgesArrived>> outbox_; // of the next flush
  std::size_t outbox_bytes_ = 0;
};

void EdgeDelivery::send(const WorkerSessionActor& peer, const std::string& key, EdgeValue value) {
  const RendezvousSetup& setup = *self_->state.setup;
  WireEdge edge{
      key, to_wire(std::move(value.tensor), setup.services, self_->node(), peer, setup.transport),
      value.is_dead};
  if (edge.tensor.is_ticket())
    self_->state.step->offered.push_back(edge.tensor.ticket->id);
  else if (edge.tensor.tensor.has_value())
    outbox_bytes_ += edge.tensor.tensor.byte_size();
  auto to = std::find_if(outbox_.begin(), outbox_.end(),
                         [&](const auto& message) { return message.first == peer; });
  if (to == outbox_.end())
    to = outbox_.insert(to, {peer, EdgesArrived{step_id_, {}}});
  to->second.edges.push_back(std::move(edge));
  if (outbox_bytes_ > max_outbox_bytes)
    send_now();
}

void EdgeDelivery::send_now() {
  outbox_bytes_ = 0;
  // Nobody's: a sender that is not known there would cost a proxy, and two messages.
  for (auto outbox = std::exchange(outbox_, {}); auto& [receiver, edges] : outbox)
    caf::anon_send(receiver, std::move(edges));
}

void EdgeDelivery::pull(const std::string& key, WireEdge edge) {
  const RendezvousSetup& setup = *self_->state.setup;
  StepExchange& exchange = *self_->state.step->exchange;
  if (auto placed = claim_placed(setup.services, edge.tensor)) {
    if (!placed->ok())
      return exchange.pull_failed(key, placed->status());
    return exchange.pulled(key, EdgeValue{std::move((*placed)->tensor), edge.is_dead},
                           to_string((*placed)->transfer));
  }
  troupe::ask(self_, setup.transport, setup.services->timeouts.step,
              FetchTensor{std::move(edge.tensor)})
      .then(
          [self = self_, id = step_id_, key, is_dead = edge.is_dead](FetchedTensor& fetched) {
            if (auto* step = current(self, id))
              step->exchange->pulled(key, EdgeValue{std::move(fetched.tensor), is_dead},
                                     to_string(fetched.transfer));
          },
          [self = self_, id = step_id_, key](caf::error& error) {
            if (auto* step = current(self, id))
              step->exchange->pull_failed(key, to_status(error, "fetching a tensor"));
          });
}

// What a peer says that it has sent has arrived before its answer, or was lost with a connection.
void EdgeDelivery::ask(const std::string& task, const std::vector<std::string>& keys) {
  const RendezvousSetup& setup = *self_->state.setup;
  const Timeouts& t = setup.services->timeouts;
  troupe::ask(self_, setup.session, t.dial + 4 * t.request, WantEdges{step_id_, task, keys})
      .then(
          [self = self_, id = step_id_, task](const EdgesSent& m) {
            if (auto* step = current(self, id))
              step->exchange->peer_answered(task, m.keys);
          },
          [self = self_, id = step_id_, task, keys](caf::error& e) {
            if (auto* step = current(self, id))
              step->exchange->asking_failed(task, keys,
                                            to_status(e, str_cat("RecvTensor from ", task)));
          });
}

namespace {

void begin_exchange(Self self, BeginExchange& m) {
  auto& state = self->state;
  RendezvousStep& step = state.step.emplace();
  step.step_id = m.step_id;
  step.whose = str_cat("step ", m.step_id, " on ", state.setup->services->task);
  step.delivery = std::make_unique<EdgeDelivery>(self, m.step_id);
  step.exchange = std::make_unique<StepExchange>(m.step_id, state.setup->services->task,
                                                 std::move(m.peers), state.tasks, *step.delivery);
}

void abort_all(RendezvousStep& step, const Status& why) {
  step.exchange->abort(why);
  step.delivery->drop_outbox();
}

void end_exchange(Self self) {
  auto& state = self->state;
  if (!state.step)
    return;
  abort_all(*state.step, aborted(str_cat("Cleanup ", state.step->step_id)).as_derived());
  const RendezvousSetup& setup = *state.setup;
  withdraw(setup.services, setup.transport, state.step->offered); // nobody will come
  state.step.reset();
}

void take(Self self, TakeEdge& m) {
  EdgeWaiter waiter{std::move(m.receive), m.owner};
  if (auto* step = current(self, m.step_id))
    return step->exchange->take(m.key, std::move(waiter));
  answer_kernel(self, waiter, m.key, has_ended(*self->state.setup, m.step_id), {}, {});
}

void arrived(RendezvousStep& step, EdgesArrived& m) {
  for (WireEdge& edge : m.edges) {
    const std::string key = edge.key;
    if (edge.tensor.is_ticket())
      step.exchange->offered(key, std::move(edge));
    else
      step.exchange->arrived(key, EdgeValue{std::move(edge.tensor.tensor), edge.is_dead});
  }
}

// A peer's wish.
caf::result<EdgesSent> receive(Self self, const ReceiveTensors& m) {
  auto* step = current(self, m.step_id);
  if (!step)
    return to_error(has_ended(*self->state.setup, m.step_id));
  if (const Status& status = step->exchange->edges().status(); !status.ok())
    return to_error(status);
  if (!m.receiver || m.task.empty())
    return to_error(invalid_argument("ReceiveTensors names nobody to send the values to"));
  return EdgesSent{step->exchange->peer_asks(m.task, m.receiver, m.keys)};
}

EdgeRecords explain(const RendezvousStep* step) {
  EdgeRecords out;
  if (step)
    step->exchange->edges().describe(
        max_described, [&](const std::string& key, const EdgeWaiter* waiter) {
          using State = EdgeRecord::State;
          out.edges.push_back({key, waiter ? State::wanted_here : State::lies_here});
        });
  return out;
}

std::string summary(const RendezvousStep* step) {
  return step ? str_cat(step->exchange->edges().num_values(), " values, ",
                        step->exchange->edges().num_waiting(), " waited for")
              : "rests";
}

} // namespace

RendezvousState::RendezvousState() = default;

RendezvousState::~RendezvousState() {
  if (!step)
    return;
  // What a peer did not come for, nobody will.
  withdraw(setup->services, setup->transport, step->offered);
  Status ended = aborted(str_cat("the rendezvous of ", step->whose, " was ended before the step"));
  if (step->exchange->edges().status().ok()) { // values that peers wait for are lost with it
    EdgesLost lost{step->step_id, setup->services->task, {ended}};
    for (const auto& [task, receiver] : step->exchange->receivers())
      caf::anon_send(receiver, lost);
  }
  step->delivery->outlive_actor();
  abort_all(*step, ended);
}

RendezvousActor::behavior_type rendezvous(Self self, RendezvousSetup setup) {
  guard_actor(self);
  self->state.setup = std::make_shared<const RendezvousSetup>(std::move(setup));
  auto& step = self->state.step; // lives as long as the behavior
  return {
      [=](BeginExchange& m) { begin_exchange(self, m); },
      [=](const EndExchange&) { end_exchange(self); },
      [=](PutEdge& m) {
        if (auto* step = current(self, m.step_id))
          step->exchange->put(m.key, EdgeValue{std::move(m.tensor), m.is_dead});
      },
      [=](TakeEdge& m) { take(self, m); },
      [=](const ReceiveTensors& m) { return receive(self, m); },
      [=](EdgesArrived& m) {
        if (auto* step = current(self, m.step_id))
          arrived(*step, m);
      },
      [=](const EdgesLost& m) {
        if (auto* step = current(self, m.step_id))
          step->exchange->edges_lost(m.task, m.status.status);
      },
      [=](const ExplainPart& m) { return explain(current(self, m.step_id)); },
      [=, &step](const AbortStep& m) {
        if (step)
          abort_all(*step, m.status.status);
      },
      [=, &step](const GetActors&) {
        return describe_tree(self, summary(step ? &*step : nullptr), Children{});
      },
      [=, &step](FlushEdges) {
        self->state.flush_posted = false;
        if (step)
          step->exchange->flush();
      },
      [=, &step](AskForMissing) {
        if (step)
          step->exchange->late();
      },
      [=, &step](const PeerLost& m) {
        if (step)
          step->exchange->peer_lost(m.task, m.sentence);
      },
  };
}

} // namespace troupe
