#include "actors/step/step_collector.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("step collector: a value of a part that has ended is not taken any more") {
  StepCollector collector(2, 2);
  collector.take(0, 1, Tensor::scalar(1.0f));
  collector.part_done(0);
  collector.take(0, 1, Tensor::scalar(2.0f));
  collector.part_done(0); // nothing happens
  CHECK(!collector.is_finished());
  collector.take(1, 0, Tensor::scalar(3.0f));
  collector.part_done(1);
  REQUIRE(collector.is_finished());
  auto fetched = collector.take_fetched();
  CHECK(fetched.at(0).value<float>() == 3);
  CHECK(fetched.at(1).value<float>() == 1);
}

TEST_CASE("step collector: fetches of all parts come together in the order of the signature") {
  StepCollector c(2, 3);
  c.part_done(1, {Tensor::scalar(1.0f)}, {2});
  CHECK(!c.is_finished());
  c.part_done(0, {Tensor::scalar(2.0f), Tensor::scalar(3.0f)}, {1, 0});
  REQUIRE(c.is_finished());
  CHECK(c.status().ok());
  auto fetched = c.take_fetched();
  CHECK(fetched[0].value<float>() == 3.0f);
  CHECK(fetched[1].value<float>() == 2.0f);
  CHECK(fetched[2].value<float>() == 1.0f);
}

TEST_CASE("step collector: the first error wins and asks for cancellation once") {
  StepCollector c(3, 0);
  c.part_failed(0, invalid_argument("first"));
  CHECK(c.take_cancel_request());
  CHECK(!c.take_cancel_request());
  c.part_failed(1, internal("second"));
  CHECK(!c.take_cancel_request());
  CHECK(!c.is_finished());
  c.part_done(2, {}, {});
  CHECK(c.is_finished());
  CHECK(c.status().message() == "first");
  CHECK(c.further_errors() == 1);
}

TEST_CASE("step collector: a root cause replaces a derived error that came before it") {
  StepCollector c(2, 0);
  c.part_failed(0, aborted("the peer's step ended").as_derived());
  c.part_failed(1, invalid_argument("the cause"));
  CHECK(c.status().message() == "the cause");
  CHECK(!c.status().derived());
}

TEST_CASE("step collector: a deadline ends the step, parts that never answer are given up") {
  StepCollector c(2, 1);
  c.part_done(0, {Tensor::scalar(1.0f)}, {0});
  c.fail(deadline_exceeded("too long"));
  CHECK(c.take_cancel_request());
  CHECK(!c.is_finished());
  c.give_up();
  CHECK(c.is_finished());
  CHECK(c.status().code() == Code::deadline_exceeded);
}

TEST_CASE("step collector: a part answers once") {
  StepCollector c(2, 0);
  c.part_done(0, {}, {});
  c.part_done(0, {}, {});
  c.part_failed(0, internal("late"));
  CHECK(!c.is_finished());
  CHECK(c.status().ok());
}

TEST_CASE("step collector: a task that is lost while a deadline is explained is told instead") {
  StepCollector c(2, 0);
  const Status late = deadline_exceeded("too late");
  c.fail(late);
  c.part_lost_at_deadline(1, unavailable("frozen"));
  CHECK(c.status() == unavailable("frozen"));
  c.explain(late, "of no matter");
  CHECK(c.status() == unavailable("frozen"));
  c.part_lost_at_deadline(1, unavailable("again"));
  c.part_lost_at_deadline(0, unavailable("another"));
  CHECK(c.status() == unavailable("frozen")); // the first wins
  CHECK(c.is_finished());
}

TEST_CASE("step collector: a task that has ended its part well is no reason for a deadline") {
  StepCollector c(2, 0);
  c.part_done(1);
  c.fail(deadline_exceeded("too late"));
  c.part_lost_at_deadline(1, unavailable("frozen"));
  CHECK(c.status().code() == Code::deadline_exceeded);
}
