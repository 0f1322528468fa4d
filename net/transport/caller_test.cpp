// Callers on the loop of their network, with a server in another actor system over loopback.
#include "net/transport/caller.hpp"

#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>
#include <caf/send.hpp>
#include <doctest/doctest.h>

#include "net/transport/guarded_network.hpp"
#include "net/transport/step_scheduler.hpp"

namespace caller_test {
/// Asks for the next number; or for an answer once somebody sends a Tick, or for none.
struct Next {
  int number = 0;
  std::string how; ///< empty, "wait", "never"
};
struct Tick { // a struct, as the messages of the protocol are
  int number = 0;
};
template <class F>
typename F::result_type inspect(F& f, Next& x) {
  return f(caf::meta::type_name("Next"), x.number, x.how);
}
template <class F>
typename F::result_type inspect(F& f, Tick& x) {
  return f(caf::meta::type_name("Tick"), x.number);
}
} // namespace caller_test

CAF_BEGIN_TYPE_ID_BLOCK(caller_test, caf::first_custom_type_id + 1000)
CAF_ADD_TYPE_ID(caller_test, (caller_test::Next))
CAF_ADD_TYPE_ID(caller_test, (caller_test::Tick))
CAF_END_TYPE_ID_BLOCK(caller_test)

namespace troupe {
namespace {

using caller_test::Next;
using caller_test::Tick;
using namespace std::chrono_literals;

struct Config : caf::actor_system_config {
  Config() {
    add_message_type<Next>("troupe::Next");
    add_message_type<Tick>("troupe::Tick");
    load<StepScheduler>();
    load<GuardedNetwork>();
    set("scheduler.max-threads", std::size_t{2});
    set("middleman.workers", std::size_t{0});
  }
};

caf::behavior counting(caf::event_based_actor* self, std::promise<void>* asked) {
  auto kept = std::make_shared<std::vector<caf::typed_response_promise<Tick>>>();
  return {[=](const Next& x) -> caf::result<Tick> {
            if (x.how.empty())
              return Tick{x.number + 1};
            auto promise = self->make_response_promise<Tick>();
            kept->push_back(promise);
            if (x.how == "wait")
              asked->set_value();
            return promise;
          },
          [=](const Tick& x) {
            for (auto& promise : *kept)
              promise.deliver(x);
            kept->clear();
          }};
}

// Hands what it is asked on to another actor, as a session does.
caf::behavior relay(caf::event_based_actor* self, const caf::actor& to) {
  return {[=](const Next& x) { return self->delegate(to, x); }};
}

struct Rig {
  Config server_config, client_config;
  caf::actor_system server{server_config}, client{client_config};
  std::promise<void> asked;
  caf::actor counter = server.spawn(counting, &asked);
  caf::actor remote, session;

  Rig() {
    auto port = server.middleman().publish(counter, 0, "127.0.0.1");
    REQUIRE(port);
    auto found = client.middleman().remote_actor("127.0.0.1", *port);
    REQUIRE(found);
    remote = *found;
    session = client.spawn(relay, remote);
  }
  ~Rig() {
    caf::anon_send_exit(session, caf::exit_reason::kill);
    caf::anon_send_exit(counter, caf::exit_reason::kill);
  }
};

// The answer's number; -1 for a timeout, -2 for another error.
int ask(Caller& caller, const caf::actor& peer, const Next& next, caf::timespan budget = 60s) {
  int out = 0;
  caller.ask(
      peer, budget, next, [&](const Tick& answer) { out = answer.number; },
      [&](caf::error& error) { out = error == caf::sec::request_timeout ? -1 : -2; });
  return out;
}
int ask(Caller& caller, const caf::actor& peer, int number) {
  return ask(caller, peer, Next{number, {}});
}

TEST_CASE("a caller's remote requests are answered, one after the other") {
  Rig rig;
  Caller caller(rig.client);
  for (int i = 0; i < 500; ++i)
    REQUIRE(ask(caller, rig.session, i) == i + 1);
}

TEST_CASE("callers on several threads are all answered, and those of one that pauses") {
  Rig rig;
  auto many = [&](int pause_every) {
    Caller caller(rig.client);
    for (int i = 0; i < 300; ++i) {
      if (ask(caller, rig.session, i) != i + 1)
        return false;
      if (i % pause_every == 0) // longer than the loop is kept for who comes back
        std::promise<void>().get_future().wait_for(3 * SharedLoop::grace);
    }
    return true;
  };
  std::vector<std::future<bool>> callers;
  for (int pause_every : {1000, 7, 50, 1000})
    callers.push_back(std::async(std::launch::async, many, pause_every));
  for (auto& caller : callers)
    CHECK(caller.get());
}

TEST_CASE("what other threads send while a caller has the loop, or has just left it, goes out") {
  Rig rig;
  Caller caller(rig.client);
  for (int i = 0; i < 50; ++i) {
    REQUIRE(ask(caller, rig.session, i) == i + 1);
    // Waits for a tick that another thread sends over the same network once the wait has begun.
    std::thread other([&, i] {
      rig.asked.get_future().wait();
      caf::anon_send(rig.remote, Tick{1000 + i});
    });
    CHECK(ask(caller, rig.session, Next{0, "wait"}) == 1000 + i);
    other.join();
    rig.asked = {};
  }
}

TEST_CASE("every job that threads post to a loop runs once, in each thread's order") {
  Rig rig;
  auto& loop = *shared_loop(rig.client);
  constexpr int threads = 4, jobs = 3000;
  std::vector<int> last(threads, -1); // touched by the loop alone
  bool in_order = true;
  std::promise<void> all;
  int left = threads * jobs;
  std::vector<std::thread> posters;
  for (int t = 0; t < threads; ++t)
    posters.emplace_back([&, t] {
      for (int i = 0; i < jobs; ++i)
        loop.post([&, t, i] {
          in_order = in_order && std::exchange(last[static_cast<std::size_t>(t)], i) == i - 1;
          if (--left == 0)
            all.set_value();
        });
    });
  Caller caller(rig.client); // takes the loop and leaves it meanwhile
  for (int i = 0; i < 200; ++i)
    REQUIRE(ask(caller, rig.session, i) == i + 1);
  for (std::thread& poster : posters)
    poster.join();
  all.get_future().wait();
  CHECK(in_order);
}

TEST_CASE("jobs that post the next one do not keep the loop from its sockets") {
  Rig rig;
  auto& loop = *shared_loop(rig.client);
  std::atomic<bool> goes_on = true;
  std::promise<void> ended;
  std::function<void()> again = [&] {
    if (goes_on)
      loop.post([&] { again(); });
    else
      ended.set_value();
  };
  loop.post([&] { again(); });
  Caller caller(rig.client);
  for (int i = 0; i < 100; ++i)
    REQUIRE(ask(caller, rig.session, i) == i + 1);
  goes_on = false;
  ended.get_future().wait();
}

TEST_CASE("an answer that another thread of the process gives ends the wait on the loop") {
  Rig rig;
  Caller caller(rig.client);
  CHECK(ask(caller, rig.session, 1) == 2); // from now on the loop is the caller's
  caf::actor elsewhere = rig.client.spawn<caf::detached>(counting, &rig.asked);
  for (int i = 0; i < 200; ++i)
    REQUIRE(ask(caller, elsewhere, i) == i + 1);
  caf::anon_send_exit(elsewhere, caf::exit_reason::kill);
}

TEST_CASE("a budget that ends ends the wait on the loop") {
  Rig rig;
  Caller caller(rig.client);
  CHECK(ask(caller, rig.session, 1) == 2);
  CHECK(ask(caller, rig.session, Next{0, "never"}, 20ms) == -1);
  CHECK(ask(caller, rig.session, 2) == 3);
}

} // namespace
} // namespace troupe
