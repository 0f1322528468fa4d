#include "tools/troupe/run_progress.hpp"

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("run progress: which step, how fast, how long still") {
  RunProgress p{.done = 0, .steps = 100};
  CHECK(format_progress(p, 200) == "step 1 of 100");
  p.done = 20;
  p.steps_us = 10'000'000;
  CHECK(format_progress(p, 200) == "step 21 of 100, 2.0 steps/s, 40 s left");
  p.done = 100;
  CHECK(format_progress(p, 200) == "step 100 of 100, 10 steps/s");
}

TEST_CASE("run progress: what takes long says for how long, and what it waits for") {
  RunProgress p{.done = 1, .steps = 2, .steps_us = 0, .running_us = 999'999};
  CHECK(format_progress(p, 200) == "step 2 of 2");
  p.running_us = 3'700'000;
  CHECK(format_progress(p, 200) == "step 2 of 2; this one runs for 3 s");
  p.waits_for = "waiting for 'a:0' from /job:ps/replica:0/task:0";
  CHECK(format_progress(p, 200) == "step 2 of 2; this one runs for 3 s, waiting for 'a:0' from "
                                   "/job:ps/replica:0/task:0");
  CHECK(format_progress(p, 21) == "step 2 of 2; this on");
  p = {.doing = "opening a session at caf://127.0.0.1:1", .running_us = 2'100'000};
  CHECK(format_progress(p, 200) == "opening a session at caf://127.0.0.1:1 for 2 s");
}

} // namespace troupe
