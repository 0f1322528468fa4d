#include "devices/host/compute_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <limits>
#include <new>
#include <thread>
#include <vector>

using namespace troupe;

namespace {
constexpr double heavy = 1e6; // ns for each index: always worth waking helpers
}

TEST_CASE("pool: a loop visits every index once, whatever its size and cost") {
  for (int threads : {1, 2, 4, 7}) {
    ComputePool pool(threads);
    CHECK(pool.threads() == threads);
    for (std::int64_t total : {0, 1, 2, 3, 7, 64, 1000, 12345})
      for (double cost : {0.0, 1.0, 100.0, heavy, std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(total));
        std::atomic<int> wrong{0};
        pool.parallel_for(total, cost, [&](std::int64_t begin, std::int64_t end) {
          if (begin >= end || begin < 0 || end > total)
            ++wrong;
          for (; begin < end; ++begin)
            ++visits[static_cast<std::size_t>(begin)];
        });
        CHECK(wrong == 0);
        bool once = true;
        for (auto& n : visits)
          once = once && n == 1;
        CHECK(once);
      }
    pool.parallel_for(-3, heavy, [](std::int64_t, std::int64_t) { FAIL("there is no index"); });
  }
}

TEST_CASE("pool: huge totals do not overflow") {
  ComputePool pool(3);
  constexpr std::int64_t total = std::numeric_limits<std::int64_t>::max() / 2;
  std::atomic<std::int64_t> covered{0};
  pool.parallel_for(total, 1.0,
                    [&](std::int64_t begin, std::int64_t end) { covered += end - begin; });
  CHECK(covered == total);
}

TEST_CASE("pool: a cheap loop runs on its caller, in one piece") {
  ComputePool pool(4);
  int calls = 0;
  auto caller = std::this_thread::get_id();
  pool.parallel_for(1000, 1.0, [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    CHECK(begin == 0);
    CHECK(end == 1000);
    CHECK(std::this_thread::get_id() == caller);
  });
  CHECK(calls == 1);
}

TEST_CASE("pool: helpers join a heavy loop") {
  ComputePool pool(2);
  // Two indices that each wait for the other end only if two threads run them.
  std::latch both(2);
  std::vector<std::thread::id> ran(2);
  pool.parallel_for(2, heavy, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) {
      ran[static_cast<std::size_t>(begin)] = std::this_thread::get_id();
      both.arrive_and_wait();
    }
  });
  CHECK(ran[0] != ran[1]);
}

TEST_CASE("pool: what bodies wrote is there when the loop returns") {
  ComputePool pool(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> out(257, -1);
    pool.parallel_for(257, heavy, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin)
        out[static_cast<std::size_t>(begin)] = begin + round;
    });
    bool right = true;
    for (std::size_t i = 0; i < out.size(); ++i)
      right = right && out[i] == static_cast<std::int64_t>(i) + round;
    REQUIRE(right);
  }
}

TEST_CASE("pool: an inner loop runs on the thread of its outer index") {
  ComputePool pool(4);
  std::atomic<int> elsewhere{0};
  std::atomic<std::int64_t> sum{0};
  pool.parallel_for(8, heavy, [&](std::int64_t begin, std::int64_t end) {
    auto outer = std::this_thread::get_id();
    for (; begin < end; ++begin)
      pool.parallel_for(100, heavy, [&](std::int64_t b, std::int64_t e) {
        if (std::this_thread::get_id() != outer)
          ++elsewhere;
        sum += e - b;
      });
  });
  CHECK(elsewhere == 0);
  CHECK(sum == 800);
}

TEST_CASE("pool: inside a loop of one index an inner loop still spreads") {
  ComputePool pool(2);
  std::latch both(2);
  pool.parallel_for(1, heavy, [&](std::int64_t, std::int64_t) {
    pool.parallel_for(2, heavy, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin)
        both.arrive_and_wait();
    });
  });
  CHECK(both.try_wait());
}

TEST_CASE("pool: loops from many threads at one time") {
  ComputePool pool(3);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        pool.parallel_for(50, heavy,
                          [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    });
  for (auto& t : callers)
    t.join();
  CHECK(sum == 6 * 100 * 50);
}

TEST_CASE("pool: more loops at one time than it has slots for") {
  ComputePool pool(2);
  constexpr int callers = 80;
  std::latch inside(callers);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < callers; ++t)
    threads.emplace_back([&] {
      std::atomic<bool> arrived{false};
      auto caller = std::this_thread::get_id();
      pool.parallel_for(20, heavy, [&](std::int64_t begin, std::int64_t end) {
        // Each caller holds its slot until all callers have begun a loop.
        if (std::this_thread::get_id() == caller && !arrived.exchange(true))
          inside.arrive_and_wait();
        sum += end - begin;
      });
      if (!arrived.exchange(true)) // helpers took every chunk
        inside.arrive_and_wait();
    });
  for (auto& t : threads)
    t.join();
  CHECK(sum == callers * 20);
}

TEST_CASE("pool: one helper runs submitted work first come first served") {
  ComputePool pool(2);
  std::vector<int> order; // touched by the one helper alone until the latch
  std::latch done(1);
  for (int i = 0; i < 100; ++i)
    pool.submit([&, i] { order.push_back(i); });
  pool.submit([&] { done.count_down(); });
  done.wait();
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i)
    CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("pool: with one thread, submitted work still runs beside its submitter") {
  ComputePool pool(1);
  CHECK(pool.threads() == 1);
  std::latch done(1);
  std::thread::id ran;
  pool.submit([&] {
    ran = std::this_thread::get_id();
    done.count_down();
  });
  done.wait();
  CHECK(ran != std::this_thread::get_id());
}

TEST_CASE("pool: submitted work progresses while loops never cease") {
  ComputePool pool(2);
  std::atomic<bool> stop{false};
  std::thread looper([&] {
    while (!stop)
      pool.parallel_for(16, heavy, [](std::int64_t, std::int64_t) {});
  });
  for (int i = 0; i < 20; ++i) {
    std::latch done(1);
    pool.submit([&] { done.count_down(); });
    done.wait();
  }
  stop = true;
  looper.join();
}

TEST_CASE("pool: a loop ends though every helper is busy") {
  ComputePool pool(3);
  std::latch release(1), busy(2), finished(2);
  for (int i = 0; i < 2; ++i)
    pool.submit([&] {
      busy.count_down();
      release.wait();
      finished.count_down();
    });
  busy.wait();
  std::int64_t sum = 0; // only the caller can be at work
  pool.parallel_for(100, heavy, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
  CHECK(sum == 100);
  release.count_down();
  finished.wait();
}

TEST_CASE("pool: submitted work may loop and submit") {
  ComputePool pool(3);
  std::atomic<std::int64_t> sum{0};
  std::latch done(1);
  pool.submit([&] {
    pool.parallel_for(100, heavy,
                      [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    pool.submit([&] { done.count_down(); });
  });
  done.wait();
  CHECK(sum == 100);
}

TEST_CASE("pool: its end runs what was submitted") {
  std::atomic<int> ran{0};
  {
    ComputePool pool(2);
    for (int i = 0; i < 1000; ++i)
      pool.submit([&pool, &ran, i] {
        ++ran;
        if (i % 100 == 0)
          pool.submit([&ran] { ++ran; });
      });
  }
  CHECK(ran == 1010);
  ComputePool unused(8); // starts no thread, so has none to join
}

TEST_CASE("pool: what a body throws reaches the caller, from whatever thread, and ends the loop") {
  ComputePool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::latch both(2); // so that a helper throws too
    std::atomic<int> thrown{0};
    auto body = [&](std::int64_t begin, std::int64_t) {
      if (begin > 1)
        return;
      both.arrive_and_wait();
      ++thrown;
      throw std::bad_alloc();
    };
    CHECK_THROWS_AS(pool.parallel_for(2, heavy, body), std::bad_alloc);
    CHECK(thrown == 2);
  }
  // The pool goes on, also where the loop never left its caller, and loops there still spread.
  CHECK_THROWS_AS(
      pool.parallel_for(2, 1e-3, [](std::int64_t, std::int64_t) { throw std::bad_alloc(); }),
      std::bad_alloc);
  std::latch both(2);
  pool.parallel_for(2, heavy, [&](std::int64_t, std::int64_t) { both.arrive_and_wait(); });
}

TEST_CASE("pool: wakes again and again") {
  for (int round = 0; round < 50; ++round) {
    ComputePool pool(4);
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; ++i) {
      std::latch done(1);
      pool.submit([&] {
        ++ran;
        done.count_down();
      });
      done.wait();
      pool.parallel_for(4, heavy, [&](std::int64_t begin, std::int64_t end) {
        ran += static_cast<int>(end - begin);
      });
    }
    REQUIRE(ran == 100);
  }
}

TEST_CASE("pool: what no helper has begun is taken back, and never runs") {
  ComputePool pool(2);
  std::latch begun(1), go_on(1), done(1);
  const std::uint64_t first = pool.submit([&] {
    begun.count_down();
    go_on.wait();
  });
  begun.wait();
  std::vector<int> ran; // by the one helper
  std::vector<std::uint64_t> tickets;
  for (int i = 0; i < 5; ++i)
    tickets.push_back(pool.submit([&, i] { ran.push_back(i); }));
  CHECK(!pool.withdraw(first)); // it has begun
  CHECK(pool.withdraw(tickets[1]));
  CHECK(!pool.withdraw(tickets[1]));
  CHECK(pool.withdraw(tickets[4]));
  CHECK(!pool.withdraw(tickets[4] + 1)); // nobody's
  CHECK(!pool.withdraw(0));
  go_on.count_down();
  pool.submit([&] { done.count_down(); });
  done.wait();
  CHECK(ran == std::vector<int>{0, 2, 3});
  CHECK(!pool.withdraw(tickets[0])); // it has run
}
