#include "core/base/async.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

Async<Result<int>> ready(int x) {
  return x;
}

Async<Result<int>> add(Async<Result<int>> a, Async<Result<int>> b) {
  TROUPE_CO_ASSIGN(const int x, co_await std::move(a));
  TROUPE_CO_ASSIGN(const int y, co_await std::move(b));
  co_return x + y;
}

Async<Result<int>> fails() {
  TROUPE_CO_TRY(not_found("nothing"));
  co_return 1;
}

Async<Result<int>> throws(bool really) {
  if (really)
    throw std::bad_alloc();
  co_return 1;
}

/// Calls back when told to.
struct Later {
  std::function<void(Result<int>)> done;
  Async<Result<int>> wait() {
    co_return co_await Callback<Result<int>>(
        [this](std::function<void(Result<int>)> called) { done = std::move(called); });
  }
};

std::optional<Result<int>> result_of(Async<Result<int>> async) {
  auto out = std::make_shared<std::optional<Result<int>>>();
  when_done<Result<int>>(std::move(async), [out](Result<int> value) { *out = std::move(value); });
  return *out;
}

} // namespace

TEST_CASE("async: what does not wait has ended when the call returns") {
  CHECK(ready(1).is_ready());
  CHECK(add(ready(1), ready(2)).is_ready());
  CHECK(**result_of(add(ready(1), add(ready(2), ready(3)))) == 6);
}

TEST_CASE("async: errors and exceptions are results") {
  CHECK(result_of(fails())->status() == not_found("nothing"));
  CHECK(result_of(add(ready(1), fails()))->status() == not_found("nothing"));
  CHECK(result_of(throws(true))->status().code() == Code::internal);
  CHECK(**result_of(throws(false)) == 1);
}

TEST_CASE("async: what waits goes on where it is called back") {
  Later a, b;
  std::optional<Result<int>> out;
  when_done<Result<int>>(add(a.wait(), b.wait()),
                         [&](Result<int> value) { out = std::move(value); });
  CHECK(!out);
  b.done(2); // before it is awaited
  CHECK(!out);
  a.done(1);
  REQUIRE(out);
  CHECK(**out == 3);
}

TEST_CASE("async: a long chain of waits takes no stack") {
  std::vector<std::function<void(Result<int>)>> waiting;
  const auto sum_all = [&](int count) -> Async<Result<int>> {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
      Callback<Result<int>> next([&](std::function<void(Result<int>)> done) {
        if (i % 2 == 0)
          done(i); // at once
        else
          waiting.push_back(std::move(done));
      });
      TROUPE_CO_ASSIGN(const int x, co_await next);
      sum ^= x;
    }
    co_return sum;
  };
  std::optional<Result<int>> out;
  when_done<Result<int>>(sum_all(200'000), [&](Result<int> value) { out = std::move(value); });
  for (int i = 1; !out; i += 2) {
    auto done = std::move(waiting.back());
    waiting.pop_back();
    done(i);
  }
  CHECK(out->ok());
}

TEST_CASE("async: the end and the wait may come at the same time") {
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::function<void(Result<int>)>> posted;
  bool over = false;
  std::thread other([&] {
    for (;;) {
      std::unique_lock guard(lock);
      changed.wait(guard, [&] { return over || !posted.empty(); });
      if (posted.empty())
        return;
      auto done = std::move(posted.back());
      posted.pop_back();
      guard.unlock();
      done(1);
    }
  });
  const auto post = [&](std::function<void(Result<int>)> done) {
    std::scoped_lock guard(lock);
    posted.push_back(std::move(done));
    changed.notify_one();
  };
  const auto one = [&]() -> Async<Result<int>> {
    Callback<Result<int>> called(post);
    co_return co_await called;
  };
  const auto many = [&]() -> Async<Result<int>> {
    int sum = 0;
    for (int i = 0; i < 2000; ++i) {
      Async<Result<int>> begun = one(); // the other thread may end it before we wait
      TROUPE_CO_ASSIGN(const int x, co_await std::move(begun));
      sum += x;
    }
    co_return sum;
  };
  std::atomic<int> out{0};
  when_done<Result<int>>(many(), [&](Result<int> value) {
    out = *value;
    out.notify_all();
  });
  out.wait(0);
  CHECK(out == 2000);
  {
    std::scoped_lock guard(lock);
    over = true;
    changed.notify_one();
  }
  other.join();
}
