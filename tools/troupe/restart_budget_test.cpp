#include "tools/troupe/restart_budget.hpp"

#include <doctest/doctest.h>

using namespace troupe;
using namespace std::chrono_literals;

TEST_CASE("restart budget: so many within the window, then no more") {
  RestartBudget budget(2, 60s);
  RestartBudget::Time start{};
  CHECK(budget.take(start));
  CHECK(budget.take(start + 1s));
  CHECK(!budget.take(start + 2s));
  CHECK(!budget.take(start + 59s));
}

TEST_CASE("restart budget: what lies a window back counts no longer, a refusal never does") {
  RestartBudget budget(1, 10s);
  RestartBudget::Time start{};
  CHECK(budget.take(start));
  CHECK(!budget.take(start + 9s));
  CHECK(budget.take(start + 10s));
  CHECK(!budget.take(start + 19s));
  CHECK(budget.take(start + 20s));
}

TEST_CASE("restart budget: none means never") {
  RestartBudget budget(0, 10s);
  CHECK(!budget.take(RestartBudget::Time{}));
}
