#include "net/data/event_loop.hpp"

#include <doctest/doctest.h>

#include <future>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/data/sockets.hpp"

using namespace troupe;
using data::Fd;

TEST_CASE(
    "event loop: what is known of a closed descriptor does not reach who has its number now") {
  // Both are readable in the same round; the first closes the other and opens a silent one in its
  // place.
  Fd first(::eventfd(1, EFD_CLOEXEC)), second(::eventfd(1, EFD_CLOEXEC));
  Fd silent(::eventfd(0, EFD_CLOEXEC));
  int called = 0, misled = 0;
  std::promise<void> over;
  {
    EventLoop loop("test", std::chrono::milliseconds(60'000), [] {});
    auto replace = [&](int own, int other) {
      ++called;
      loop.forget(own);
      loop.forget(other);
      CHECK(::dup2(silent.get(), other) == other);
      CHECK(loop.watch(other, EPOLLIN, [&](std::uint32_t) { ++misled; }));
      loop.post([&] { over.set_value(); }); // in the next round
    };
    loop.post([&] {
      int a = first.get(), b = second.get();
      CHECK(loop.watch(a, EPOLLIN, [&, a, b](std::uint32_t) { replace(a, b); }));
      CHECK(loop.watch(b, EPOLLIN, [&, a, b](std::uint32_t) { replace(b, a); }));
    });
    REQUIRE(over.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  }
  CHECK(called == 1);
  CHECK(misled == 0);
}

TEST_CASE("event loop: who watches a number again gets its events, and a change lasts") {
  Fd one(::eventfd(1, EFD_CLOEXEC));
  int readable = 0, writable = 0;
  std::promise<void> over;
  {
    EventLoop loop("test", std::chrono::milliseconds(60'000), [] {});
    auto on_event = [&](std::uint32_t events) {
      readable += (events & EPOLLIN) ? 1 : 0;
      if (events & EPOLLOUT) {
        ++writable;
        loop.forget(one.get());
        over.set_value();
      } else {
        loop.change(one.get(), EPOLLOUT);
      }
    };
    loop.post([&] {
      CHECK(loop.watch(one.get(), EPOLLIN, [](std::uint32_t) {}));
      loop.forget(one.get());
      CHECK(loop.watch(one.get(), EPOLLIN, on_event));
    });
    REQUIRE(over.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  }
  CHECK(readable == 1);
  CHECK(writable == 1);
}
