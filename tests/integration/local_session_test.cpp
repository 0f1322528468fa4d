// What a local session leaves behind on its node.
#include <caf/actor_system.hpp>
#include <doctest/doctest.h>

#include "actors/node/node.hpp"
#include "api/ops.hpp"
#include "api/session.hpp"
#include "net/transport/step_clock.hpp"

using namespace troupe;

TEST_CASE("local session: steps that were answered leave no budget on the clock") {
  auto session = Session::open("local");
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  ops::add_v2(root.named("y"), x, 1.0f);
  REQUIRE(session->extend(root).ok());
  auto& clock = dynamic_cast<StepClock&>(session->local_node()->system().clock());
  auto run = [&] { return session->run({{"x", Tensor::scalar(1.0f)}}, {"y"}).ok(); };
  REQUIRE(run());
  std::size_t before = clock.num_waiting();
  for (int i = 0; i < 200; ++i)
    REQUIRE(run());
  CHECK(clock.num_waiting() < before + 20);
}
