#include "actors/membership/loss_sentence.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("losses: each reason has a sentence with task, address and remedy") {
  for (auto reason : {LossReason::crashed, LossReason::frozen, LossReason::cut_off,
                      LossReason::left, LossReason::restarted, LossReason::gave_up}) {
    std::string sentence = loss_sentence("/job:ps/replica:0/task:0", "h:1", reason, 7000000);
    CAPTURE(sentence);
    CHECK(sentence.find("/job:ps/replica:0/task:0") != std::string::npos);
    CHECK(sentence.find("h:1") != std::string::npos);
  }
  CHECK(loss_sentence("t", "a", LossReason::frozen, 7000000).find("7000 ms") != std::string::npos);
  CHECK(loss_sentence("t", "a", LossReason::gave_up, 7000000, "us")
            .starts_with(
                "us was declared gone by task t at a, which had heard nothing of it for 7000 ms"));
}
