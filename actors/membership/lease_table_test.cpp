#include "actors/membership/lease_table.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("leases: a silent peer expires once, one that is heard of does not") {
  LeaseTable leases(100);
  leases.joined("a", 1, 0);
  leases.joined("b", 2, 0);
  leases.heard("b", 90);
  CHECK(leases.expire(100).empty());
  auto expired = leases.expire(101);
  REQUIRE(expired.size() == 1);
  CHECK(expired[0].task == "a");
  CHECK(expired[0].incarnation == 1);
  CHECK(expired[0].silent_us == 101);
  CHECK(leases.expire(150).empty());
  CHECK(leases.expire(191).size() == 1);
}

TEST_CASE("leases: another incarnation of a task replaces the first, and says so") {
  LeaseTable leases(100);
  CHECK(!leases.joined("a", 1, 0));
  CHECK(!leases.joined("a", 1, 10));
  CHECK(leases.joined("a", 2, 20));
  CHECK(leases.incarnation("a") == 2);
}

TEST_CASE("leases: word from a stranger or of one that is gone changes nothing") {
  LeaseTable leases(100);
  leases.heard("a", 5);
  CHECK(!leases.contains("a"));
  CHECK(!leases.lost("a"));
  leases.joined("a", 1, 0);
  CHECK(leases.lost("a"));
  CHECK(leases.silent_us("a", 10) == -1);
}

TEST_CASE("leases: each reason has a sentence with task, address and remedy") {
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
