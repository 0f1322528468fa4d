#include "actors/node/pool_threads.hpp"

#include <doctest/doctest.h>
#include <future>
#include <latch>

using namespace troupe;
using namespace std::chrono_literals;

TEST_CASE("pool threads: work is done while all compute threads are in a loop") {
  ComputePool pool(2);
  std::promise<void> done;
  std::future<void> is_done = done.get_future();
  std::latch inside(2), may_end(1);
  std::thread caller([&] {
    pool.parallel_for(2, 1e9, [&](std::int64_t, std::int64_t) {
      inside.arrive_and_wait();
      may_end.wait();
    });
  });
  inside.wait();
  {
    PoolThreads threads(pool);
    threads.run([&] { done.set_value(); });
    CHECK(is_done.wait_for(30s) == std::future_status::ready);
    may_end.count_down();
  }
  caller.join();
}

TEST_CASE("pool threads: the end waits for all work, each of which is done once") {
  ComputePool pool(3);
  std::atomic<int> done = 0;
  {
    PoolThreads threads(pool);
    for (int i = 0; i < 200; ++i)
      threads.run([&] { ++done; });
  }
  CHECK(done == 200);
}

TEST_CASE("pool threads: work may be the last that knows of them") {
  ComputePool pool(2);
  std::promise<void> ended;
  auto threads = std::make_shared<PoolThreads>(pool);
  PoolThreads& them = *threads;
  std::promise<void> may_go;
  them.run([held = std::move(threads), go = may_go.get_future().share(), &ended]() mutable {
    go.wait();
    held.reset();
    ended.set_value();
  });
  may_go.set_value();
  CHECK(ended.get_future().wait_for(30s) == std::future_status::ready);
}
