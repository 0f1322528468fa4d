// What the actor adds to a step: who gets the thread, and when.
#include "actors/executor/executor.hpp"

#include <doctest/doctest.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"
#include "net/transport/step_scheduler.hpp"

using namespace troupe;
using testing::Rig;

namespace {

std::string transfer(std::string_view node, std::string_view op, std::string_view attrs,
                     std::string_view input = "") {
  return str_cat(node, " = ", op, "[", attrs, "tensor_name=\"", node, "\"](", input, ")\n");
}

struct Seen {
  std::vector<std::string> sent;    ///< keys, in the order of their arrival
  std::size_t before_next_turn = 0; ///< of these, how many it had before the turn after its first
};

// Stands for the step's rendezvous. Answers receives once `wanted` have come, all in one turn.
caf::behavior collector(caf::event_based_actor* self, std::shared_ptr<Seen> seen,
                        std::size_t wanted) {
  auto takes = std::make_shared<std::vector<TakeEdge>>();
  return {
      [=](TakeEdge& take) {
        takes->push_back(std::move(take));
        if (takes->size() < wanted)
          return;
        for (TakeEdge& one : *takes)
          self->send(
              typed<ExecutorActor>(caf::actor_cast<caf::strong_actor_ptr>(one.owner)),
              EdgeTaken{one.receive, {}, Tensor::scalar(std::int64_t{3}), false, one.key, ""});
      },
      [=](const PutEdge& put) {
        if (seen->sent.empty())
          self->send(self, caf::tick_atom::value); // comes after all that is here by now
        seen->sent.push_back(put.key);
      },
      [=](caf::tick_atom) { seen->before_next_turn = seen->sent.size(); },
  };
}

} // namespace

TEST_CASE("executor: what it has sent is delivered before its next expensive kernel, however much "
          "arrives meanwhile") {
  std::string text = str_cat(transfer("a", "_Recv", "tensor_type=DT_INT64, "),
                             transfer("b", "_Recv", "tensor_type=DT_INT64, "),
                             transfer("early", "_Send", "", "a"), "costly = Costly(a)\n",
                             transfer("late", "_Send", "", "costly"), "r = _Retval[index=0](b)\n");
  Rig rig;
  auto services = std::make_shared<NodeServices>();
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 1);
  config.load<StepScheduler>();
  caf::actor_system system(config);
  auto seen = std::make_shared<Seen>();
  auto rendezvous = system.spawn(collector, seen, std::size_t{2});
  auto states = std::make_shared<NodeStates>();
  auto worker = system.spawn(executor, Services(services), states);
  bool has_ended = false;
  {
    caf::scoped_actor self(system);
    self->send(
        worker,
        ExecutePart{
            rig.compile(text), 7, 0, {}, caf::actor_cast<RendezvousActor>(rendezvous), false});
    self->receive(
        [&](const PartExecuted& part) {
          has_ended = true;
          CHECK_MESSAGE(part.status.ok(), part.status.to_string());
        },
        caf::after(std::chrono::minutes(1)) >> [] {});
  }
  caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(rendezvous, caf::exit_reason::user_shutdown);
  system.await_all_actors_done();
  REQUIRE(has_ended);
  REQUIRE(seen->sent.size() == 2);
  CHECK(seen->sent[0] == "early;0:0");
  CHECK(seen->before_next_turn == 1);
}

TEST_CASE(
    "executor: one that is ended while it waits for a value leaves nothing, whoever drops the "
    "receive") {
  Rig rig;
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 1);
  config.load<StepScheduler>();
  caf::actor_system system(config);
  auto takes = std::make_shared<std::vector<TakeEdge>>();
  caf::scoped_actor self(system);
  auto rendezvous = system.spawn([=, tester = caf::actor(self)](caf::event_based_actor* keeper) {
    return caf::behavior{[=](TakeEdge& take) {
      takes->push_back(std::move(take));
      keeper->send(tester, caf::ok_atom::value);
    }};
  });
  std::weak_ptr<const Executable> program;
  auto worker =
      system.spawn(executor, std::make_shared<NodeServices>(), std::make_shared<NodeStates>());
  {
    auto compiled = rig.compile(
        str_cat(transfer("a", "_Recv", "tensor_type=DT_INT64, "), "r = _Retval[index=0](a)\n"));
    program = compiled;
    self->send(
        worker,
        ExecutePart{
            std::move(compiled), 7, 0, {}, caf::actor_cast<RendezvousActor>(rendezvous), false});
  }
  bool has_taken = false;
  self->receive([&](caf::ok_atom) { has_taken = true; },
                caf::after(std::chrono::minutes(1)) >> [] {});
  REQUIRE(has_taken);
  self->monitor(worker);
  self->send_exit(worker, caf::exit_reason::kill);
  bool has_ended = false;
  self->receive([&](const caf::down_msg&) { has_ended = true; },
                caf::after(std::chrono::minutes(1)) >> [] {});
  REQUIRE(has_ended);
  worker = nullptr;
  self->send_exit(rendezvous, caf::exit_reason::kill);
  rendezvous = nullptr;
  CHECK_FALSE(program.expired()); // the kernel still waits
  takes->clear();
  CHECK(program.expired());
}

TEST_CASE(
    "executor: one that is ended before the turn that it waits for leaves nothing of what has "
    "arrived meanwhile") {
  std::string text = str_cat(transfer("a", "_Recv", "tensor_type=DT_INT64, "),
                             transfer("b", "_Recv", "tensor_type=DT_INT64, "),
                             transfer("early", "_Send", "", "a"), "costly = Costly(a)\n",
                             transfer("late", "_Send", "", "costly"), "r = _Retval[index=0](b)\n");
  Rig rig;
  auto compiled = rig.compile(text);
  std::weak_ptr<const Executable> program = compiled;
  std::size_t sent = 0;
  {
    caf::actor_system_config config;
    config.set("scheduler.max-threads", 1);
    config.load<StepScheduler>();
    caf::actor_system system(config);
    // Both values arrive in one turn. What `a` gives is sent before the expensive kernel begins;
    // its receiver ends the executor, which has `b` by then.
    auto rendezvous = system.spawn([&sent](caf::event_based_actor* self) {
      auto takes = std::make_shared<std::vector<TakeEdge>>();
      auto worker = std::make_shared<caf::strong_actor_ptr>();
      return caf::behavior{
          [=](TakeEdge& take) {
            *worker = caf::actor_cast<caf::strong_actor_ptr>(take.owner);
            takes->push_back(std::move(take));
            for (std::size_t i = 0; takes->size() == 2 && i < 2; ++i) {
              TakeEdge& one = (*takes)[i];
              self->send(typed<ExecutorActor>(*worker), EdgeTaken{std::move(one.receive),
                                                                  {},
                                                                  Tensor::scalar(std::int64_t{3}),
                                                                  false,
                                                                  one.key,
                                                                  ""});
            }
          },
          [=, &sent](const PutEdge&) {
            ++sent;
            self->send_exit(caf::actor_cast<caf::actor>(*worker), caf::exit_reason::kill);
            self->quit();
          },
      };
    });
    auto worker =
        system.spawn(executor, std::make_shared<NodeServices>(), std::make_shared<NodeStates>());
    caf::anon_send(
        worker,
        ExecutePart{
            std::move(compiled), 7, 0, {}, caf::actor_cast<RendezvousActor>(rendezvous), false});
    worker = nullptr;
    rendezvous = nullptr;
    system.await_all_actors_done();
  }
  CHECK(sent == 1);
  CHECK(program.expired());
}
