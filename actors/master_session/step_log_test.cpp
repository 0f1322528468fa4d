#include "actors/master_session/step_log.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

using Answers = KeptAnswers<StepOutcome>;

StepOutcome of_bytes(std::int64_t bytes) {
  StepOutcome out;
  out.result.emplace();
  out.result->tensors.emplace_back(Tensor::zeros(DType::uint8, Shape{bytes}));
  return out;
}

constexpr std::int64_t large = static_cast<std::int64_t>(Answers::small_bytes) + 1;

} // namespace

TEST_CASE("step log: a request's answer is known by its id, and one without id is forgotten") {
  StepLog log;
  log.answered(7, of_bytes(3), false);
  log.answered(0, of_bytes(3), false);
  REQUIRE(log.outcome(7));
  CHECK(log.outcome(7)->result->tensors[0].tensor.byte_size() == 3);
  CHECK_FALSE(log.outcome(0));
  CHECK_FALSE(log.outcome(8));
  CHECK(log.was_answered(7));
  CHECK_FALSE(log.was_answered(8));
}

TEST_CASE("step log: of many answers the last are kept, and of more that they were given") {
  StepLog log;
  for (std::uint64_t id = 1; id <= Answers::max_requests + 5; ++id)
    log.answered(id, of_bytes(1), false);
  CHECK(log.outcome(Answers::max_requests + 5));
  CHECK_FALSE(log.outcome(Answers::max_requests + 5 - Answers::max_answers));
  CHECK(log.was_answered(Answers::max_requests + 5 - Answers::max_answers));
  CHECK(log.was_answered(6));
  CHECK_FALSE(log.was_answered(5));
}

TEST_CASE("step log: large answers are kept for those who may have lost them, until others come") {
  StepLog log;
  log.answered(1, of_bytes(large), false);
  CHECK_FALSE(log.outcome(1));
  CHECK(log.was_answered(1));
  CHECK_FALSE(log.has_large());
  log.answered(2, of_bytes(large), true);
  log.answered(3, of_bytes(2), true);
  CHECK(log.outcome(2));
  CHECK(log.has_large());
  log.drop_large();
  CHECK_FALSE(log.outcome(2));
  CHECK(log.was_answered(2));
  CHECK(log.outcome(3));
  CHECK_FALSE(log.has_large());
}

TEST_CASE("step log: all answers together have a bound") {
  StepLog log;
  const auto third = static_cast<std::int64_t>(Answers::max_bytes / 3 + 1);
  for (std::uint64_t id = 1; id <= 3; ++id)
    log.answered(id, of_bytes(third), true);
  CHECK_FALSE(log.outcome(1));
  CHECK(log.outcome(2));
  CHECK(log.outcome(3));
  log.answered(4, of_bytes(static_cast<std::int64_t>(Answers::max_bytes) + 1), true);
  CHECK_FALSE(log.outcome(4));
  CHECK(log.was_answered(4));
}
