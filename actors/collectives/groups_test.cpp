#include "actors/collectives/groups.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "core/base/strings.hpp"

using namespace troupe;

namespace {

std::string task(int i) {
  return str_cat("/job:worker/replica:0/task:", i);
}
std::string device(int i) {
  return task(i) + "/device:CPU:0";
}

struct Fixture {
  CollectiveGroups groups{1000};
  std::int64_t now = 0;
  CollectiveGroups::Waiter last = 0;

  /// Member i of its own session, in that session's step.
  static CollectiveMember member(int i, std::uint64_t step = 1, int size = 2) {
    CollectiveMember m;
    m.spec.kind = CollectiveKind::reduce;
    m.spec.group_key = 7;
    m.spec.instance_key = 3;
    m.spec.group_size = size;
    m.spec.dtype = DType::float32;
    m.spec.shape = Shape{2};
    m.spec.merge = MergeOp::add;
    m.node = str_cat("node", i);
    m.device = device(i);
    m.task = task(i);
    m.session = str_cat("session", i);
    m.step = step;
    return m;
  }
  CollectiveGroups::Effects join(const CollectiveMember& m) { return groups.join(++last, m, now); }
  CollectiveGroups::Effects ended(int i, std::uint64_t step, const Status& status = {}) {
    return groups.step_ended(str_cat("session", i), step, device(i), status, now);
  }
  static std::string error(const CollectiveGroups::Effects& effects, Code code) {
    REQUIRE(!effects.failed.empty());
    CHECK(effects.failed[0].why.code() == code);
    return effects.failed[0].why.message();
  }
  static bool has(std::string_view text, std::string_view part) {
    const bool out = text.find(part) != text.npos;
    CHECK_MESSAGE(out, text);
    return out;
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "groups: forms when all members are there, ranks by device name") {
  CHECK_FALSE(join(member(10, 1, 3)).formed);
  CHECK_FALSE(join(member(2, 1, 3)).formed);
  CHECK(groups.describe(1) == str_cat("2 of 3 members of group 7 have reached instance 3: ",
                                      device(10), ", ", device(2)));
  auto formed = join(member(0, 1, 3)).formed;
  REQUIRE(formed);
  CHECK(formed->devices == std::vector<std::string>{device(0), device(2), device(10)});
  CHECK(formed->waiters == std::vector<CollectiveGroups::Waiter>{3, 2, 1});
  CHECK(groups.num_waiting() == 0);
  for (int i : {0, 2, 10})
    ended(i, 1);
  CHECK(groups.num_gangs() == 0);
}

TEST_CASE_FIXTURE(Fixture, "groups: two steps of one session do not mix") {
  // Both devices are in each step; the second step's first device is faster than the first's
  // second.
  auto in_step = [](int i, std::uint64_t step) {
    CollectiveMember m = member(i, step);
    m.session = "one";
    m.in_step = true;
    return m;
  };
  CHECK_FALSE(join(in_step(0, 1)).formed);
  CHECK_FALSE(join(in_step(1, 2)).formed);
  CHECK_FALSE(groups.describe(1).empty());
  auto first = join(in_step(1, 1)).formed;
  REQUIRE(first);
  CHECK(first->waiters == std::vector<CollectiveGroups::Waiter>{1, 3});
  auto second = join(in_step(0, 2)).formed;
  REQUIRE(second);
  CHECK(second->waiters == std::vector<CollectiveGroups::Waiter>{4, 2});
  CHECK(second->id > first->id + 2); // room for each rank's own
}

TEST_CASE_FIXTURE(Fixture, "groups: steps of several sessions meet in their order") {
  CHECK_FALSE(join(member(0, 1)).formed);
  CHECK_FALSE(join(member(0, 2)).formed); // a second step of the session, at the same time
  auto first = join(member(1, 50)).formed;
  REQUIRE(first);
  CHECK(first->waiters == std::vector<CollectiveGroups::Waiter>{1, 3});
  // Another instance of the same steps stays with them.
  CollectiveMember again = member(1, 50);
  again.spec.instance_key = 4;
  CHECK_FALSE(join(again).formed);
  auto second = join(member(1, 51)).formed;
  REQUIRE(second);
  CHECK(second->waiters == std::vector<CollectiveGroups::Waiter>{2, 5});
  again = member(0, 1);
  again.spec.instance_key = 4;
  auto third = join(again).formed;
  REQUIRE(third);
  CHECK(third->gang == first->gang);
}

TEST_CASE_FIXTURE(Fixture, "groups: what members say differently ends all of them") {
  struct Case {
    const char* text;
    Code code;
    void (*change)(CollectiveMember&);
  };
  const Case cases[] = {
      {"expected type all-reduce and data_type float but got type all-gather", Code::internal,
       [](CollectiveMember& m) { m.spec.kind = CollectiveKind::gather; }},
      {"and data_type int32", Code::internal,
       [](CollectiveMember& m) { m.spec.dtype = DType::int32; }},
      {"Shape mismatch in the collective instance 3. Op at device "
       "/job:worker/replica:0/task:1/device:CPU:0 expected shape [3]",
       Code::invalid_argument, [](CollectiveMember& m) { m.spec.shape = Shape{3}; }},
      {"disagree about merge_op", Code::invalid_argument,
       [](CollectiveMember& m) { m.spec.merge = MergeOp::max; }},
      {"disagree about final_op", Code::invalid_argument,
       [](CollectiveMember& m) { m.spec.divides = true; }},
      {"has group_size 4 and group_key 7 but that group has size 3", Code::internal,
       [](CollectiveMember& m) { m.spec.group_size = 4; }},
  };
  std::uint64_t step = 0;
  for (const Case& c : cases) {
    ++step;
    CHECK_FALSE(join(member(0, step, 3)).formed);
    CollectiveMember other = member(1, step, 3);
    c.change(other);
    auto effects = join(other);
    REQUIRE(effects.failed.size() == 2); // the one that waited, the one that came
    CHECK(has(error(effects, c.code), c.text));
    // The third member hears of it, too, when it comes.
    CHECK(has(error(join(member(2, step, 3)), c.code), c.text));
    for (int i : {0, 1, 2})
      ended(i, step, cancelled("its step failed"));
    CHECK(groups.num_gangs() == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "groups: a broadcast has one source") {
  CollectiveMember a = member(0), b = member(1);
  a.spec.kind = b.spec.kind = CollectiveKind::broadcast;
  CHECK_FALSE(join(a).formed);
  CHECK(has(error(join(b), Code::internal), "found no source for broadcast"));
  ended(0, 1, cancelled("")), ended(1, 1, cancelled(""));
  a.is_source = b.is_source = true;
  CHECK_FALSE(join(a).formed);
  CHECK(has(error(join(b), Code::internal), "already has source"));
}

TEST_CASE_FIXTURE(Fixture, "groups: ranks that the program gives") {
  CollectiveMember a = member(0), b = member(1);
  a.rank = 1;
  b.rank = 0;
  CHECK_FALSE(join(a).formed);
  auto formed = join(b).formed;
  REQUIRE(formed);
  CHECK(formed->devices == std::vector<std::string>{device(1), device(0)});
  ended(0, 1), ended(1, 1);
  b.rank = 1;
  CHECK_FALSE(join(a).formed);
  CHECK(has(error(join(b), Code::invalid_argument), "have rank 1"));
  a.rank = 2;
  CHECK(has(error(join(a), Code::invalid_argument), "is not in a group of 2"));
}

TEST_CASE_FIXTURE(Fixture, "groups: a deadline names who is there and who was there before") {
  REQUIRE_FALSE(join(member(0, 1)).formed);
  REQUIRE(join(member(1, 1)).formed);
  ended(0, 1), ended(1, 1);
  CollectiveMember late = member(0, 2);
  late.timeout_us = 2'000'000;
  join(late);
  CHECK(groups.next_due_us() == 2'000'000);
  now = 1'999'999;
  CHECK(groups.time_passed(now).failed.empty());
  now = 2'000'000;
  const std::string text = error(groups.time_passed(now), Code::deadline_exceeded);
  CHECK(has(text, "Collective has timed out"));
  CHECK(has(text, "1 of 2 members of group 7 have reached instance 3: " + device(0)));
  CHECK(has(text, "missing: " + device(1)));
  // It was alone: the other's step meets its next one.
  CHECK(groups.num_gangs() == 0);
  CHECK_FALSE(join(member(1, 2)).formed);
  CHECK(join(member(0, 3)).formed);
}

TEST_CASE_FIXTURE(Fixture, "groups: a lost task ends its gangs, and later ones until it is back") {
  const Status lost = unavailable("task 1 is gone");
  REQUIRE_FALSE(join(member(0, 1)).formed);
  auto formed = join(member(1, 1)).formed;
  REQUIRE(formed);
  auto effects = groups.task_lost(task(1), lost, now);
  REQUIRE(effects.doomed.size() == 1); // what has formed may wait for pieces
  CHECK(effects.doomed[0].gang == formed->gang);
  CHECK(effects.doomed[0].tasks == std::vector<std::string>{task(0)});
  ended(0, 1, cancelled(""));
  CHECK(groups.num_gangs() == 0);
  CHECK(has(error(join(member(0, 2)), Code::unavailable),
            str_cat("collective group 7 has lost its member ", device(1))));
  CHECK_FALSE(join(member(1, 9)).formed);
  CHECK(join(member(0, 3)).formed);
}

TEST_CASE_FIXTURE(Fixture, "groups: a lost task that was a member last time is not waited for") {
  REQUIRE_FALSE(join(member(0, 1)).formed);
  REQUIRE(join(member(1, 1)).formed);
  ended(0, 1), ended(1, 1);
  // The other is in its next step before it is.
  REQUIRE_FALSE(join(member(0, 2)).formed);
  const auto effects = groups.task_lost(task(1), unavailable("task 1 is gone"), now);
  CHECK(has(error(effects, Code::unavailable), "has lost its member " + device(1)));
  ended(0, 2, cancelled(""));
  CHECK(groups.num_gangs() == 0);
  // A group of another size is another one.
  CHECK_FALSE(join(member(0, 3, 3)).formed);
  CHECK(groups.num_waiting() == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "groups: a step that ends without an instance ends those that wait in it") {
  CollectiveMember other = member(1, 1);
  REQUIRE_FALSE(join(member(0, 1)).formed);
  REQUIRE(join(other).formed);
  other.spec.instance_key = 4;
  REQUIRE_FALSE(join(other).formed);
  const auto effects = ended(0, 1);
  CHECK(has(error(effects, Code::failed_precondition), "has ended its step without collective "
                                                       "instance 4 of group 7"));
}

TEST_CASE_FIXTURE(Fixture, "groups: a failed step ends the others', as a consequence") {
  REQUIRE_FALSE(join(member(0, 1, 3)).formed);
  REQUIRE_FALSE(join(member(1, 1, 3)).formed);
  const auto effects = ended(0, 1, invalid_argument("NaN"));
  const std::string text = error(effects, Code::invalid_argument);
  CHECK(has(text, "has ended (INVALID_ARGUMENT: NaN)"));
  CHECK(effects.failed[0].why.derived());
  // The third comes within a minute, or meets the others' next steps after it.
  CHECK(error(join(member(2, 1, 3)), Code::invalid_argument) == text);
  ended(1, 1, cancelled("")), ended(2, 1, cancelled(""));
  CHECK(groups.num_gangs() == 0);
  join(member(0, 2, 3)), join(member(1, 2, 3));
  ended(0, 2, cancelled("by its client"));
  CHECK(groups.num_gangs() == 1);
  now += CollectiveGroups::keeps_failures_us;
  groups.time_passed(now);
  CHECK(groups.num_gangs() == 0);
}

TEST_CASE_FIXTURE(Fixture, "groups: one instance twice in one step") {
  CollectiveMember a = member(0);
  join(a);
  a.node = "other";
  auto effects = join(a);
  CHECK(effects.failed.size() == 2);
  CHECK(has(error(effects, Code::invalid_argument), "runs twice at once"));
}

TEST_CASE(
    "groups: whatever happens in whatever order, every waiter is answered once and nothing stays") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    CollectiveGroups groups(1);
    const int size = 2 + static_cast<int>(random() % 3);
    std::int64_t now = 0;
    std::vector<std::uint64_t> step(static_cast<std::size_t>(size), 1);
    std::vector<int> instance(static_cast<std::size_t>(size), 0);
    std::map<CollectiveGroups::Waiter, int> waits; // the member
    std::vector<bool> is_waiting(static_cast<std::size_t>(size));
    CollectiveGroups::Waiter last = 0;
    std::map<std::uint64_t, std::set<std::uint64_t>> steps_of; // a gang's steps
    auto end_step = [&](int i, const Status& status, auto&& take) -> void {
      take(groups.step_ended(str_cat("session", i), step[static_cast<std::size_t>(i)], device(i),
                             status, now),
           take);
      ++step[static_cast<std::size_t>(i)];
      instance[static_cast<std::size_t>(i)] = 0;
    };
    auto take = [&](const CollectiveGroups::Effects& effects, auto&& self) -> void {
      std::vector<int> failed;
      for (const auto& f : effects.failed)
        for (auto waiter : f.waiters) {
          REQUIRE(waits.contains(waiter));
          failed.push_back(waits[waiter]);
          waits.erase(waiter);
        }
      if (effects.formed) {
        REQUIRE(effects.formed->waiters.size() == static_cast<std::size_t>(size));
        std::set<int> instances;
        for (auto waiter : effects.formed->waiters) {
          REQUIRE(waits.contains(waiter));
          const int i = waits[waiter];
          waits.erase(waiter);
          is_waiting[static_cast<std::size_t>(i)] = false;
          instances.insert(instance[static_cast<std::size_t>(i)]++);
        }
        CHECK(instances.size() == 1);
      }
      for (int i : failed) {
        is_waiting[static_cast<std::size_t>(i)] = false;
        end_step(i, cancelled("its collective failed"), self);
      }
    };
    for (int event = 0; event < 200; ++event) {
      const int i = static_cast<int>(random() % static_cast<unsigned>(size));
      const auto at = static_cast<std::size_t>(i);
      const unsigned what = random() % 100;
      now += static_cast<std::int64_t>(random() % 100'000);
      if (what < 80 && !is_waiting[at]) {
        if (instance[at] == 2) {
          end_step(i, {}, take);
          continue;
        }
        CollectiveMember m = Fixture::member(i, step[at], size);
        m.spec.instance_key = instance[at];
        m.timeout_us = random() % 4 == 0 ? 1'000'000 : 0;
        if (random() % 50 == 0)
          m.spec.shape = Shape{5};
        waits[++last] = i;
        is_waiting[at] = true;
        take(groups.join(last, m, now), take);
      } else if (what < 84) { // cancelled while it waits, or failed between two
        std::erase_if(waits, [&](const auto& x) { return x.second == i; });
        is_waiting[at] = false;
        // Its leader answers the join as well, which nobody hears.
        auto effects =
            groups.step_ended(str_cat("session", i), step[at], device(i), cancelled("x"), now);
        for (auto& f : effects.failed)
          std::erase_if(f.waiters, [&](auto waiter) { return !waits.contains(waiter); });
        ++step[at];
        instance[at] = 0;
        take(effects, take);
      } else if (what < 86) {
        take(groups.task_lost(task(i), unavailable("lost"), now), take);
      } else {
        take(groups.time_passed(now), take);
      }
    }
    // All end.
    for (int i = 0; i < size; ++i)
      end_step(i, cancelled("the end"), [&](const CollectiveGroups::Effects& effects, auto&&) {
        for (const auto& f : effects.failed)
          for (auto waiter : f.waiters)
            waits.erase(waiter);
      });
    CHECK(groups.num_waiting() == 0);
    now += 2 * CollectiveGroups::keeps_failures_us;
    groups.time_passed(now);
    CHECK(groups.num_gangs() == 0);
  }
}
