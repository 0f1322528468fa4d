// Two tasks' exchanges of one step and the wire between them, by a seed: what arrives late, twice,
// in another order or never. And what membership's words do for a value that was lost with its
// connection.
#include "actors/rendezvous/edge_exchange.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <random>

using namespace troupe;

namespace {

constexpr const char* tasks[] = {"/job:a/replica:0/task:0", "/job:b/replica:0/task:0"};

struct Peers {
  std::map<std::string, int> receivers;
  std::set<std::string> senders;
};
struct LargeValue {
  float value = 0;
};
using Exchange = EdgeExchange<Peers, int, LargeValue>;

std::string key_of(int from, int number) {
  return rendezvous_key(str_cat(tasks[from], "/device:CPU:0"), 1,
                        str_cat(tasks[1 - from], "/device:CPU:0"), str_cat("edge_", number), 0, 0);
}

EdgeValue value_of(float x) {
  return {Tensor::scalar(x), false};
}

struct Faults {
  bool reorders = false, repeats = false, breaks = false;
};

/// One step on two tasks.
class Simulation {
public:
  Simulation(unsigned seed, Faults faults, bool is_known) : dice_(seed), faults_(faults) {
    for (int i : {0, 1}) {
      auto peers = std::make_shared<Peers>();
      if (is_known) { // of an earlier step
        peers->receivers[tasks[1 - i]] = 1 - i;
        peers->senders.insert(tasks[1 - i]);
      }
      ends_.push_back(std::make_unique<End>(*this, i));
      End& end = *ends_.back();
      end.exchange = std::make_unique<Exchange>(7, tasks[i], peers, end.edges, end);
    }
  }

  void run(int edges) {
    edges_ = edges;
    answers_.assign(static_cast<std::size_t>(2 * edges), {});
    for (int from : {0, 1})
      for (int number = 0; number < edges; ++number) {
        const std::string key = key_of(from, number);
        const int waiter = from * edges + number;
        kernels_.push_back(
            [=, this] { ends_[from]->exchange->put(key, value_of(static_cast<float>(waiter))); });
        kernels_.push_back([=, this] { ends_[1 - from]->exchange->take(key, waiter); });
      }
    std::shuffle(kernels_.begin(), kernels_.end(), dice_);
    while (turn()) {
    }
    for (auto& end : ends_) // the worker session's, after a while
      end->exchange->late();
    while (turn()) {
    }
  }

  struct Answered {
    int times = 0;
    Status status;
    float value = 0;
  };
  const std::vector<Answered>& answers() const { return answers_; }
  int num_breaks() const { return breaks_; }

private:
  using Event = std::function<void()>;
  struct Message {
    Event arrives, is_lost;
  };

  struct End final : Exchange::Effects {
    End(Simulation& s, int i) : simulation(s), index(i) {}
    void answer(int& waiter, const std::string&, const Status& status, EdgeValue value,
                std::string) override {
      auto& answer = simulation.answers_[static_cast<std::size_t>(waiter)];
      ++answer.times;
      answer.status = status;
      if (status.ok())
        answer.value = value.tensor.value<float>();
    }
    void send(const int& peer, const std::string& key, EdgeValue value) override {
      outbox.push_back({peer, {key, value}});
    }
    void send_now() override {
      for (auto& [peer, edge] : std::exchange(outbox, {}))
        simulation.post_value(index, edge.first, edge.second.tensor.value<float>());
    }
    void flush_soon() override {
      if (!std::exchange(is_flush_posted, true))
        local.push_back([this] {
          is_flush_posted = false;
          exchange->flush();
        });
    }
    void pull(const std::string& key, LargeValue large) override {
      pulls.push_back(key);
      local.push_back([this, key, large] {
        if (auto it = std::find(pulls.begin(), pulls.end(), key); it != pulls.end()) {
          pulls.erase(it);
          exchange->pulled(key, value_of(large.value), "stream");
        }
      });
    }
    void ask(const std::string& task, const std::vector<std::string>& keys) override {
      simulation.post_question(index, task, keys);
    }
    void lose_later(const std::string& task, const Status& told) override {
      local.push_back([=, this] { exchange->edges_lost(task, told); });
    }

    Simulation& simulation;
    const int index;
    EdgeTasks edges;
    std::unique_ptr<Exchange> exchange;
    std::vector<std::pair<int, std::pair<std::string, EdgeValue>>> outbox;
    std::deque<Event> local; ///< what waits in its mailbox
    std::vector<std::string> pulls;
    bool is_flush_posted = false;
  };

  int roll(int sides) { return std::uniform_int_distribution<>(0, sides - 1)(dice_); }

  void post(int from, Message message, bool may_repeat) {
    auto& wire = wires_[from];
    if (may_repeat && faults_.repeats && roll(4) == 0)
      wire.push_back({message.arrives, {}});
    wire.push_back(std::move(message));
  }

  void post_value(int from, const std::string& key, float value) {
    End& to = *ends_[1 - from];
    const bool is_large = roll(3) == 0;
    post(from,
         {[&to, key, value, is_large] {
            if (is_large)
              to.exchange->offered(key, {value});
            else
              to.exchange->arrived(key, value_of(value));
          },
          {}},
         !is_large);
  }

  void post_question(int from, const std::string& task, const std::vector<std::string>& keys) {
    End &asks = *ends_[from], &asked = *ends_[1 - from];
    auto fails = [&asks, task, keys] {
      asks.exchange->asking_failed(task, keys, unavailable("no answer"));
    };
    post(from,
         {[=, this, &asks, &asked] {
            auto sent = asked.exchange->peer_asks(tasks[asks.index], asks.index, keys);
            post(asked.index,
                 {[&asks, task, sent] { asks.exchange->peer_answered(task, sent); }, fails}, false);
          },
          fails},
         false);
  }

  void break_connection() {
    ++breaks_;
    for (auto& wire : wires_)
      for (Message& message : std::exchange(wire, {}))
        if (message.is_lost)
          message.is_lost();
    for (auto& end : ends_) {
      for (const std::string& key : std::exchange(end->pulls, {}))
        end->exchange->pull_failed(key, unavailable("it closed its connection").as_derived());
      const std::string other = tasks[1 - end->index];
      end->local.push_back([&end, other] { end->exchange->peer_lost(other, "the task is gone"); });
    }
  }

  template <class T>
  T take_from(std::deque<T>& from, bool any) {
    auto at = from.begin() + (any ? roll(static_cast<int>(from.size())) : 0);
    T out = std::move(*at);
    from.erase(at);
    return out;
  }

  // One event of some kind; false when there is none left.
  bool turn() {
    std::vector<Event> possible;
    if (!kernels_.empty())
      possible.push_back([this] { take_from(kernels_, false)(); });
    for (auto& wire : wires_)
      if (!wire.empty())
        possible.push_back([this, &wire] { take_from(wire, faults_.reorders).arrives(); });
    for (auto& end : ends_)
      if (!end->local.empty())
        possible.push_back([this, &end] { take_from(end->local, false)(); });
    if (possible.empty())
      return false;
    if (faults_.breaks && breaks_ < 2 && roll(3 * edges_) == 0)
      break_connection();
    else
      possible[static_cast<std::size_t>(roll(static_cast<int>(possible.size())))]();
    return true;
  }

  std::mt19937 dice_;
  const Faults faults_;
  int edges_ = 0, breaks_ = 0;
  std::vector<std::unique_ptr<End>> ends_;
  std::deque<Event> kernels_;
  std::deque<Message> wires_[2]; // by sender
  std::vector<Answered> answers_;
};

} // namespace

TEST_CASE("edge exchange: over a wire that keeps its order every kernel gets its value, once") {
  for (unsigned seed = 1; seed <= 200; ++seed)
    for (bool is_known : {false, true}) {
      CAPTURE(seed);
      CAPTURE(is_known);
      Simulation simulation(seed, {}, is_known);
      simulation.run(8);
      for (std::size_t i = 0; i < simulation.answers().size(); ++i) {
        const auto& answer = simulation.answers()[i];
        REQUIRE(answer.times == 1);
        REQUIRE_MESSAGE(answer.status.ok(), answer.status.to_string());
        CHECK(answer.value == static_cast<float>(i));
      }
    }
}

TEST_CASE("edge exchange: whatever the wire loses, repeats or reorders, every kernel is answered "
          "once, and not wrongly") {
  std::size_t values = 0, errors = 0, breaks = 0;
  for (unsigned seed = 1; seed <= 300; ++seed)
    for (Faults faults : {Faults{true, false, false}, Faults{false, true, false},
                          Faults{false, false, true}, Faults{true, true, true}})
      for (bool is_known : {false, true}) {
        CAPTURE(seed);
        CAPTURE(is_known);
        CAPTURE(faults.reorders);
        CAPTURE(faults.repeats);
        CAPTURE(faults.breaks);
        Simulation simulation(seed, faults, is_known);
        simulation.run(8);
        breaks += static_cast<std::size_t>(simulation.num_breaks());
        for (std::size_t i = 0; i < simulation.answers().size(); ++i) {
          const auto& answer = simulation.answers()[i];
          REQUIRE(answer.times == 1);
          if (!answer.status.ok()) {
            ++errors;
            CHECK((answer.status.code() == Code::aborted ||
                   answer.status.code() == Code::unavailable));
          } else {
            ++values;
            CHECK(answer.value == static_cast<float>(i));
          }
        }
      }
  CHECK(breaks > 100);
  CHECK(errors > 100);
  CHECK(values > 2 * errors);
}

namespace {

/// What one exchange does, written down.
struct Written final : Exchange::Effects {
  void answer(int& waiter, const std::string&, const Status& status, EdgeValue,
              std::string transfer) override {
    told.push_back(
        str_cat("answer ", waiter, ": ", status.ok() ? transfer : std::string(status.message())));
  }
  void send(const int&, const std::string&, EdgeValue) override { told.push_back("send"); }
  void pull(const std::string&, LargeValue) override { told.push_back("pull"); }
  void ask(const std::string&, const std::vector<std::string>&) override { told.push_back("ask"); }
  void flush_soon() override {}
  void send_now() override {}
  void lose_later(const std::string& task, const Status& status) override {
    told.push_back("later");
    later = [task, status](Exchange& exchange) { exchange.edges_lost(task, status); };
  }
  std::vector<std::string> take() { return std::exchange(told, {}); }
  std::vector<std::string> told;
  std::function<void(Exchange&)> later;
};
using Told = std::vector<std::string>;

struct OneEnd {
  OneEnd() {
    auto known = std::make_shared<Peers>();
    known->senders.insert(tasks[0]);
    exchange = std::make_unique<Exchange>(7, tasks[1], known, edges, written);
  }
  EdgeTasks edges;
  Written written;
  std::unique_ptr<Exchange> exchange;
};
const Status gone = unavailable("it closed its connection").as_derived();

} // namespace

TEST_CASE("edge exchange: a large value waits where it is until the step begins here") {
  OneEnd end;
  end.exchange->offered(key_of(0, 1), {1});
  CHECK(end.written.take().empty());
  end.exchange->take(key_of(0, 2), 2);
  CHECK(end.written.take() == Told{"pull"});
  end.exchange->pulled(key_of(0, 1), value_of(1), "stream");
  end.exchange->take(key_of(0, 1), 1);
  CHECK(end.written.take() == Told{"answer 1: stream"});
}

TEST_CASE("edge exchange: a value that is lost with its connection waits for membership's words") {
  OneEnd end;
  end.exchange->take(key_of(0, 1), 1);
  end.exchange->offered(key_of(0, 1), {1});
  CHECK(end.written.take() == Told{"pull"});
  end.exchange->pull_failed(key_of(0, 1), gone);
  CHECK(end.written.take() == Told{"later"}); // nobody is told yet
  end.exchange->peer_lost(tasks[0], "the task was killed");
  CHECK(end.written.take() == Told{"answer 1: the task was killed"});
  end.written.later(*end.exchange); // nobody waits any more
  CHECK(end.written.take().empty());
}

TEST_CASE("edge exchange: should membership say nothing, the connection's own words are told, also "
          "to who comes later") {
  OneEnd end;
  end.exchange->take(key_of(0, 1), 1);
  end.exchange->offered(key_of(0, 1), {1});
  end.exchange->pull_failed(key_of(0, 1), gone);
  end.written.take();
  end.written.later(*end.exchange);
  Told told = end.written.take();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("it closed its connection") != std::string::npos);
  CHECK(told[0].find(tasks[0]) != std::string::npos);
  end.exchange->take(key_of(0, 2), 2);
  told = end.written.take();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("answer 2: ") == 0);
}

TEST_CASE(
    "edge exchange: any other reason is told at once, and to whoever wants that value later") {
  OneEnd end;
  end.exchange->take(key_of(0, 2), 2);
  end.exchange->offered(key_of(0, 1), {1});
  end.written.take();
  end.exchange->pull_failed(key_of(0, 1), resource_exhausted("no room"));
  CHECK(end.written.take().empty());
  end.exchange->take(key_of(0, 1), 1);
  Told told = end.written.take();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("no room") != std::string::npos);
  end.exchange->abort(cancelled("the step was cancelled"));
  CHECK(end.written.take() == Told{"answer 2: the step was cancelled"});
}
