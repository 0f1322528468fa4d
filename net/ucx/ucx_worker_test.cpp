// Two workers of one process, over the transports of UCX's that need no device.
#include "net/ucx/ucx_worker.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <poll.h>

using namespace troupe;

namespace {

// False, and says so, where UCX is not installed.
bool can_run() {
  const Status there = ucx_is_there();
  if (!there.ok())
    MESSAGE("skipped: ", there.message());
  return there.ok();
}

// Those that need no device; shared memory needs /dev/shm.
std::vector<const char*> transports() {
  std::vector<const char*> out{"tcp"};
  auto made = UcxWorker::make({"posix,self", "127.0.0.1"},
                              [](std::string_view, std::uint64_t) { return std::nullopt; });
  if (made.ok())
    out.push_back("posix,self");
  else
    MESSAGE("skipped: shared memory: ", made.status().message());
  return out;
}

// A worker that keeps what comes, and one that has it taken.
struct End {
  explicit End(const std::string& by) {
    auto made =
        UcxWorker::make({by, "127.0.0.1"}, [this](std::string_view header, std::uint64_t bytes) {
          return take(header, bytes);
        });
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    worker = *std::move(made);
  }
  std::optional<UcxWorker::Arrival> take(std::string_view header, std::uint64_t bytes) {
    if (header.starts_with("not"))
      return std::nullopt;
    std::vector<std::byte>& into = came[std::string(header)];
    into.resize(bytes);
    return UcxWorker::Arrival{
        into, {}, [this](const Status& status) { ++(status.ok() ? whole : failed); }};
  }
  void send(const std::string& header, std::span<const std::byte> bytes, BufferRef keep = {}) {
    worker->send(header, bytes, std::move(keep), [this](const Status& status) {
      outcome = status;
      ++sent;
    });
  }

  std::map<std::string, std::vector<std::byte>> came;
  std::size_t whole = 0, failed = 0, sent = 0;
  Status outcome;
  std::unique_ptr<UcxWorker> worker;
};

// Turns for both until `is_done`, or for half a minute.
template <class F>
void turn_until(End& a, End* b, F is_done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    bool again = a.worker->turn();
    if (b)
      again = b->worker->turn() || again;
    if (is_done() || std::chrono::steady_clock::now() > until)
      return;
    if (again)
      continue;
    pollfd wait[2] = {{a.worker->fd(), POLLIN, 0}, {b ? b->worker->fd() : -1, POLLIN, 0}};
    ::poll(wait, 2, 100);
  }
}

void meet(End& a, End& b) {
  Status outcome = a.worker->connect(b.worker->address());
  REQUIRE_MESSAGE(outcome.ok(), outcome.to_string());
  outcome = b.worker->connect(a.worker->address());
  REQUIRE_MESSAGE(outcome.ok(), outcome.to_string());
}

std::vector<std::byte> numbers(std::size_t count) {
  std::vector<std::byte> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::byte>(i * 7 + i / 256);
  return out;
}

} // namespace

TEST_CASE("ucx: the process keeps its signal handlers") {
  struct sigaction own {};
  own.sa_handler = [](int) {};
  struct sigaction before {};
  ::sigaction(SIGILL, &own, &before);
  const bool is_there = can_run(); // loads it
  struct sigaction now {};
  ::sigaction(SIGILL, &before, &now);
  if (is_there)
    CHECK((now.sa_handler == own.sa_handler));
}

TEST_CASE("ucx worker: what one sends the other gets, of any size, and both are told") {
  if (!can_run())
    return;
  for (const char* by : transports()) {
    CAPTURE(by);
    End sender(by), receiver(by);
    meet(sender, receiver);
    std::size_t count = 0;
    for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{65'536},
                              std::size_t{65'537}, (std::size_t{20} << 20) + 3}) {
      CAPTURE(bytes);
      const auto memory = numbers(bytes);
      ++count;
      const std::string header = "of " + std::to_string(bytes);
      sender.send(header, memory);
      turn_until(sender, &receiver,
                 [&] { return receiver.whole == count && sender.sent == count; });
      REQUIRE(receiver.whole == count);
      REQUIRE(sender.sent == count);
      CHECK(sender.outcome.ok());
      CHECK(receiver.came[header] == memory);
    }
  }
}

TEST_CASE("ucx worker: many at once all arrive, each as it is; what nobody takes is dropped") {
  if (!can_run())
    return;
  for (const char* by : transports()) {
    CAPTURE(by);
    End sender(by), receiver(by);
    meet(sender, receiver);
    const auto memory = numbers(1 << 20);
    constexpr std::size_t count = 32;
    for (std::size_t i = 0; i < count; ++i) {
      sender.send(std::to_string(i), std::span(memory).first(200'000 + i));
      sender.send("not " + std::to_string(i), std::span(memory).first(i % 2 ? 10 : 300'000));
    }
    turn_until(sender, &receiver,
               [&] { return receiver.whole == count && sender.sent == 2 * count; });
    REQUIRE(receiver.whole == count);
    CHECK(receiver.came.size() == count);
    for (std::size_t i = 0; i < count; ++i)
      CHECK(receiver.came[std::to_string(i)] ==
            std::vector(memory.begin(), memory.begin() + 200'000 + static_cast<long>(i)));
  }
}

TEST_CASE("ucx worker: a peer that has gone in the middle is told of over tcp, on both sides") {
  if (!can_run())
    return;
  const auto memory = numbers(32 << 20);
  for (const bool sender_goes : {false, true}) {
    CAPTURE(sender_goes);
    End sender("tcp"), receiver("tcp");
    meet(sender, receiver);
    sender.send("first", std::span(memory).first(100'000));
    turn_until(sender, &receiver, [&] { return receiver.whole == 1 && sender.sent == 1; });
    for (int i = 0; i < 4; ++i)
      sender.send("next " + std::to_string(i), memory);
    turn_until(sender, &receiver, [&] { return receiver.came.size() > 1; });
    End& stays = sender_goes ? receiver : sender;
    (sender_goes ? sender : receiver).worker.reset();
    auto is_told = [&] {
      return sender_goes ? stays.whole + stays.failed == stays.came.size() : stays.sent == 5;
    };
    turn_until(stays, nullptr, [&] { return is_told() && !stays.worker->broken().ok(); });
    CHECK(is_told());
    CHECK(stays.whole < 5);
    CHECK(stays.worker->broken().code() == Code::unavailable);
    CHECK(stays.worker->broken().message().find("UCX: ") == 0);
  }
}

TEST_CASE("ucx worker: its end gives back what was under way, told or not") {
  if (!can_run())
    return;
  for (const char* by : transports()) {
    CAPTURE(by);
    End sender(by), receiver(by); // the receiver takes no turn
    meet(sender, receiver);
    std::atomic<int> freed = 0;
    auto memory = numbers(1 << 20);
    for (int i = 0; i < 4; ++i)
      sender.send(std::to_string(i), memory,
                  Buffer::wrap(memory.data(), memory.size(), [&](void*) { ++freed; }));
    sender.worker->turn();
    sender.worker.reset();
    CHECK(freed == 4);
  }
}

TEST_CASE("ucx: what listens does so where its node has its address") {
  CHECK(ucx_devices("127.0.0.1") == "lo");
  CHECK(ucx_devices("localhost") == "lo");
  CHECK(ucx_devices("") == "");
  CHECK(ucx_devices("0.0.0.0") == "");
  CHECK(ucx_devices("192.0.2.1") == ""); // nobody's
}

TEST_CASE("ucx worker: what cannot be an address is refused") {
  if (!can_run())
    return;
  End one("tcp");
  CHECK(one.worker->connect(std::string(5000, 'x')).code() == Code::invalid_argument);
  CHECK(one.worker->connect("").code() == Code::invalid_argument);
}

TEST_CASE("ucx worker: transports that are not there are named") {
  if (!can_run() || has_rdma_device() || std::getenv("UCX_TLS"))
    return;
  auto made =
      UcxWorker::make({"ib", ""}, [](std::string_view, std::uint64_t) { return std::nullopt; });
  Status outcome = made.status();
  if (made.ok()) // UCX may say so only when a peer is to be reached
    outcome = (*made)->connect(End("tcp").worker->address());
  CHECK(outcome.code() == Code::unavailable);
  CHECK(outcome.message().find("UCX: ") == 0);
}
